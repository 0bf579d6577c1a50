#ifndef femgpu_physics_elastic_quantities_h
#define femgpu_physics_elastic_quantities_h

#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elastic_supports.h"
#include "physics/residual.h"

#include <deal.II/base/point.h>

#include <memory>

namespace femgpu
{
/// The data from which quantities of an elastic body are computed; they outlive the observer.
template <int dim>
struct ElasticBody
{
  const ElasticMaterials<dim> &materials;
  const ElasticSupports<dim> &supports;
  dealii::Point<dim> moment_point;
  bool reports_reactions;
};

/**
 * Returns an observer that reports extreme values, energies, optionally the forces of loads and
 * supports on the body, and the balance of forces, see Balance.
 *
 * Extreme stresses are taken at the nodes of each cell, like those in output files. The largest
 * displacement is that of the polynomials, including points between nodes. Reactions are the
 * residuals K u − f at the supported nodes, in the weak sense, so that their sum is minus the sum
 * of the loads up to the accuracy of the solver. If several boundaries support a component, its
 * reaction is assigned to the one with the smallest id. The loads of the balance include thermal
 * loads.
 *
 * Forces are in N; in 2D in N per metre of length or thickness.
 */
template <int dim>
std::unique_ptr<CellObserver<dim>> elastic_observer(const ElasticBody<dim> &body,
                                                    const Discretization<dim> &discretization);
} // namespace femgpu

#endif
