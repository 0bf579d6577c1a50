#include "physics/measurements/point_search.h"

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/mpi.h>
#include <deal.II/numerics/rtree.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/serialization/array.hpp>
#include <boost/serialization/utility.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
// Tolerances in coordinates of the reference cell, for rounding and for curved boundaries.
constexpr double rounding = 1e-8;
constexpr double curved_tolerance = 0.05;

template <int dim>
using Block = typename ActiveCell<dim>::Block;

/// Builds an R-tree of the bounding boxes of this rank's cells.
template <int dim>
auto make_tree(const Discretization<dim> &discretization)
{
  std::vector<std::pair<BoundingBox<dim>, Block<dim>>> boxes;
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned()) {
      BoundingBox<dim> box = discretization.mapping().get_bounding_box(cell);
      box.extend(0.1 * cell->diameter()); // curved cells extend beyond their nodes' box
      boxes.emplace_back(box, cell);
    }
  return pack_rtree(boxes);
}

/// Returns the distance of @p unit from the reference cube or simplex; negative inside.
template <int dim>
double distance_from_reference_cell(const Point<dim> &unit, const bool is_simplex)
{
  double largest = -1., sum = 0.;
  for (unsigned int d = 0; d < dim; ++d) {
    largest = std::max({largest, -unit[d], unit[d] - 1.});
    sum += unit[d];
  }
  return is_simplex ? std::max(largest, sum - 1.) : largest;
}

/// A cell that is near a point but does not contain it.
template <int dim>
struct NearCell
{
  double distance = std::numeric_limits<double>::max(); ///< in the reference cell
  Block<dim> cell;
  Point<dim> unit;
};

using CellKey = std::pair<double, CellId::binary_type>;

template <int dim>
CellKey key_of(const NearCell<dim> &near)
{
  if (near.distance > curved_tolerance)
    return {near.distance, {}};
  return {near.distance, near.cell->id().template to_binary<dim>()};
}

/// Collective. Assigns each missing point of @p search to the nearest cell, unless this cell is too
/// far away; then the point stays missing.
/// @param near for each point, the nearest cell of this rank
template <int dim>
void assign_to_near_cells(const MPI_Comm communicator, const std::vector<NearCell<dim>> &near,
                          PointSearch<dim> &search)
{
  std::vector<CellKey> keys;
  for (const unsigned int index : search.missing)
    keys.push_back(key_of(near[index]));
  const auto of_all = Utilities::MPI::all_gather(communicator, keys);
  std::vector<unsigned int> still_missing;
  for (unsigned int i = 0; i < keys.size(); ++i) {
    CellKey best = keys[i];
    for (const auto &of_rank : of_all)
      best = std::min(best, of_rank[i]);
    const unsigned int index = search.missing[i];
    if (best.first > curved_tolerance)
      still_missing.push_back(index);
    else if (best == keys[i])
      search.found.push_back({index, {near[index].cell, nullptr, 0}, near[index].unit});
  }
  search.missing = still_missing;
  std::stable_sort(search.found.begin(), search.found.end(),
                   [](const auto &a, const auto &b) { return a.index < b.index; });
}

/// Adds to @p search the cells of @p block that contain the point @p unit of the block's reference
/// cell, or @p block itself if cells are not in blocks.
template <int dim>
void add_cells_of_block(const Discretization<dim> &discretization, const unsigned int index,
                        const Block<dim> &block, const Point<dim> &unit, PointSearch<dim> &search)
{
  const Blocks<dim> *const blocks = discretization.blocks();
  for (unsigned int cell = 0; cell < (blocks == nullptr ? 1 : blocks->size()); ++cell) {
    Point<dim> in_cell = unit;
    for (unsigned int d = 0; blocks != nullptr && d < dim; ++d)
      in_cell[d] = unit[d] * blocks->per_direction() - blocks->position(cell)[d];
    if (blocks == nullptr ||
        distance_from_reference_cell(in_cell, /* is simplex */ false) < rounding)
      search.found.push_back({index, {block, blocks, cell}, in_cell});
  }
}
} // namespace

template <int dim>
PointSearch<dim> find_points(const Discretization<dim> &discretization,
                             const std::vector<Point<dim>> &points)
{
  namespace bgi = boost::geometry::index;
  const auto tree = make_tree(discretization);
  PointSearch<dim> search;
  std::vector<unsigned int> n_cells(points.size(), 0);
  std::vector<NearCell<dim>> near(points.size());
  for (unsigned int i = 0; i < points.size(); ++i)
    for (auto entry = tree.qbegin(bgi::intersects(points[i])); entry != tree.qend(); ++entry) {
      const Block<dim> &cell = entry->second;
      try {
        const Point<dim> unit =
            discretization.mapping().transform_real_to_unit_cell(cell, points[i]);
        if (cell->reference_cell().contains_point(unit, rounding)) {
          add_cells_of_block(discretization, i, cell, unit, search);
          ++n_cells[i];
        }
        else if (const double distance =
                     distance_from_reference_cell(unit, discretization.mesh().is_simplex);
                 distance < near[i].distance)
          near[i] = {distance, cell, unit};
      }
      catch (const typename Mapping<dim>::ExcTransformationFailed &) {
        // The point is so far outside that the mapping has no inverse.
      }
    }
  const MPI_Comm communicator = discretization.communicator();
  Utilities::MPI::sum(n_cells, communicator, n_cells);
  for (unsigned int i = 0; i < points.size(); ++i)
    if (n_cells[i] == 0)
      search.missing.push_back(i);
  if (discretization.mesh().is_curved)
    assign_to_near_cells(communicator, near, search);
  return search;
}

template <int dim>
Point<dim> closest_vertex(const Discretization<dim> &discretization, const Point<dim> &point)
{
  std::array<double, dim + 1> best; // distance and vertex; the lowest of equally close ones
  best.fill(std::numeric_limits<double>::max());
  for (const auto &cell : discretization.owned_cells())
    for (unsigned int v = 0; v < cell->n_vertices(); ++v) {
      const Point<dim> vertex = cell->vertex(v);
      std::array<double, dim + 1> candidate;
      candidate[0] = vertex.distance(point);
      std::copy_n(vertex.begin_raw(), dim, candidate.begin() + 1);
      best = std::min(best, candidate);
    }
  for (const auto &of_rank : Utilities::MPI::all_gather(discretization.communicator(), best))
    best = std::min(best, of_rank);
  Point<dim> vertex;
  for (unsigned int d = 0; d < dim; ++d)
    vertex[d] = best[d + 1];
  return vertex;
}

template PointSearch<2> find_points(const Discretization<2> &, const std::vector<Point<2>> &);
template PointSearch<3> find_points(const Discretization<3> &, const std::vector<Point<3>> &);
template Point<2> closest_vertex(const Discretization<2> &, const Point<2> &);
template Point<3> closest_vertex(const Discretization<3> &, const Point<3> &);
} // namespace femgpu
