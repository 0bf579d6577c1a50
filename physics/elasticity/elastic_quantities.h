#ifndef femgpu_physics_elastic_quantities_h
#define femgpu_physics_elastic_quantities_h

#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elastic_supports.h"
#include "physics/residual.h"

#include <deal.II/base/point.h>

#include <memory>

namespace femgpu
{
/// What quantities of an elastic body are computed from; all outlive the computation.
template <int dim>
struct ElasticBody
{
  const ElasticMaterials<dim> &materials;
  const ElasticSupports<dim> &supports;
  dealii::Point<dim> moment_point;
  bool reports_reactions;
};

/**
 * Reports extreme values, energies, if wanted what loads and supports exert on the body, and the
 * balance of forces, see Balance.
 *
 * Extremes of stress are those at the nodes of each cell, where output files have them, too; the
 * largest displacement is that of the polynomials between the nodes.
 * Reactions are the residuals K u − f at the nodes that are held, in the weak sense, so that their
 * sum is minus that of the loads to the accuracy of the solver. A component that several parts of
 * the boundary hold counts for the one with the smallest id. Thermal loads are among the loads of
 * the balance.
 *
 * Forces are in N, in 2D in N for 1 m of length or thickness.
 */
template <int dim>
std::unique_ptr<CellObserver<dim>> elastic_observer(const ElasticBody<dim> &body,
                                                    const Discretization<dim> &discretization);
} // namespace femgpu

#endif
