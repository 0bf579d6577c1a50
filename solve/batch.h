#ifndef femgpu_solve_batch_h
#define femgpu_solve_batch_h

#include "linalg/batch_solver.h"
#include "solve/run.h"

#include <string>

namespace femgpu
{
/// The reported data of a batch of systems.
struct BatchRecord : RunRecord
{
  linalg::BatchReport report; ///< of the first solve, including the transfer of the matrices

  /// Iteration counts over the systems in the first solve.
  struct Iterations
  {
    int minimum = 0, maximum = 0;
    double mean = 0.;
    int restarts = 0; ///< sum over all systems
  };
  Iterations iterations() const;
  double systems_per_second() const; ///< from the median time
};

/// Did every solve converge or do all requested iterations, and do the repeats agree bit by bit?
bool succeeded(const SolveCommand &command, const BatchRecord &record);

/// Explains why succeeded() is false; otherwise empty.
std::string remark(const SolveCommand &command, const BatchRecord &record);

/// Returns the outcome of the first system that did not converge; `converged` if there is none.
linalg::Outcome outcome(const linalg::BatchReport &report);

/// Solves the batch @p command.repeat times from the same start. @throws as BatchSolver does
BatchRecord solve_batch_repeatedly(const SolveCommand &command, const SystemToSolve &system,
                                   const linalg::ExecutorPtr &executor, Console &console);
} // namespace femgpu

#endif
