#ifndef femgpu_app_run_checks_h
#define femgpu_app_run_checks_h

#include "app/parameters.h"
#include "common/console.h"
#include "physics/discretization.h"
#include "physics/problem.h"

#include <map>
#include <string>

/**
 * @file
 * What is checked before a run begins.
 */
namespace femgpu
{
/// @throws ParameterError for a name that files cannot begin with: empty, or with a '/'.
void check_output_name(const OutputParameters &parameters);

/**
 * What Output/Units, as "m, N", means for the fields of the output: their units by name, and that
 * of coordinates as "length". Nothing if @p text is empty.
 * @throws ParameterError if the problem needs other ones
 */
template <int dim>
std::map<std::string, std::string> field_units(const std::string &text,
                                               const Problem<dim> &problem);

/// What decides about the size of a system.
struct SystemSize
{
  int dimension;
  double n_cells; ///< of the mesh that is to be made
  bool is_simplex, is_in_blocks;
  unsigned int degree, n_components, n_ranks, n_nodes;

  /// About as many as there are: without what the boundary adds.
  double n_dofs() const;
  /// Less than mesh and matrix take in the memory of the host, in all ranks together.
  double least_bytes() const;
  /// How many such cells fill the memory that there is, on all nodes as much as on this one.
  double most_cells() const;
};

/**
 * Refuses meshes that cannot be solved on, before hours go into making them.
 * @param path "Section/Key" of the parameter to blame
 * @throws ParameterError if unknowns have numbers of more than 31 bits; DeviceError if mesh and
 *         matrix do not fit into the memory that there is
 */
void check_size(const SystemSize &size, const std::string &path);

/// Dofs of the last cycle, about; infinitely many where meshes are known only when they are there.
/// @param size of the first cycle
double most_dofs(const Parameters &parameters, SystemSize size);

/**
 * Checks the section "Study".
 * @throws ParameterError for what cannot be done: triangles refined adaptively, a target without
 *         exact solution, nothing that chooses cells
 */
template <int dim>
void check_refinement(const StudyParameters &study, const Mesh<dim> &mesh,
                      const Problem<dim> &problem);

/// Warns of what may make results wrong: on the coarse mesh, or by its refinement.
template <int dim>
void warn(const Parameters &parameters, const Discretization<dim> &discretization,
          const Problem<dim> &problem, Console &console);

/// "2D", or "2D (plane stress)" if @p problem has a hypothesis.
template <int dim>
std::string dimension_text(const Problem<dim> &problem);

/// Returns what --validate prints for a study that is valid: the physics, the element, the number
/// of cells in the first cycle and the ids of the mesh.
template <int dim>
std::string valid_text(const Parameters &parameters, const Discretization<dim> &discretization,
                       const Problem<dim> &problem, double n_cells);

/// @throws ParameterError unless the methods fit the problem or, with Continuation/Enabled, a
/// branch of solutions can be traced
template <int dim>
void check_solution_methods(const Parameters &parameters, const Problem<dim> &problem);
} // namespace femgpu

#endif
