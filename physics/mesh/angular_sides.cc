#include "physics/mesh/angular_sides.h"

#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/mesh_check.h"

#include <deal.II/base/numbers.h>
#include <deal.II/distributed/tria_base.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
constexpr double flat_angle = 1., corner_angle = 40.; // degrees

/// A face of the boundary without manifold.
template <int dim>
struct Side
{
  types::boundary_id id;
  Point<dim> center;
  Tensor<1, dim> normal;            ///< of length 1, outwards
  std::vector<unsigned int> ridges; ///< nodes in 2D, edges in 3D
};

template <int dim>
Tensor<1, dim> outward_normal(const typename Triangulation<dim>::cell_iterator &cell,
                              const unsigned int f)
{
  const auto face = cell->face(f);
  Tensor<1, dim> n = face_normal<dim>(face);
  n /= n.norm();
  return n * (face->center() - cell->center()) > 0. ? n : -n;
}

template <int dim>
std::vector<Side<dim>> straight_sides(const Mesh<dim> &mesh)
{
  std::vector<Side<dim>> sides;
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const unsigned int f : cell->face_indices()) {
      const auto face = cell->face(f);
      if (!face->at_boundary() || face->manifold_id() != numbers::flat_manifold_id)
        continue;
      Side<dim> side = {face->boundary_id(), face->center(), outward_normal<dim>(cell, f), {}};
      if constexpr (dim == 2)
        side.ridges = {face->vertex_index(0), face->vertex_index(1)};
      else
        for (unsigned int l = 0; l < face->n_lines(); ++l)
          side.ridges.push_back(face->line_index(l));
      sides.push_back(side);
    }
  return sides;
}

/// Where two sides of the same boundary id meet at an angle.
struct Turn
{
  unsigned int first, second; ///< sides
  double degrees;             ///< positive where the body is convex
};

template <int dim>
std::vector<Turn> turns_between(const std::vector<Side<dim>> &sides)
{
  std::map<unsigned int, std::vector<unsigned int>> at_ridge;
  for (unsigned int i = 0; i < sides.size(); ++i)
    for (const unsigned int ridge : sides[i].ridges)
      at_ridge[ridge].push_back(i);
  std::vector<Turn> turns;
  for (const auto &[ridge, meeting] : at_ridge) {
    if (meeting.size() != 2 || sides[meeting[0]].id != sides[meeting[1]].id)
      continue;
    const Side<dim> &a = sides[meeting[0]], &b = sides[meeting[1]];
    const double angle = std::acos(std::clamp(a.normal * b.normal, -1., 1.)) * 180. / numbers::PI;
    const bool is_convex = (b.center - a.center) * a.normal < 0.;
    turns.push_back({meeting[0], meeting[1], is_convex ? angle : -angle});
  }
  return turns;
}

/// The angles of a boundary id that turns like a curve, and a place where it does.
template <int dim>
struct Curve
{
  Point<dim> place;
  double least = corner_angle, most = flat_angle; ///< degrees
};

/// Plane facets, of sides without an angle between them, that are neighbours of two others at small
/// angles in the same sense.
template <int dim>
std::map<types::boundary_id, Curve<dim>> curves_of(const std::vector<Side<dim>> &sides)
{
  const std::vector<Turn> turns = turns_between(sides);
  DisjointSets facets(static_cast<unsigned int>(sides.size()));
  for (const Turn &turn : turns)
    if (std::abs(turn.degrees) < flat_angle)
      facets.unite(turn.first, turn.second);
  // The neighbours of each facet where it is convex, and where it is not
  std::map<unsigned int, std::array<std::map<unsigned int, double>, 2>> neighbours;
  for (const Turn &turn : turns) {
    const double angle = std::abs(turn.degrees);
    if (angle < flat_angle || angle > corner_angle)
      continue;
    const unsigned int a = facets.root(turn.first), b = facets.root(turn.second);
    neighbours[a][turn.degrees > 0. ? 0 : 1][b] = angle;
    neighbours[b][turn.degrees > 0. ? 0 : 1][a] = angle;
  }
  std::map<types::boundary_id, Curve<dim>> curves;
  for (const auto &[facet, of_sense] : neighbours)
    for (const auto &others : of_sense)
      if (others.size() > 1) {
        const auto entry = curves.try_emplace(sides[facet].id);
        Curve<dim> &curve = entry.first->second;
        if (entry.second)
          curve.place = sides[facet].center;
        for (const auto &other : others) {
          curve.least = std::min(curve.least, other.second);
          curve.most = std::max(curve.most, other.second);
        }
      }
  return curves;
}
} // namespace

template <int dim>
std::string warning_of_angular_sides(const Mesh<dim> &mesh)
{
  const auto curves = curves_of(straight_sides(mesh));
  if (curves.empty())
    return {};
  MeshRegions named = mesh.regions;
  named.boundary_ids.clear();
  Curve<dim> all = curves.begin()->second;
  for (const auto &[id, curve] : curves) {
    named.boundary_ids.insert(id);
    all.least = std::min(all.least, curve.least);
    all.most = std::max(all.most, curve.most);
  }
  std::ostringstream text;
  text.precision(3);
  text << "boundary id " << named.boundary_list() << " turns by " << all.least << " to " << all.most
       << " degrees from face to face, as at (" << all.place
       << "), and looks curved, but refinement keeps its corners: the body stays a polygon, and "
          "stresses at the corners may grow without end. Name the surface in Mesh/Manifolds ("
       << (dim == 2 ? "as polar or ellipse" : "as sphere, cylinder or cone")
       << "), save the mesh with second order if it is one of gmsh (`gmsh -order 2`), mesh the "
          "side finely instead of refining it, or write '"
       << curves.begin()->first << ": flat' there if it has these corners.";
  return text.str();
}

template std::string warning_of_angular_sides(const Mesh<2> &);
template std::string warning_of_angular_sides(const Mesh<3> &);
} // namespace femgpu
