#ifndef femgpu_physics_inner_sides_h
#define femgpu_physics_inner_sides_h

#include "physics/mesh/corners.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/base/point.h>
#include <deal.II/base/types.h>
#include <deal.II/grid/tria.h>

#include <array>
#include <map>
#include <unordered_map>
#include <vector>

namespace femgpu
{
/// The sides between two cells of the coarse mesh to which a mesh file gives an id, such as
/// interfaces and electrodes inside the body. deal.II stores ids of boundary faces only, so a side
/// is found by the coordinates of its corners.
template <int dim>
class InnerSides
{
public:
  using Id = dealii::types::boundary_id;
  using Cell = typename dealii::Triangulation<dim>::cell_iterator;

  bool empty() const
  {
    return ids.empty();
  }
  void add(const std::vector<dealii::Point<dim>> &corners, Id id)
  {
    ids.emplace(make_corners(corners), id);
  }
  /// Returns the id of a face of @p cell, which has level 0: internal_face_boundary_id if it is no
  /// inner side.
  Id id(const Cell &cell, unsigned int face) const;
  /**
   * Returns whether an integral over @p face uses @p cell, which has level 0, with the normal that
   * points out of it. The boundary has only one cell. At an inner side, the integral uses the cell
   * with the smaller material id or, if both cells have the same id, the first in the file.
   */
  static bool is_integrated_from(const Cell &cell, unsigned int face);
  /// Adds the children of the sides of level 0 of @p mesh, whose cells have been refined once.
  void add_children(const dealii::Triangulation<dim> &mesh);

private:
  std::map<Corners<dim>, Id> ids;
};

/// The inner sides of a rank's active cells.
template <int dim>
class InnerSidesOfCells
{
public:
  using Id = dealii::types::boundary_id;

  InnerSidesOfCells(const InnerSides<dim> &sides, const dealii::Triangulation<dim> &mesh);

  /// Returns the id of a face of an active cell; internal_face_boundary_id if it is no inner side.
  Id id(const unsigned int active_cell_index, const unsigned int face) const
  {
    const auto found = faces.find(active_cell_index);
    return found == faces.end() ? dealii::numbers::internal_face_boundary_id
                                : found->second[face].id;
  }
  /// Calls use(face number, id) for each inner side over which is integrated from this active cell.
  template <class Use>
  void for_each_integrated(const unsigned int active_cell_index, const Use &use) const
  {
    const auto found = faces.find(active_cell_index);
    for (unsigned int f = 0; found != faces.end() && f < found->second.size(); ++f)
      if (found->second[f].is_integrated)
        use(f, found->second[f].id);
  }

private:
  struct Face
  {
    Id id = dealii::numbers::internal_face_boundary_id;
    bool is_integrated = false;
  };
  std::unordered_map<unsigned int, std::array<Face, dealii::GeometryInfo<dim>::faces_per_cell>>
      faces; ///< by active cell index
};
} // namespace femgpu

#endif
