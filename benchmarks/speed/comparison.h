#ifndef femgpu_benchmarks_speed_comparison_h
#define femgpu_benchmarks_speed_comparison_h

#include "benchmarks/speed/measurement.h"
#include "benchmarks/speed/systems.h"
#include "linalg/base/timing.h"

#include <fstream>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
/// The options of the command line: the systems and how to measure them.
struct ComparisonOptions
{
  std::vector<TableSystem> systems;
  std::vector<std::string> methods = {"cg", "bicgstab"};
  /// The matrix formats and the kinds of execution of femgpu's candidates.
  std::vector<std::string> formats = {"auto"}, executions = {"auto"};
  int n_solves = 10;
  int iterations = 0;    ///< iterations of a timed solve; 0: iterations_for() chooses
  double seconds = 420.; ///< time after which no new system is started
  std::string csv;       ///< name of the table; empty: no file
  bool on_host = false;
  bool only_femgpu = false; ///< exclude other libraries
  std::string help;         ///< the help text if requested, otherwise empty
};

/// Parses the command line. @throws ParameterError
ComparisonOptions parse_comparison_options(const std::string &program,
                                           const std::string &description, int argc,
                                           const char *const *argv);

/// Measures candidates system by system. Prints a line for each candidate and immediately writes it
/// to the table.
class SpeedComparison
{
public:
  /// Opens the table.
  /// @param prints whether this process prints and writes; the other ranks only compute
  /// @throws OutputError if the table cannot be written
  SpeedComparison(const ComparisonOptions &options, const Environment &environment,
                  bool prints = true);

  /// Returns whether the time is up. If so, prints that the system @p line is left out.
  bool skips(const TableSystem &line);

  void measure(const SpeedSystem &system, const CandidateSpecs &specs);

  /// Prints the total time.
  /// @throws SolverError if a solution was wrong or a program failed
  void finish();

private:
  void write(const std::string &text);

  ComparisonOptions options;
  Environment environment;
  bool prints;
  std::ofstream csv;
  Stopwatch total;
  int n_bad = 0;
};
} // namespace femgpu::linalg::benchmark

#endif
