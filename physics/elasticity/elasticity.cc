#include "linalg/base/error.h"
#include "physics/data_checks.h"
#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elastic_quantities.h"
#include "physics/elasticity/elastic_supports.h"
#include "physics/elasticity/elasticity_parameters.h"
#include "physics/elasticity/locking.h"
#include "physics/parameter_fields.h"
#include "physics/physics.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
Point<dim> read_point(const std::string &path, const std::string &text, const MeshRegions &regions)
{
  Point<dim> point;
  if (const auto field = make_optional_field<dim>(path, text, dim, regions.without_time()))
    for (unsigned int c = 0; c < dim; ++c)
      point[c] = field->value(Point<dim>(), c);
  return point;
}

const std::string density_path = "Elasticity/Density";

/// The equation ρ ü − div σ = b + ρ (g − a_b), without ρ ü if the analysis is not transient, and
/// with σ·n = t − p n on boundaries. ElasticMaterials and ElasticSupports hold materials and
/// supports.
template <int dim>
class Elasticity final : public Problem<dim>
{
public:
  Elasticity(const ElasticityParameters &p, const MeshRegions &regions)
      : is_transient(regions.clock != nullptr), materials(p, regions), supports(p, regions),
        gravity(make_optional_field<dim>("Elasticity/Gravity", p.gravity, dim, regions)),
        base_acceleration(make_optional_field<dim>("Elasticity/Base acceleration",
                                                   p.base_acceleration, dim, regions)),
        traction(make_boundary_fields<dim>("Elasticity/Traction", p.traction, dim, regions,
                                           Variables::position, Places::sides_curves_and_points)),
        pressure(make_boundary_fields<dim>("Elasticity/Pressure", p.pressure, 1, regions,
                                           Variables::position, Places::boundary)),
        reports_reactions(p.reports_reactions),
        moment_point(read_point<dim>("Elasticity/Moment point", p.moment_point, regions)),
        exact(make_optional_field<dim>("Elasticity/Exact solution", p.exact_solution, dim, regions))
  {
    const MeshRegions steady = regions.without_time();
    if (!is_blank(p.body_force))
      body_force = make_material_fields<dim>("Elasticity/Body force", p.body_force, dim, regions);
    if (!is_blank(p.density))
      density = make_material_fields<dim>(density_path, p.density, 1, steady);
    else if (is_transient || gravity || base_acceleration)
      throw ParameterError(std::string(is_transient ? "A transient analysis of elasticity needs"
                                       : gravity    ? "Elasticity/Gravity needs"
                                                    : "Elasticity/Base acceleration needs") +
                               " the density of each material. Set " + density_path +
                               ", for example 7850 for steel in kg/m^3.",
                           density_path);
    if (is_transient) {
      initial_displacement = make_optional_field<dim>("Elasticity/Initial displacement",
                                                      p.initial_displacement, dim, steady);
      initial_rate =
          make_optional_field<dim>("Elasticity/Initial velocity", p.initial_velocity, dim, steady);
    }
    for (const CurveOrPointSet &region : regions.curves_and_point_sets)
      if (const auto load = traction.find(region.id); load != traction.end())
        loads_of_curves_and_points[region.id] = load->second.get();
  }

  unsigned int n_components() const override
  {
    return dim;
  }
  std::string solution_name() const override
  {
    return "displacement";
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    auto result = supports.named_boundaries();
    result.emplace_back("Elasticity/Traction", ids_of(traction));
    result.emplace_back("Elasticity/Pressure", ids_of(pressure));
    return result;
  }

  void check(const Mesh<dim> &mesh, const unsigned int degree) const override
  {
    materials.check(mesh);
    supports.check(mesh, degree, is_transient);
  }
  void check_data(const Discretization<dim> &discretization) const override
  {
    if (!density.empty())
      check_sign(/* may be zero */ false, density_path, discretization, density);
  }

  bool has_capacity() const override
  {
    return is_transient;
  }
  unsigned int order_in_time() const override
  {
    return 2;
  }
  void capacity(const PointBatch<dim> &at, PointTerms &c) const override
  {
    density.at(at.material)->evaluate(at, c.value(0));
  }
  const Function<dim> *initial_value() const override
  {
    return initial_displacement.get();
  }
  const Function<dim> *initial_velocity() const override
  {
    return initial_rate.get();
  }
  TimeDependence time_dependence() const override
  {
    TimeDependence result;
    for (const auto &[id, field] : traction)
      if (field->any_depends_on_time())
        result.fluxes.insert(id);
    for (const auto &[id, field] : pressure)
      if (field->depends_on_time())
        result.fluxes.insert(id);
    const auto depends = [](const auto &field) { return field && field->any_depends_on_time(); };
    const bool everywhere =
        depends(gravity) || depends(base_acceleration) || materials.has_changing_temperature();
    for (const auto &entry : density)
      if (const auto force = body_force.find(entry.first);
          everywhere || (force != body_force.end() && depends(force->second)))
        result.sources.insert(entry.first);
    result.dirichlet = supports.moving_ids();
    return result;
  }

