/**
 * @file
 * Times the forms of the matrix powers kernel: plain products, cache blocks, and a matrix that is
 * streamed from host memory, with several products a visit and with one. See --help.
 */
#include "benchmarks/measure.h"
#include "benchmarks/ordered_system.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/powers/matrix_powers.h"
#include "solve/generators/registry.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
const char *const help =
    "Times s steps of a Krylov basis: as plain products, in cache blocks, and with the matrix\n"
    "streamed from host memory, several steps a visit and one.\n"
    "\n"
    "  femgpu_powers_check [--backend NAME] [--order ORDER] [--steps S]... [--part P] [--csv "
    "FILE]\n"
    "                      [--format FORMAT] [SYSTEM]...\n"
    "\n"
    "  --backend NAME   cuda (as it is), cuda:K or host\n"
    "  --order ORDER    none (as it is), another of femgpu-solve, or KIND:ROWS: parts of about so\n"
    "                   many rows of the partition KIND, geometry or metis\n"
    "  --steps S        5, 10, 15 and 20 as it is; as often as wanted\n"
    "  --part P         the streamed matrix has memory for 1/P of it; as it is 4\n"
    "  --format FORMAT  of plain products, as it is auto\n"
    "  --csv FILE       write the timings as a table, too\n"
    "  SYSTEM           a model problem as femgpu-solve --generate takes it\n"
    "  --help           print this\n"
    "\n"
    "Ends with 0; 1 for a wrong argument; 4 without a GPU.\n";

struct Options
{
  std::string backend = "cuda", order = "none", format = "auto", csv;
  std::vector<int> steps;
  int part = 4;
  std::vector<std::string> systems;
  bool help = false;
};

int number_of(const std::string &argument, const std::string &word)
{
  if (word.empty() || word.size() > 6 ||
      word.find_first_not_of("0123456789") != std::string::npos || std::stoi(word) == 0)
    throw ParameterError("Argument '" + argument + "' needs a whole number from 1 on, not '" +
                         word + "'; see --help.");
  return std::stoi(word);
}

Options options_of(const std::vector<std::string> &arguments)
{
  Options options;
  const auto value = [&](std::size_t &i) {
    if (i + 1 == arguments.size())
      throw ParameterError("Argument '" + arguments[i] + "' lacks its value; see --help.");
    return arguments[++i];
  };
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const std::string &argument = arguments[i]; argument == "--help" || argument == "-h")
      options.help = true;
    else if (argument == "--backend")
      options.backend = value(i);
    else if (argument == "--order")
      options.order = value(i);
    else if (argument == "--format")
      options.format = value(i);
    else if (argument == "--csv")
      options.csv = value(i);
    else if (argument == "--steps")
      options.steps.push_back(number_of(argument, value(i)));
    else if (argument == "--part")
      options.part = number_of(argument, value(i));
    else if (argument.rfind("--", 0) == 0)
      throw ParameterError("Argument '" + argument + "' is unknown; see --help.");
    else
      options.systems.push_back(argument);
  return options;
}

/// A system in the order that was asked for.
struct OrderedSystem
{
  std::string name;
  HostMatrix A;
};

OrderedSystem ordered_system(const std::string &name, const std::string &order)
{
  return {name + (order == "none" ? "" : " " + order), in_order(generate(name).A, order)};
}

/// What was measured of one form.
struct Timing
{
  std::string system, form, description;
  int n = 0, steps = 0;
  double microseconds = 0.; ///< median, for all steps
  double setup_seconds = 0.;
  double against = 0.;  ///< time of the form that it is compared with / its own
  double fraction = 0.; ///< time of its bytes at the speed of a copy / its own
};

double median_seconds(const Executor &executor, const MatrixPowers &powers, const Columns &V,
                      const std::vector<BasisStep> &steps)
{
  constexpr double seconds_of_repeat = 3e-3;
  int runs = 1;
  std::vector<double> all;
  for (int repeat = 0; repeat < 11; ++repeat) {
    executor.synchronize();
    Stopwatch watch;
    for (int k = 0; k < runs; ++k)
      powers.compute(V, steps);
    executor.synchronize();
    const double seconds = watch.lap() / runs;
    if (repeat > 1)
      all.push_back(seconds);
    else
      runs = static_cast<int>(seconds_of_repeat / seconds) + 1;
  }
  return median(all);
}

/// Bytes per second of copies from pinned host memory; the host backend has none.
double streaming_bandwidth(const Executor &executor)
{
  if (executor.backend() == BackendKind::host)
    return 0.;
  constexpr std::size_t bytes = 64 << 20;
  constexpr int in_a_row = 6;
  const auto chunks = executor.make_chunk_stream({bytes, bytes}, 1);
  std::vector<double> seconds;
  for (int k = 0; k < 12; ++k) {
    Stopwatch watch;
    for (int chunk = 0; chunk < in_a_row; ++chunk) {
      chunks->fetch(chunk % 2);
      chunks->release();
    }
    executor.synchronize();
    seconds.push_back(watch.lap() / in_a_row);
  }
  return static_cast<double>(bytes) / median(seconds);
}

struct Bandwidths
{
  double inside, from_host;
};

