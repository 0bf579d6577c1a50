#ifndef femgpu_physics_elastic_loads_h
#define femgpu_physics_elastic_loads_h

#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elasticity_parameters.h"
#include "physics/problem_tools.h"

#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/vector.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// What acts on an elastic body: body force, traction and pressure.
template <int dim>
class ElasticLoads
{
public:
  using BoundaryId = dealii::types::boundary_id;

  /// @throws ParameterError for data that cannot be read
  ElasticLoads(const ElasticityParameters &parameters, const MeshRegions &regions);

  bool acts_on(const BoundaryId id) const
  {
    return traction.count(id) > 0 || pressure.count(id) > 0;
  }
  /// t − p n at a point of the boundary with outer normal @p n, in Pa.
  dealii::Tensor<1, dim> on_face(BoundaryId id, const dealii::Point<dim> &point,
                                 const dealii::Tensor<1, dim> &n) const;
  /// b, in N/m³.
  dealii::Tensor<1, dim> in_cell(const dealii::Point<dim> &point) const;

  /// f_i += (b, φ_i)
  void add_cell_terms(const dealii::FEValues<dim> &fe, dealii::Vector<double> &f) const;
  /// f_i += <t − p n, φ_i>
  void add_face_terms(const dealii::FEFaceValues<dim> &face, BoundaryId id,
                      dealii::Vector<double> &f) const;

  /// For named_boundaries().
  std::vector<std::pair<std::string, std::set<BoundaryId>>> named_boundaries() const;

private:
  std::unique_ptr<Field<dim>> body_force;
  BoundaryFields<dim> traction, pressure;
};

/// f_i += (p_T, div φ_i), what the thermal strain does in a cell.
template <int dim>
void add_thermal_terms(const dealii::FEValues<dim> &fe, const ElasticMaterials<dim> &materials,
                       dealii::Vector<double> &f);
} // namespace femgpu

#endif
