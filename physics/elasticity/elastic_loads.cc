#include "physics/elasticity/elastic_loads.h"

namespace femgpu
{
using namespace dealii;

namespace
{
/// f_i += (force, φ_i) at quadrature point @p q; shape function i has one component.
template <int dim>
void add_force(const FEValuesBase<dim> &fe, const unsigned int q, const Tensor<1, dim> &force,
               Vector<double> &f)
{
  for (unsigned int i = 0; i < fe.dofs_per_cell; ++i)
    f(i) +=
        force[fe.get_fe().system_to_component_index(i).first] * fe.shape_value(i, q) * fe.JxW(q);
}
} // namespace

template <int dim>
ElasticLoads<dim>::ElasticLoads(const ElasticityParameters &p, const MeshRegions &regions)
    : body_force(make_optional_field<dim>("Elasticity/Body force", p.body_force, dim)),
      traction(make_boundary_fields<dim>("Elasticity/Traction", p.traction, dim, regions)),
      pressure(make_boundary_fields<dim>("Elasticity/Pressure", p.pressure, 1, regions))
{}

template <int dim>
Tensor<1, dim> ElasticLoads<dim>::on_face(const BoundaryId id, const Point<dim> &point,
                                          const Tensor<1, dim> &n) const
{
  Tensor<1, dim> t;
  if (const auto field = traction.find(id); field != traction.end())
    for (unsigned int c = 0; c < dim; ++c)
      t[c] = field->second->value(point, c);
  if (const auto field = pressure.find(id); field != pressure.end())
    t -= field->second->value(point) * n;
  return t;
}

template <int dim>
Tensor<1, dim> ElasticLoads<dim>::in_cell(const Point<dim> &point) const
{
  Tensor<1, dim> b;
  if (body_force)
    for (unsigned int c = 0; c < dim; ++c)
      b[c] = body_force->value(point, c);
  return b;
}

template <int dim>
void ElasticLoads<dim>::add_cell_terms(const FEValues<dim> &fe, Vector<double> &f) const
{
  if (!body_force)
    return;
  for (const unsigned int q : fe.quadrature_point_indices())
    add_force(fe, q, in_cell(fe.quadrature_point(q)), f);
}

template <int dim>
void ElasticLoads<dim>::add_face_terms(const FEFaceValues<dim> &face, const BoundaryId id,
                                       Vector<double> &f) const
{
  for (const unsigned int q : face.quadrature_point_indices())
    add_force(face, q, on_face(id, face.quadrature_point(q), face.normal_vector(q)), f);
}

template <int dim>
auto ElasticLoads<dim>::named_boundaries() const
    -> std::vector<std::pair<std::string, std::set<BoundaryId>>>
{
  return {{"Elasticity/Traction", ids_of(traction)}, {"Elasticity/Pressure", ids_of(pressure)}};
}

template <int dim>
void add_thermal_terms(const FEValues<dim> &fe, const ElasticMaterials<dim> &materials,
                       Vector<double> &f)
{
  if (!materials.has_temperature())
    return;
  const auto material = fe.get_cell()->material_id();
  for (const unsigned int q : fe.quadrature_point_indices()) {
    const double p_JxW =
        materials.law({fe.quadrature_point(q), material}).thermal_pressure * fe.JxW(q);
    for (unsigned int i = 0; i < fe.dofs_per_cell; ++i)
      f(i) += p_JxW * fe.shape_grad(i, q)[fe.get_fe().system_to_component_index(i).first];
  }
}

template class ElasticLoads<2>;
template class ElasticLoads<3>;
template void add_thermal_terms(const FEValues<2> &, const ElasticMaterials<2> &, Vector<double> &);
template void add_thermal_terms(const FEValues<3> &, const ElasticMaterials<3> &, Vector<double> &);
} // namespace femgpu
