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

  /// @throws ParameterError on a syntax error, or if a boundary id occurs twice
  ElasticSupports(const ElasticityParameters &parameters, const MeshRegions &regions);

  /**
   * Checks that the supports fit the mesh and, unless @p is_transient, prevent rigid-body motions.
   * @param degree polynomial degree of the elements
   * @throws ParameterError if the body can move rigidly; the message lists the free rigid-body
   * modes
   * @throws ParameterError if the coarse faces of a symmetry plane have different normals
   * @throws ParameterError if supported points are mid-side nodes of the mesh file, and elements of
   * @p degree have no nodes there
   */
  void check(const Mesh<dim> &mesh, unsigned int degree, bool is_transient) const;

  std::vector<DirichletCondition<dim>> conditions() const;
  const std::set<BoundaryId> &symmetry_planes() const
  {
    return planes;
  }
  /// Returns the ids of all boundaries that are supported in some direction.
  std::set<BoundaryId> ids() const;
  /// Returns the ids of the boundaries, curves and point sets whose displacement depends on t.
  std::set<BoundaryId> moving_ids() const;
  /// Returns whether component @p c of the displacement is prescribed on a face of boundary @p id
  /// with normal @p n, or is coupled to other components by a symmetry plane.
  bool prescribes(BoundaryId id, unsigned int c, const dealii::Tensor<1, dim> &n) const;
  /// Returns the path of each parameter with the boundary ids that it names.
  std::vector<std::pair<std::string, std::set<BoundaryId>>> named_boundaries() const;

private:
  /// Prescribed values for some components on one boundary.
  struct Prescribed
  {
    BoundaryId id;
    std::string path; ///< path of the parameter
    std::shared_ptr<dealii::Function<dim>> values;
    dealii::ComponentMask mask;
    bool depends_on_time;
  };

  /// Returns the supported directions of each connected component in @p parts.
  std::vector<std::vector<SupportedDirection<dim>>>
  supported_directions(const Mesh<dim> &mesh,
                       const std::vector<ConnectedComponent<dim>> &parts) const;

  std::vector<Prescribed> prescribed; ///< displacements, followed by rotations
  std::set<BoundaryId> planes;
};
} // namespace femgpu

#endif
