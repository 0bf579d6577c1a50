#include "physics/mesh/mesh_manifolds.h"

#include "linalg/base/error.h"
#include "physics/expressions.h"

#include <deal.II/grid/manifold_lib.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string path = "Mesh/Manifolds";
constexpr types::manifold_id inside = 0; ///< of the cells at curved sides

[[noreturn]] void refuse(const std::string &entry, const std::string &what)
{
  throw ParameterError("The entry '" + entry + "' of " + path + " " + what +
                           " Write entries such as '1, hole: polar 0, 0' in 2D, and 'ball: sphere "
                           "0, 0, 0; pipe: cylinder 0, 0, 0, 0, 0, 1' (a point of the axis and "
                           "its direction) in 3D.",
                       path);
}

std::vector<double> read_numbers(const std::string &entry, const std::string &text)
{
  std::vector<double> numbers;
  for (const std::string &word : split_expressions(text, ',')) {
    double number = 0.;
    const char *const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (word.empty() || error != std::errc() || stop != end || !std::isfinite(number))
      refuse(entry, "has '" + word + "' where a number should be.");
    numbers.push_back(number);
  }
  return numbers;
}
} // namespace

template <int dim>
CurvedSides<dim>::CurvedSides(const std::string &text, const MeshRegions &regions)
{
  std::set<types::boundary_id> seen;
  for (const std::string &entry : split_expressions(text, ';')) {
    if (entry.empty())
      continue;
    sides.push_back(read_side(entry, regions));
    for (const auto id : sides.back().ids)
      if (!seen.insert(id).second)
        refuse(entry, "names boundary id " + std::to_string(id) + " again.");
  }
}

template <int dim>
typename CurvedSides<dim>::Side CurvedSides<dim>::read_side(const std::string &entry,
                                                            const MeshRegions &regions) const
{
  const auto colon = entry.find(':');
  if (colon == std::string::npos)
    refuse(entry, "has no ':' after its boundary ids.");
  Side side;
  side.entry = entry;
  for (const std::string &word : split_expressions(entry.substr(0, colon), ','))
    side.ids.insert(regions.boundary(path, word));
  read_surface(entry.substr(colon + 1), side);
  return side;
}

template <int dim>
void CurvedSides<dim>::read_surface(const std::string &text, Side &side) const
{
  std::string kind, rest;
  std::istringstream words(text);
  words >> kind;
  std::getline(words, rest);
  const bool is_cylinder = kind == "cylinder" && dim == 3;
  if (!is_cylinder && kind != "sphere" && !(kind == "polar" && dim == 2))
    refuse(side.entry, "has the surface '" + kind + "', but in " + std::to_string(dim) +
                           "D there are " +
                           (dim == 2 ? "polar and sphere." : "sphere and cylinder."));
  const std::vector<double> numbers = read_numbers(side.entry, rest);
  const unsigned int n = is_cylinder ? 2 * dim : dim;
  if (numbers.size() != n)
    refuse(side.entry, "has " + std::to_string(numbers.size()) + " numbers, but " + kind +
                           " needs " + std::to_string(n) + ".");
  for (unsigned int d = 0; d < dim; ++d)
    side.center[d] = numbers[d];
  if (kind == "polar")
    side.manifold = std::make_shared<PolarManifold<dim>>(side.center);
  if (kind == "sphere")
    side.manifold = std::make_shared<SphericalManifold<dim>>(side.center);
  if constexpr (dim == 3)
    if (is_cylinder) {
      for (unsigned int d = 0; d < dim; ++d)
        side.axis[d] = numbers[dim + d];
      if (!(side.axis.norm() > 0.))
        refuse(side.entry, "has an axis without direction.");
      side.axis /= side.axis.norm();
      side.manifold = std::make_shared<CylindricalManifold<3>>(side.axis, side.center);
    }
}

/// All nodes of a boundary id are equally far from the center or axis, but for rounding in the
/// file.
template <int dim>
void CurvedSides<dim>::check(const Triangulation<dim> &coarse, const Side &side) const
{
  constexpr double tolerance = 1e-5;
  std::map<types::boundary_id, double> radii; // two ids may be concentric
  for (const auto &face : coarse.active_face_iterators()) {
    if (!face->at_boundary() || side.ids.count(face->boundary_id()) == 0)
      continue;
    for (const unsigned int v : face->vertex_indices()) {
      const Tensor<1, dim> from_center = face->vertex(v) - side.center;
      const double radius = (from_center - (from_center * side.axis) * side.axis).norm();
      const double first = radii.emplace(face->boundary_id(), radius).first->second;
      if (std::abs(radius - first) <= tolerance * first && first > 0.)
        continue;
      std::ostringstream text;
      text << "does not fit the mesh: the node at (" << face->vertex(v) << ") is " << radius
           << " away from the center or axis, another one of boundary id " << face->boundary_id()
           << " " << first << ".";
      refuse(side.entry, text.str());
    }
  }
}

template <int dim>
void CurvedSides<dim>::mark(Triangulation<dim> &coarse) const
{
  if (empty())
    return;
  for (const auto id : coarse.get_manifold_ids())
    if (id != numbers::flat_manifold_id)
      throw ParameterError(path + " is given for a mesh whose generator knows its curved sides "
                                  "itself. Leave it empty.",
                           path);
  for (const Side &side : sides)
    check(coarse, side);
  const auto side_of = [this](const types::boundary_id id) {
    return std::find_if(sides.begin(), sides.end(),
                        [id](const Side &side) { return side.ids.count(id) > 0; });
  };
  // Cells that touch a curved side with an edge only have a curved edge, too.
  std::set<unsigned int> curved_lines;
  for (const auto &face : coarse.active_face_iterators())
    if (face->at_boundary() && side_of(face->boundary_id()) != sides.end()) {
      if constexpr (dim == 2)
        curved_lines.insert(face->index());
      else
        for (unsigned int l = 0; l < face->n_lines(); ++l)
          curved_lines.insert(face->line_index(l));
    }
  if (coarse.all_reference_cells_are_hyper_cube())
    for (const auto &cell : coarse.active_cell_iterators())
      for (unsigned int l = 0; l < cell->n_lines(); ++l)
        if (curved_lines.count(cell->line_index(l)) > 0)
          cell->set_all_manifold_ids(inside);
  for (const auto &face : coarse.active_face_iterators())
    if (face->at_boundary())
      if (const auto side = side_of(face->boundary_id()); side != sides.end())
        face->set_all_manifold_ids(static_cast<types::manifold_id>(side - sides.begin()) + 1);
}

template <int dim>
void CurvedSides<dim>::attach(Triangulation<dim> &triangulation) const
{
  if (empty())
    return;
  for (unsigned int i = 0; i < sides.size(); ++i)
    triangulation.set_manifold(i + 1, *sides[i].manifold);
  if (!triangulation.all_reference_cells_are_hyper_cube())
    return;
  TransfiniteInterpolationManifold<dim> transfinite;
  transfinite.initialize(triangulation);
  triangulation.set_manifold(inside, transfinite);
}

template class CurvedSides<2>;
template class CurvedSides<3>;
} // namespace femgpu
