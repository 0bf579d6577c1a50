#include "physics/mesh/periodicity.h"

#include "linalg/base/error.h"
#include "physics/expressions.h"
#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/near_points.h"

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_tools.h>

#include <boost/serialization/map.hpp>
#include <boost/serialization/vector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
constexpr double tolerance = 1e-10; ///< of lengths; that of GridTools::collect_periodic_faces()

std::string text_of(const PeriodicSides &sides)
{
  return std::to_string(sides.first) + " and " + std::to_string(sides.second);
}
} // namespace

std::vector<PeriodicSides> parse_periodic_sides(const std::string &path, const std::string &text,
                                                const unsigned int dim, const MeshRegions &regions)
{
  std::vector<PeriodicSides> result;
  std::set<types::boundary_id> known;
  for (const std::string &entry : entries_of(text)) {
    const auto colon = entry.find(':');
    const auto words = split_expressions(entry.substr(0, colon), ',');
    const std::string axis = colon == std::string::npos ? "" : trimmed(entry.substr(colon + 1));
    const std::string axes = dim == 2 ? "xy" : "xyz";
    if (words.size() != 2 || axis.size() != 1 || axes.find(axis) == std::string::npos)
      throw ParameterError("The entry '" + entry + "' of " + path +
                               " is not two boundary ids or names and an axis; write entries such "
                               "as 'left, right: x' with one of " +
                               axes + ".",
                           path);
    const PeriodicSides sides = {regions.boundary(path, words[0]), regions.boundary(path, words[1]),
                                 static_cast<unsigned int>(axes.find(axis))};
    for (const auto id : {sides.first, sides.second})
      if (!known.insert(id).second)
        throw ParameterError("Boundary id " + std::to_string(id) + " comes twice in " + path +
                                 ". Each side has an id of its own and one partner; generators "
                                 "give each side an id with colorize = true.",
                             path);
    result.push_back(sides);
  }
  return result;
}

void refuse_data_on(const std::string &path, const std::vector<PeriodicSides> &sides,
                    const std::string &other_path, const std::set<types::boundary_id> &ids)
{
  for (const PeriodicSides &pair : sides)
    for (const auto id : {pair.first, pair.second})
      if (ids.count(id) > 0)
        throw ParameterError("Boundary id " + std::to_string(id) + " of " + path +
                                 " has a condition in " + other_path +
                                 ", but periodic sides are no boundary of the body. Name it in "
                                 "one place only.",
                             path);
}

namespace
{
/// Points of a side by their numbers.
template <int dim, class Number>
using NumberedPoints = std::map<Number, Point<dim>>;

/// How far @p others are from @p points along axis @p direction.
template <class Points>
double distance_along(const Points &points, const Points &others, const unsigned int direction)
{
  const auto low = [direction](const Points &list) {
    double lowest = std::numeric_limits<double>::max();
    for (const auto &entry : list)
      lowest = std::min(lowest, entry.second[direction]);
    return lowest;
  };
  return points.empty() || others.empty() ? 0. : low(others) - low(points);
}

/// Of points of two sides by their numbers, those that are the same: the second side is the first
/// one moved along axis @p direction.
template <int dim, class Number>
std::vector<std::pair<Number, Number>> pairs_of(const NumberedPoints<dim, Number> &first,
                                                const NumberedPoints<dim, Number> &second,
                                                const unsigned int direction)
{
  std::vector<Number> others;
  std::vector<Point<dim>> places;
  for (const auto &[number, point] : second) {
    others.push_back(number);
    places.push_back(point);
  }
  const PointTree<dim> tree(places);
  const double distance = distance_along(first, second, direction);
  std::vector<std::pair<Number, Number>> pairs;
  for (auto [number, point] : first) {
    point[direction] += distance;
    if (const auto found = tree.near(point, 2. * tolerance); !found.empty())
      pairs.emplace_back(number, others[found.front()]);
  }
  return pairs;
}

/// Calls f(face) for the faces of the coarse mesh with a boundary id.
template <int dim, class F>
void for_each_coarse_face(const Mesh<dim> &mesh, const types::boundary_id id, const F &f)
{
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const auto n : cell->face_indices())
      if (const auto face = cell->face(n); face->at_boundary() && face->boundary_id() == id)
        f(face);
}

