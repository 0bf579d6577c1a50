#include "linalg/base/error.h"
#include "physics/diffusion_reaction.h"
#include "physics/extrema.h"
#include "physics/physics.h"
#include "physics/residual.h"

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Bratu": −Δu = λ e^u + f.
class BratuParameters : public DiffusionReactionParameters
{
public:
  BratuParameters() : DiffusionReactionParameters("Bratu")
  {
    declare(reaction_coefficient, "Lambda",
            "lambda >= 0 in -div(grad u) = lambda exp(u) + f: a number or an expression of x, y, "
            "z. Values by material id or name: 'lambda; ids: lambda'. There is no solution for a "
            "constant lambda above the fold. With u = 0 on the boundary and f = 0, the fold is at "
            "6.808 on the unit square and at 9.90 on the unit cube. Continuation ignores a number, "
            "and multiplies an expression by a factor that it varies. Must be given.");
    declare(source, "Right-hand side",
            "f: an expression of x, y, z and u. Values by material id or name: 'f; ids: f'.", "0");
    declare_dirichlet(" On boundary ids without a condition, du/dn = 0.");
    declare(neumann, "Neumann", "du/dn = g on parts of the boundary: 'ids: g; ...'.");
    declare_periodic();
    declare_exact_solution();
  }

  std::vector<RequiredDatum> required() const
  {
    return {{"Bratu/Lambda", reaction_coefficient.text, "6"}};
  }
};

/**
 * The Bratu problem. The reaction term is integrated by nodal quadrature and therefore diagonal:
 * λ w_i exp(u_i), where w_i is the integral of the shape function. Newton's iterates increase
 * monotonically from u = 0 to the lower branch, along which the Jacobian is positive definite. If λ
 * depends on the position, it is part of the weights, and λ of nonlinearity() is 1.
 */
template <int dim>
class Bratu final : public DiffusionReaction<dim>
{
public:
  Bratu(const BratuParameters &p, const MeshRegions &regions)
      : DiffusionReaction<dim>(p, regions, Reaction{{linalg::ExponentialReaction(), 1.}, {}})
  {
    this->has_nodal_reaction = !this->problem_traits.has_nonlinear_terms; // also if λ = 0
    this->problem_traits.has_branches = this->has_nodal_reaction;
    const std::optional<double> factor = number_of(this->c);
    if (!factor || !(*factor >= 0.))
      return; // λ is in the weights, or check_data() rejects it
    this->reaction->term.lambda = *factor;
    for (auto &entry : this->c)
      entry.second = std::make_shared<Field<dim>>("Bratu/Lambda", std::vector<std::string>{"1"});
  }

  void check(const Mesh<dim> &mesh, const unsigned int degree) const override
  {
    if (this->dirichlet.empty())
      throw ParameterError("Without Dirichlet data -div(grad u) = lambda exp(u) has no solution. "
                           "Name at least one boundary id in Bratu/Dirichlet.",
                           "Bratu/Dirichlet");
    DiffusionReaction<dim>::check(mesh, degree);
  }

  std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const override
  {
    std::vector<Quantity> result = {
        {"max u", extrema(solution.discretization(), solution.u()).second}};
    for (const Quantity &quantity : DiffusionReaction<dim>::quantities(solution))
      result.push_back(quantity);
    return result;
  }

  std::string advice_without_solution() const override
  {
    return "No steady state was found: lambda = " + this->parameters.reaction_coefficient.text +
           " is probably beyond the fold, where no solution exists. Lower Bratu/Lambda, refine a "
           "coarse mesh, or set Continuation/Enabled to find the fold.";
  }

private:
  /// Returns λ, the parameter that continuation varies, if it is a single number; else nullopt.
  static std::optional<double> number_of(const MaterialFields<dim> &fields)
  {
    std::optional<double> factor;
    for (const auto &entry : fields) {
      const double value = entry.second->value(Point<dim>());
      if (!entry.second->is_constant() || (factor && *factor != value))
        return {};
      factor = value;
    }
    return factor;
  }
};
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class BratuEquation>()
{
  return std::make_unique<PhysicsOf<BratuParameters, Bratu>>();
}
} // namespace femgpu