  std::vector<std::string> warnings(const Discretization<dim> &discretization,
                                    const unsigned int refinements) const override
  {
    return locking_warnings(discretization, materials, refinements);
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return supports.conditions();
  }
  std::set<types::boundary_id> symmetry_planes() const override
  {
    return supports.symmetry_planes();
  }

  /// Evaluates σ_ab = λ div u δ_ab + μ (∂_b u_a + ∂_a u_b) − p_T δ_ab.
  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override
  {
    const std::vector<ElasticModuli> moduli = materials.moduli(at.points(), at.material);
    const unsigned int n = at.size();
    for (unsigned int a = 0; a < dim; ++a)
      for (unsigned int b = 0; b < dim; ++b) {
        const unsigned int row = a * dim + b;
        double *const value = sigma.value(row), *const by_ab = sigma.gradient_derivative(row, a, b),
                      *const by_ba = sigma.gradient_derivative(row, b, a);
        const double *const g_ab = at.gradient(a, b), *const g_ba = at.gradient(b, a);
        for (unsigned int q = 0; q < n; ++q) {
          value[q] = moduli[q].mu * (g_ab[q] + g_ba[q]);
          by_ab[q] += moduli[q].mu;
          by_ba[q] += moduli[q].mu;
        }
      }
    for (unsigned int a = 0; a < dim; ++a) {
      double *const value = sigma.value(a * dim + a);
      for (unsigned int q = 0; q < n; ++q)
        value[q] -= moduli[q].thermal_pressure;
      for (unsigned int c = 0; c < dim; ++c) {
        double *const gradient_derivative = sigma.gradient_derivative(a * dim + a, c, c);
        const double *const g_cc = at.gradient(c, c);
        for (unsigned int q = 0; q < n; ++q) {
          value[q] += moduli[q].effective_lambda * g_cc[q];
          gradient_derivative[q] += moduli[q].effective_lambda;
        }
      }
    }
  }

  void source(const PointBatch<dim> &at, PointTerms &s) const override
  {
    if (!body_force.empty())
      for (unsigned int c = 0; c < dim; ++c)
        body_force.at(at.material)->evaluate(at, s.value(c), c);
    add_mass_force(at, gravity.get(), 1., s);
    add_mass_force(at, base_acceleration.get(), -1., s);
  }
  bool has_boundary_flux(const types::boundary_id id) const override
  {
    return traction.count(id) > 0 || pressure.count(id) > 0;
  }

  /// Evaluates t − p n with the outward normal n, in Pa.
  void boundary_flux(const PointBatch<dim> &at, PointTerms &g) const override
  {
    if (const auto field = traction.find(at.boundary); field != traction.end())
      for (unsigned int c = 0; c < dim; ++c)
        field->second->evaluate(at, g.value(c), c);
    if (const auto field = pressure.find(at.boundary); field != pressure.end()) {
      std::vector<double> p(at.size());
      field->second->evaluate(at, p.data());
      for (unsigned int c = 0; c < dim; ++c)
        for (unsigned int q = 0; q < at.size(); ++q)
          g.value(c)[q] -= p[q] * (*at.normals)[q][c];
    }
  }

  std::map<types::boundary_id, const Function<dim> *> curve_and_point_loads() const override
  {
    return loads_of_curves_and_points;
  }

  const Field<dim> *exact_solution() const override
  {
    return exact.get();
  }

  /**
   * Returns strain, stress, principal stresses (1 is the largest), von Mises stress and, if a yield
   * stress is given, the safety factor. Tensors have the components in the space of the mesh. In
   * 2D, the out-of-plane components are separate fields, strain_zz and stress_zz.
   */
  std::vector<DerivedField> derived_fields() const override
  {
    std::vector<DerivedField> fields = {{"strain", 2}, {"stress", 2}};
    if (dim == 2)
      fields.insert(fields.end(), {{"strain_zz", 0}, {"stress_zz", 0}});
    for (const char *const name :
         {"principal_stress_1", "principal_stress_2", "principal_stress_3"})
      fields.push_back({name, 0});
    fields.push_back({"von_mises_stress", 0, /* is_nonnegative */ true});
    if (materials.has_yield_stress())
      fields.push_back({"safety_factor", 0, /* is_nonnegative */ true});
    return fields;
  }

