#include "physics/mesh/refinement_forecast.h"

#include "physics/deal_ii_compat.h"
#include "physics/mesh/refinement.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/distributed/tria_base.h>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Counts the cells that a coarse cell is cut into, depth first, so that none needs memory.
template <int dim>
class CellCount
{
public:
  using Cell = typename Triangulation<dim>::active_cell_iterator;

  CellCount(const Cell &cell, const unsigned int times, const Function<dim> &where,
            const double most)
      : cell(cell), times(times), where(where), most(most)
  {}

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

private:
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

  const Cell &cell;
  unsigned int times;
  const Function<dim> &where;
  double most;
};
} // namespace

template <int dim>
double forecast_cells(const Mesh<dim> &mesh, const unsigned int times,
                      const LocalRefinementParameters &parameters, const double most)
{
  const auto where = initial_refinement(mesh, parameters);
  if (!where)
    return static_cast<double>(mesh.triangulation->n_global_active_cells()) *
           std::pow(1 << dim, times);
  double n = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && n <= most)
      n += CellCount<dim>(cell, times, *where, most).count(Point<dim>(), 0);
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

template double forecast_cells(const Mesh<2> &, unsigned int, const LocalRefinementParameters &,
                               double);
template double forecast_cells(const Mesh<3> &, unsigned int, const LocalRefinementParameters &,
                               double);
template double cells_after_flags(const Mesh<2> &);
template double cells_after_flags(const Mesh<3> &);
} // namespace femgpu
