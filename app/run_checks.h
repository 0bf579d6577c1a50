#ifndef femgpu_app_run_checks_h
#define femgpu_app_run_checks_h

#include "app/cycle_record.h"
#include "app/parameters.h"
#include "common/console.h"
#include "physics/discretization.h"
#include "physics/problem.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>

/**
 * @file
 * Checks before a run begins.
 */
namespace femgpu
{
/// Checks Output/Name. @throws ParameterError if the name is empty or contains a '/'
void check_output_name(const OutputParameters &parameters);

/**
 * Derives the units of the output fields from Output/Units, for example "m, N". Returns the units
 * by field name, with the unit of coordinates as "length"; nothing if @p text is empty.
 * @throws ParameterError unless @p text has a unit for each base unit of the problem
 */
template <int dim>
std::map<std::string, std::string> field_units(const std::string &text,
                                               const Problem<dim> &problem);

/// The properties that determine the size of a system.
struct SystemSize
{
  int dimension;
  double n_cells; ///< number of cells of the mesh to be created
  bool is_simplex, uses_cell_blocks;
  unsigned int degree, n_components, n_ranks, n_nodes; ///< n_nodes: number of hosts

  /// Estimates the number of dofs, without the extra dofs at the boundary.
  double n_dofs() const;
  /// Returns a lower bound of the host memory for mesh and matrix, summed over all ranks.
  double min_bytes() const;
  /// Returns the number of cells that fill the memory of all hosts, if each of them has as much
  /// memory as this host.
  double max_cells() const;
};

/**
 * Rejects a mesh that is too large before it is created.
 * @param path "Section/Key" of the parameter that the error names
 * @throws ParameterError if the indices of unknowns exceed 31 bits; DeviceError if mesh and matrix
 *         do not fit into the available memory
 */
void check_size(const SystemSize &size, const std::string &path);

/// Returns the size of a system with @p n_cells cells and the elements of @p discretization.
template <int dim>
SystemSize system_size(const Discretization<dim> &discretization, double n_cells,
                       bool uses_cell_blocks);

/// Returns why a study stops before a cycle with at least @p n_dofs dofs; nullopt if it does not.
/// @throws ParameterError if this is the first cycle
std::optional<std::string> text_if_too_many(std::size_t n_dofs, const StudyParameters &study,
                                            bool is_first);

/// Returns why a study stops if no cell is flagged for refinement.
std::string nothing_to_refine_text(const StudyParameters &study);

/// Stores in @p study what does not change from cycle to cycle.
template <int dim>
void describe_study(const Parameters &parameters, const Discretization<dim> &discretization,
                    const Problem<dim> &problem, StudyRecord &study);

/// Estimates the number of dofs of the last cycle. If refinement is local, returns Study/Maximum
/// dofs, or infinity if this parameter is not set.
/// @param size size of the system in the first cycle
double max_dofs(const Parameters &parameters, SystemSize size);

/**
 * Checks the section "Study".
 * @throws ParameterError for inconsistent parameters: adaptive refinement of simplices, a target
 *         error without exact solution or estimate, adaptive refinement without a criterion, or a
 *         criterion without adaptive refinement
 */
template <int dim>
void check_refinement(const StudyParameters &study, const Mesh<dim> &mesh,
                      const Problem<dim> &problem);

/// Warns if results may be wrong because of the coarse mesh or its refinement.
template <int dim>
void warn(const Parameters &parameters, const Discretization<dim> &discretization,
          const Problem<dim> &problem, Console &console);

/// Returns "2D", or "2D (plane stress)" if @p problem has a hypothesis.
template <int dim>
std::string dimension_text(const Problem<dim> &problem);

/// Collective. Checks that cells are not inverted; warns if some are inverted at vertices only.
/// @throws InputError if cells are inverted
template <int dim>
void check_cells(const Discretization<dim> &discretization, Console &console);

/// Collective. Returns the output of --validate for a valid study: the physics, the element, the
/// number of cells in the first cycle and the ids of the mesh.
/// @param draws whether to write the sides of the mesh to the output directory, see write_sides()
/// @throws OutputError if they cannot be written
template <int dim>
std::string validation_text(const Parameters &parameters, const Discretization<dim> &discretization,
                            const Problem<dim> &problem, double n_cells, bool draws);

/// Returns the settings of section "Solver", with a solver for @p problem if the section leaves the
/// choice to femgpu.
template <int dim>
SolverSettings chosen_settings(const Parameters &parameters, const Problem<dim> &problem);

/// Checks that the solver's methods suit the problem. With Continuation/Enabled, also checks that a
/// branch of solutions can be traced.
/// @throws ParameterError if a check fails
template <int dim>
void check_solution_methods(const Parameters &parameters, const Problem<dim> &problem,
                            const Discretization<dim> &discretization);
} // namespace femgpu

#endif
