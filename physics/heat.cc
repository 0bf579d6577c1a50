#include "linalg/base/error.h"
#include "linalg/expressions/expression_compiler.h"
#include "physics/conductivity.h"
#include "physics/expression_text.h"
#include "physics/mesh/mesh_parts.h"
#include "physics/mesh/periodicity.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"
#include "physics/residual.h"

#include <deal.II/base/parameter_acceptor.h>

#include <algorithm>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Heat": −∇·(k∇u) + c φ(u) = f, and k ∂u/∂n = q − c (φ(u) − φ(g)) on the boundary.
class HeatPhysics final : public Physics, public ParameterAcceptor
{
public:
  HeatPhysics() : ParameterAcceptor("/Heat")
  {
    add_parameter("Constants", constants,
                  "Numbers that the expressions below may name: 'sigma=5.67e-8, eps=0.8'.");
    add_parameter(
        "Conductivity", conductivity,
        "k > 0 in -div(k grad u) + c phi(u) = f, in W/(m K): an expression of x, y, z, or "
        "one for each direction, 'k_x, k_y', and k_z in 3D; for materials by id or name "
        "'k; ids: k; ids: k_x, k_y', the entry without ids for all others. Must be given.");
    add_parameter("Source", source,
                  "f, in W/m^3; expression of x, y, z; for materials 'f; ids: f'.");
    add_parameter("Reaction", reaction,
                  "phi(u); expression of u, as u^4. Empty, or a + b*u with numbers: the problem is "
                  "linear.");
    add_parameter("Reaction derivative", derivative,
                  "d phi/du; expression of u, as 4*u^3. Empty: found by differentiation.");
    add_parameter("Reaction range", range,
                  "Where u is expected, 'low, high': there a derivative that is given is compared "
                  "with phi. "
                  "The energy of the reaction is counted from u = 0, or, where the problem is not "
                  "linear, from the end of the range that is closest to it.",
                  prm, Patterns::List(Patterns::Double(), 2, 2));
    add_parameter(
        "Reaction coefficient", coefficient,
        "c >= 0 inside the body; expression of x, y, z; for materials 'c; ids: c'. Empty: "
        "none.");
    add_parameter("Boundary reaction", boundary_reaction,
                  "k du/dn = -c (phi(u) - phi(g)), c >= 0, on parts of the boundary: 'ids: c, g; "
                  "...'. With phi = u^4, c = emissivity times 5.67e-8 and u in K, parts radiate to "
                  "surroundings of temperature g.");
    add_parameter("Neumann", neumann,
                  "Heat flux k du/dn = q into the body, in W/m^2, on parts of the boundary: 'ids: "
                  "q; ...'; adds to a boundary reaction. Parts that are not named anywhere have "
                  "k du/dn = 0.");
    add_parameter("Dirichlet", dirichlet,
                  "u = g on parts of the boundary: 'ids: g; ids: g'. May be empty if a reaction "
                  "fixes u.");
    add_parameter("Periodic", periodic,
                  "Pairs of sides on which u and the heat flux are the same, with the axis along "
                  "which the second is the first one moved: 'left, right: x; 2, 3: y'.");
    add_parameter("Initial guess", initial_guess,
                  "Where the iteration for u begins in the first cycle; expression of x, y, z.");
    add_parameter("Exact solution", exact_solution,
                  "If given, errors in L2, H1 and Linf are computed; expression of x, y, z.");
  }

  std::vector<RequiredDatum> required_data() const override
  {
    return {{"Heat/Conductivity", conductivity, "200"}};
  }
  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;

  std::string constants;
  std::string conductivity;
  std::string source = "0";
  std::string reaction;
  std::string derivative;
  std::vector<double> range = {-1., 1.};
  std::string coefficient;
  std::string boundary_reaction;
  std::string neumann;
  std::string dirichlet;
  std::string periodic;
  std::string initial_guess = "0";
  std::string exact_solution;
};

