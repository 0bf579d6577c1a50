#ifndef femgpu_physics_elastic_quantities_h
#define femgpu_physics_elastic_quantities_h

#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/elastic_supports.h"
#include "physics/residual.h"

#include <deal.II/base/point.h>

#include <memory>

namespace femgpu
{
/// The data of an elastic body for elastic_observer(). Referenced objects must outlive the
/// observer.
template <int dim>
struct ElasticBody
{
  const ElasticMaterials<dim> &materials;
  const ElasticSupports<dim> &supports;
  dealii::Point<dim> moment_point; ///< reference point of moments
  bool reports_reactions;
  bool is_transient;
};

/**
 * Returns an observer that reports extreme values, energies, the balance of forces (Balance
 * in physics/residual.h) and, optionally, the forces of loads and supports on the body.
 *
 * Extreme stresses are taken at the nodes of each cell, like the stresses in output files. The
 * largest displacement is the maximum over all points, not only over nodes. Reactions are the
 * residuals K u − f at the supported nodes, in the weak sense, so that their sum is minus the sum
 * of the loads up to the accuracy of the solver. If several boundaries support a component
 * of a node, its reaction is assigned to the boundary with the smallest id. The loads in the
 * balance include thermal loads and, in a transient analysis, the forces of inertia −ρ ü.
 *
 * Forces are in N; in 2D in N per metre of length or thickness.
 */
template <int dim>
std::unique_ptr<CellObserver<dim>> elastic_observer(const ElasticBody<dim> &body,
                                                    const Discretization<dim> &discretization);
} // namespace femgpu

#endif
