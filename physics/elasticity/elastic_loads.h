#ifndef femgpu_physics_elastic_loads_h
#define femgpu_physics_elastic_loads_h

#include "physics/elasticity/elasticity_parameters.h"
#include "physics/problem_tools.h"

#include <map>
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
  /// s += b, in N/m³
  void add_body_force(const PointBatch<dim> &at, PointTerms &s) const;
  /// g += t − p n with the outer normal n, in Pa
  void add_traction(const PointBatch<dim> &at, PointTerms &g) const;

  /// Of tractions, those on curves and points; for Problem::loads_of_lower_parts().
  std::map<BoundaryId, const dealii::Function<dim> *> of_lower_parts() const;

  /// For named_boundaries().
  std::vector<std::pair<std::string, std::set<BoundaryId>>> named_boundaries() const;

private:
  std::unique_ptr<Field<dim>> body_force;
  BoundaryFields<dim> traction, pressure;
  std::set<BoundaryId> lower_ids; ///< of curves and points
};
} // namespace femgpu

#endif
