#include "physics/elasticity/elastic_loads.h"
#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elastic_quantities.h"
#include "physics/elasticity/elastic_stiffness.h"
#include "physics/elasticity/elastic_supports.h"
#include "physics/elasticity/elasticity_parameters.h"
#include "physics/elasticity/locking.h"
#include "physics/elasticity/stress_output.h"
#include "physics/expression_text.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"

namespace femgpu
{
using namespace dealii;

namespace
{
class ElasticityPhysics final : public Physics, public ElasticityParameters
{
public:
  std::vector<RequiredDatum> required_data() const override
  {
    if (!is_blank(lambda) || !is_blank(mu))
      return {};
    return {{"Elasticity/Young's modulus", young, "210e9"},
            {"Elasticity/Poisson's ratio", poisson, "0.3"}};
  }
  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;
};

template <int dim>
Point<dim> read_point(const std::string &path, const std::string &text)
{
  Point<dim> point;
  if (const auto field = make_optional_field<dim>(path, text, dim))
    for (unsigned int c = 0; c < dim; ++c)
      point[c] = field->value(Point<dim>(), c);
  return point;
}

/// −div σ = b; its parts are those of the parameters: materials, supports, loads.
template <int dim>
class Elasticity final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Elasticity(const ElasticityParameters &p, const MeshRegions &regions)
      : materials(p, regions), supports(p, regions), loads(p, regions),
        reports_reactions(p.reports_reactions),
        moment_point(read_point<dim>("Elasticity/Moment point", p.moment_point)),
        exact(make_optional_field<dim>("Elasticity/Exact solution", p.exact_solution, dim))
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

  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override;

  bool has_face_terms(const types::boundary_id id) const override
  {
    return loads.acts_on(id);
  }
  void add_face_terms(const FEFaceValues<dim> &face, const types::boundary_id id,
                      CellMatrix & /* K */, CellVector &rhs) const override
  {
    loads.add_face_terms(face, id, rhs);
  }

  bool has_flux() const override
  {
    return true;
  }
  void flux(const Place<dim> &place, const std::vector<Tensor<1, dim>> &gradients,
            std::vector<Tensor<1, dim>> &flux) const override;
  void source(const Place<dim> &place, const Vector<double> & /* u */,
              Vector<double> &s) const override;
  void boundary_flux(const Place<dim> &place, const types::boundary_id id,
                     const Tensor<1, dim> &normal, const Vector<double> & /* u */,
                     Vector<double> &normal_flux) const override
  {
    supports.set_free_directions(id, normal, loads.on_face(id, place.point, normal), normal_flux);
  }

  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }
  std::vector<std::shared_ptr<DataPostprocessor<dim>>> postprocessors() const override
  {
    return {std::make_shared<StressOutput<dim>>(materials)};
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
  std::vector<Quantity> quantities(const Discretization<dim> &discretization,
                                   const FeVector &u) const override
  {
    return elastic_quantities<dim>({materials, supports, loads, moment_point, reports_reactions},
                                   discretization, u);
  }

private:
  ElasticMaterials<dim> materials;
  ElasticSupports<dim> supports;
  ElasticLoads<dim> loads;
  bool reports_reactions;
  Point<dim> moment_point;
  std::unique_ptr<Field<dim>> exact;
};

/**
 * K_ij = λ (div φ_i, div φ_j) + 2μ (ε(φ_i), ε(φ_j)), f_i = (b, φ_i) + (p_T, div φ_i). Shape
 * function i has the one component a, and j has b: with gradients g of the scalar functions the
 * integrand is λ g_i[a] g_j[b] + μ g_i[b] g_j[a] + μ δ_ab g_i·g_j.
 */
template <int dim>
void Elasticity<dim>::add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const
{
  const auto material = fe.get_cell()->material_id();
  if (materials.is_uniform(material)) {
    const PlaneLaw law = materials.law({Point<dim>(), material});
    add_elastic_stiffness(fe, law.lambda, law.mu, K);
  }
  else {
    std::vector<double> lambda, mu;
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const PlaneLaw law = materials.law({fe.quadrature_point(q), material});
      lambda.push_back(law.lambda);
      mu.push_back(law.mu);
    }
    add_elastic_stiffness(fe, lambda, mu, K);
  }
  loads.add_cell_terms(fe, rhs);
  add_thermal_terms(fe, materials, rhs);
}

template <int dim>
void Elasticity<dim>::flux(const Place<dim> &place, const std::vector<Tensor<1, dim>> &gradients,
                           std::vector<Tensor<1, dim>> &flux) const
{
  const PlaneLaw law = materials.law(place);
  double divergence = 0.;
  for (unsigned int c = 0; c < dim; ++c)
    divergence += gradients[c][c];
  for (unsigned int a = 0; a < dim; ++a)
    for (unsigned int b = 0; b < dim; ++b)
      flux[a][b] = law.mu * (gradients[a][b] + gradients[b][a]) +
                   (a == b ? law.lambda * divergence - law.thermal_pressure : 0.);
}

template <int dim>
void Elasticity<dim>::source(const Place<dim> &place, const Vector<double> & /* u */,
                             Vector<double> &s) const
{
  const Tensor<1, dim> b = loads.in_cell(place.point);
  for (unsigned int c = 0; c < dim; ++c)
    s(c) = b[c];
}

std::unique_ptr<Problem<2>> ElasticityPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Elasticity<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> ElasticityPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Elasticity<3>>(*this, regions);
}
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class ElasticityEquation>()
{
  return std::make_unique<ElasticityPhysics>();
}
} // namespace femgpu
