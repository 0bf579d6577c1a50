#include "physics/mesh/mesh_manifolds.h"

#include "linalg/base/error.h"
#include "physics/expressions.h"
#include "physics/mesh/curved_cells.h"

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
const std::string manifolds_path = "Mesh/Manifolds";

[[noreturn]] void refuse(const std::string &entry, const std::string &what)
{
  throw ParameterError("The entry '" + entry + "' of " + manifolds_path + " " + what +
                           " Write entries such as '1, hole: polar 0, 0' in 2D, and 'ball: sphere "
                           "0, 0, 0; pipe: cylinder 0, 0, 0, 0, 0, 1' (a point of the axis and "
                           "its direction) in 3D.",
                       manifolds_path);
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
    side.ids.insert(regions.boundary(manifolds_path, word));
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
  const bool is_flat = kind == "flat";
  if (!is_cylinder && !is_flat && kind != "sphere" && !(kind == "polar" && dim == 2))
    refuse(side.entry, "has the surface '" + kind + "', but in " + std::to_string(dim) +
                           "D there are " +
                           (dim == 2 ? "polar, sphere and flat." : "sphere, cylinder and flat."));
  if (is_flat) {
    if (rest.find_first_not_of(' ') != std::string::npos)
      refuse(side.entry, "has '" + rest + "' after flat, which needs nothing.");
    return;
  }
  const std::vector<double> numbers = read_numbers(side.entry, rest);
  const unsigned int n = is_cylinder ? 2 * dim : dim;
  if (numbers.size() != n)
    refuse(side.entry, "has " + std::to_string(numbers.size()) + " numbers, but " + kind +
                           " needs " + std::to_string(n) + ".");
  Point<dim> center;
  Tensor<1, dim> axis;
  for (unsigned int d = 0; d < dim; ++d) {
    center[d] = numbers[d];
    axis[d] = is_cylinder ? numbers[dim + d] : 0.;
  }
  if (is_cylinder && !(axis.norm() > 0.))
    refuse(side.entry, "has an axis without direction.");
  side.surface = SurfaceFamily<dim>::round(center, axis);
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
      const double radius = side.surface->level(face->vertex(v));
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
bool CurvedSides<dim>::any_curved() const
{
  return std::any_of(sides.begin(), sides.end(),
                     [](const Side &side) { return side.surface.has_value(); });
}

template <int dim>
void CurvedSides<dim>::mark(Triangulation<dim> &coarse)
{
  if (empty())
    return;
  for (const auto id : coarse.get_manifold_ids())
    if (id != numbers::flat_manifold_id)
      throw ParameterError(manifolds_path +
                               " is given for a mesh whose generator knows its curved sides "
                               "itself. Leave it empty.",
                           manifolds_path);
  for (const Side &side : sides) {
    if (side.surface)
      check(coarse, side);
    manifolds.push_back(side.surface ? std::shared_ptr<const Manifold<dim>>(
                                           std::make_shared<SurfaceManifold<dim>>(*side.surface))
                                     : std::make_shared<FlatManifold<dim>>());
  }
  for (const auto &face : coarse.active_face_iterators())
    if (const Side *const side = side_of(face))
      face->set_manifold_id(static_cast<types::manifold_id>(side - sides.data()));
  if constexpr (dim == 3)
    mark_edges(coarse);
}

template <int dim>
template <class FaceIterator>
const typename CurvedSides<dim>::Side *CurvedSides<dim>::side_of(const FaceIterator &face) const
{
  if (face->at_boundary())
    for (const Side &side : sides)
      if (side.ids.count(face->boundary_id()) > 0)
        return &side;
  return nullptr;
}

namespace
{
/// The plane through the corners of a straight face, if there is one.
template <class FaceIterator>
std::optional<SurfaceFamily<3>> plane_of(const FaceIterator &face)
{
  constexpr double rounding = 1e-6;
  const Tensor<1, 3> a = face->vertex(1) - face->vertex(0), b = face->vertex(2) - face->vertex(0);
  const Tensor<1, 3> normal = cross_product_3d(a, b);
  if (!(normal.norm() > rounding * a.norm() * b.norm()))
    return {};
  const auto plane = SurfaceFamily<3>::plane(normal);
  for (const unsigned int v : face->vertex_indices())
    if (std::abs(plane.level(face->vertex(v)) - plane.level(face->vertex(0))) >
        rounding * face->diameter())
      return {};
  return plane;
}
} // namespace

/**
 * An edge of two curved sides lies on both surfaces, and one of a curved and another side in the
 * plane of the latter, too: on the curve in which these meet.
 */
template <int dim>
void CurvedSides<dim>::mark_edges(Triangulation<dim> &coarse)
{
  std::map<unsigned int, Curve> curves;
  for (const auto &face : coarse.active_face_iterators()) {
    if (!face->at_boundary())
      continue;
    const Side *const side = side_of(face);
    std::optional<SurfaceFamily<dim>> surface;
    if (side != nullptr && side->surface)
      surface = side->surface;
    else if constexpr (dim == 3)
      surface = plane_of(face);
    if (surface)
      for (unsigned int l = 0; l < face->n_lines(); ++l)
        curves[face->line_index(l)].add(*surface);
  }
  for (const auto &face : coarse.active_face_iterators())
    if (face->at_boundary())
      for (unsigned int l = 0; l < face->n_lines(); ++l)
        if (const auto curve = curves.find(face->line_index(l)); curve != curves.end())
          face->line(l)->set_manifold_id(manifold_of(curve->second));
}

/// The manifold of such an edge, which many edges may have in common.
template <int dim>
types::manifold_id CurvedSides<dim>::manifold_of(const Curve &curve)
{
  if (!curve.first || curve.first->is_plane()) // of two planes: straight
    return numbers::flat_manifold_id;
  const auto is_same = [&curve](const auto &manifold) {
    if (const auto *const surface = dynamic_cast<const SurfaceManifold<dim> *>(manifold.get()))
      return !curve.second && surface->surface == *curve.first;
    const auto *const known = dynamic_cast<const CurveManifold<dim> *>(manifold.get());
    return known != nullptr && curve.second && known->first == *curve.first &&
           known->second == *curve.second;
  };
  const auto known = std::find_if(manifolds.begin(), manifolds.end(), is_same);
  if (known != manifolds.end())
    return static_cast<types::manifold_id>(known - manifolds.begin());
  if (curve.second)
    manifolds.push_back(std::make_shared<CurveManifold<dim>>(*curve.first, *curve.second));
  else
    manifolds.push_back(std::make_shared<SurfaceManifold<dim>>(*curve.first));
  return static_cast<types::manifold_id>(manifolds.size() - 1);
}

template <int dim>
void CurvedSides<dim>::attach(Triangulation<dim> &triangulation) const
{
  for (unsigned int i = 0; i < manifolds.size(); ++i)
    triangulation.set_manifold(i, *manifolds[i]);
  if (any_curved() && triangulation.all_reference_cells_are_hyper_cube())
    keep_curved_cells(triangulation);
}

template class CurvedSides<2>;
template class CurvedSides<3>;
} // namespace femgpu
