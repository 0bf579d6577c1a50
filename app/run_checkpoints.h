#ifndef femgpu_app_run_checkpoints_h
#define femgpu_app_run_checkpoints_h

#include "app/checkpoint.h"
#include "app/cycle_record.h"
#include "app/parameters.h"
#include "app/solution_output.h"
#include "linalg/base/timing.h"
#include "physics/discretization.h"

#include <deal.II/lac/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// The part of a checkpoint besides functions and indicators.
struct SavedRun
{
  StudyRecord study; ///< with the finished cycles
  OutputState output;
  std::optional<CycleRecord> cycle; ///< the unfinished cycle; nullopt between cycles
  std::string driver;               ///< DriverState::scalars of this cycle
  bool has_mesh = true;             ///< whether the run continues on the mesh of the checkpoint

  // RunCheckpoints sets the following members.
  std::map<std::string, std::string> parameters = {}; ///< values by path
  std::uint32_t coarse_mesh = 0;                      ///< checksum of the coarse mesh
  std::vector<std::uint8_t> levels = {};              ///< of the cells, see ForestMesh::refine_to()
  std::uint32_t n_functions = 0;
};

/**
 * The checkpoints of a run: files and their dates. A run that continues from a checkpoint gets the
 * bits of the uninterrupted run because both make the mesh from the levels of its cells, so that
 * cells and dofs have the same numbers.
 */
template <int dim>
class RunCheckpoints
{
public:
  /// @throws ParameterError for an invalid "Output/Checkpoint every"
  RunCheckpoints(const Parameters &parameters, MPI_Comm communicator);

  bool are_enabled() const
  {
    return schedule.is_enabled();
  }
  /// Collective. Counts a step. Returns whether to write a checkpoint after it.
  bool are_due_after_step()
  {
    return schedule.is_due_after_step(communicator);
  }

  /// Collective. Reads the last checkpoint, and prints which parameters have changed since.
  /// @throws InputError if there is none
  /// @throws ParameterError if a parameter has changed that must not
  SavedRun read(Console &console);

  /// Begins with the coarse @p mesh, which is not refined yet.
  void begin_mesh(const Mesh<dim> &mesh);
  /// Collective. Gives the cells of @p mesh, which has just been made from the coarse mesh, the
  /// numbers that they have in a run that continues. @pre @p mesh has no dofs
  void number_cells(Mesh<dim> &mesh);
  /// Says that cells were refined or coarsened since.
  void change_mesh()
  {
    has_final_numbers = false;
  }

  /**
   * Collective. Writes a checkpoint with @p run, the present parameters, and functions. If the
   * cells may have other numbers than in a run that continues, makes the mesh and the dofs anew and
   * reads functions and indicators again.
   * @param indicators of the active cells, or empty
   * @return whether the mesh was made anew
   */
  bool write(SavedRun run, Mesh<dim> &mesh, Discretization<dim> &discretization,
             std::vector<FeVector> &functions, dealii::Vector<float> &indicators);

  /**
   * Collective. Makes the mesh and the dofs of @p run from the coarse mesh, and reads its functions
   * and, between cycles, the indicators.
   * @throws InputError if the coarse mesh has changed
   */
  std::vector<FeVector> restore(const SavedRun &run, Mesh<dim> &mesh,
                                Discretization<dim> &discretization,
                                dealii::Vector<float> &indicators);

private:
  std::vector<FeVector> read_functions(std::size_t n, const Discretization<dim> &discretization,
                                       dealii::Vector<float> &indicators) const;
  void make_anew(Mesh<dim> &mesh, const std::vector<std::uint8_t> &levels);

  const Parameters &parameters;
  MPI_Comm communicator;
  CheckpointSchedule schedule;
  CheckpointFiles files;
  std::uint32_t coarse_mesh = 0;
  bool has_final_numbers = false;
};

/// The state of a study that outlives its meshes.
template <int dim>
struct StudyState
{
  StudyRecord record;
  SolutionOutput<dim> output;
  Stopwatch watch; ///< measures the whole study
  RunCheckpoints<dim> checkpoints;
  std::optional<SavedRun> saved; ///< the run to continue, until the study has been restored
  double seconds_before = 0.;    ///< that the continued run took
};
} // namespace femgpu

#endif
