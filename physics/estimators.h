#ifndef femgpu_physics_estimators_h
#define femgpu_physics_estimators_h

#include "physics/discretization.h"
#include "physics/problem.h"
#include "physics/results.h"

#include <deal.II/lac/vector.h>

namespace femgpu
{
/// The error estimators. They use the problem's flux, evaluated on each side of a face with the
/// material of that side. On the boundary, the difference from the prescribed flux counts twice.
enum class Estimator
{
  /// The estimator of Kelly, Gago, Zienkiewicz and Babuska (1983): η_K² = Σ_F h_K/24 ∫_F [σ·n]².
  kelly,
  /**
   * The residual estimator of Babuska and Rheinboldt (1978), for degree p by Melenk and Wohlmuth
   * (2001):
   *   η_K² = h_K²/p² ||s(u) + ∇·σ||²_K + Σ_F h_F/(2p) ||[σ·n]||²_F.
   * Inside a cell, ∇·σ is computed from the nodal interpolant of σ. It is exact if the coefficients
   * are constant and the cell is a parallelepiped.
   */
  residual
};

/**
 * Collective. Periodic sides of quadrilaterals and hexahedra are interior faces. Those of triangles
 * and tetrahedra, which are not refined adaptively, are ignored.
 * @param u with ghost values
 * @param indicators set to η_K of each active cell, zero for cells of other ranks
 */
template <int dim>
ErrorEstimate estimate_error(Estimator estimator, const Problem<dim> &problem,
                             const Discretization<dim> &discretization, const FeVector &u,
                             dealii::Vector<float> &indicators);
} // namespace femgpu

#endif
