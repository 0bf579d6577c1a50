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
  linalg::BatchReport report; ///< report of the first solve; includes the transfer of the matrices

  /// Statistics of the iteration counts of all systems in the first solve.
  struct Iterations
  {
    int minimum = 0, maximum = 0;
    double mean = 0.;
    int restarts = 0; ///< sum over all systems
  };
  Iterations iterations() const;
  double systems_per_second() const; ///< number of systems / median time of a solve
};

/// Did every solve converge or perform all requested iterations, and do repeats agree bit by bit?
bool succeeded(const SolveCommand &command, const BatchRecord &record);

/// Returns an explanation if succeeded() is false, otherwise an empty string.
std::string remark(const SolveCommand &command, const BatchRecord &record);

/// Returns the outcome of the first system that did not converge; `converged` if there is none.
linalg::Outcome outcome(const linalg::BatchReport &report);

/// Collective. Solves the systems @p command.repeat times, each time from the same x₀: as a batch
/// with --copies, or if all are small and their methods support batches; otherwise with one
/// LinearSolver. With several ranks, the first rank receives the solutions.
/// @throws ParameterError for methods that --copies does not support, DeviceError for lack of
/// memory
BatchRecord solve_batch_repeatedly(const SolveCommand &command, SystemToSolve &system,
                                   const linalg::ExecutorPtr &executor, const Ranks &ranks,
                                   Console &console);
} // namespace femgpu

#endif
