#ifndef femgpu_physics_mesh_manifolds_h
#define femgpu_physics_mesh_manifolds_h

#include "physics/mesh/regions.h"

#include <deal.II/base/types.h>
#include <deal.II/grid/manifold.h>
#include <deal.II/grid/tria.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/// Sides of a mesh that lie on a circle, a sphere or a cylinder, on which new nodes are put too.
template <int dim>
class CurvedSides
{
public:
  /**
   * Reads "ids: sphere CX, CY, CZ; ids: cylinder PX, PY, PZ, DX, DY, DZ; ids: polar CX, CY", with
   * boundary ids or names of @p regions; sphere and polar in 2D are circles.
   * @throws ParameterError for anything else
   */
  CurvedSides(const std::string &text, const MeshRegions &regions);

  bool empty() const
  {
    return sides.empty();
  }

  /**
   * Marks faces and edges of @p coarse, and the cells at them: the inside of these follows their
   * curved faces by transfinite interpolation, so that degrees above 1 keep their order. Triangles
   * and tetrahedra have straight edges inside.
   * @throws ParameterError if nodes of a side do not lie on its surface, or the mesh has other
   *         manifolds already
   */
  void mark(dealii::Triangulation<dim> &coarse) const;

  /// Gives @p triangulation, which has the marks and level 0 only, the manifolds.
  void attach(dealii::Triangulation<dim> &triangulation) const;

private:
  struct Side
  {
    std::string entry; ///< for messages
    std::set<dealii::types::boundary_id> ids;
    std::shared_ptr<const dealii::Manifold<dim>> manifold;
    dealii::Point<dim> center;
    dealii::Tensor<1, dim> axis; ///< of length 1; zero but for cylinders
  };

  Side read_side(const std::string &entry, const MeshRegions &regions) const;
  void read_surface(const std::string &text, Side &side) const;
  void check(const dealii::Triangulation<dim> &coarse, const Side &side) const;

  std::vector<Side> sides; ///< the manifold id of each is its number + 1
};
} // namespace femgpu

#endif
