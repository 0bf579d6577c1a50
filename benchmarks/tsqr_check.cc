/**
 * @file
 * Measures the accuracy and the speed of QR factorisations V = QR of blocks: ‖I − QᵀQ‖ and ‖V − QR‖
 * for several condition numbers of V, and microseconds for several sizes. Runs on one rank or under
 * mpirun. See --help.
 */
#include "benchmarks/measure.h"
#include "benchmarks/rank_device.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/memory/buffer.h"
#include "linalg/orthogonalisation/orthogonalisation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
const char *const footer =
    "The errors are |I-Q'Q| and |V-QR|/|V| in the Frobenius norm for each variant. Variants run\n"
    "without their fallback (safer=no); a row with neither errors nor times is a factorisation\n"
    "that failed.\n"
    "\n"
    "The times are for blocks with kappa = 10 and include copies to the host. The fraction is\n"
    "the time to copy the least number of bytes, divided by the measured time. In each pass, a\n"
    "factorisation reads V twice and writes it once; borth-cgs and borth-mgs orthogonalise V\n"
    "against a basis of 60 vectors: they read basis and V twice and write V once.\n"
    "\n"
    "Under mpirun, the rows are distributed over the ranks.\n\n";

struct Options
{
  std::string help, backend = "cuda", communicator = "auto", csv;
  int n = 1046529, repeats = 10;
  std::vector<double> columns, kappas;
  bool no_times = false, no_errors = false;
};

