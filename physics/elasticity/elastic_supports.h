#ifndef femgpu_physics_elastic_supports_h
#define femgpu_physics_elastic_supports_h

#include "physics/elasticity/elasticity_parameters.h"
#include "physics/elasticity/rigid_body_modes.h"
#include "physics/mesh/mesh_parts.h"
#include "physics/problem.h"

#include <deal.II/base/tensor.h>
#include <deal.II/fe/component_mask.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// Where an elastic body is held: prescribed displacements and rotations, symmetry planes.
template <int dim>
class ElasticSupports
{
public:
  using BoundaryId = dealii::types::boundary_id;

  /// @throws ParameterError for data that cannot be read, and for ids that come twice
  ElasticSupports(const ElasticityParameters &parameters, const MeshRegions &regions);

  /**
   * @param degree of the elements
   * @throws ParameterError that names the rigid-body modes that are free, a symmetry plane that is
   *         not plane on the coarse mesh, or mid-side nodes where elements have no nodes
   */
  void check(const Mesh<dim> &mesh, unsigned int degree) const;

  std::vector<DirichletCondition<dim>> conditions() const;
  const std::set<BoundaryId> &symmetry_planes() const
  {
    return planes;
  }
  /// All parts of the boundary that are held in some direction.
  std::set<BoundaryId> ids() const;
  /// Is component @p c of the displacement, or one that depends on it, given on a face of part
  /// @p id with normal @p n?
  bool holds(BoundaryId id, unsigned int c, const dealii::Tensor<1, dim> &n) const;
  /// For named_boundaries().
  std::vector<std::pair<std::string, std::set<BoundaryId>>> named_boundaries() const;

private:
  /// Values for some components on one part of the boundary.
  struct Prescribed
  {
    BoundaryId id;
    std::string path; ///< of the parameter
    std::shared_ptr<dealii::Function<dim>> values;
    dealii::ComponentMask mask;
  };

  /// Of each of the @p parts.
  std::vector<std::vector<SupportedDirection<dim>>>
  supported_directions(const Mesh<dim> &mesh, const std::vector<MeshPart<dim>> &parts) const;

  std::vector<Prescribed> prescribed; ///< displacements, and behind them rotations
  std::set<BoundaryId> planes;
};
} // namespace femgpu

#endif
