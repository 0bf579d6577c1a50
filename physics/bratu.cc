#include "linalg/base/error.h"
#include "physics/conductivity.h"
#include "physics/gradient_products.h"
#include "physics/mesh/mesh_parts.h"
#include "physics/mesh/periodicity.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"
#include "physics/residual.h"

#include <deal.II/base/function.h>
#include <deal.II/base/parameter_acceptor.h>

#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Bratu": −Δu = λ e^u + f.
class BratuPhysics final : public Physics, public ParameterAcceptor
{
public:
  BratuPhysics() : ParameterAcceptor("/Bratu")
  {
    add_parameter("Lambda", lambda,
                  "lambda >= 0 in -div(grad u) = lambda exp(u) + f: a number, or an expression of "
                  "x, y, z, for materials by id or name 'lambda; ids: lambda'. With u = 0 on the "
                  "boundary and f = 0 there is no solution for numbers beyond the fold, 6.808 on "
                  "the unit square and 9.90 on the unit cube. A branch is followed over a number, "
                  "or over a factor of an expression. Must be given.");
    add_parameter("Right-hand side", right_hand_side,
                  "f; expression of x, y, z; for materials 'f; ids: f'.");
    add_parameter("Dirichlet", dirichlet,
                  "u = g on parts of the boundary: 'ids: g; ids: g'. Parts that are not named "
                  "anywhere have du/dn = 0.");
    add_parameter("Neumann", neumann, "du/dn = g on parts of the boundary: 'ids: g; ...'.");
    add_parameter("Periodic", periodic,
                  "Pairs of sides on which u and its flux are the same, with the axis along which "
                  "the second is the first one moved: 'left, right: x; 2, 3: y'.");
    add_parameter("Exact solution", exact_solution,
                  "If given, errors in L2, H1 and Linf are computed; expression of x, y, z.");
  }

  std::vector<RequiredDatum> required_data() const override
  {
    return {{"Bratu/Lambda", lambda, "6"}};
  }
  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;

  std::string lambda;
  std::string right_hand_side = "0";
  std::string dirichlet;
  std::string neumann;
  std::string periodic;
  std::string exact_solution;
};

/**
 * The reaction term is integrated by nodal quadrature, so that it is diagonal: λ w_i exp(u_i) with
 * w_i the integral of the shape function. Newton's method from u = 0 rises to the lower branch,
 * along which the Jacobian is positive definite. λ that depends on the place is in the weights,
 * which leaves a factor of 1 for λ of nonlinearity().
 */
