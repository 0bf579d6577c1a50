#ifndef femgpu_solve_batch_h
#define femgpu_solve_batch_h

#include "linalg/batch_solver.h"
#include "solve/run.h"

#include <string>

namespace femgpu
{
/// Everything that is reported of systems that were solved together.
struct BatchRecord : RunRecord
{
  linalg::BatchReport report; ///< of the first solve, with the transfer of the matrices

  /// Of the systems of the first solve.
  struct Iterations
  {
    int least = 0, most = 0;
    double mean = 0.;
    int restarts = 0; ///< of all
  };
  Iterations iterations() const;
  double systems_per_second() const; ///< by the median
};

/// Did every system do what was asked for?
bool succeeded(const SolveCommand &command, const BatchRecord &record);

/// Why not; empty if there is nothing to say.
std::string remark(const SolveCommand &command, const BatchRecord &record);

/// The outcome of the first system that has not converged; converged if there is none.
linalg::Outcome outcome(const linalg::BatchReport &report);

/// Solves all systems as often as the command says. @throws as BatchSolver does
BatchRecord solve_batch_repeatedly(const SolveCommand &command, const SystemToSolve &system,
                                   const linalg::ExecutorPtr &executor, Console &console);
} // namespace femgpu

#endif
