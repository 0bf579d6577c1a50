#include "linalg/base/error.h"
#include "physics/conductivity.h"
#include "physics/mean_value.h"
#include "physics/mesh/mesh_parts.h"
#include "physics/mesh/periodicity.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"
#include "physics/residual.h"

#include <deal.II/base/parameter_acceptor.h>
#include <deal.II/base/patterns.h>

#include <algorithm>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Poisson": −∇·(k∇u) = f.
class PoissonPhysics final : public Physics, public ParameterAcceptor
{
public:
  PoissonPhysics() : ParameterAcceptor("/Poisson")
  {
    add_parameter(
        "Coefficient", coefficient,
        "k > 0 in -div(k grad u) = f: an expression of x, y, z, or one for each direction, "
        "'k_x, k_y', and k_z in 3D; for materials by id or name 'k; ids: k; ids: k_x, "
        "k_y', the entry without ids for all others.");
    add_parameter("Right-hand side", right_hand_side,
                  "f; expression of x, y, z; for materials 'f; ids: f'. Must be given.");
    add_parameter("Dirichlet", dirichlet,
                  "u = g on parts of the boundary: 'ids: g; ids: g', as '0, 1: sin(pi*x); 2: 0'.");
    add_parameter("Neumann", neumann,
                  "k du/dn = g on parts of the boundary: 'ids: g; ...'. Parts that are not named "
                  "anywhere have k du/dn = 0.");
    add_parameter("Robin", robin,
                  "k du/dn + a u = g, a >= 0, on parts of the boundary: 'ids: a, g; ...'.");
    add_parameter("Periodic", periodic,
                  "Pairs of sides on which u and its flux are the same, with the axis along which "
                  "the second is the first one moved: 'left, right: x; 2, 3: y'.");
    add_parameter("Compatibility tolerance", compatibility_tolerance,
                  "Without Dirichlet and Robin data u is known up to a constant; the one with mean "
                  "value 0 is taken. It exists only if what f and Neumann data bring in adds up to "
                  "zero. A defect up to this times the integrals of |f| and |g| is taken from f as "
                  "a constant: quadrature on coarse meshes and data of three digits leave as much; "
                  "above, the data are refused.",
                  prm, Patterns::Double(0., 1.));
    add_parameter("Exact solution", exact_solution,
                  "If given, errors in L2, H1 and Linf are computed; expression of x, y, z.");
  }

  std::vector<RequiredDatum> required_data() const override
  {
    return {{"Poisson/Right-hand side", right_hand_side, "1"}};
  }
  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;

  std::string coefficient = "1";
  std::string right_hand_side;
  std::string dirichlet;
  std::string neumann;
  std::string robin;
  std::string periodic;
  double compatibility_tolerance = 1e-3;
  std::string exact_solution;
};