/// Their middles and vertices, in the order of the faces.
template <int dim>
NumberedPoints<dim, std::size_t> coarse_points(const Mesh<dim> &mesh, const types::boundary_id id)
{
  NumberedPoints<dim, std::size_t> points;
  for_each_coarse_face(mesh, id, [&](const auto &face) {
    points.emplace(points.size(), face->center());
    for (const auto v : face->vertex_indices())
      points.emplace(points.size(), face->vertex(v));
  });
  return points;
}
} // namespace

template <int dim>
void require_matching_sides(const std::string &path, const Mesh<dim> &mesh,
                            const std::vector<PeriodicSides> &sides)
{
  for (const PeriodicSides &pair : sides) {
    const auto first = coarse_points(mesh, pair.first), second = coarse_points(mesh, pair.second);
    const double distance = distance_along(first, second, pair.direction);
    const auto refuse_without_partner = [&](auto points, const auto &others, const double by) {
      for (const auto &[number, other] : pairs_of(points, others, pair.direction))
        points.erase(number);
      if (points.empty())
        return;
      std::ostringstream text;
      text << "The sides " << text_of(pair) << " of " << path << " do not match: ("
           << points.begin()->second
           << "), a corner or the middle of a face, has no partner at a distance of " << by
           << " along "
           << "xyz"[pair.direction]
           << ". Both sides need the same faces; mend the mesh, or name other ids or another axis.";
      throw ParameterError(text.str(), path);
    };
    if (std::abs(distance) <= tolerance)
      throw ParameterError("The sides " + text_of(pair) + " of " + path + " are not apart along " +
                               "xyz"[pair.direction] + ". Name another axis.",
                           path);
    refuse_without_partner(first, second, distance);
    refuse_without_partner(second, first, -distance);
  }
}

template <int dim>
std::vector<std::pair<unsigned int, unsigned int>>
periodic_vertices(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides)
{
  std::vector<std::pair<unsigned int, unsigned int>> pairs;
  const auto vertices_of = [&](const types::boundary_id id) {
    NumberedPoints<dim, unsigned int> vertices;
    for_each_coarse_face(mesh, id, [&](const auto &face) {
      for (const auto v : face->vertex_indices())
        vertices[face->vertex_index(v)] = face->vertex(v);
    });
    return vertices;
  };
  for (const PeriodicSides &pair : sides) {
    const auto of_pair =
        pairs_of(vertices_of(pair.first), vertices_of(pair.second), pair.direction);
    pairs.insert(pairs.end(), of_pair.begin(), of_pair.end());
  }
  return pairs;
}

template <int dim>
void make_periodic(Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides)
{
  if (sides.empty() || mesh.is_simplex)
    return;
  using Distributed = parallel::distributed::Triangulation<dim>;
  auto &triangulation = dynamic_cast<Distributed &>(*mesh.triangulation);
  std::vector<GridTools::PeriodicFacePair<typename Distributed::cell_iterator>> pairs;
  for (const PeriodicSides &pair : sides)
    GridTools::collect_periodic_faces(triangulation, pair.first, pair.second, pair.direction,
                                      pairs);
  triangulation.add_periodicity(pairs);
}

