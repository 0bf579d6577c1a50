#ifndef femgpu_physics_elastic_supports_h
#define femgpu_physics_elastic_supports_h

#include "physics/elasticity/elasticity_parameters.h"
#include "physics/elasticity/rigid_body_modes.h"
#include "physics/mesh/connected_components.h"
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
/// The supports of an elastic body: prescribed displacements and rotations, symmetry planes.
template <int dim>
class ElasticSupports
{
public:
  using BoundaryId = dealii::types::boundary_id;

  /// @throws ParameterError on a syntax error, and if an id is repeated
  ElasticSupports(const ElasticityParameters &parameters, const MeshRegions &regions);

  /**
   * Checks the supports.
   * @param degree polynomial degree of the elements
   * @throws ParameterError that names the free rigid-body modes; if a symmetry plane is not plane
   * on the coarse mesh; or if mid-side nodes are supported where the elements have no nodes
   */
  void check(const Mesh<dim> &mesh, unsigned int degree) const;

  std::vector<DirichletCondition<dim>> conditions() const;
  const std::set<BoundaryId> &symmetry_planes() const
  {
    return planes;
  }
  /// Returns the ids of all boundaries that are supported in some direction.
  std::set<BoundaryId> ids() const;
  /// Returns whether component @p c of the displacement, or a component coupled to it, is
  /// prescribed on a face of boundary @p id with normal @p n.
  bool prescribes(BoundaryId id, unsigned int c, const dealii::Tensor<1, dim> &n) const;
  /// Returns the boundary ids by parameter, for named_boundaries().
  std::vector<std::pair<std::string, std::set<BoundaryId>>> named_boundaries() const;

private:
  /// Prescribed values for some components on one boundary.
  struct Prescribed
  {
    BoundaryId id;
    std::string path; ///< of the parameter
    std::shared_ptr<dealii::Function<dim>> values;
    dealii::ComponentMask mask;
  };

  /// Returns the supported directions of each of the @p parts.
  std::vector<std::vector<SupportedDirection<dim>>>
  supported_directions(const Mesh<dim> &mesh,
                       const std::vector<ConnectedComponent<dim>> &parts) const;

  std::vector<Prescribed> prescribed; ///< displacements, followed by rotations
  std::set<BoundaryId> planes;
};
} // namespace femgpu

#endif
