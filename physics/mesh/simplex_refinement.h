#ifndef femgpu_physics_simplex_refinement_h
#define femgpu_physics_simplex_refinement_h

#include <deal.II/grid/tria.h>

#include <vector>

namespace femgpu
{
/**
 * Refines all cells of a mesh of triangles or tetrahedra that has level 0 only, once; @p refined
 * gets the children as cells of level 0, with their material, boundary and manifold ids.
 *
 * Of the octahedron that is left in the middle of a tetrahedron, deal.II 9.4 always cuts along the
 * same diagonal. Repeated, that makes cells ever flatter, and the elements lose their order. So
 * each cell's vertices are put in an order, of the same orientation, for which that diagonal is the
 * shortest of the three; then all children keep their quality. To be removed where deal.II chooses
 * the diagonal itself (9.5 and later).
 * @return the number of the parent of each cell of @p refined
 */
template <int dim>
std::vector<unsigned int> refine_simplices(const dealii::Triangulation<dim> &mesh,
                                           dealii::Triangulation<dim> &refined);
} // namespace femgpu

#endif
