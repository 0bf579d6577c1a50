/**
 * @file
 * Times femgpu's algebra of sparse matrices (transposes and products) and compares it with
 * cuSPARSE. See --help.
 */
#include "benchmarks/measure.h"
#include "benchmarks/sparse/candidate.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

namespace femgpu::linalg::benchmark
{
namespace
{
struct Options
{
  std::string help, backend = "cuda", csv;
  std::vector<std::string> systems;
};

Options parse(const int argc, const char *const *const argv)
{
  Options options;
  CommandLineReader reader(
      "femgpu_sparse_check", "[SYSTEM]... [OPTIONS]",
      "Times the transpose of A, A A, A P and P'A P with femgpu and with cuSPARSE, where P is the "
      "prolongation of smoothed aggregation: the first computation, the update for new values, and "
      "the memory in addition to A and P. The results of cuSPARSE must agree to 1e-13 of the "
      "largest entry, and repeated updates must give the same bits. On the host, which has no "
      "cuSPARSE, a reference implementation replaces cuSPARSE. Prints a Markdown table; exits "
      "with 3 if results differ.",
      exit_code_help);
  reader.positional("SYSTEM",
                    "Model problem, as for femgpu-solve --generate, or Matrix Market file "
                    "*.mtx*; default: Poisson and elasticity");
  reader.backend(options.backend);
  reader.option("--csv", "FILE", "Also write the timings to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  options.systems = reader.values("SYSTEM");
  return options;
}

/// The measurements of one candidate; times are medians in milliseconds.
struct Timing
{
  double first = NAN, refresh = NAN;
  std::size_t bytes = 0; ///< peak memory, without the operands
  std::string obstacle;
  bool is_reproducible = true; ///< does a refresh with the same values give the same bits?
  SparseArrays result;
};

double milliseconds_of(const Executor &executor, const std::function<void()> &action)
{
  executor.synchronize();
  Stopwatch watch;
  action();
  executor.synchronize();
  return 1e3 * watch.lap();
}

using Make = std::function<std::unique_ptr<Candidate>(const Factors &)>;

/// Times a candidate. Uses a separate executor, so that the peak memory counts this candidate only.
Timing time_candidate(const Options &options, const SparseSystem &system, const bool has_refresh,
                      const Make &make)
{
  Timing timing;
  try {
    const ExecutorPtr executor = make_executor(options.backend);
    const Factors factors{to_executor(executor, system.A), to_executor(executor, system.P),
                          system.is_symmetric};
    std::unique_ptr<Candidate> candidate;
    std::vector<double> firsts, refreshs;
    for (int k = 0; k < 4; ++k) {
      candidate.reset();
      firsts.push_back(milliseconds_of(*executor, [&] { candidate = make(factors); }));
      if (candidate == nullptr)
        return timing;
    }
    firsts.erase(firsts.begin()); // the first time includes loading kernels
    timing.first = median(firsts);
    timing.bytes = executor->peak_bytes() - factors.A.bytes() - factors.P.bytes();
    timing.result = to_host(candidate->result());
    for (int k = 0; k < 5 && has_refresh; ++k)
      refreshs.push_back(milliseconds_of(*executor, [&] { candidate->refresh(); }));
    if (has_refresh) {
      timing.refresh = median(refreshs);
      timing.is_reproducible = to_host(candidate->result()).values == timing.result.values;
    }
  }
  catch (const Error &error) {
    timing.obstacle = error.what();
  }
  return timing;
}

SparseArrays transpose(const SparseArrays &A)
{
  SparseArrays result;
  result.n_columns = A.n();
  result.row_starts.assign(static_cast<std::size_t>(A.n_columns) + 1, 0);
  for (const int column : A.columns)
    ++result.row_starts[column + 1];
  for (int i = 0; i < A.n_columns; ++i)
    result.row_starts[i + 1] += result.row_starts[i];
  result.columns.resize(A.columns.size());
  result.values.resize(A.columns.size());
  std::vector<int> next = result.row_starts;
  for (int i = 0; i < A.n(); ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
      result.columns[next[A.columns[k]]] = i;
      result.values[next[A.columns[k]]++] = A.values[k];
    }
  return result;
}

/// Returns the product A B, computed on the host by Gustavson's algorithm.
SparseArrays multiply(const SparseArrays &A, const SparseArrays &B)
{
  SparseArrays C;
  C.n_columns = B.n_columns;
  std::vector<double> sums(static_cast<std::size_t>(B.n_columns), 0.);
  std::vector<int> seen(static_cast<std::size_t>(B.n_columns), -1), row;
  for (int i = 0; i < A.n(); ++i) {
    row.clear();
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      for (int l = B.row_starts[A.columns[k]]; l < B.row_starts[A.columns[k] + 1]; ++l) {
        const int j = B.columns[l];
        if (std::exchange(seen[j], i) != i) {
          row.push_back(j);
          sums[j] = 0.;
        }
        sums[j] += A.values[k] * B.values[l];
      }
    std::sort(row.begin(), row.end());
    for (const int j : row) {
      C.columns.push_back(j);
      C.values.push_back(sums[j]);
    }
    C.row_starts.push_back(static_cast<int>(C.columns.size()));
  }
  return C;
}

SparseArrays reference(const Operation operation, const SparseSystem &system)
{
  switch (operation) {
  case Operation::transpose:
    return transpose(system.A);
  case Operation::square:
    return multiply(system.A, system.A);
  case Operation::interpolated:
    return multiply(system.A, system.P);
  default:
    return multiply(transpose(system.P), multiply(system.A, system.P));
  }
}

/// Returns max |A_ij − B_ij| relative to the largest entry; NaN if the patterns of @p A and @p B
/// differ.
double difference(const SparseArrays &A, const SparseArrays &B)
{
  if (A.row_starts != B.row_starts || A.columns != B.columns)
    return NAN;
  double largest = 0., distance = 0.;
  for (std::size_t k = 0; k < A.values.size(); ++k) {
    largest = std::max(largest, std::abs(B.values[k]));
    distance = std::max(distance, std::abs(A.values[k] - B.values[k]));
  }
  return largest > 0. ? distance / largest : distance;
}

/// One row of the table.
struct Row
{
  std::string system;
  const char *operation;
  int n = 0;
  std::size_t n_nonzeros = 0, n_result = 0;
  Timing femgpu, recomputed, reused; ///< femgpu, cuSPARSE's SpGEMM, cuSPARSE's SpGEMMreuse
  double difference = 0.;

  bool is_right() const
  {
    return difference <= 1e-13 && femgpu.is_reproducible;
  }
};

Row measure(const Options &options, const SparseSystem &system, const Operation operation,
            const char *name)
{
  Row row{system.name, name, system.A.n(), system.A.columns.size(), 0, {}, {}, {}, 0.};
  row.femgpu = time_candidate(options, system, true, [&](const Factors &factors) {
    return make_femgpu(operation, factors);
  });
  if (!row.femgpu.obstacle.empty())
    throw DeviceError(row.femgpu.obstacle);
  row.n_result = row.femgpu.result.columns.size();
  const auto cusparse = [&](const bool reuses_pattern) {
    return time_candidate(options, system, reuses_pattern, [&](const Factors &factors) {
      return make_cusparse(operation, factors, reuses_pattern);
    });
  };
  row.recomputed = cusparse(false);
  row.reused = cusparse(true);
  const bool has_peer = !row.recomputed.result.columns.empty();
  row.difference = difference(row.femgpu.result,
                              has_peer ? row.recomputed.result : reference(operation, system));
  for (Timing *const timing : {&row.femgpu, &row.recomputed, &row.reused})
    timing->result = SparseArrays();
  return row;
}

double megabytes(const Timing &timing)
{
  return 1e-6 * static_cast<double>(timing.bytes);
}

void print_head()
{
  std::printf(
      "| system | rows | operation | entries | first ms | new values ms | MB | SpGEMM ms | MB "
      "| SpGEMMreuse ms | new values ms | MB | difference |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void print(const Row &row)
{
  std::printf("| %s | %d | %s | %zu | %.3f | %.3f | %.1f | %.3f | %.1f | %.3f | %.3f | %.1f | "
              "%.1e%s |\n",
              row.system.c_str(), row.n, row.operation, row.n_result, row.femgpu.first,
              row.femgpu.refresh, megabytes(row.femgpu), row.recomputed.first,
              megabytes(row.recomputed), row.reused.first, row.reused.refresh,
              megabytes(row.reused), row.difference,
              row.femgpu.is_reproducible ? "" : ", other bits when repeated");
  for (const Timing *const timing : {&row.recomputed, &row.reused})
    if (!timing->obstacle.empty())
      std::fprintf(stderr, "%s, %s: %s\n", row.system.c_str(), row.operation,
                   timing->obstacle.c_str());
  std::fflush(stdout);
}

int run(Options options)
{
  if (options.systems.empty())
    options.systems = {"poisson2d-5pt:1000",           "poisson3d-7pt:100",
                       "poisson3d-27pt:100",           "elasticity3d-p1:40",
                       "convection-diffusion3d:64,20", "circuit:50000"};
  const std::string device = make_executor(options.backend)->description();
  std::printf("%s\n\n", device.c_str());
  print_head();
  std::vector<Row> rows;
  for (const std::string &text : options.systems) {
    const SparseSystem system = make_system(text);
    const std::pair<Operation, const char *> operations[] = {{Operation::transpose, "A'"},
                                                             {Operation::square, "A A"},
                                                             {Operation::interpolated, "A P"},
                                                             {Operation::coarse, "P'A P"}};
    for (const auto &[operation, name] : operations) {
      rows.push_back(measure(options, system, operation, name));
      print(rows.back());
    }
  }
  write_csv(options.csv,
            "device,system,n,nonzeros,operation,entries,first_ms,new_values_ms,bytes,"
            "spgemm_ms,spgemm_bytes,spgemmreuse_ms,spgemmreuse_new_values_ms,spgemmreuse_bytes,"
            "difference,repeats",
            rows, [&](std::ostream &file, const Row &r) {
              file << '"' << device << "\"," << r.system << ',' << r.n << ',' << r.n_nonzeros << ','
                   << r.operation << ',' << r.n_result << ',' << r.femgpu.first << ','
                   << r.femgpu.refresh << ',' << r.femgpu.bytes << ',' << r.recomputed.first << ','
                   << r.recomputed.bytes << ',' << r.reused.first << ',' << r.reused.refresh << ','
                   << r.reused.bytes << ',' << r.difference << ','
                   << (r.femgpu.is_reproducible ? "yes" : "no");
            });
  const bool are_right =
      std::all_of(rows.begin(), rows.end(), [](const Row &row) { return row.is_right(); });
  return are_right ? 0 : static_cast<int>(ExitCode::not_converged);
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  using namespace femgpu::linalg::benchmark;
  return run_program(argc, argv, parse, run);
}
