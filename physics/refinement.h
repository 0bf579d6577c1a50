#ifndef femgpu_physics_refinement_h
#define femgpu_physics_refinement_h

#include "physics/discretization.h"

#include <deal.II/lac/vector.h>

namespace femgpu
{
/// What part of the cells an adaptive step refines and coarsens.
struct RefinementFractions
{
  double refine = 0.3;
  double coarsen = 0.03;
};

/**
 * Collective. Refines the mesh, numbers the dofs again and returns @p u interpolated to the new
 * space, as an initial guess; constraints are not applied to it.
 * @param mesh that of @p discretization
 * @param indicators for each active cell: the cells with the largest are refined; nullptr refines
 *        all cells; triangles and tetrahedra know no other way
 */
template <int dim>
FeVector refine_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                             const FeVector &u, const dealii::Vector<float> *indicators,
                             const RefinementFractions &fractions);
} // namespace femgpu

#endif
