#ifndef femgpu_physics_inverted_cells_h
#define femgpu_physics_inverted_cells_h

#include <deal.II/base/quadrature.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

namespace femgpu
{
/// A cell whose Jacobian has a determinant that is not positive. Trivially copyable.
struct InvertedCell
{
  unsigned int number; ///< number of its coarse cell; of triangles and tetrahedra, its own number
  unsigned int n_vertices;
  double determinant;          ///< the smallest one
  std::array<double, 3> point; ///< its location
  std::array<std::array<double, 3>, 8> vertices;

  /// Returns for example "the determinant of its Jacobian is -0.1 at (0 1)".
  std::string determinant_text(int dim) const;
};

/// The cells of this rank that are inverted at Gauss points, which makes them unusable, and the
/// others that are inverted only at vertices.
struct InvertedCells
{
  std::vector<InvertedCell> at_gauss_points, only_at_vertices;
};

/**
 * Returns the cells of this rank whose @p mapping is inverted at the points of @p gauss or at the
 * vertices.
 * @param at_vertices the smallest valid determinant at vertices, relative to the cell's size to the
 * power of the dimension
 */
template <int dim>
InvertedCells find_inverted_cells(const dealii::Triangulation<dim> &mesh,
                                  const dealii::Mapping<dim> &mapping,
                                  const dealii::Quadrature<dim> &gauss, double at_vertices);

/**
 * Collective. Throws an InputError on all ranks if any rank has @p cells. They are then written to
 * DIRECTORY/inverted_cells.vtu, with the arrays `cell` (InvertedCell::number), `determinant` and
 * `location` (line or cell number in the mesh file; -1 if there are no locations).
 * @param locations for each cell of the coarse mesh, the beginning of messages; may be empty
 * @param message returns the beginning of the message about the first of the cells
 * @param advice sentences at the end of the message
 */
template <int dim>
void refuse_inverted_cells(std::vector<InvertedCell> cells,
                           const std::vector<std::string> &locations, const std::string &directory,
                           const std::function<std::string(const InvertedCell &)> &message,
                           const std::string &advice, MPI_Comm communicator);
} // namespace femgpu

#endif
