#ifndef femgpu_physics_mesh_manifolds_h
#define femgpu_physics_mesh_manifolds_h

#include "physics/mesh/mesh_table.h"
#include "physics/mesh/quadratic_geometry.h"
#include "physics/mesh/regions.h"
#include "physics/mesh/surfaces.h"

#include <deal.II/base/types.h>
#include <deal.II/grid/tria.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// Sides of a mesh that lie on surfaces that are known, or edges that nodes of second order curve:
/// new nodes are put there too.
template <int dim>
class CurvedSides
{
public:
  /**
   * Reads "ids: sphere CX, CY, CZ; ids: cylinder PX, PY, PZ, DX, DY, DZ; ids: flat" and so on, with
   * boundary ids or names of @p regions.
   * @throws ParameterError for anything else
   */
  CurvedSides(const std::string &text, const MeshRegions &regions);

  /// Or are all flat?
  bool any_curved() const;

  /**
   * Gives faces and edges of the curved sides of @p coarse the numbers of their manifolds, and what
   * else @p middles curve that of the file's geometry.
   * @throws ParameterError if nodes of a side do not lie on its surface, or the mesh has other
   *         manifolds already; InputError if cells have different nodes at the same edge
   */
  void mark(dealii::Triangulation<dim> &coarse, const std::vector<MiddleNode> &middles);

  /**
   * Gives @p triangulation, which has the marks and level 0 only, the manifolds. Quadrilaterals and
   * hexahedra follow their curved edges (curved_cells.h); triangles and tetrahedra have straight
   * edges inside.
   */
  void attach(dealii::Triangulation<dim> &triangulation) const;

private:
  struct Side
  {
    std::string entry; ///< for messages
    std::set<dealii::types::boundary_id> ids;
    std::optional<SurfaceFamily<dim>> surface; ///< or flat, as the file has it
    bool is_cone = false; ///< whose angle the nodes say; until then the surface is a cylinder
  };

  /// What meets at an edge: a curved surface first, and another one or a plane if there is one.
  struct Curve
  {
    std::optional<SurfaceFamily<dim>> first, second;

    void add(const SurfaceFamily<dim> &surface)
    {
      if (!first)
        first = surface;
      else if (!second && !(surface == *first))
        second = surface;
      if (second && first->is_plane())
        std::swap(first, second);
    }
    bool operator==(const Curve &other) const
    {
      return first == other.first && second == other.second;
    }
  };

  void read_surface(const std::string &text, Side &side) const;
  void find_angle(const dealii::Triangulation<dim> &coarse, Side &side) const;
  void check(const dealii::Triangulation<dim> &coarse, const Side &side) const;
  template <class FaceIterator>
  const Side *side_of(const FaceIterator &face) const;
  void mark_quadratic(dealii::Triangulation<dim> &coarse, const std::vector<MiddleNode> &middles);
  void mark_edges(dealii::Triangulation<dim> &coarse);
  dealii::types::manifold_id manifold_of(const Curve &curve);

  std::vector<Side> sides;
  std::shared_ptr<QuadraticGeometry<dim>> quadratic; ///< of the file, if it has second order nodes
  /// Of the manifolds, by number: of the sides, empty for those that are flat; an empty one for
  /// @p quadratic, if there is one; then of edges where sides meet others.
  std::vector<Curve> curves;
};
} // namespace femgpu

#endif
