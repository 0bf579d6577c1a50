#include "physics/mesh/refinement_forecast.h"

#include "physics/deal_ii_compat.h"
#include "physics/mesh/refinement.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/distributed/tria_base.h>

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Counts the cells that a coarse cell is cut into, depth first, so that none needs memory.
template <int dim>
struct CellCount
{
  typename Triangulation<dim>::active_cell_iterator cell;
  unsigned int times;
  const Function<dim> &where;
  double most;

  /// Of the part of the cell from @p corner of the unit cell on, whose level is @p level.
  double count(const Point<dim> &corner, const unsigned int level) const
  {
    const double size = std::ldexp(1., -static_cast<int>(level));
    if (!is_refined(corner, size, level))
      return 1.;
    double n = 0.;
    for (const unsigned int child : GeometryInfo<dim>::vertex_indices()) {
      n += count(corner + size / 2. * GeometryInfo<dim>::unit_cell_vertex(child), level + 1);
      if (n > most)
        break;
    }
    return n;
  }

  bool is_refined(const Point<dim> &corner, const double size, const unsigned int level) const
  {
    if (level < times)
      return true;
    if (level >= times + most_local_refinements)
      return false;
    Point<dim> unit = corner, centre;
    for (unsigned int d = 0; d < dim; ++d)
      unit[d] += size / 2.;
    for (const unsigned int v : GeometryInfo<dim>::vertex_indices())
      centre += GeometryInfo<dim>::d_linear_shape_function(unit, v) * cell->vertex(v);
    return level < times + where.value(centre);
  }
};
} // namespace

template <int dim>
double forecast_cells(const Mesh<dim> &mesh, const unsigned int times,
                      const std::string &expression, const double most)
{
  const auto where = initial_refinement(mesh, expression);
  if (!where)
    return static_cast<double>(mesh.triangulation->n_global_active_cells()) *
           std::pow(1 << dim, times);
  double n = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && n <= most)
      n += CellCount<dim>{cell, times, *where, most}.count(Point<dim>(), 0);
  return Utilities::MPI::sum(n, compat::communicator(*mesh.triangulation));
}

template <int dim>
double cells_after_flags(const Mesh<dim> &mesh)
{
  constexpr double children = 1 << dim;
  double n = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned())
      n += cell->refine_flag_set() ? children : cell->coarsen_flag_set() ? 1. / children : 1.;
  return Utilities::MPI::sum(n, compat::communicator(*mesh.triangulation)) *
         std::pow(mesh.cells_per_block, dim);
}

namespace
{
/// What refinement and coarsening make of the dofs of one component: those inside of a cell, a face
/// or a line, as there are nodes of tensor products of the degree p there.
template <int dim>
class DofChanges
{
public:
  using Cell = typename DoFHandler<dim>::active_cell_iterator;

  explicit DofChanges(const double p) : p(p)
  {}

  /// At least so many are added with the children of @p cell. Cells around it may be refined, too.
  double least_gain(const Cell &cell) const
  {
    double gain = of_children(dim) - inside(dim);
    for (const unsigned int f : cell->face_indices())
      if (cell->face(f)->has_children()) // it has both, for the smaller cells and for this one
        gain -= inside(dim - 1);
      else
        gain += (of_children(dim - 1) - inside(dim - 1)) / (may_share_children(cell, f) ? 2. : 1.);
    for (unsigned int line = 0; dim == 3 && line < cell->n_lines(); ++line)
      if (cell->line(line)->has_children())
        gain -= inside(1);
    return gain;
  }
  /// At most so many are lost with a cell, one of 2^dim that become one, which keeps its corners.
  double largest_loss() const
  {
    constexpr double n_children = 1 << dim;
    return (std::pow(2. * p + 1., dim) - inside(dim) - n_children) / n_children;
  }

private:
  double inside(const int dimension) const
  {
    return std::pow(p - 1., dimension);
  }
  double of_children(const int dimension) const
  {
    return std::pow(2. * p - 1., dimension);
  }
  static bool may_share_children(const Cell &cell, const unsigned int f)
  {
    if (cell->at_boundary(f) || cell->neighbor_is_coarser(f))
      return false;
    return cell->neighbor(f)->is_ghost() || cell->neighbor(f)->refine_flag_set();
  }

  double p;
};
} // namespace

template <int dim>
std::size_t least_dofs_after_flags(const Discretization<dim> &discretization)
{
  const DoFHandler<dim> &dofs = discretization.dofs();
  if (discretization.mesh().is_simplex)
    return dofs.n_dofs();
  const double n_components = dofs.get_fe().n_components();
  const DofChanges<dim> changes(1. + dofs.get_fe().n_dofs_per_line() / n_components);
  double change = 0.;
  for (const auto &cell : dofs.active_cell_iterators())
    if (cell->is_locally_owned()) {
      if (cell->refine_flag_set())
        change += changes.least_gain(cell);
      else if (cell->coarsen_flag_set())
        change -= changes.largest_loss();
    }
  change = n_components * Utilities::MPI::sum(change, discretization.communicator());
  return static_cast<std::size_t>(
      std::max(0., static_cast<double>(dofs.n_dofs()) + std::floor(change)));
}

template double forecast_cells(const Mesh<2> &, unsigned int, const std::string &, double);
template double forecast_cells(const Mesh<3> &, unsigned int, const std::string &, double);
template double cells_after_flags(const Mesh<2> &);
template double cells_after_flags(const Mesh<3> &);
template std::size_t least_dofs_after_flags(const Discretization<2> &);
template std::size_t least_dofs_after_flags(const Discretization<3> &);
} // namespace femgpu
