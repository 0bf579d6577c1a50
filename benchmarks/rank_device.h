#ifndef femgpu_benchmarks_rank_device_h
#define femgpu_benchmarks_rank_device_h

#include "linalg/memory/executor.h"
#include "linalg/operators/communicator.h"
#include "solve/ranks.h"

#include <string>

namespace femgpu::linalg::benchmark
{
/// The ranks of a benchmark program, each with a GPU or with cores. Without mpirun, there is one
/// rank. With several, only the first rank prints.
class RankDevice
{
public:
  /// Collective.
  /// @param backend as for femgpu-solve --backend
  /// @param communicator_name as for femgpu-solve --communicator
  RankDevice(const std::string &backend, const std::string &communicator_name);

  /// Returns the name of the communicator; "none" with one rank.
  std::string communicator_name() const
  {
    return communicator ? communicator->name() : "none";
  }
  RowShare share() const
  {
    return ranks.share();
  }

  /// Collective. Waits for the work of all executors.
  void synchronize() const;

  /// Collective. Returns the maximum of @p value over the ranks.
  double max(const double value) const
  {
    return communicator ? communicator->max(value) : value;
  }

  Ranks ranks;
  ExecutorPtr executor;
  CommunicatorPtr communicator; ///< nullptr with one rank
};
} // namespace femgpu::linalg::benchmark

#endif
