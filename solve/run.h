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
/// One of the repeated solves, all of which start from the same initial guess.
struct Repeat
{
  int iterations = 0;
  linalg::Outcome outcome = linalg::Outcome::breakdown;
  double solve_seconds = 0.;
  double transfer_seconds = 0.;
  bool is_identical = true; ///< does x have the same bits as after the first solve?
};

/// The reported data common to a single system and a batch.
struct RunRecord
{
  std::vector<Repeat> repeats;
  std::vector<double> x; ///< solution of the first solve
  std::string backend, backend_description;
  double read_seconds = 0.;
  double total_seconds = 0.;
  std::size_t peak_bytes = 0; ///< peak memory allocated on the backend

  double median_seconds() const; ///< median time of a solve
  double min_seconds() const;
  bool all_identical() const;
  /// Returns the message for repeats that are not identical.
  std::string reproducibility_remark() const;
  /// Adds a repeat with the solution @p x, and compares @p x with the solution of the first solve.
  void add(Repeat repeat, std::vector<double> x);
};

/// The subdomains of a distributed system, one per rank. Arrays hold the minimum and the maximum
/// over the ranks.
struct DistributionRecord
{
  int count = 1;
  long long rows[2] = {}, ghosts[2] = {};
};

/// The outcome and cost of an attempt to solve a system.
struct AttemptRecord
{
  Methods methods;
  std::string outcome; ///< "refused" if the methods cannot be set up
  std::string message;
  int iterations = 0;
  double seconds = 0.; ///< time of setup and the first solve
};

/// The reported data of a single system: from the successful attempt or, if all failed, from the
/// attempt with the smallest backward error.
struct SolveRecord : RunRecord
{
  linalg::SolveReport report; ///< report of the first solve, including setup
  DistributionRecord distribution;
  std::vector<AttemptRecord> attempts; ///< all attempts, in order

  double seconds_per_iteration() const; ///< median time / iterations; 0 without iterations
  double gigabytes_per_second() const;  ///< bandwidth of the counted memory traffic
  double max_x() const;                 ///< max x_i; 0 without rows
};

/// Returns the options of the linear solver. @param format the matrix format
linalg::LinearSolverOptions linear_solver_options(const SolveCommand &command,
                                                  const Methods &methods,
                                                  const std::string &format);

/// Did a solve converge or, with --fixed-iterations, perform all iterations?
bool met_request(const SolveCommand &command, const linalg::SolveResult &result);

/// Does met_request() hold for the reported solve, and do the repeats agree bit by bit?
bool succeeded(const SolveCommand &command, const SolveRecord &record);

/// Returns an explanation if succeeded() is false, otherwise a warning or an empty string.
std::string remark(const SolveCommand &command, const SolveRecord &record);

/// Collective. Tries the attempts of @p system in order until one succeeds, and repeats the
/// successful solve as @p command requests. With several ranks, the first rank receives the
/// solution. If each rank generated its rows, moves the matrix out of @p system to avoid a copy.
/// @throws ParameterError if the options of a method are wrong
/// @throws Error of the last attempt if no attempt yields a result
SolveRecord solve_repeatedly(const SolveCommand &command, SystemToSolve &system,
                             const linalg::ExecutorPtr &executor, const Ranks &ranks,
                             Console &console);
} // namespace femgpu

#endif
