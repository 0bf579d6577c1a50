#include "benchmarks/speed/comparison.h"

#include "common/command_line_reader.h"
#include "linalg/base/error.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

namespace femgpu::linalg::benchmark
{
namespace
{
using Values = std::vector<std::string>;

/// Splits the value of an option at commas.
Values split(const std::string &text)
{
  Values result;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');)
    result.push_back(item);
  return result;
}

/// Returns the methods in the value of --solvers. @throws ParameterError for an unknown method
std::vector<std::string> chosen_methods(const std::string &text)
{
  const std::vector<std::string> all = methods();
  std::vector<std::string> chosen = split(text);
  for (const std::string &method : chosen)
    if (std::find(all.begin(), all.end(), method) == all.end())
      throw ParameterError("Solver '" + method + "' is unknown; use cg, bicgstab or gmres.");
  return chosen;
}

const char *const footer =
    "Each line contains the microseconds per iteration (the median time of whole solves called\n"
    "from the host, divided by the number of iterations), the time of a plain copy of the least\n"
    "number of bytes as a fraction of this time, the milliseconds of a whole solve of 30\n"
    "iterations, and the number of iterations. 'wrong' marks a program whose residual differs\n"
    "from the one that it reports or from the residual of the other programs; 'varies' marks a\n"
    "program whose repeated solves give different bits.\n\n";
} // namespace

ComparisonOptions parse_comparison_options(const std::string &program,
                                           const std::string &description, const int argc,
                                           const char *const *const argv)
{
  ComparisonOptions options;
  bool quick = false;
  std::string systems, methods, formats, executions;
  int smallest = 0, largest = 0; // limits of the number of rows; 0: no limit
  CommandLineReader reader(program, "[OPTIONS]", description, std::string(footer) + exit_code_help);
  reader.option("--systems", "p2d,e3d,fd3,q1", "Only systems of these families", systems);
  reader.option("--solvers", "cg,bicgstab,gmres",
                "Only variants of these methods, in this order; default: cg,bicgstab", methods);
  reader.option("--smallest", "N", "Only systems with at least N unknowns", smallest);
  reader.option("--largest", "N", "Only systems with at most N unknowns", largest);
  reader.flag("--quick", quick, "The same as --largest 70000");
  reader.flag("--alone", options.only_femgpu, "Measure femgpu without other libraries");
  reader.flag("--host", options.on_host, "Run on the cores of this host, even if there is a GPU");
  reader.option("--formats", "'NAME OPTION=VALUE,...'", "Matrix formats of femgpu; default: auto",
                formats);
  reader.option("--executions", "auto,graph,resident",
                "How the GPU runs the loops of femgpu; default: auto", executions);
  reader.option("--solves", "N", "Timed solves of each kind; default: 10", options.n_solves);
  reader.option("--iterations", "N",
                "Iterations of a timed solve, a multiple of 30; default: 60 to 300, by size",
                options.iterations);
  reader.option("--seconds", "S", "Start no new system after S seconds; default: 420",
                options.seconds);
  reader.option("--csv", "FILE", "Write all results to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  const int all = quick ? 70000 : std::numeric_limits<int>::max();
  options.systems = choose_systems(split(systems), smallest, largest > 0 ? largest : all);
  if (!methods.empty())
    options.methods = chosen_methods(methods);
  if (!formats.empty())
    options.formats = split(formats);
  if (!executions.empty())
    options.executions = split(executions);
  if (options.iterations % 30 != 0)
    reader.fail("--iterations " + std::to_string(options.iterations) + ": use a multiple of 30");
  return options;
}

SpeedComparison::SpeedComparison(const ComparisonOptions &options, const Environment &environment,
                                 const bool prints)
    : options(options), environment(environment), prints(prints)
{
  if (!prints)
    return;
  if (!options.csv.empty())
    csv.open(options.csv);
  write(csv_header);
  std::printf("%s, copy %.0f GB/s read and written, femgpu %s\n"
              "%-4s %8s  %-18s%-20s%-22s%9s %6s %10s %4s\n",
              environment.device.c_str(), 1e-9 * environment.copy_bandwidth,
              environment.git_revision.c_str(), "", "n", "program", "solver", "variant", "us/iter",
              "floor", "ms for 30", "iter");
  std::fflush(stdout);
}

bool SpeedComparison::skips(const TableSystem &line)
{
  const double elapsed = total.elapsed();
  const bool is_over = elapsed > options.seconds;
  if (is_over && prints)
    std::printf("%s, n = %d: left out, %.0f s have passed\n", line.family.c_str(), line.n, elapsed);
  return is_over;
}

void SpeedComparison::measure(const SpeedSystem &system, const CandidateSpecs &specs)
{
  const int iterations = options.iterations > 0 ? options.iterations : iterations_for(system.A);
  std::map<std::string, double> references; // residual of the first valid variant of each method
  for (const CandidateSpec &spec : specs) {
    Measurement m = benchmark::measure(spec, system, iterations, options.n_solves);
    const std::string method = method_of(spec.solver);
    if (method != "bicgstab" && m.verdict == "ok") // BiCGStab's residuals are too irregular
      compare_residuals(m, references.try_emplace(method, m.true_residual_30).first->second);
    n_bad += m.verdict == "ok" ? 0 : 1;
    if (!prints)
      continue;
    write(csv_line(environment, system, spec, m));
    std::cout << text_line(environment, system, spec, m) << std::flush;
  }
}

void SpeedComparison::finish()
{
  if (prints)
    std::printf("%.0f s in all\n", total.elapsed());
  if (n_bad > 0)
    throw SolverError(std::to_string(n_bad) + " candidates were wrong or failed, see above.");
}

void SpeedComparison::write(const std::string &text)
{
  if (!options.csv.empty() && !(csv << text << std::flush))
    throw OutputError("The table '" + options.csv + "' could not be written.");
}
} // namespace femgpu::linalg::benchmark
