#ifndef femgpu_app_checkpoint_h
#define femgpu_app_checkpoint_h

#include "common/console.h"
#include "linalg/base/timing.h"
#include "physics/cell_order.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * The checkpoints in an output directory. Each is a directory "checkpoint_NUMBER" with a file
 * "values_RANK" for each rank and, written last, a file "state", which has the checksums of all
 * others. A directory without this file is not a checkpoint.
 */
class CheckpointFiles
{
public:
  CheckpointFiles(std::string directory, MPI_Comm communicator);

  /// Collective. Writes a checkpoint and then removes all others but the one that this object has
  /// written or read before. @throws OutputError on all ranks
  /// @param state the same on all ranks; only that of the first rank is written
  void write(const std::string &state, const CellValues &values);

  /// Collective. Finds the newest checkpoint without damage, and warns about damaged ones.
  /// @return its state. @throws InputError on all ranks if there is none
  std::string read_state(Console &console);

  /// Calls use(values) with the values of each rank that has written the checkpoint of the last
  /// write() or read_state(). @throws InputError if a file has changed since
  void read_values(const std::function<void(const CellValues &)> &use) const;

private:
  std::string path_of(std::size_t number) const;
  std::optional<std::string> undamaged_state(std::size_t number, std::string &damage);

  std::string directory;
  MPI_Comm communicator;
  std::size_t newest = 0;               ///< the largest number in use
  std::size_t current = 0;              ///< number of the checkpoint last written or read; 0: none
  std::vector<std::uint32_t> checksums; ///< of the files of values of that checkpoint
};

/// Whether the time has come for a checkpoint, by "Output/Checkpoint every".
class CheckpointSchedule
{
public:
  /// @param every "none", "N steps" or "S seconds" @throws ParameterError for another text
  explicit CheckpointSchedule(const std::string &every);

  bool is_enabled() const
  {
    return steps > 0 || seconds > 0.;
  }
  /// Collective. Counts a step. @return whether to write a checkpoint after it
  bool is_due_after_step(MPI_Comm communicator);

  /// Counts from the checkpoint that was just written.
  void restart()
  {
    n_steps = 0;
    since_last.lap();
  }

private:
  std::size_t steps = 0, n_steps = 0;
  double seconds = 0.;
  Stopwatch since_last;
};
} // namespace femgpu

#endif
