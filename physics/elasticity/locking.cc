#include "physics/elasticity/locking.h"

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/geometry_info.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
constexpr double nearly_incompressible = 0.45; ///< Poisson's ratio
constexpr double slender = 5.;                 ///< length / thickness
constexpr double too_stiff = 0.05;             ///< excess stiffness / exact stiffness
constexpr double slender_fraction = 0.3; ///< least locked fraction of the surface for a warning

template <int dim>
using Cell = typename Triangulation<dim>::cell_iterator;

template <int dim>
double poisson_ratio(const ElasticMaterials<dim> &materials, const Cell<dim> &cell)
{
  const ElasticModuli moduli = materials.moduli({cell->center()}, cell->material_id()).front();
  return moduli.lambda / (2. * (moduli.lambda + moduli.mu));
}

// The find_…_locking() functions append a warning if they find locking. The coarse mesh is
// replicated, so all ranks append the same warnings.

template <int dim>
void find_volumetric_locking(const Mesh<dim> &mesh, const ElasticMaterials<dim> &materials,
                             std::vector<std::string> &warnings)
{
  double largest = nearly_incompressible;
  Cell<dim> found;
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    if (const double nu = poisson_ratio(materials, cell); nu > largest) {
      largest = nu;
      found = cell;
    }
  if (found.state() != IteratorState::valid)
    return;
  std::ostringstream text;
  text << "elements of degree 1 are too stiff for a Poisson's ratio of " << largest << " of "
       << materials.name(found->material_id())
       << ": they cannot preserve their volume when they deform (volumetric locking). Set "
          "Discretization/Degree = 2.";
  warnings.push_back(text.str());
}

/// A row of cells across the body, from one side to the opposite one.
struct Stack
{
  double thickness = 0.;
  unsigned int n_cells = 0;
  double length = std::numeric_limits<double>::infinity(); ///< length of the cells along the body
};

/// Returns the extent of the mesh in the direction of @p edge.
template <int dim>
double extent(const BoundingBox<dim> &box, const Tensor<1, dim> &edge)
{
  double sum = 0.;
  for (unsigned int d = 0; d < dim; ++d)
    sum += std::abs(edge[d]) * box.side_length(d);
  return sum / edge.norm();
}

/**
 * Returns the stack that begins at face @p f of @p cell. The length of the stack is the shortest
 * edge of this face along which the body is slender; infinite if there is none.
 */
template <int dim>
Stack stack_at(Cell<dim> cell, unsigned int f, const BoundingBox<dim> &box)
{
  Stack stack;
  const auto first = cell->face(f);
  for (;;) {
    const unsigned int opposite = GeometryInfo<dim>::opposite_face[f];
    ++stack.n_cells;
    stack.thickness += cell->face(f)->center().distance(cell->face(opposite)->center());
    if (cell->at_boundary(opposite))
      break;
    const auto next = cell->neighbor(opposite);
    f = cell->neighbor_of_neighbor(opposite);
    cell = next;
  }
  const unsigned int n_edges = dim == 2 ? 1 : 4;
  for (unsigned int l = 0; l < n_edges; ++l) {
    Tensor<1, dim> edge = first->vertex(1) - first->vertex(0);
    if constexpr (dim == 3)
      edge = first->line(l)->vertex(1) - first->line(l)->vertex(0);
    if (extent(box, edge) >= slender * stack.thickness)
      stack.length = std::min(stack.length, edge.norm());
  }
  return stack;
}

/**
 * Returns a lower bound of the excess stiffness of cells in bending, relative to the exact
 * stiffness. In a body of thickness t, a bilinear cell of length l represents a curvature κ by a
 * shear strain κx along the cell, whose energy is (1-ν)/2 (l/t)² times the bending energy. The
 * transverse strain of a cell is constant over its height, so n cells over the thickness resist the
 * transverse strain -νκz of bending with ν²/(1-ν²)/n² times the bending energy.
 */
double stiffening(const double length_by_thickness, const double n_cells, const double nu)
{
  return (1. - nu) / 2. * length_by_thickness * length_by_thickness +
         nu * nu / (1. - nu * nu) / (n_cells * n_cells);
}

template <int dim>
void find_shear_locking(const Mesh<dim> &mesh, const ElasticMaterials<dim> &materials,
                        const unsigned int refinements, std::vector<std::string> &warnings)
{
  const BoundingBox<dim> box(mesh.coarse().get_vertices());
  const double refinement_factor = std::pow(2., refinements);
  double all = 0., locked = 0., too_much = 0., ratio = 0., n_cells = 0.; // surface integrals
  std::optional<Point<dim>> location;
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const unsigned int f : cell->face_indices()) {
      if (!cell->at_boundary(f))
        continue;
      const double size = cell->face(f)->measure();
      all += size;
      const Stack stack = stack_at<dim>(cell, f, box);
      if (!std::isfinite(stack.length))
        continue;
      const double slope = stack.length / stack.thickness / refinement_factor;
      const double excess =
          stiffening(slope, stack.n_cells * refinement_factor, poisson_ratio(materials, cell));
      if (!(excess > too_stiff))
        continue;
      locked += size;
      too_much += size * excess;
      ratio += size * slope;
      n_cells += size * stack.n_cells * refinement_factor;
      if (!location)
        location = cell->face(f)->center();
    }
  if (!(locked > slender_fraction * all))
    return;
  std::ostringstream text;
  text.precision(2);
  text << "a slender body with about " << n_cells / locked << " cells of degree 1 across its "
       << "thickness" << (refinements > 0 ? " in the last cycle" : "") << ", each "
       << ratio / locked << " times as long as the body is thick, for example at (" << *location
       << "): it is at least " << 100. * too_much / locked
       << " % too stiff where it bends (shear locking). Set Discretization/Degree = 2.";
  warnings.push_back(text.str());
}
} // namespace

template <int dim>
std::vector<std::string> locking_warnings(const Discretization<dim> &discretization,
                                          const ElasticMaterials<dim> &materials,
                                          const unsigned int refinements)
{
  std::vector<std::string> warnings;
  if (discretization.degree() > 1)
    return warnings;
  const Mesh<dim> &mesh = discretization.mesh();
  if (!materials.is_in_plane_stress())
    find_volumetric_locking(mesh, materials, warnings);
  if (!mesh.is_simplex)
    find_shear_locking(mesh, materials, refinements, warnings);
  return warnings;
}

template std::vector<std::string> locking_warnings(const Discretization<2> &,
                                                   const ElasticMaterials<2> &, unsigned int);
template std::vector<std::string> locking_warnings(const Discretization<3> &,
                                                   const ElasticMaterials<3> &, unsigned int);
} // namespace femgpu
