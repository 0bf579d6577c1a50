#include "physics/elasticity/elastic_loads.h"

namespace femgpu
{
using namespace dealii;

template <int dim>
ElasticLoads<dim>::ElasticLoads(const ElasticityParameters &p, const MeshRegions &regions)
    : body_force(make_optional_field<dim>("Elasticity/Body force", p.body_force, dim, regions)),
      traction(make_boundary_fields<dim>("Elasticity/Traction", p.traction, dim, regions,
                                         Variables::position, true)),
      pressure(make_boundary_fields<dim>("Elasticity/Pressure", p.pressure, 1, regions))
{
  for (const LowerPart &part : regions.lower_parts)
    lower_ids.insert(part.id);
}

template <int dim>
std::map<types::boundary_id, const Function<dim> *> ElasticLoads<dim>::of_lower_parts() const
{
  std::map<types::boundary_id, const Function<dim> *> result;
  for (const auto &[id, field] : traction)
    if (lower_ids.count(id) > 0)
      result[id] = field.get();
  return result;
}

template <int dim>
void ElasticLoads<dim>::add_body_force(const PointBatch<dim> &at, PointTerms &s) const
{
  if (!body_force)
    return;
  for (unsigned int c = 0; c < dim; ++c)
    body_force->evaluate(at, s.value(c), c);
}

template <int dim>
void ElasticLoads<dim>::add_traction(const PointBatch<dim> &at, PointTerms &g) const
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

template <int dim>
auto ElasticLoads<dim>::named_boundaries() const
    -> std::vector<std::pair<std::string, std::set<BoundaryId>>>
{
  return {{"Elasticity/Traction", ids_of(traction)}, {"Elasticity/Pressure", ids_of(pressure)}};
}

template class ElasticLoads<2>;
template class ElasticLoads<3>;
} // namespace femgpu