class SystemTimer
{
public:
  SystemTimer(const ExecutorPtr &executor, const OrderedSystem &system, const Options &options,
              const Bandwidths &bandwidths)
      : executor(executor), system(system), options(options), bandwidths(bandwidths),
        csr(executor, system.A.csr()), matrix(make_format(options.format, csr))
  {
    int most = 0;
    for (const int s : options.steps)
      most = std::max(most, s);
    const auto n = static_cast<std::size_t>(system.A.n);
    memory = Buffer<double>(executor, n * (static_cast<std::size_t>(most) + 1));
    memory.fill_zero();
    const std::vector<double> v = right_hand_side(system.A.n);
    executor->copy_from_host(memory.data(), v.data(), n * sizeof(double));
    V = {memory.data(), n, most + 1};
  }

  void run(std::vector<Timing> &timings)
  {
    for (const int s : options.steps) {
      const double plain = time(timings, s, "plain", 0, 0.);
      time(timings, s, "blocked", 0, plain);
      const double one_by_one = time(timings, s, "streamed", 1, 0.);
      time(timings, s, "streamed", 0, one_by_one);
    }
  }

private:
  /// Seconds. @param other what it is compared with, or 0
  double time(std::vector<Timing> &timings, const int s, const std::string &form, const int depth,
              const double other)
  {
    MatrixPowersOptions form_options;
    form_options.kind = powers_kind_of(form);
    form_options.steps = s;
    form_options.depth = depth;
    form_options.memory = 12 * system.A.columns.size() / static_cast<std::size_t>(options.part);
    Timing timing;
    timing.system = system.name;
    timing.form = form + (depth == 1 ? " one by one" : "");
    timing.n = system.A.n;
    timing.steps = s;
    try {
      Stopwatch watch;
      const auto powers = make_matrix_powers(*matrix, DiagonalView(), form_options);
      executor->synchronize();
      timing.setup_seconds = watch.lap();
      const std::vector<BasisStep> steps(static_cast<std::size_t>(s), {0.5, 0., 0.1});
      const double seconds = median_seconds(*executor, *powers, V, steps);
      timing.microseconds = 1e6 * seconds;
      timing.against = other / seconds;
      const double bandwidth = form == "streamed" ? bandwidths.from_host : bandwidths.inside;
      if (bandwidth > 0.)
        timing.fraction = static_cast<double>(powers->traffic(s)) / bandwidth / seconds;
      timing.description = form == "plain" ? matrix->format() : powers->description();
    }
    catch (const SolverError &error) {
      timing.description = error.what();
    }
    print(timing);
    timings.push_back(timing);
    return 1e-6 * timing.microseconds;
  }

  static void print(const Timing &t)
  {
    std::printf("%-28s %3d  %-20s %10.1f %7.2f %5.0f %% %8.2f  %s\n", t.system.c_str(), t.steps,
                t.form.c_str(), t.microseconds, t.against, 100. * t.fraction, t.setup_seconds,
                t.description.c_str());
    std::fflush(stdout);
  }

  ExecutorPtr executor;
  const OrderedSystem &system;
  const Options &options;
  Bandwidths bandwidths;
  CsrMatrix csr;
  std::unique_ptr<Matrix> matrix;
  Buffer<double> memory;
  Columns V;
};

void write_csv(const std::string &name, const Executor &executor,
               const std::vector<Timing> &timings)
{
  std::ofstream file(name);
  file << "device,system,n,steps,form,microseconds,against,fraction_of_copy,setup_seconds,"
          "description\n";
  for (const Timing &t : timings)
    file << '"' << executor.description() << "\"," << t.system << ',' << t.n << ',' << t.steps
         << ',' << t.form << ',' << t.microseconds << ',' << t.against << ',' << t.fraction << ','
         << t.setup_seconds << ",\"" << t.description << "\"\n";
  if (!file.flush())
    throw OutputError("The timings could not be written to '" + name + "'.");
}

int run(Options options)
{
  if (options.help) {
    std::cout << help;
    return 0;
  }
  const ExecutorPtr executor = make_executor(options.backend);
  if (options.systems.empty())
    options.systems = {"poisson2d-p1:1000", "poisson2d-9pt:4x250000", "poisson3d-7pt:100",
                       "poisson2d-p1:256"};
  if (options.steps.empty())
    options.steps = {5, 10, 15, 20};
  const Bandwidths bandwidths{copy_bandwidth(*executor), streaming_bandwidth(*executor)};
  std::printf("Copy on %s (%s): %.0f GB/s, read and written; from pinned host memory %.1f GB/s\n",
              executor->name().c_str(), executor->description().c_str(), 1e-9 * bandwidths.inside,
              1e-9 * bandwidths.from_host);
  std::printf("%-28s %3s  %-20s %10s %7s %7s %8s\n", "system", "s", "form", "us", "times",
              "of copy", "setup s");
  std::vector<Timing> timings;
  for (const std::string &name : options.systems) {
    const OrderedSystem system = ordered_system(name, options.order);
    SystemTimer(executor, system, options, bandwidths).run(timings);
  }
  if (!options.csv.empty())
    write_csv(options.csv, *executor, timings);
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  return femgpu::linalg::benchmark::run_program([&] {
    return femgpu::linalg::benchmark::run(
        femgpu::linalg::benchmark::options_of({argv + 1, argv + argc}));
  });
}
