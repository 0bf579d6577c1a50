#include "expressions/expression_compiler.h"
#include "linalg/base/error.h"
#include "physics/diffusion_reaction.h"
#include "physics/extrema.h"
#include "physics/physics.h"
#include "physics/residual.h"

#include <deal.II/base/patterns.h>

#include <algorithm>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Heat": C ∂u/∂t − ∇·(k∇u) + c φ(u) = f, and k ∂u/∂n = q − c (φ(u) − φ(g)) on the
/// boundary.
class HeatParameters : public DiffusionReactionParameters
{
public:
  HeatParameters() : DiffusionReactionParameters("Heat")
  {
    declare(conductivity, "Conductivity",
            "k > 0 in -div(k grad u) + c phi(u) = f, in W/(m K): an expression of x, y, z and u. "
            "Values by direction: 'k_x, k_y' in 2D, 'k_x, k_y, k_z' in 3D. Values by material id "
            "or name: 'k; ids: k; ids: k_x, k_y'. The entry without ids applies to all other "
            "materials. Must be given.");
    declare(
        source, "Source",
        "f, in W/m^3: an expression of x, y, z and u. Values by material id or name: 'f; ids: f'.",
        "0");
    declare_transient("Heat capacity",
                      "Heat capacity per volume c > 0, the product of density and specific heat, "
                      "in J/(m^3 K), for a transient analysis of c du/dt - div(k grad u) = f: an "
                      "expression of x, y, z, u and t. Values by material id or name: 'c; ids: "
                      "c'. Must be given for Analysis = transient.",
                      "");
    add_parameter(
        "Reaction", reaction,
        "Reaction phi(u): an expression of u, for example u^4. Empty: no reaction. A reaction of "
        "the form a + b*u, with constants a and b, leaves the problem linear.");
    add_parameter("Reaction derivative", derivative,
                  "Derivative d phi/du: an expression of u, for example 4*u^3. Empty: femgpu "
                  "differentiates phi.");
    add_parameter(
        "Reaction range", range,
        "Expected range of u: 'low, high'. In this range, femgpu checks Reaction derivative "
        "against phi. The energy of the reaction is the integral of phi from u0 to u. If the "
        "problem is linear, u0 is 0; otherwise u0 is the point of the range that is closest to 0.",
        prm, Patterns::List(Patterns::Double(), 2, 2));
    declare(reaction_coefficient, "Reaction coefficient",
            "Coefficient c >= 0 of the reaction inside the body: an expression of x, y, z. Values "
            "by material id or name: 'c; ids: c'. Empty: no reaction inside the body.");
    declare(boundary_reaction, "Boundary reaction",
            "k du/dn = -c (phi(u) - phi(g)) on parts of the boundary: 'ids: c, g; ...', with c >= "
            "0. For radiation to surroundings of temperature g, set Reaction = u^4, give u and g "
            "in K, and let c be the emissivity times 5.67e-8.");
    declare(neumann, "Neumann",
            "Heat flux k du/dn = q into the body, in W/m^2, on parts of the boundary: 'ids: q; "
            "...', with expressions q of x, y, z and u. '2: 25*(293 - u)' is convection; '3: "
            "0.8*5.67e-8*(293^4 - u^4)' is radiation. The flux is added to the flux of a boundary "
            "reaction. On boundary ids without a condition, k du/dn = 0.");
    declare_dirichlet(" May be empty if another condition fixes u.");
    declare_periodic();
    add_parameter(
        "Initial guess", initial_guess,
        "Initial guess of the nonlinear iteration in the first cycle: an expression of x, y, z.");
    declare_exact_solution();
  }

  std::vector<RequiredDatum> required() const
  {
    return {{"Heat/Conductivity", conductivity.text, "200"}};
  }

  std::string reaction, derivative;
  std::vector<double> range = {-1., 1.};
  std::string initial_guess = "0";
};

/// Returns the reaction; nullopt if @p p has none.
/// @throws ParameterError if its parameters are invalid or have no effect
std::optional<Reaction> make_reaction(const HeatParameters &p, const MeshRegions &regions)
{
  if (is_blank(p.reaction) && !is_blank(p.derivative))
    throw ParameterError("Heat/Reaction derivative has no effect without Heat/Reaction. Set "
                         "Heat/Reaction, too, or remove the derivative.",
                         "Heat/Reaction derivative");
  if (is_blank(p.reaction))
    return {};
  if (is_blank(p.reaction_coefficient.text) && is_blank(p.boundary_reaction.text))
    throw ParameterError("Heat/Reaction has no effect without a coefficient. Set Heat/Reaction "
                         "coefficient or Heat/Boundary reaction, or remove Heat/Reaction.",
                         "Heat/Reaction");
  try {
    const linalg::ExpressionReaction reaction = linalg::make_expression_reaction(
        p.reaction, p.derivative, regions.definitions, {p.range.front(), p.range.back()});
    return Reaction{{reaction, -1.},
                    linalg::affine_form(reaction.phi),
                    std::clamp(0., p.range.front(), p.range.back())};
  }
  catch (const ParameterError &error) {
    throw ParameterError("Heat/Reaction or Heat/Reaction derivative: " + std::string(error.what()),
                         "Heat/Reaction");
  }
}

/**
 * The heat equation. Reactions in the body and on the boundary have the same φ. They remove heat:
 * λ = −1. If φ increases with u, the solution is unique, and the Jacobian A + W φ'(u) is positive
 * definite if A or W φ' is.
 */
template <int dim>
class Heat final : public DiffusionReaction<dim>
{
public:
  Heat(const HeatParameters &p, const MeshRegions &regions)
      : DiffusionReaction<dim>(p, regions, make_reaction(p, regions)),
        guess("Heat/Initial guess", {p.initial_guess}, Variables::position, regions.definitions)
  {}

  void check(const Mesh<dim> &mesh, const unsigned int degree) const override
  {
    if (!this->reaction && (!nonzero_ids(this->c).empty() || !this->boundary_reaction.empty()))
      throw ParameterError("Heat/Reaction coefficient and Heat/Boundary reaction need the reaction "
                           "phi(u). Set Heat/Reaction.",
                           "Heat/Reaction");
    const DeterminingRegions determining_regions = this->determining_regions();
    if (determining_regions.boundary_ids.empty() && determining_regions.material_ids.empty())
      throw ParameterError("Without Dirichlet data and reaction, u is known only up to a constant. "
                           "Set Heat/Dirichlet, convection (Heat/Neumann = ids: h*(u_air - "
                           "u)), Heat/Boundary reaction or Heat/Reaction coefficient.",
                           "Heat/Dirichlet");
    DiffusionReaction<dim>::check(mesh, degree);
  }

  const Function<dim> *initial_guess() const override
  {
    return &guess;
  }

  std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const override
  {
    const auto [smallest, largest] = extrema(solution.discretization(), solution.u());
    std::vector<Quantity> result = {{"min u", smallest}, {"max u", largest}};
    for (const Quantity &quantity : DiffusionReaction<dim>::quantities(solution))
      result.push_back(quantity);
    return result;
  }

  std::string advice_without_solution() const override
  {
    return "No steady state was found. Use a Heat/Reaction that grows with u or produces little "
           "heat, or start from a better Heat/Initial guess, where Heat/Reaction derivative is "
           "positive.";
  }

private:
  Field<dim> guess;
};
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class HeatEquation>()
{
  return std::make_unique<PhysicsOf<HeatParameters, Heat>>();
}
} // namespace femgpu
