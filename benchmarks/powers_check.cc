/**
 * @file
 * Times the forms of the matrix powers kernel: plain products, cache blocks, and a matrix streamed
 * from host memory with several products per pass and with one. Runs on one rank or under mpirun.
 * See --help.
 */
#include "benchmarks/measure.h"
#include "benchmarks/ordered_system.h"
#include "benchmarks/rank_device.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/distribution.h"
#include "linalg/powers/matrix_powers.h"
#include "solve/generators/registry.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
struct Options
{
  std::string help, backend = "cuda", communicator = "auto", order = "none", format = "auto", csv;
  std::vector<int> steps;
  int memory_divisor = 4;
  std::vector<std::string> systems;
};

Options parse(const int argc, const char *const *const argv)
{
  Options options;
  CommandLineReader reader(
      "femgpu_powers_check", "[SYSTEM]... [OPTIONS]",
      "Times s steps of a Krylov basis with plain products, with cache blocks, and with the matrix "
      "streamed from host memory, with several steps per pass over the matrix and with one. Under "
      "mpirun, the rows are distributed over the ranks, and the times include the exchange of "
      "ghosts.",
      exit_code_help);
  reader.positional("SYSTEM", "A model problem, as for femgpu-solve --generate");
  reader.backend(options.backend);
  reader.option("--communicator", "NAME", "How ranks communicate; default: auto",
                options.communicator);
  reader.option("--order", "ORDER",
                "Ordering of femgpu-solve (default: none), or KIND:ROWS: a partition of the kind "
                "geometry or metis into parts of about ROWS rows; one rank only",
                options.order);
  reader.option("--steps", "S", "Number of steps (repeatable); default: 5, 10, 15 and 20");
  reader.option("--part", "P", "Memory for the streamed matrix: 1/P of its size; default: P = 4",
                options.memory_divisor);
  reader.option("--format", "FORMAT", "Matrix format of plain products; default: auto",
                options.format);
  reader.option("--csv", "FILE", "Also write the timings to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  for (const std::string &word : reader.values("--steps"))
    options.steps.push_back(reader.parse_positive(word, "--steps", 999999));
  options.systems = reader.values("SYSTEM");
  return options;
}

/// A system after reordering, or the rows of this rank.
class OrderedSystem
{
public:
  OrderedSystem(const RankDevice &device, const std::string &generator, const std::string &order)
      : name(generator + (order == "none" ? "" : " " + order))
  {
    HostMatrix rows = generate(generator, device.share()).A;
    if (device.communicator)
      distribution.emplace(device.ranks.communicator(), std::move(rows));
    else
      A = in_order(rows, order);
    range = std::make_shared<RowSpace>(device.executor, csr().n, device.communicator);
    domain =
        distribution ? std::make_shared<RowSpace>(*range, distribution->matrix().ghosts) : range;
  }

  HostCsr csr() const
  {
    return distribution ? distribution->matrix().csr() : A.csr();
  }

  std::string name;
  RowSpacePtr range, domain;

private:
  HostMatrix A;
  std::optional<Distribution> distribution;
};

/// The measurements of one form of the matrix powers kernel.
struct Timing
{
  std::string system, form, description;
  long long n = 0;
  int steps = 0;
  double microseconds = 0.; ///< median time of all steps together
  double setup_seconds = 0.;
  double speedup = 0.;  ///< time of the reference form / time of this form
  double fraction = 0.; ///< time to copy as many bytes / time of this form
};

/// Returns the median time of all @p steps on the slowest rank.
double median_seconds(const RankDevice &device, const MatrixPowers &powers, const Columns &V,
                      const std::vector<BasisStep> &steps)
{
  constexpr double seconds_of_repeat = 3e-3;
  int runs = 1;
  std::vector<double> all;
  for (int repeat = 0; repeat < 11; ++repeat) {
    device.synchronize();
    Stopwatch watch;
    for (int k = 0; k < runs; ++k)
      powers.compute(V, steps);
    device.executor->synchronize();
    const double seconds = device.max(watch.lap()) / runs;
    if (repeat > 1)
      all.push_back(seconds);
    else
      runs = static_cast<int>(seconds_of_repeat / seconds) + 1;
  }
  return median(all);
}

/// Returns the bandwidth of copies from pinned host memory in bytes per second; 0 on the host
/// backend.
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
  SystemTimer(const RankDevice &device, const OrderedSystem &system, const Options &options,
              const Bandwidths &bandwidths)
      : device(device), system(system), options(options), bandwidths(bandwidths),
        csr(system.range, system.domain, system.csr()), matrix(make_format(options.format, csr)),
        first_vector(right_hand_side(csr.n()))
  {}

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
  /// Times one form and returns its seconds. @param other seconds of the reference form; 0: none
  double time(std::vector<Timing> &timings, const int s, const std::string &form, const int depth,
              const double other)
  {
    MatrixPowersOptions form_options;
    form_options.kind = powers_kind_of(form);
    form_options.steps = s;
    form_options.depth = depth;
    form_options.memory = 12 * csr.n_nonzeros() / static_cast<std::size_t>(options.memory_divisor);
    Timing timing;
    timing.system = system.name;
    timing.form = form + (depth == 1 ? " one by one" : "");
    timing.n = system.range->n_global();
    timing.steps = s;
    try {
      Stopwatch watch;
      const auto powers = make_matrix_powers(*matrix, DiagonalView(), form_options);
      device.executor->synchronize();
      timing.setup_seconds = device.max(watch.lap());
      const std::vector<BasisStep> steps(static_cast<std::size_t>(s), {0.5, 0., 0.1});
      const std::size_t stride = powers->space()->n_with_ghosts();
      Buffer<double> basis(device.executor, stride * (static_cast<std::size_t>(s) + 1));
      basis.fill_zero();
      device.executor->copy_from_host(basis.data(), first_vector.data(),
                                      first_vector.size() * sizeof(double));
      const double seconds = median_seconds(device, *powers, {basis.data(), stride, s + 1}, steps);
      timing.microseconds = 1e6 * seconds;
      timing.speedup = other / seconds;
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
                t.form.c_str(), t.microseconds, t.speedup, 100. * t.fraction, t.setup_seconds,
                t.description.c_str());
    std::fflush(stdout);
  }

  const RankDevice &device;
  const OrderedSystem &system;
  const Options &options;
  Bandwidths bandwidths;
  CsrMatrix csr;
  std::unique_ptr<Matrix> matrix;
  std::vector<double> first_vector;
};

