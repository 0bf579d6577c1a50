#ifndef femgpu_physics_estimators_h
#define femgpu_physics_estimators_h

#include "physics/discretization.h"
#include "physics/problem.h"
#include "physics/results.h"

#include <deal.II/lac/vector.h>

namespace femgpu
{
/// The error estimators. The indicator η_K of a cell K, of diameter h_K, includes the squared jumps
/// [σ·n]² of the flux on the faces F of K, of diameter h_F. The flux on each side of a face is
/// evaluated with the material of that side. On the boundary, the squared difference from the
/// prescribed flux is counted twice.
enum class Estimator
{
  /// The estimator of Kelly, Gago, Zienkiewicz and Babuska (1983): η_K² = Σ_F h_K/24 ∫_F [σ·n]².
  kelly,
  /**
   * The residual estimator of Babuska and Rheinboldt (1978), for degree p by Melenk and Wohlmuth
   * (2001):
   *   η_K² = h_K²/p² ||s(u) + ∇·σ||²_K + Σ_F h_F/(2p) ||[σ·n]||²_F.
   * Inside a cell, ∇·σ is computed from the nodal interpolant of σ. This is exact if the
   * coefficients are constant and the cell is a parallelepiped.
   */
  residual
};

/**
 * Collective. Estimates the error of @p u. Periodic sides of quadrilaterals and hexahedra count as
 * interior faces. Periodic sides of triangles and tetrahedra are ignored, because meshes of these
 * cells are not refined adaptively.
 * @param u the finite element function, with ghost values
 * @param indicators set to η_K of each active cell, zero for cells of other ranks
 */
template <int dim>
ErrorEstimate estimate_error(Estimator estimator, const Problem<dim> &problem,
                             const Discretization<dim> &discretization, const FeVector &u,
                             dealii::Vector<float> &indicators);
} // namespace femgpu

#endif