/// Parses a comma-separated list of numbers.
std::vector<double> numbers_of(const std::string &text, const double min_value,
                               const double max_value)
{
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::size_t length = 0;
    double number = 0.;
    try {
      number = std::stod(text.substr(begin, end - begin), &length);
    }
    catch (const std::exception &) {
      length = 0;
    }
    if (length == 0 || length != end - begin || !(number >= min_value && number <= max_value))
      throw ParameterError("'" + text + "' is not a list of numbers from " +
                           std::to_string(min_value) + " to " + std::to_string(max_value) +
                           "; see --help.");
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

Options parse(const int argc, const char *const *const argv)
{
  CommandLineReader reader(
      "femgpu_tsqr_check", "[OPTIONS]",
      "Measures orthogonality and speed of QR factorisations of tall blocks of "
      "columns.",
      std::string(footer) + exit_code_help);
  Options options;
  reader.backend(options.backend);
  reader.option("--communicator", "NAME", "How ranks communicate; default: auto",
                options.communicator);
  reader.option("--rows", "N", "Number of rows; default: 1046529", options.n);
  std::string columns = "6,11,16,21";
  std::string kappas = "1,1e1,1e2,1e3,1e4,1e5,1e6,1e7,1e8,1e9,1e10,1e11,1e12,1e13,1e14,1e15";
  reader.option("--columns", "P,...", "Numbers of columns, at most 32; default: 6,11,16,21",
                columns);
  reader.option("--kappa", "K,...",
                "Condition numbers of V, whose singular values form a geometric progression; "
                "default: 1e0 to 1e15",
                kappas);
  reader.flag("--no-times", options.no_times, "Measure only errors");
  reader.flag("--no-errors", options.no_errors, "Measure only times");
  reader.option("--repeats", "K", "Times are medians of K repeats; default: 10", options.repeats);
  reader.option("--csv", "FILE", "Also write the table to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  options.columns = numbers_of(columns, 1, Tsqr::max_columns);
  options.kappas = numbers_of(kappas, 1., 1e300);
  return options;
}

/// A line of the table; values that were not measured are NaN.
struct Result
{
  std::string variant;
  int passes = 1, n = 0, p = 0;
  double kappa = 0., orthogonality = std::nan(""), factorisation = std::nan(""),
         microseconds = std::nan(""), fraction = std::nan("");
};

/// A block of columns in the memory of an executor.
class Block
{
public:
  Block(const ExecutorPtr &executor, const int n, const int p)
      : p(p), length(static_cast<std::size_t>(n + n % 2)),
        memory(executor, length * static_cast<std::size_t>(p))
  {}

  Columns view()
  {
    return {memory.data(), length, p};
  }

  int p;
  std::size_t length;
  Buffer<double> memory;
};

/// Fills @p block with random numbers between -@p factor and @p factor that are the same on every
/// machine.
void fill_random(Block &block, unsigned int state, const double factor = 1.)
{
  std::vector<double> values(block.memory.size());
  for (double &value : values) {
    state = state * 1664525U + 1013904223U;
    value = factor * (static_cast<double>(state >> 8U) / 8388608. - 1.);
  }
  block.memory.copy_from_host(values.data());
}

/// Fills @p block with orthonormal columns, computed by linalg's most robust factorisation.
/// @param communicator connects ranks with @p n rows each; nullptr: all rows are on this rank
void fill_orthonormal(const ExecutorPtr &executor, Block &block, const int n,
                      const unsigned int seed, const Communicator *const communicator = nullptr)
{
  const int rank = communicator == nullptr ? 0 : communicator->rank();
  fill_random(block, seed + 1000003U * static_cast<unsigned int>(rank));
  Buffer<double> R(executor, static_cast<std::size_t>(block.p) * static_cast<std::size_t>(block.p));
  const TsqrReport report =
      make_tsqr("caqr passes=2", executor, communicator)->factorise(n, block.view(), R.data());
  if (!report.ok())
    throw SolverError("A random block has no QR factorisation by " + report.variant + ".");
}

/// Makes blocks V = U Σ Wᵀ with orthonormal U and W and singular values in geometric progression
/// from 1 to 1/kappa.
class ConditionedBlocks
{
public:
  ConditionedBlocks(const RankDevice &device, const int n, const int p)
      : n(n), U(device.executor, n, p), W(host, p, p)
  {
    fill_orthonormal(device.executor, U, n, 1, device.communicator.get());
    fill_orthonormal(host, W, p, 2);
  }

  void fill(Block &V, const double kappa) const
  {
    const int p = U.p;
    const auto P = static_cast<std::size_t>(p);
    const std::vector<double> w = W.memory.to_host(), u = U.memory.to_host();
    std::vector<double> v(u.size()), row(P), sigma(P);
    for (std::size_t c = 0; c < P; ++c)
      sigma[c] = std::pow(kappa, -static_cast<double>(c) / std::max(1, p - 1));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      for (std::size_t c = 0; c < P; ++c)
        row[c] = u[c * U.length + i] * sigma[c];
      for (std::size_t j = 0; j < P; ++j) {
        double sum = 0.;
        for (std::size_t c = 0; c < P; ++c)
          sum += row[c] * w[c * W.length + j];
        v[j * U.length + i] = sum;
      }
    }
    V.memory.copy_from_host(v.data());
  }

private:
  ExecutorPtr host = make_executor("host");
  int n;
  Block U, W;
};

/// The measurements for one number of columns.
class Measurement
{
public:
  Measurement(const RankDevice &device, const Options &options, const int p, const double bandwidth,
              std::vector<Result> &results)
      : device(device), executor(device.executor), communicator(device.communicator.get()),
        options(options), n(device.share().end(options.n) - device.share().first(options.n)), p(p),
        bandwidth(bandwidth), results(results), blocks(device, n, p), original(executor, n, p),
        V(executor, n, p), R(executor, static_cast<std::size_t>(p * p))
  {}

  void measure_errors()
  {
    for (const double kappa : options.kappas) {
      blocks.fill(original, kappa);
      for (const int passes : {1, 2})
        for (const Choice &variant : tsqr_methods.choices()) {
          Result result = start(variant.name, passes, kappa);
          const bool has_safer = variant.name == "cholqr" || variant.name == "svqr";
          const std::string method =
              variant.name + " passes=" + std::to_string(passes) + (has_safer ? " safer=no" : "");
          V.memory.copy_from(original.memory);
          const auto tsqr = make_tsqr(method, executor, communicator);
          if (tsqr->factorise(n, V.view(), R.data()).is_done) {
            result.orthogonality = tsqr->orthogonality_error(n, V.view());
            result.factorisation =
                tsqr->factorisation_error(n, original.view(), V.view(), R.data());
          }
          add(result);
        }
    }
  }

  void measure_times()
  {
    const double of_column = 8. * n;
    blocks.fill(original, 10.);
    for (const int passes : {1, 2})
      for (const Choice &variant : tsqr_methods.choices()) {
        const auto tsqr =
            make_tsqr(variant.name + " passes=" + std::to_string(passes), executor, communicator);
        add_time(start(variant.name, passes, 10.), 3. * p * of_column * passes, [&] {
          const TsqrReport report = tsqr->factorise(n, V.view(), R.data());
          if (!report.ok() || report.variant != variant.name)
            throw SolverError("A block with condition number 10 and rank " + std::to_string(p) +
                              " was to be factorised by " + variant.name + "; " + report.variant +
                              " was used and found rank " + std::to_string(report.rank) + ".");
        });
      }
    Block basis(executor, n, 60);
    fill_random(basis, 3, std::sqrt(3. / options.n)); // random columns are almost orthonormal
    Buffer<double> C(executor, static_cast<std::size_t>(basis.p * p));
    for (const int passes : {1, 2})
      for (const Choice &variant : block_methods.choices()) {
        const auto blocks_of = make_block_orthogonalisation(
            variant.name + " passes=" + std::to_string(passes), executor, communicator);
        add_time(start("borth-" + variant.name, passes, 10.),
                 (2. * basis.p + 3. * p) * of_column * passes,
                 [&] { blocks_of->orthogonalise(n, basis.view(), V.view(), C.data()); });
      }
  }

private:
  Result start(const std::string &variant, const int passes, const double kappa) const
  {
    Result result;
    result.variant = variant;
    result.passes = passes;
    result.n = options.n;
    result.p = p;
    result.kappa = kappa;
    return result;
  }

  /// Measures the median time of @p action, which starts from the original V each time.
  /// @param bytes least number of bytes that the action moves
  template <class Action>
  void add_time(Result result, const double bytes, const Action &action)
  {
    std::vector<double> seconds;
    for (int k = 0; k <= options.repeats; ++k) { // the first is a warm-up that allocates memory
      V.memory.copy_from(original.memory);
      device.synchronize();
      Stopwatch watch;
      action();
      executor->synchronize();
      const double slowest = device.max(watch.lap());
      if (k > 0)
        seconds.push_back(slowest);
    }
    result.microseconds = 1e6 * median(seconds);
    result.fraction = 1e6 * bytes / bandwidth / result.microseconds;
    add(result);
  }

  void add(const Result &result)
  {
    std::printf("%-10s x%d %9d %3d %7.0e %10.2e %10.2e %10.1f %5.0f %%\n", result.variant.c_str(),
                result.passes, result.n, result.p, result.kappa, result.orthogonality,
                result.factorisation, result.microseconds, 100. * result.fraction);
    std::fflush(stdout);
    results.push_back(result);
  }

  const RankDevice &device;
  ExecutorPtr executor;
  const Communicator *communicator; ///< nullptr with one rank
  const Options &options;
  int n; ///< rows of this rank
  int p;
  double bandwidth;
  std::vector<Result> &results;
  ConditionedBlocks blocks;
  Block original, V;
  Buffer<double> R;
};

/// Formats a value; NaN becomes an empty string.
std::string text(const double value)
{
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return std::isnan(value) ? "" : buffer;
}

int run(const Options &options)
{
  const RankDevice device(options.backend, options.communicator);
  const Executor &executor = *device.executor;
  const double bandwidth = options.no_times ? std::nan("") : copy_bandwidth(executor);
  std::printf("Copy on %s (%s), one of %d ranks, communicator %s: %.0f GB/s, read and written\n",
              executor.name().c_str(), executor.description().c_str(), device.share().n_ranks,
              device.communicator_name().c_str(), 1e-9 * bandwidth);
  std::printf("%-10s %2s %9s %3s %7s %10s %10s %10s %7s\n", "variant", "", "n", "p", "kappa",
              "|I-Q'Q|", "|V-QR|", "us", "of copy");
  std::vector<Result> results;
  for (const double p : options.columns) {
    Measurement measurement(device, options, static_cast<int>(p), bandwidth, results);
    if (!options.no_errors)
      measurement.measure_errors();
    if (!options.no_times)
      measurement.measure_times();
  }
  write_csv(device.ranks.is_first() ? options.csv : "",
            "device,ranks,communicator,copy_gb_per_s,variant,passes,n,p,kappa,orthogonality,"
            "factorisation,microseconds,"
            "fraction_of_copy",
            results, [&](std::ostream &file, const Result &r) {
              file << '"' << executor.description() << "\"," << device.share().n_ranks << ','
                   << device.communicator_name() << ',' << text(1e-9 * bandwidth) << ','
                   << r.variant << ',' << r.passes << ',' << r.n << ',' << r.p << ','
                   << text(r.kappa) << ',' << text(r.orthogonality) << ',' << text(r.factorisation)
                   << ',' << text(r.microseconds) << ',' << text(r.fraction);
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