int run(Options options)
{
  const RankDevice device(options.backend, options.communicator);
  const Executor &executor = *device.executor;
  if (device.communicator && options.order != "none")
    throw ParameterError("--order needs all rows on one rank; omit it under mpirun.");
  if (options.systems.empty())
    options.systems = {"poisson2d-p1:1000", "poisson2d-9pt:4x250000", "poisson3d-7pt:100",
                       "poisson2d-p1:256"};
  if (options.steps.empty())
    options.steps = {5, 10, 15, 20};
  const Bandwidths bandwidths{copy_bandwidth(executor), streaming_bandwidth(executor)};
  std::printf(
      "Copy on %s (%s), one of %d ranks, communicator %s: %.0f GB/s, read and written; from pinned "
      "host memory %.1f GB/s\n",
      executor.name().c_str(), executor.description().c_str(), device.share().n_ranks,
      device.communicator_name().c_str(), 1e-9 * bandwidths.inside, 1e-9 * bandwidths.from_host);
  std::printf("%-28s %3s  %-20s %10s %7s %7s %8s\n", "system", "s", "form", "us", "times",
              "of copy", "setup s");
  std::vector<Timing> timings;
  for (const std::string &name : options.systems) {
    const OrderedSystem system(device, name, options.order);
    SystemTimer(device, system, options, bandwidths).run(timings);
  }
  write_csv(device.ranks.is_first() ? options.csv : "",
            "device,ranks,communicator,system,n,steps,form,microseconds,against,fraction_of_copy,"
            "setup_seconds,description",
            timings, [&](std::ostream &file, const Timing &t) {
              file << '"' << executor.description() << "\"," << device.share().n_ranks << ','
                   << device.communicator_name() << ',' << t.system << ',' << t.n << ',' << t.steps
                   << ',' << t.form << ',' << t.microseconds << ',' << t.speedup << ','
                   << t.fraction << ',' << t.setup_seconds << ",\"" << t.description << '"';
            });
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  using namespace femgpu::linalg::benchmark;
  return run_program(argc, argv, parse, run);
}
