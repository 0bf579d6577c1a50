#ifndef femgpu_physics_mesh_h
#define femgpu_physics_mesh_h

#include "physics/base/regions.h"
#include "physics/mesh/inner_sides.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_acceptor.h>
#include <deal.II/distributed/tria_base.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/// The parameters in section "Mesh".
class MeshParameters : public dealii::ParameterAcceptor
{
public:
  MeshParameters();

  std::string generator = "hyper_cube";
  std::string arguments = "0 : 1 : false";
  std::string file;
  std::string directory; ///< directory of the parameter file, also searched for `file`
  std::string made_in;   ///< directory of mesh files that other programs make
  std::string size;      ///< expression: size of the cells that gmsh makes; empty: gmsh's choice
  unsigned int order = 1;
  double meshing_time_limit = 3600.; ///< seconds
  std::string boundaries, named_points, named_curves;
  std::string merge_nodes = "refuse";
  std::string natural_boundaries;
  std::string manifolds;
  std::string cells = "auto";
  std::string inverted_cells = "refuse";
  unsigned int initial_refinements = 3;
  std::string refinement_where; ///< expression: number of further refinements of a cell
};

/// A mesh distributed over all ranks, with the properties that the rest of the program needs.
template <int dim>
struct Mesh
{
  using Triangulation = dealii::parallel::TriangulationBase<dim, dim>;

  std::unique_ptr<Triangulation> triangulation;
  /// For triangles and tetrahedra: the finest mesh that is replicated on all ranks, with the owner
  /// of each cell as subdomain id. In further refinements, each rank refines only its own cells
  /// (simplex_mesh.h).
  std::unique_ptr<dealii::Triangulation<dim, dim>> serial;
  bool is_simplex = false;
  /// The discretization divides each cell of the triangulation, then called a block, into this
  /// number of cells in each direction (active_cell.h).
  unsigned int cells_per_block = 1;
  bool is_curved = false; ///< whether some manifolds are not flat
  /// Whether cells of the mesh file are inverted at vertices only; refinement can invert them.
  bool has_inverted_vertices = false;
  std::string output_directory; ///< checks write inverted cells to it
  unsigned int order = 1;       ///< order of the cells in the mesh file: 1 or 2
  bool is_of_geometry = false;  ///< whether gmsh has meshed a geometry
  std::string origin;           ///< the program that made the mesh file; empty if none did
  MeshRegions regions;
  InnerSides<dim> inner_sides;
  std::vector<std::string> warnings; ///< messages about probable mistakes, with remedies

  unsigned int refinements_within_blocks() const
  {
    return cells_per_block / 2; // 0, 1, 2 for 1, 2, 4 cells
  }
  /// Collective. Returns the number of cells of the discretization.
  double n_cells() const
  {
    return static_cast<double>(triangulation->n_global_active_cells()) *
           std::pow(cells_per_block, dim);
  }

  /// Returns a mesh whose cells of level 0 are replicated on all ranks.
  const dealii::Triangulation<dim, dim> &coarse() const
  {
    return serial ? *serial : *triangulation;
  }

  /// Returns the id of a face of @p cell, which has level 0: its boundary id or that of an inner
  /// side; internal_face_boundary_id if it has none.
  dealii::types::boundary_id side_id(const typename InnerSides<dim>::Cell &cell,
                                     const unsigned int face) const
  {
    return cell->at_boundary(face) || inner_sides.empty() ? cell->face(face)->boundary_id()
                                                          : inner_sides.id(cell, face);
  }
};

/**
 * Collective. Makes the coarse mesh that @p parameters describe, by a generator of deal.II or from
 * a file, which other programs mesh or convert first if necessary (made_mesh.h). p4est distributes
 * quadrilaterals and hexahedra; METIS distributes triangles and tetrahedra. The mesh is not refined
 * yet.
 * @param definitions the user's definitions for expressions, which become those of the regions
 * @param halvings number of times that the size of the cells of a geometry is halved
 * @throws ParameterError if a generator is unknown, its arguments are wrong, or an entry that names
 * parts by place is
 * @throws InputError if a file cannot be read or meshed, or has inverted cells or other cells than
 * requested
 * @throws DeviceError if a generated mesh would exceed the memory
 */
template <int dim>
Mesh<dim> make_mesh(const MeshParameters &parameters, MPI_Comm communicator,
                    const linalg::ExpressionDefinitions &definitions = {},
                    unsigned int halvings = 0);

/// Collective. Refines all cells of @p mesh @p times times. DoFHandlers stay attached, but must
/// distribute their dofs again.
template <int dim>
void refine_globally(Mesh<dim> &mesh, unsigned int times);
} // namespace femgpu

#endif
