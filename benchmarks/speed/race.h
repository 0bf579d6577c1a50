#ifndef femgpu_benchmarks_speed_race_h
#define femgpu_benchmarks_speed_race_h

#include "benchmarks/speed/measurement.h"
#include "benchmarks/speed/systems.h"
#include "linalg/base/timing.h"

#include <fstream>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
/// The command line: the systems and how to measure them.
struct RaceOptions
{
  std::vector<TableSystem> systems;
  std::vector<std::string> methods = {"cg", "bicgstab"};
  std::vector<std::string> formats = {"auto"}, executions = {"auto"}; ///< of femgpu
  int n_solves = 10;
  int iterations = 0;    ///< 0 for iterations_for()
  double seconds = 420.; ///< after which no new system is started
  std::string csv;       ///< empty: no file
  bool on_host = false;
  bool is_alone = false; ///< excludes other libraries
  std::string help;      ///< the text, if requested
};

/// Parses the command line. @throws ParameterError
RaceOptions parse_race(const std::string &program, const std::string &description, int argc,
                       const char *const *argv);

/// Measures entrants system by system, prints a line for each, and writes each line to the table at
/// once.
class Race
{
public:
  /// Opens the table.
  /// @param speaks whether this process prints and writes; other ranks only take part
  /// @throws OutputError if the table cannot be written
  Race(const RaceOptions &options, const Circumstances &circumstances, bool speaks = true);

  /// Returns whether the time is up. If so, prints that @p line is left out.
  bool leaves_out(const TableSystem &line);

  void measure(const SpeedSystem &system, const Entrants &entrants);

  /// Prints the total time. @throws SolverError if a solution was wrong or a program failed;
  /// OutputError if the table could not be written
  void finish();

private:
  void write(const std::string &text);

  RaceOptions options;
  Circumstances circumstances;
  bool speaks;
  std::ofstream csv;
  Stopwatch total;
  int n_bad = 0;
};
} // namespace femgpu::linalg::benchmark

#endif
