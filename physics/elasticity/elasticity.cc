#include "physics/elasticity/elastic_loads.h"
#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elastic_quantities.h"
#include "physics/elasticity/elastic_supports.h"
#include "physics/elasticity/elasticity_parameters.h"
#include "physics/elasticity/locking.h"
#include "physics/elasticity/stress_output.h"
#include "physics/physics.h"
#include "physics/problem_tools.h"

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
Point<dim> read_point(const std::string &path, const std::string &text, const MeshRegions &regions)
{
  Point<dim> point;
  if (const auto field = make_optional_field<dim>(path, text, dim, regions))
    for (unsigned int c = 0; c < dim; ++c)
      point[c] = field->value(Point<dim>(), c);
  return point;
}

/// −div σ = b; its parts are those of the parameters: materials, supports, loads.
template <int dim>
class Elasticity final : public Problem<dim>
{
public:
  Elasticity(const ElasticityParameters &p, const MeshRegions &regions)
      : materials(p, regions), supports(p, regions), loads(p, regions),
        reports_reactions(p.reports_reactions),
        moment_point(read_point<dim>("Elasticity/Moment point", p.moment_point, regions)),
        exact(make_optional_field<dim>("Elasticity/Exact solution", p.exact_solution, dim, regions))
  {}

  unsigned int n_components() const override
  {
    return dim;
  }
  std::vector<std::string> component_names() const override
  {
    return std::vector<std::string>(dim, "displacement");
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    auto result = supports.named_boundaries();
    for (const auto &named : loads.named_boundaries())
      result.push_back(named);
    return result;
  }

  void check(const Mesh<dim> &mesh,
             const DiscretizationParameters & /* parameters */) const override
  {
    materials.check(mesh);
    supports.check(mesh);
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

  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override;
  void source(const PointBatch<dim> &at, PointTerms &s) const override
  {
    loads.add_body_force(at, s);
  }
  bool has_boundary_flux(const types::boundary_id id) const override
  {
    return loads.acts_on(id);
  }
  void boundary_flux(const PointBatch<dim> &at, PointTerms &g) const override
  {
    loads.add_traction(at, g);
  }

  std::map<types::boundary_id, const Function<dim> *> loads_of_lower_parts() const override
  {
    return loads.of_lower_parts();
  }

  const Field<dim> *exact_solution() const override
  {
    return exact.get();
  }
  std::vector<DerivedField> derived_fields() const override
  {
    return stress_fields(materials);
  }
  void derive(const PointBatch<dim> &at, PointRows &numbers) const override
  {
    derive_stress(materials, at, numbers);
  }
  std::vector<std::string> base_units() const override
  {
    return {"length", "force"};
  }
  std::map<std::string, Unit> field_units(const std::vector<Unit> &base) const override
  {
    std::map<std::string, Unit> units = {{"displacement", base[0]}};
    for (const char *const name : {"stress", "stress_zz", "principal_stress_1",
                                   "principal_stress_2", "principal_stress_3", "von_mises_stress"})
      units[name] = base[1] / (base[0] * base[0]);
    return units;
  }
  std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const override
  {
    return elastic_quantities<dim>({materials, supports, loads, moment_point, reports_reactions},
                                   solution);
  }

private:
  ElasticMaterials<dim> materials;
  ElasticSupports<dim> supports;
  ElasticLoads<dim> loads;
  bool reports_reactions;
  Point<dim> moment_point;
  std::unique_ptr<Field<dim>> exact;
};

/// σ_ab = λ div u δ_ab + μ (∂_b u_a + ∂_a u_b) − p_T δ_ab
template <int dim>
void Elasticity<dim>::flux(const PointBatch<dim> &at, PointTerms &sigma) const
{
  const std::vector<ElasticModuli> moduli = materials.moduli(at.points(), at.material);
  const unsigned int n = at.size();
  std::vector<PlaneLaw> laws;
  laws.reserve(n);
  for (const ElasticModuli &m : moduli)
    laws.push_back(materials.law(m));
  for (unsigned int a = 0; a < dim; ++a)
    for (unsigned int b = 0; b < dim; ++b) {
      const unsigned int row = a * dim + b;
      double *const value = sigma.value(row), *const by_ab = sigma.by_gradient(row, a, b),
                    *const by_ba = sigma.by_gradient(row, b, a);
      const double *const g_ab = at.gradient(a, b), *const g_ba = at.gradient(b, a);
      for (unsigned int q = 0; q < n; ++q) {
        value[q] = laws[q].mu * (g_ab[q] + g_ba[q]);
        by_ab[q] += laws[q].mu;
        by_ba[q] += laws[q].mu;
      }
    }
  for (unsigned int a = 0; a < dim; ++a) {
    double *const value = sigma.value(a * dim + a);
    for (unsigned int q = 0; q < n; ++q)
      value[q] -= laws[q].thermal_pressure;
    for (unsigned int c = 0; c < dim; ++c) {
      double *const by_gradient = sigma.by_gradient(a * dim + a, c, c);
      const double *const g_cc = at.gradient(c, c);
      for (unsigned int q = 0; q < n; ++q) {
        value[q] += laws[q].lambda * g_cc[q];
        by_gradient[q] += laws[q].lambda;
      }
    }
  }
}
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class ElasticityEquation>()
{
  return std::make_unique<PhysicsOf<ElasticityParameters, Elasticity>>();
}
} // namespace femgpu
