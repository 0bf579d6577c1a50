#ifndef femgpu_physics_mesh_h
#define femgpu_physics_mesh_h

#include "physics/mesh/regions.h"
#include "physics/parameters.h"

#include <deal.II/base/mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace dealii
{
template <int dim, int spacedim>
class Triangulation;
namespace parallel
{
template <int dim, int spacedim>
class TriangulationBase;
}
} // namespace dealii

namespace femgpu
{
/// A mesh on all ranks, and what of it the rest of the program needs to know.
template <int dim>
struct Mesh
{
  Mesh();
  ~Mesh();
  Mesh(Mesh &&) noexcept;
  Mesh &operator=(Mesh &&) noexcept;

  using Triangulation = dealii::parallel::TriangulationBase<dim, dim>;

  std::unique_ptr<Triangulation> triangulation;
  /// Triangles and tetrahedra: the same cells in the same order, all of level 0, on every rank.
  std::unique_ptr<dealii::Triangulation<dim, dim>> replica;
  bool is_simplex = false;
  bool is_curved = false; ///< has manifolds that are not flat
  MeshRegions regions;
  std::vector<std::string> warnings; ///< of what is probably not meant, with the cure
};

/**
 * Collective. The coarse mesh that @p parameters describe: a generator of deal.II or a
 * file; quadrilaterals and hexahedra distributed by p4est, triangles and tetrahedra shared by all
 * ranks with METIS. It is not refined yet.
 * @throws ParameterError for an unknown generator or wrong arguments; InputError for a file that
 *         cannot be read, has other cells than asked for, mixed or inverted cells.
 */
template <int dim>
Mesh<dim> make_mesh(const MeshParameters &parameters, MPI_Comm communicator);

/**
 * Collective. Refines all cells of @p mesh @p times times. Triangles and tetrahedra get a new mesh,
 * to which DoFHandlers stay attached.
 * @return for triangles and tetrahedra the number of the parent of each active cell, after one
 *         refinement; empty otherwise
 */
template <int dim>
std::vector<unsigned int> refine_globally(Mesh<dim> &mesh, unsigned int times);
} // namespace femgpu

#endif
