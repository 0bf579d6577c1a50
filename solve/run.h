#ifndef femgpu_solve_run_h
#define femgpu_solve_run_h

#include "common/console.h"
#include "linalg/memory/executor.h"
#include "linalg/solvers/linear_solver_options.h"
#include "solve/command_line.h"
#include "solve/ranks.h"
#include "solve/system.h"

#include <string>
#include <vector>

namespace femgpu
{
/// One solve of several from the same start.
struct Repeat
{
  int iterations = 0;
  linalg::Outcome outcome = linalg::Outcome::breakdown;
  double solve_seconds = 0.;
  double transfer_seconds = 0.;
  bool is_identical = true; ///< x has the same bits as after the first solve
};

/// What is reported of one system, and of many that are solved together.
struct RunRecord
{
  std::vector<Repeat> repeats;
  std::vector<double> x; ///< of the first solve
  std::string backend, backend_description;
  double read_seconds = 0.;
  double total_seconds = 0.;
  std::size_t peak_bytes = 0; ///< that the solver allocated on its backend

  double median_seconds() const; ///< of the solves
  double min_seconds() const;
  bool all_identical() const;
  /// What a person should know where they are not.
  std::string remark_on_bits() const;
  /// Adds a solve that gave @p x.
  void add(Repeat repeat, std::vector<double> x);
};

/// The parts of a system, one of each rank; numbers are the least and the most of the ranks.
struct PartsRecord
{
  int count = 1;
  long long rows[2] = {}, ghosts[2] = {};
};

/// Outcome and cost of an attempt to solve a system.
struct AttemptRecord
{
  Methods methods;
  std::string outcome; ///< "refused" where the methods cannot be set up
  std::string message;
  int iterations = 0;
  double seconds = 0.; ///< of setup and the first solve
};

/// Everything that is reported: of the attempt that has succeeded, or else of that with the
/// smallest backward error.
struct SolveRecord : RunRecord
{
  linalg::SolveReport report; ///< of the first solve, with setup
  PartsRecord parts;
  std::vector<AttemptRecord> attempts; ///< all, in their order

  double seconds_per_iteration() const; ///< by the median; 0 without iterations
  double gigabytes_per_second() const;  ///< of the counted bytes
  double largest() const;               ///< of x; 0 without rows
};

/// The methods for linear systems. @param format of the matrix
linalg::LinearSolverOptions options_of(const SolveCommand &command, const Methods &methods,
                                       const std::string &format);

/// Did a solve converge, or do all iterations of --fixed-iterations?
bool did_as_asked(const SolveCommand &command, const linalg::SolveResult &result);

/// Did the solve that is reported do what was asked for, and the repeats give the same bits?
bool succeeded(const SolveCommand &command, const SolveRecord &record);

/// Why not, or what a person should know all the same; empty if there is nothing to say.
std::string remark(const SolveCommand &command, const SolveRecord &record);

/// Solves as often as the command says, by the first of the system's attempts that succeeds; of
/// several ranks the first one gets the solution. Takes the entries of a share of the rows, which
/// may be half of the memory, out of @p system. @throws as LinearSolver and NonlinearSolver do
/// where no attempt comes to an end
SolveRecord solve_repeatedly(const SolveCommand &command, SystemToSolve &system,
                             const linalg::ExecutorPtr &executor, const Ranks &ranks,
                             Console &console);
} // namespace femgpu

#endif
