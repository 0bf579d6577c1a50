#include "physics/mesh/periodicity.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"
#include "physics/mesh/near_points.h"

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
std::string text_of(const PeriodicSides &sides)
{
  return std::to_string(sides.first) + " and " + std::to_string(sides.second);
}

/// Returns the id that @p word denotes. @throws ParameterError if there are several
types::boundary_id single_id(const MeshRegions &regions, const std::string &path,
                             const std::string &word)
{
  const MeshRegions::Ids ids = regions.boundary(path, word);
  if (ids.size() > 1)
    throw ParameterError("'" + word + "' in " + path + " has several boundary ids, " +
                             regions.boundaries.list(ids) +
                             ", because groups of the mesh overlap. Make each periodic side a "
                             "group that overlaps no other.",
                         path);
  return *ids.begin();
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
                               "as 'left, right: x'. The axes are " +
                               axes + ".",
                           path);
    const PeriodicSides sides = {single_id(regions, path, words[0]),
                                 single_id(regions, path, words[1]),
                                 static_cast<unsigned int>(axes.find(axis))};
    for (const auto id : {sides.first, sides.second})
      if (!known.insert(id).second)
        throw ParameterError("Boundary id " + std::to_string(id) + " is given twice in " + path +
                                 ". Give each side its own id and one partner; generators do so "
                                 "with colorize = true.",
                             path);
    result.push_back(sides);
  }
  return result;
}

void reject_conditions_on(const std::string &path, const std::vector<PeriodicSides> &sides,
                          const std::string &other_path, const std::set<types::boundary_id> &ids)
{
  for (const PeriodicSides &pair : sides)
    for (const auto id : {pair.first, pair.second})
      if (ids.count(id) > 0)
        throw ParameterError(
            "Boundary id " + std::to_string(id) + " of " + path + " has a condition in " +
                other_path +
                ", but periodic sides take no conditions. Name it in one of them only.",
            path);
}

namespace
{
/// Calls f(face) for the faces of the coarse mesh with the given boundary id.
template <int dim, class F>
void for_each_coarse_face(const Mesh<dim> &mesh, const types::boundary_id id, const F &f)
{
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const auto n : cell->face_indices())
      if (const auto face = cell->face(n); face->at_boundary() && face->boundary_id() == id)
        f(face);
}

/// Returns the centers and vertices of the coarse faces with the given boundary id, face by face.
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
    const auto reject_unmatched = [&](auto points, const auto &others, const double by) {
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
           << ". Both sides need the same faces: fix the mesh, or use other ids or another axis.";
      throw ParameterError(text.str(), path);
    };
    if (std::abs(distance) <= coordinate_tolerance)
      throw ParameterError("The sides " + text_of(pair) + " of " + path + " are not apart along " +
                               "xyz"[pair.direction] + ". Name another axis.",
                           path);
    reject_unmatched(first, second, distance);
    reject_unmatched(second, first, -distance);
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
} // namespace femgpu