  void evaluate_derived_fields(const PointBatch<dim> &at, PointRows &numbers) const override
  {
    const auto moduli = materials.moduli(at.points(), at.material);
    const auto yield = materials.yield_stress(at.points(), at.material);
    std::vector<double *> rows; // looked up once: a look-up takes longer than writing a number
    for (unsigned int r = 0; r < 2 * dim * dim + (dim == 2 ? 6 : 4) + (yield.empty() ? 0 : 1); ++r)
      rows.push_back(numbers[r]);
    for (unsigned int q = 0; q < at.size(); ++q) {
      const ElasticState state = materials.state(moduli[q], at, q);
      unsigned int row = 0;
      for (const auto *const tensor : {&state.strain, &state.stress})
        for (unsigned int a = 0; a < dim; ++a)
          for (unsigned int b = 0; b < dim; ++b)
            rows[row++][q] = (*tensor)[a][b];
      for (const auto *const tensor : {&state.strain, &state.stress})
        if (dim == 2)
          rows[row++][q] = (*tensor)[2][2];
      const double equivalent = von_mises(state.stress);
      for (const double stress : principal_stresses(state.stress))
        rows[row++][q] = stress;
      rows[row++][q] = equivalent;
      if (!yield.empty())
        rows[row][q] = safety_factor(yield[q], equivalent);
    }
  }

  std::string hypothesis() const override
  {
    return dim == 3 ? "" : materials.is_in_plane_stress() ? "plane stress" : "plane strain";
  }
  std::vector<std::string> base_units() const override
  {
    return is_transient ? std::vector<std::string>{"length", "force", "time"}
                        : std::vector<std::string>{"length", "force"};
  }
  std::map<std::string, Unit> field_units(const std::vector<Unit> &base) const override
  {
    std::map<std::string, Unit> units = {{"displacement", base[0]}};
    if (is_transient) {
      units["velocity"] = base[0] / base[2];
      units["acceleration"] = base[0] / (base[2] * base[2]);
    }
    for (const char *const name : {"stress", "stress_zz", "principal_stress_1",
                                   "principal_stress_2", "principal_stress_3", "von_mises_stress"})
      units[name] = base[1] / (base[0] * base[0]);
    return units;
  }
  /// Returns velocity and acceleration in a transient analysis.
  std::vector<NodalField> nodal_fields(DiscreteSolution<dim> &solution) const override
  {
    std::vector<NodalField> result;
    result.reserve(2); // a copy would have no ghost values
    const Storage *const of_step = this->storage();
    const auto add = [&](const char *const name, const FeVector *const values) {
      result.push_back({name, solution.discretization().make_vector()});
      if (values != nullptr)
        result.back().values.copy_locally_owned_data_from(*values);
      result.back().values.update_ghost_values();
    };
    if (is_transient) {
      add("velocity", of_step != nullptr ? of_step->velocity : nullptr);
      add("acceleration", of_step != nullptr ? of_step->acceleration : nullptr);
    }
    return result;
  }
  std::unique_ptr<CellObserver<dim>>
  observer(const Discretization<dim> &discretization) const override
  {
    return elastic_observer<dim>(
        {materials, supports, moment_point, reports_reactions, is_transient}, discretization);
  }
  std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const override
  {
    return solution.observer_quantities();
  }

private:
  /// Adds @p factor ρ times @p acceleration to @p s; nothing if @p acceleration is nullptr.
  void add_mass_force(const PointBatch<dim> &at, const Field<dim> *const acceleration,
                      const double factor, PointTerms &s) const
  {
    if (acceleration == nullptr)
      return;
    std::vector<double> rho(at.size()), of_direction(at.size());
    density.at(at.material)->evaluate(at, rho.data());
    for (unsigned int c = 0; c < dim; ++c) {
      acceleration->evaluate(at, of_direction.data(), c);
      for (unsigned int q = 0; q < at.size(); ++q)
        s.value(c)[q] += factor * rho[q] * of_direction[q];
    }
  }

  bool is_transient;
  ElasticMaterials<dim> materials;
  ElasticSupports<dim> supports;
  MaterialFields<dim> body_force, density;
  std::unique_ptr<Field<dim>> gravity, base_acceleration, initial_displacement, initial_rate;
  BoundaryFields<dim> traction, pressure;
  std::map<types::boundary_id, const Function<dim> *>
      loads_of_curves_and_points; ///< the loads in `traction` on curves and points
  bool reports_reactions;
  Point<dim> moment_point;
  std::unique_ptr<Field<dim>> exact;
};
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class ElasticityEquation>()
{
  return std::make_unique<PhysicsOf<ElasticityParameters, Elasticity>>();
}
} // namespace femgpu