template <int dim>
class Bratu final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Bratu(const BratuPhysics &parameters, const MeshRegions &regions)
      : lambda_text(parameters.lambda),
        lambda(make_material_fields<dim>("Bratu/Lambda", parameters.lambda, 1, regions)),
        factor(factor_of(lambda)),
        f(make_material_fields<dim>("Bratu/Right-hand side", parameters.right_hand_side, 1,
                                    regions)),
        dirichlet(make_boundary_fields<dim>("Bratu/Dirichlet", parameters.dirichlet, 1, regions)),
        neumann(make_boundary_fields<dim>("Bratu/Neumann", parameters.neumann, 1, regions)),
        periodic(parse_periodic_sides("Bratu/Periodic", parameters.periodic, dim, regions)),
        exact(make_optional_field<dim>("Bratu/Exact solution", parameters.exact_solution, 1))
  {
    refuse_overlap("Bratu/Neumann", neumann, dirichlet);
    refuse_data_on("Bratu/Periodic", periodic, "Bratu/Dirichlet", ids_of(dirichlet));
    refuse_data_on("Bratu/Periodic", periodic, "Bratu/Neumann", ids_of(neumann));
  }

  unsigned int n_components() const override
  {
    return 1;
  }
  std::vector<std::string> component_names() const override
  {
    return {"u"};
  }
  bool has_branches() const override
  {
    return true;
  }
  std::optional<linalg::Nonlinearity> nonlinearity() const override
  {
    return linalg::Nonlinearity{linalg::ExponentialLaw(), factor.value_or(1.)};
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    return {{"Bratu/Dirichlet", ids_of(dirichlet)},
            {"Bratu/Neumann", ids_of(neumann)},
            {"Bratu/Periodic", ids_of(periodic)}};
  }

  void check(const Mesh<dim> &mesh, const DiscretizationParameters &parameters) const override
  {
    if (dirichlet.empty())
      throw ParameterError("Without Dirichlet data -div(grad u) = lambda exp(u) has no solution. "
                           "Name at least one boundary id in Bratu/Dirichlet.",
                           "Bratu/Dirichlet");
    require_nodal_quadrature("Bratu", mesh, parameters);
    require_matching_sides("Bratu/Periodic", mesh, periodic);
    require_held_parts(mesh, periodic, {ids_of(dirichlet), {}, "Bratu/Dirichlet"},
                       "Bratu/Dirichlet");
  }

  void check_data(const Discretization<dim> &discretization) const override
  {
    refuse_negative("Bratu/Lambda", discretization, lambda);
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return conditions_of(dirichlet);
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    return periodic;
  }

  /// K_ij = (∇φ_j, ∇φ_i), f_i = (f, φ_i)
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override
  {
    for (const unsigned int q : fe.quadrature_point_indices())
      add_gradient_products(fe, q, fe.JxW(q), K);
    add_source(fe, f, rhs);
  }

  void add_cell_weights(const FEValues<dim> &nodal, CellVector &w) const override
  {
    if (factor)
      add_nodal_weights(nodal, Functions::ConstantFunction<dim>(1.), w);
    else
      add_nodal_weights(nodal, *lambda.at(nodal.get_cell()->material_id()), w);
  }

  bool has_face_terms(const types::boundary_id id) const override
  {
    return neumann.count(id) > 0;
  }
  /// f_i += <g, φ_i>
  void add_face_terms(const FEFaceValues<dim> &face, const types::boundary_id id,
                      CellMatrix & /* K */, CellVector &rhs) const override
  {
    const Field<dim> &g = *neumann.at(id);
    for (const unsigned int q : face.quadrature_point_indices()) {
      const double g_JxW = g.value(face.quadrature_point(q)) * face.JxW(q);
      for (unsigned int i = 0; i < face.dofs_per_cell; ++i)
        rhs(i) += g_JxW * face.shape_value(i, q);
    }
  }

  bool has_flux() const override
  {
    return true;
  }
  void flux(const Place<dim> & /* place */, const std::vector<Tensor<1, dim>> &gradients,
            std::vector<Tensor<1, dim>> &flux) const override
  {
    flux[0] = gradients[0];
  }
  void source(const Place<dim> &place, const Vector<double> &u, Vector<double> &s) const override
  {
    s(0) = lambda.at(place.material)->value(place.point) * std::exp(u(0)) +
           f.at(place.material)->value(place.point);
  }
  void boundary_flux(const Place<dim> &place, const types::boundary_id id,
                     const Tensor<1, dim> & /* normal */, const Vector<double> & /* u */,
                     Vector<double> &normal_flux) const override
  {
    if (dirichlet.count(id) == 0)
      normal_flux(0) = value_or_zero(neumann, id, place.point);
  }

  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }

  std::vector<Quantity> quantities(const Discretization<dim> &discretization,
                                   const FeVector &u) const override
  {
    const Evaluation evaluation = evaluate(*this, discretization, u);
    const double reaction = reaction_energy(evaluation, factor.value_or(1.), u,
                                            [](const double u_i) { return std::exp(u_i); });
    std::vector<Quantity> result = {{"max u", extrema(u, discretization.communicator()).second},
                                    {"energy", evaluation.quadratic_energy + reaction}};
    for (const Quantity &flux : flux_quantities(discretization, evaluation, ids_of(dirichlet)))
      result.push_back(flux);
    return result;
  }

  /// On a branch λ is not that of the parameters, so that there is no residual to speak of.
  std::vector<NodalField> nodal_fields(const Discretization<dim> &discretization,
                                       const FeVector &u) const override
  {
    return {residual_field(*this, discretization, u)};
  }

  std::string cure_without_solution() const override
  {
    return "No steady state was found: lambda = " + lambda_text +
           " is probably beyond the fold, where none exists. Lower Bratu/Lambda, refine the mesh "
           "if "
           "it is coarse, or look for the fold of this problem with Continuation/Enabled.";
  }

private:
  /// λ where it is one number, which is what branches are followed over.
  static std::optional<double> factor_of(const MaterialFields<dim> &fields)
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

  std::string lambda_text;
  MaterialFields<dim> lambda;
  std::optional<double> factor; ///< none: λ is in the weights
  MaterialFields<dim> f;
  BoundaryFields<dim> dirichlet, neumann;
  std::vector<PeriodicSides> periodic;
  std::unique_ptr<Field<dim>> exact;
};

std::unique_ptr<Problem<2>> BratuPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Bratu<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> BratuPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Bratu<3>>(*this, regions);
}
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class BratuEquation>()
{
  return std::make_unique<BratuPhysics>();
}
} // namespace femgpu