namespace
{
using Index = types::global_dof_index;

/// Collective. All dofs of a side, those of other ranks too: of each component the places by
/// number.
template <int dim>
std::vector<NumberedPoints<dim, Index>> dofs_of_side(const Discretization<dim> &discretization,
                                                     const types::boundary_id id)
{
  const auto &element = discretization.element();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.get_unit_support_points()), update_quadrature_points);
  std::vector<NumberedPoints<dim, Index>> mine(element.n_components());
  for_each_boundary_face(
      discretization, {id},
      [&](const auto &cell, unsigned int, const auto &dofs, const auto &on_face) {
        nodes.reinit(cell);
        for (const unsigned int i : on_face)
          if (discretization.owned().is_element(dofs[i]))
            mine[element.system_to_component_index(i).first][dofs[i]] = nodes.quadrature_point(i);
      });
  std::vector<NumberedPoints<dim, Index>> all(element.n_components());
  for (auto &of_rank : Utilities::MPI::all_gather(discretization.communicator(), mine))
    for (unsigned int c = 0; c < all.size(); ++c)
      all[c].merge(of_rank[c]);
  return all;
}

/// Collective. Adds the pairs of dofs of two sides that are the same.
template <int dim>
void add_pairs_of_dofs(const Discretization<dim> &discretization, const PeriodicSides &sides,
                       std::vector<std::pair<Index, Index>> &pairs)
{
  const auto first = dofs_of_side(discretization, sides.first);
  const auto second = dofs_of_side(discretization, sides.second);
  for (unsigned int c = 0; c < first.size(); ++c) {
    const auto of_component = pairs_of(first[c], second[c], sides.direction);
    AssertThrow(of_component.size() == first[c].size(),
                ExcMessage("The refined periodic sides " + text_of(sides) + " do not match."));
    pairs.insert(pairs.end(), of_component.begin(), of_component.end());
  }
}
} // namespace

template <int dim>
void add_periodic_constraints(const Discretization<dim> &discretization,
                              const std::vector<PeriodicSides> &sides,
                              AffineConstraints<double> &constraints)
{
  if (!discretization.mesh().is_simplex) {
    std::vector<GridTools::PeriodicFacePair<typename DoFHandler<dim>::cell_iterator>> pairs;
    for (const PeriodicSides &pair : sides)
      GridTools::collect_periodic_faces(discretization.dofs(), pair.first, pair.second,
                                        pair.direction, pairs);
    DoFTools::make_periodicity_constraints<dim, dim>(pairs, constraints);
    return;
  }
  std::vector<std::pair<Index, Index>> pairs;
  for (const PeriodicSides &pair : sides)
    add_pairs_of_dofs(discretization, pair, pairs);
  std::vector<Index> numbers;
  for (const auto &[first, second] : pairs)
    numbers.insert(numbers.end(), {first, second});
  IndexSet dofs(discretization.dofs().n_dofs());
  dofs.add_indices(numbers.begin(), numbers.end());
  const auto place_of = [&](const Index dof) {
    return static_cast<unsigned int>(dofs.index_within_set(dof));
  };
  DisjointSets same(static_cast<unsigned int>(dofs.n_elements()));
  for (const auto &[first, second] : pairs)
    same.unite(place_of(first), place_of(second));
  for (const Index dof : dofs)
    if (const Index root = dofs.nth_index_in_set(same.root(place_of(dof)));
        root != dof && constraints.can_store_line(dof)) {
      constraints.add_line(dof);
      constraints.add_entry(dof, root, 1.);
    }
}

template void require_matching_sides(const std::string &, const Mesh<2> &,
                                     const std::vector<PeriodicSides> &);
template void require_matching_sides(const std::string &, const Mesh<3> &,
                                     const std::vector<PeriodicSides> &);
template std::vector<std::pair<unsigned int, unsigned int>>
periodic_vertices(const Mesh<2> &, const std::vector<PeriodicSides> &);
template std::vector<std::pair<unsigned int, unsigned int>>
periodic_vertices(const Mesh<3> &, const std::vector<PeriodicSides> &);
template void make_periodic(Mesh<2> &, const std::vector<PeriodicSides> &);
template void make_periodic(Mesh<3> &, const std::vector<PeriodicSides> &);
template void add_periodic_constraints(const Discretization<2> &,
                                       const std::vector<PeriodicSides> &,
                                       AffineConstraints<double> &);
template void add_periodic_constraints(const Discretization<3> &,
                                       const std::vector<PeriodicSides> &,
                                       AffineConstraints<double> &);
} // namespace femgpu