/// φ, if there is one. @throws ParameterError
std::optional<linalg::ExpressionLaw> make_law(const HeatPhysics &parameters)
{
  const NamedConstants constants("Heat/Constants", parameters.constants);
  if (is_blank(parameters.reaction) && !is_blank(parameters.derivative))
    throw ParameterError(
        "Heat/Reaction derivative would have no effect: give Heat/Reaction, too, or "
        "leave both empty.",
        "Heat/Reaction derivative");
  if (is_blank(parameters.reaction))
    return {};
  if (is_blank(parameters.coefficient) && is_blank(parameters.boundary_reaction))
    throw ParameterError("Heat/Reaction would have no effect: give Heat/Reaction coefficient or "
                         "Heat/Boundary reaction, or leave it empty.",
                         "Heat/Reaction");
  try {
    return linalg::make_expression_law(parameters.reaction, parameters.derivative,
                                       constants.numbers(),
                                       {parameters.range.front(), parameters.range.back()});
  }
  catch (const ParameterError &error) {
    throw ParameterError("Heat/Reaction or Heat/Reaction derivative: " + std::string(error.what()),
                         "Heat/Reaction");
  }
}

/// The form of a law that is linear in u, if there is one.
std::optional<linalg::AffineForm> affine_form(const std::optional<linalg::ExpressionLaw> &law)
{
  return law ? linalg::affine_form(law->phi) : std::nullopt;
}

/**
 * Reactions inside and on the boundary have one law, and nodal quadrature makes both diagonal. They
 * take heat away, so that A u = b − W φ(u): λ = −1. With φ growing in u there is one solution, and
 * the Jacobian A + W φ'(u) is positive definite wherever A or W φ' is. A law α + β u makes terms of
 * K and f instead, by the quadrature of all others, and the problem is linear.
 */
