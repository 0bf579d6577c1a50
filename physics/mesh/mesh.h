#ifndef femgpu_physics_mesh_h
#define femgpu_physics_mesh_h

#include "physics/base/regions.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_acceptor.h>
#include <deal.II/distributed/tria_base.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/// Section "Mesh".
class MeshParameters : public dealii::ParameterAcceptor
{
public:
  MeshParameters();

  std::string generator = "hyper_cube";
  std::string arguments = "0 : 1 : false";
  std::string file;
  std::string directory; ///< of the parameter file, where the mesh file may be, too
  std::string merge_nodes = "refuse";
  std::string natural_boundaries;
  std::string manifolds;
  std::string cells = "auto";
  unsigned int initial_refinements = 3;
  std::string refinement_where; ///< how often cells are refined besides; empty: not at all
};

/// A mesh on all ranks, and what of it the rest of the program needs to know.
template <int dim>
struct Mesh
{
  using Triangulation = dealii::parallel::TriangulationBase<dim, dim>;

  std::unique_ptr<Triangulation> triangulation;
  /// Triangles and tetrahedra: the finest mesh that every rank has as a whole, with the owners of
  /// its cells as subdomain ids; beyond, each rank refines its part (simplex_mesh.h).
  std::unique_ptr<dealii::Triangulation<dim, dim>> whole;
  bool is_simplex = false;
  /// Cells of the discretization in each direction of a cell of the triangulation (active_cell.h).
  unsigned int cells_per_block = 1;
  bool is_curved = false; ///< has manifolds that are not flat
  unsigned int order = 1; ///< of the cells of the mesh file, 1 or 2
  MeshRegions regions;
  std::vector<std::string> warnings; ///< of what is probably not meant, with the cure

  unsigned int refinements_within_blocks() const
  {
    return cells_per_block / 2; // of 1, 2, 4
  }
  /// Collective. Of the discretization.
  double n_cells() const
  {
    return static_cast<double>(triangulation->n_global_active_cells()) *
           std::pow(cells_per_block, dim);
  }

  /// A mesh whose cells of level 0 every rank has, all of them.
  const dealii::Triangulation<dim, dim> &coarse() const
  {
    return whole ? *whole : *triangulation;
  }
};

/**
 * Collective. The coarse mesh that @p parameters describe: a generator of deal.II or a
 * file; quadrilaterals and hexahedra distributed by p4est, triangles and tetrahedra by METIS. It is
 * not refined yet.
 * @throws ParameterError for an unknown generator or wrong arguments; InputError for a file that
 *         cannot be read, has other cells than asked for, mixed or inverted cells.
 */
template <int dim>
Mesh<dim> make_mesh(const MeshParameters &parameters, MPI_Comm communicator);

/// Collective. Refines all cells of @p mesh @p times times; DoFHandlers stay attached.
template <int dim>
void refine_globally(Mesh<dim> &mesh, unsigned int times);
} // namespace femgpu

#endif
