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
/// What a command line says of the systems and how they are measured.
struct RaceOptions
{
  std::vector<TableSystem> systems;
  std::vector<std::string> methods = {"cg", "bicgstab"};
  std::vector<std::string> formats = {"auto"}, executions = {"auto"}; ///< of femgpu
  int n_solves = 10;
  int iterations = 0;    ///< 0 for iterations_for()
  double seconds = 420.; ///< after which nothing new is begun
  std::string csv;       ///< empty for none
  bool on_host = false;
  bool is_alone = false; ///< without other libraries
  std::string help;      ///< the text, if asked for
};

/// @throws ParameterError
RaceOptions parse_race(const std::string &program, const std::string &description, int argc,
                       const char *const *argv);

/// Measures entrants system by system, prints a line for each, and writes them as they come.
class Race
{
public:
  /// @param speaks whether this process prints and writes; others only take part
  /// @throws OutputError if the table cannot be written
  Race(const RaceOptions &options, const Circumstances &circumstances, bool speaks = true);

  /// Whether the time is up, so that @p line is left out, which is said.
  bool leaves_out(const TableSystem &line);

  void measure(const SpeedSystem &system, const Entrants &entrants);

  /// @throws SolverError if a solution was wrong or a program failed; OutputError if the table
  /// could not be written
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
