#ifndef femgpu_physics_estimators_h
#define femgpu_physics_estimators_h

#include "physics/discretization.h"
#include "physics/problem.h"
#include "physics/results.h"

#include <deal.II/lac/vector.h>

namespace femgpu
{
/// How errors are estimated. Both take the flux of the problem, on both sides of a face with the
/// material that is there, and count twice what a face of the boundary lacks of the flux that the
/// data prescribe.
enum class Estimator
{
  /// Of Kelly, Gago, Zienkiewicz and Babuska (1983): η_K² = Σ_F h_K/24 ∫_F [σ·n]².
  kelly,
  /**
   * Babuska, Rheinboldt 1978; in p by Melenk, Wohlmuth 2001:
   *   η_K² = h_K²/p² ||s(u) + ∇·σ||²_K + Σ_F h_F/(2p) ||[σ·n]||²_F.
   * Inside a cell ∇·σ is that of the interpolation of σ at the nodes: exact where the coefficients
   * are constant and the cell is a parallelepiped.
   */
  residual
};

/**
 * Collective. Periodic sides of quadrilaterals and hexahedra are faces between cells, those of
 * triangles and tetrahedra, which are not refined by estimates, count nothing.
 * @param u with ghost values
 * @param indicators gets η_K of each active cell, zero for cells of other ranks
 */
template <int dim>
ErrorEstimate estimate_error(Estimator estimator, const Problem<dim> &problem,
                             const Discretization<dim> &discretization, const FeVector &u,
                             dealii::Vector<float> &indicators);
} // namespace femgpu

#endif