template <int dim>
class Poisson final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Poisson(const PoissonPhysics &parameters, const MeshRegions &regions)
      : k("Poisson/Coefficient", parameters.coefficient, regions),
        f(make_material_fields<dim>("Poisson/Right-hand side", parameters.right_hand_side, 1,
                                    regions)),
        dirichlet(make_boundary_fields<dim>("Poisson/Dirichlet", parameters.dirichlet, 1, regions)),
        neumann(make_boundary_fields<dim>("Poisson/Neumann", parameters.neumann, 1, regions)),
        robin(make_boundary_fields<dim>("Poisson/Robin", parameters.robin, 2, regions)),
        periodic(parse_periodic_sides("Poisson/Periodic", parameters.periodic, dim, regions)),
        exact(make_optional_field<dim>("Poisson/Exact solution", parameters.exact_solution, 1)),
        compatibility_tolerance(parameters.compatibility_tolerance)
  {
    refuse_overlap("Poisson/Neumann", neumann, dirichlet);
    refuse_overlap("Poisson/Robin", robin, dirichlet);
    refuse_overlap("Poisson/Robin", robin, neumann);
    for (const auto &[path, ids] : named_boundaries())
      if (path != "Poisson/Periodic")
        refuse_data_on("Poisson/Periodic", periodic, path, ids);
  }

  unsigned int n_components() const override
  {
    return 1;
  }
  std::vector<std::string> component_names() const override
  {
    return {"u"};
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    return {{"Poisson/Dirichlet", ids_of(dirichlet)},
            {"Poisson/Neumann", ids_of(neumann)},
            {"Poisson/Robin", ids_of(robin)},
            {"Poisson/Periodic", ids_of(periodic)}};
  }

  void check(const Mesh<dim> &mesh,
             const DiscretizationParameters & /* parameters */) const override
  {
    require_matching_sides("Poisson/Periodic", mesh, periodic);
    std::set<types::boundary_id> held = ids_of(dirichlet);
    held.merge(ids_without_zeros(robin));
    require_held_parts(mesh, periodic, {held, {}, "Poisson/Dirichlet or Poisson/Robin"},
                       "Poisson/Dirichlet");
  }

  void check_data(const Discretization<dim> &discretization) const override
  {
    k.check(discretization);
    check_robin(discretization);
    if (!fixes_mean())
      return;
    const Compatibility data = compatibility(*this, discretization);
    if (data.relative_defect() <= compatibility_tolerance)
      return;
    std::ostringstream text;
    text << "Without Dirichlet and Robin data Poisson's equation has no solution here: the "
            "integrals of Poisson/Right-hand side and Poisson/Neumann add up to "
         << data.defect << ", and should to 0; those of their absolute values to " << data.magnitude
         << ". The relative defect is " << data.relative_defect()
         << ", above Poisson/Compatibility tolerance = " << compatibility_tolerance
         << ". Mend the data, name a boundary id in Poisson/Dirichlet, or raise the tolerance.";
    throw ParameterError(text.str(), "Poisson/Right-hand side");
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return conditions_of(dirichlet);
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    return periodic;
  }
  bool fixes_mean() const override
  {
    return dirichlet.empty() && robin.empty();
  }

  /// K_ij = (k∇φ_j, ∇φ_i), f_i = (f, φ_i)
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override
  {
    k.add_cell_terms(fe, K);
    add_source(fe, f, rhs);
  }

  bool has_face_terms(const types::boundary_id id) const override
  {
    return neumann.count(id) > 0 || robin.count(id) > 0;
  }

  /// Neumann: f_i += <g, φ_i>; Robin: K_ij += <a φ_j, φ_i> as well
  void add_face_terms(const FEFaceValues<dim> &face, const types::boundary_id id, CellMatrix &K,
                      CellVector &rhs) const override
  {
    const bool is_robin = robin.count(id) > 0;
    const Field<dim> &data = is_robin ? *robin.at(id) : *neumann.at(id);
    const unsigned int n = face.dofs_per_cell;
    for (const unsigned int q : face.quadrature_point_indices()) {
      const auto &point = face.quadrature_point(q);
      const double g_JxW = data.value(point, is_robin ? 1 : 0) * face.JxW(q);
      const double a_JxW = is_robin ? data.value(point, 0) * face.JxW(q) : 0.;
      for (unsigned int i = 0; i < n; ++i) {
        rhs(i) += g_JxW * face.shape_value(i, q);
        for (unsigned int j = 0; a_JxW != 0. && j < n; ++j)
          K(i, j) += a_JxW * face.shape_value(i, q) * face.shape_value(j, q);
      }
    }
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
  void source(const Place<dim> &place, const Vector<double> & /* u */,
              Vector<double> &s) const override
  {
    s(0) = f.at(place.material)->value(place.point);
  }
  void boundary_flux(const Place<dim> &place, const types::boundary_id id,
                     const Tensor<1, dim> & /* normal */, const Vector<double> &u,
                     Vector<double> &normal_flux) const override
  {
    if (dirichlet.count(id) > 0)
      return;
    normal_flux(0) = value_or_zero(neumann, id, place.point);
    if (const auto data = robin.find(id); data != robin.end())
      normal_flux(0) =
          data->second->value(place.point, 1) - data->second->value(place.point, 0) * u(0);
  }

  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }

  std::vector<std::shared_ptr<DataPostprocessor<dim>>> postprocessors() const override
  {
    return {make_flux_output(k)};
  }

  std::vector<Quantity> quantities(const Discretization<dim> &discretization,
                                   const FeVector &u) const override
  {
    if (fixes_mean())
      return {
          {"compatibility defect", compatibility(*this, discretization).relative_defect(), false}};
    if (dirichlet.empty())
      return {};
    return flux_quantities(discretization, evaluate(*this, discretization, u), ids_of(dirichlet));
  }

private:
  /// Collective. @throws ParameterError if a is negative somewhere, or zero everywhere
  void check_robin(const Discretization<dim> &discretization) const
  {
    if (robin.empty())
      return;
    const double largest = largest_coefficient("a", "Poisson/Robin", discretization, robin);
    if (dirichlet.empty() && largest == 0.)
      throw ParameterError(
          "a of Poisson/Robin is 0 everywhere, so that u is known up to a constant "
          "only. Write such conditions in Poisson/Neumann.",
          "Poisson/Robin");
  }

  Conductivity<dim> k;
  MaterialFields<dim> f;
  BoundaryFields<dim> dirichlet, neumann, robin;
  std::vector<PeriodicSides> periodic;
  std::unique_ptr<Field<dim>> exact;
  double compatibility_tolerance;
};

std::unique_ptr<Problem<2>> PoissonPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Poisson<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> PoissonPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Poisson<3>>(*this, regions);
}
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class PoissonEquation>()
{
  return std::make_unique<PoissonPhysics>();
}
} // namespace femgpu