template <int dim>
class Heat final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Heat(const HeatPhysics &p, const MeshRegions &regions)
      : constants("Heat/Constants", p.constants), law(make_law(p)), affine(affine_form(law)),
        law_range({p.range.front(), p.range.back()}),
        k("Heat/Conductivity", constants.insert_into(p.conductivity), regions),
        f(make_material_fields<dim>("Heat/Source", constants.insert_into(p.source), 1, regions)),
        c(make_material_fields<dim>(
            "Heat/Reaction coefficient",
            is_blank(p.coefficient) ? "0" : constants.insert_into(p.coefficient), 1, regions)),
        boundary_reaction(make_boundary_fields<dim>(
            "Heat/Boundary reaction", constants.insert_into(p.boundary_reaction), 2, regions)),
        neumann(make_boundary_fields<dim>("Heat/Neumann", constants.insert_into(p.neumann), 1,
                                          regions)),
        dirichlet(make_boundary_fields<dim>("Heat/Dirichlet", constants.insert_into(p.dirichlet), 1,
                                            regions)),
        periodic(parse_periodic_sides("Heat/Periodic", p.periodic, dim, regions)),
        guess("Heat/Initial guess", {constants.insert_into(p.initial_guess)}),
        exact(make_optional_field<dim>("Heat/Exact solution",
                                       constants.insert_into(p.exact_solution), 1))
  {
    for (const auto &[material, field] : c)
      if (!field->is_constant() || field->value(Point<dim>()) != 0.)
        with_reaction.insert(material);
    refuse_overlap("Heat/Neumann", neumann, dirichlet);
    refuse_overlap("Heat/Boundary reaction", boundary_reaction, dirichlet);
    refuse_data_on("Heat/Periodic", periodic, "Heat/Dirichlet", ids_of(dirichlet));
    refuse_data_on("Heat/Periodic", periodic, "Heat/Neumann", ids_of(neumann));
    refuse_data_on("Heat/Periodic", periodic, "Heat/Boundary reaction", ids_of(boundary_reaction));
  }

  unsigned int n_components() const override
  {
    return 1;
  }
  std::vector<std::string> component_names() const override
  {
    return {"u"};
  }
  std::optional<linalg::Nonlinearity> nonlinearity() const override
  {
    if (!is_nonlinear())
      return {};
    return linalg::Nonlinearity{*law, -1.};
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    return {{"Heat/Dirichlet", ids_of(dirichlet)},
            {"Heat/Neumann", ids_of(neumann)},
            {"Heat/Boundary reaction", ids_of(boundary_reaction)},
            {"Heat/Periodic", ids_of(periodic)}};
  }

  void check(const Mesh<dim> &mesh, const DiscretizationParameters &parameters) const override
  {
    if (!law && (!with_reaction.empty() || !boundary_reaction.empty()))
      throw ParameterError("Heat/Reaction coefficient and Heat/Boundary reaction need a law; write "
                           "it in Heat/Reaction and Heat/Reaction derivative.",
                           "Heat/Reaction");
    std::set<types::boundary_id> held = ids_of(dirichlet);
    std::set<types::material_id> holding;
    if (!affine || affine->slope != 0.) { // a reaction that depends on u
      held.merge(ids_without_zeros(boundary_reaction));
      holding = with_reaction;
    }
    if (held.empty() && holding.empty())
      throw ParameterError("Without Dirichlet data and reaction u is known up to a constant only. "
                           "Name at least one boundary id in Heat/Dirichlet or Heat/Boundary "
                           "reaction, or give Heat/Reaction coefficient.",
                           "Heat/Dirichlet");
    if (is_nonlinear())
      require_nodal_quadrature("Heat with a nonlinear reaction", mesh, parameters);
    require_matching_sides("Heat/Periodic", mesh, periodic);
    require_held_parts(mesh, periodic, {held, holding, "Heat/Dirichlet or Heat/Boundary reaction"},
                       "Heat/Dirichlet");
  }

  void check_data(const Discretization<dim> &discretization) const override
  {
    k.check(discretization);
    refuse_negative("Heat/Reaction coefficient", discretization, c);
    largest_coefficient("c", "Heat/Boundary reaction", discretization, boundary_reaction);
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return conditions_of(dirichlet);
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    return periodic;
  }

  /// K_ij = (k∇φ_j, ∇φ_i), f_i = (f, φ_i), and a linear reaction
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override
  {
    k.add_cell_terms(fe, K);
    add_source(fe, f, rhs);
    const auto material = fe.get_cell()->material_id();
    if (affine && with_reaction.count(material) > 0)
      add_linear_reaction(fe, *c.at(material), K, rhs);
  }

  void add_cell_weights(const FEValues<dim> &nodal, CellVector &w) const override
  {
    if (!with_reaction.empty())
      add_nodal_weights(nodal, *c.at(nodal.get_cell()->material_id()), w);
  }

  bool has_face_terms(const types::boundary_id id) const override
  {
    return neumann.count(id) > 0 || boundary_reaction.count(id) > 0;
  }

  /// f_i += <q + c φ(g), φ_i>, and the rest of a linear reaction; that of any other is in the
  /// weights
  void add_face_terms(const FEFaceValues<dim> &face, const types::boundary_id id, CellMatrix &K,
                      CellVector &rhs) const override
  {
    const auto radiation = boundary_reaction.find(id);
    for (const unsigned int q : face.quadrature_point_indices()) {
      const Point<dim> &p = face.quadrature_point(q);
      double heat = value_or_zero(neumann, id, p);
      if (radiation != boundary_reaction.end())
        heat += radiation->second->value(p, 0) * law->value(radiation->second->value(p, 1));
      for (unsigned int i = 0; i < face.dofs_per_cell; ++i)
        rhs(i) += heat * face.JxW(q) * face.shape_value(i, q);
    }
    if (affine && radiation != boundary_reaction.end())
      add_linear_reaction(face, *radiation->second, K, rhs);
  }

  bool has_face_weights(const types::boundary_id id) const override
  {
    return is_nonlinear() && boundary_reaction.count(id) > 0;
  }
  void add_face_weights(const FEFaceValues<dim> &nodal, const types::boundary_id id,
                        CellVector &w) const override
  {
    add_nodal_weights(nodal, *boundary_reaction.at(id), w);
  }

  bool has_flux() const override
  {
    return true;
  }
  void flux(const Place<dim> &place, const std::vector<Tensor<1, dim>> &gradients,
            std::vector<Tensor<1, dim>> &flux) const override
  {
    flux[0] = k.flux(place, gradients[0]);
  }
  void source(const Place<dim> &place, const Vector<double> &u, Vector<double> &s) const override
  {
    s(0) = f.at(place.material)->value(place.point);
    if (!with_reaction.empty())
      s(0) -= c.at(place.material)->value(place.point) * law->value(u(0));
  }
  void boundary_flux(const Place<dim> &place, const types::boundary_id id,
                     const Tensor<1, dim> & /* normal */, const Vector<double> &u,
                     Vector<double> &normal_flux) const override
  {
    if (dirichlet.count(id) > 0)
      return;
    normal_flux(0) = value_or_zero(neumann, id, place.point);
    if (const auto data = boundary_reaction.find(id); data != boundary_reaction.end()) {
      const double there = law->value(data->second->value(place.point, 1));
      normal_flux(0) += data->second->value(place.point, 0) * (there - law->value(u(0)));
    }
  }

  const Function<dim> *initial_guess() const override
  {
    return &guess;
  }
  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }

  std::vector<Quantity> quantities(const Discretization<dim> &discretization,
                                   const FeVector &u) const override
  {
    const auto [least, largest] = extrema(u, discretization.communicator());
    const Evaluation evaluation = evaluate(*this, discretization, u);
    double energy = evaluation.quadratic_energy;
    if (is_nonlinear())
      energy +=
          reaction_energy(evaluation, -1., u, [&](const double u_i) { return potential(u_i); });
    std::vector<Quantity> result = {{"min u", least}, {"max u", largest}, {"energy", energy}};
    for (const Quantity &flux : flux_quantities(discretization, evaluation, ids_of(dirichlet)))
      result.push_back(flux);
    return result;
  }

  std::vector<std::shared_ptr<DataPostprocessor<dim>>> postprocessors() const override
  {
    return {make_flux_output(k)};
  }
  std::vector<NodalField> nodal_fields(const Discretization<dim> &discretization,
                                       const FeVector &u) const override
  {
    if (discretization.mesh().is_simplex && discretization.degree() > 1)
      return {};
    return {residual_field(*this, discretization, u)};
  }

  std::string cure_without_solution() const override
  {
    return "No steady state was found: Heat/Reaction should grow with u, or heat that it makes "
           "must be small; start from a better Heat/Initial guess, at which Heat/Reaction "
           "derivative is positive.";
  }

