#ifndef femgpu_physics_mesh_check_h
#define femgpu_physics_mesh_check_h

#include "physics/discretization.h"
#include "physics/problem.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/// A vector normal to the face through its corners, of any length.
template <int dim, class FaceIterator>
dealii::Tensor<1, dim> face_normal(const FaceIterator &face)
{
  if constexpr (dim == 2)
    return dealii::cross_product_2d(face->vertex(1) - face->vertex(0));
  else if (face->n_vertices() == 3)
    return dealii::cross_product_3d(face->vertex(1) - face->vertex(0),
                                    face->vertex(2) - face->vertex(0));
  else
    return dealii::cross_product_3d(face->vertex(3) - face->vertex(0),
                                    face->vertex(2) - face->vertex(1));
}

/**
 * Refuses cells with straight edges that are inverted, degenerate or folded onto a neighbour: the
 * determinant of the Jacobian is to be positive at Gauss points and vertices, and neighbours are to
 * lie on different sides of their face.
 * @param places the beginning of the message for each cell
 * @throws InputError
 */
template <int dim>
void check_straight_cells(const dealii::Triangulation<dim> &coarse,
                          const std::vector<std::string> &places);

/**
 * Refuses cells of a mesh file of second order whose nodes curve them so that they are inverted.
 * @param places the beginning of the message for each cell
 * @throws InputError
 */
template <int dim>
void check_quadratic_cells(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &places);

/**
 * Collective. Refuses cells of a mesh with curved sides whose mapping, of the degree of the
 * elements, is not invertible at a Gauss point or a vertex. Does nothing for meshes without curved
 * sides, for which it suffices to check the coarse mesh.
 * @throws InputError on all ranks
 */
template <int dim>
void check_curved_cells(const Discretization<dim> &discretization);

/**
 * Refuses boundary ids of a mesh file, other than 0, that neither @p problem nor Mesh/Natural
 * boundaries names: most of them were forgotten.
 * @throws ParameterError
 */
template <int dim>
void check_named_boundaries(const MeshParameters &parameters, const Mesh<dim> &mesh,
                            const Problem<dim> &problem);
} // namespace femgpu

#endif