private:
  /// Is there a reaction that is not linear in u?
  bool is_nonlinear() const
  {
    return law && !affine &&
           !(with_reaction.empty() && ids_without_zeros(boundary_reaction).empty());
  }

  /// Of c (α + β u): K_ij += (c β φ_j, φ_i), f_i −= (c α, φ_i).
  void add_linear_reaction(const FEValuesBase<dim> &fe, const Field<dim> &c, CellMatrix &K,
                           CellVector &rhs) const
  {
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const double c_JxW = c.value(fe.quadrature_point(q)) * fe.JxW(q);
      for (const unsigned int i : fe.dof_indices()) {
        rhs(i) -= c_JxW * affine->constant * fe.shape_value(i, q);
        for (const unsigned int j : fe.dof_indices())
          K(i, j) += c_JxW * affine->slope * (fe.shape_value(i, q) * fe.shape_value(j, q));
      }
    }
  }

  /// Φ(u) = ∫ φ from that u on at which the energy is counted zero, by the rule of
  /// ExpressionLaw::excess() on equal parts: exact for polynomials φ of degree 6.
  double potential(const double u) const
  {
    constexpr int n_parts = 8;
    const double zero = std::clamp(0., law_range.low, law_range.high);
    const double part = (u - zero) / n_parts;
    double sum = 0.;
    for (int i = 0; i < n_parts; ++i) {
      const double begin = zero + i * part;
      sum += law->value(begin) * part + law->excess(begin, part);
    }
    return sum;
  }

  NamedConstants constants;
  std::optional<linalg::ExpressionLaw> law;
  std::optional<linalg::AffineForm> affine; ///< of the law, if it is linear in u
  linalg::LawRange law_range;
  Conductivity<dim> k;
  MaterialFields<dim> f, c;
  BoundaryFields<dim> boundary_reaction, neumann, dirichlet;
  std::vector<PeriodicSides> periodic;
  Field<dim> guess;
  std::unique_ptr<Field<dim>> exact;
  std::set<types::material_id> with_reaction; ///< those in which c is not 0
};

std::unique_ptr<Problem<2>> HeatPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Heat<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> HeatPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Heat<3>>(*this, regions);
}
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class HeatEquation>()
{
  return std::make_unique<HeatPhysics>();
}
} // namespace femgpu
