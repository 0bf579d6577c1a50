/**
 * @file
 * Times products of a matrix with several vectors and compares them with single products. See
 * --help.
 */
#include "benchmarks/measure.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/matrices/multi_product.h"
#include "linalg/matrices/registry.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/powers/matrix_powers.h"
#include "linalg/solvers/work_vectors.h"
#include "solve/generators/registry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
constexpr int column_counts[] = {1, 2, 4, 8, 16};

struct Options
{
  std::string help, backend = "cuda", csv;
  std::vector<std::string> systems;
};

Options parse(const int argc, const char *const *const argv)
{
  Options options;
  CommandLineReader reader(
      "femgpu_multi_product_check", "[SYSTEM]... [OPTIONS]",
      "Times products of a matrix with 1, 2, 4, 8 and 16 vectors, and as many single products: "
      "microseconds, the bandwidth of A and all vectors read or written once, and the ratio to "
      "single products (target: 2.5 for 8 vectors). Columns must agree with single products to "
      "1e-14, and repeated products bit by bit. Prints a Markdown table; exits with 3 if results "
      "differ.",
      exit_code_help);
  reader.positional("SYSTEM", "Model problem, as for femgpu-solve --generate; default: Poisson and "
                              "elasticity");
  reader.backend(options.backend);
  reader.option("--csv", "FILE", "Also write the timings to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  options.systems = reader.values("SYSTEM");
  return options;
}

struct Row
{
  std::string system, format;
  int n = 0, n_columns = 0;
  double microseconds = 0., single_microseconds = 0., gigabytes_per_second = 0.;
  double difference = 0.;
  bool is_reproducible = true;

  double ratio() const
  {
    return n_columns * single_microseconds / microseconds;
  }
  bool is_right() const
  {
    return difference <= 1e-14 && is_reproducible;
  }
};

/// Returns the median time of @p action in microseconds.
double microseconds_of(const Executor &executor, const std::function<void()> &action)
{
  constexpr int n_per_sample = 10, n_samples = 7;
  action();
  std::vector<double> times;
  for (int sample = 0; sample < n_samples; ++sample) {
    executor.synchronize();
    Stopwatch watch;
    for (int k = 0; k < n_per_sample; ++k)
      action();
    executor.synchronize();
    times.push_back(1e6 * watch.lap() / n_per_sample);
  }
  return median(times);
}

/// Returns the largest difference between column @p c of @p Y and the single product with @p v,
/// relative to the largest entry.
double difference(const MatrixPowers &single, const Columns &V, const std::vector<double> &v,
                  const MultiVector<double> &Y, const int c)
{
  const ExecutorPtr &executor = Y.space()->executor();
  executor->copy_from_host(V[0], v.data(), v.size() * sizeof(double));
  single.compute(V, {BasisStep()});
  std::vector<double> y(v.size());
  executor->copy_to_host(y.data(), V[1], y.size() * sizeof(double));
  Buffer<double> column = Y.space()->make_vector();
  Y.get_column(c, column);
  const std::vector<double> found = column.to_host();
  double distance = 0., largest = 0.;
  for (std::size_t i = 0; i < y.size(); ++i) {
    distance = std::max(distance, std::abs(found[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return distance / largest;
}

std::vector<Row> measure(const ExecutorPtr &executor, const std::string &system,
                         const CsrMatrix &csr, const std::string &format)
{
  const std::unique_ptr<Matrix> A = make_format(format, csr);
  MatrixPowersOptions plain;
  plain.kind = PowersKind::plain;
  const auto single = make_matrix_powers(*A, DiagonalView(), plain);
  WorkVectors work(*A, 2);
  work.fill_zero();
  const Columns V = work.columns(0, 2);
  const double single_time = microseconds_of(*executor, [&] { single->compute(V, {BasisStep()}); });
  std::vector<Row> rows;
  for (const int k : column_counts) {
    const std::vector<double> x = right_hand_side(A->n() * k);
    const auto n = static_cast<std::size_t>(A->n());
    MultiVector<double> X(A->domain(), k), Y(A->domain(), k);
    X.copy_columns_from_host(x.data(), n);
    Row &row = rows.emplace_back();
    row.system = system;
    row.format = A->format();
    row.n = A->n();
    row.n_columns = k;
    row.single_microseconds = single_time;
    row.microseconds = microseconds_of(*executor, [&] { multiply(*A, X, Y); });
    const double bytes =
        static_cast<double>(A->bytes()) + 2. * sizeof(double) * static_cast<double>(n) * k;
    row.gigabytes_per_second = 1e-3 * bytes / row.microseconds;
    row.difference =
        difference(*single, V, {x.end() - static_cast<std::ptrdiff_t>(n), x.end()}, Y, k - 1);
    std::vector<double> first(x.size()), second(x.size());
    Y.copy_columns_to_host(first.data(), n);
    multiply(*A, X, Y);
    Y.copy_columns_to_host(second.data(), n);
    row.is_reproducible = first == second;
  }
  return rows;
}

void print(const Row &row)
{
  std::printf("| %s | %d | %s | %d | %.1f | %.0f | %.2f | %.1e%s |\n", row.system.c_str(), row.n,
              row.format.c_str(), row.n_columns, row.microseconds, row.gigabytes_per_second,
              row.ratio(), row.difference, row.is_reproducible ? "" : ", other bits when repeated");
  std::fflush(stdout);
}

int run(Options options)
{
  const ExecutorPtr executor = make_executor(options.backend);
  const bool is_on_host = executor->backend() == BackendKind::host;
  if (options.systems.empty())
    options.systems = is_on_host
                          ? std::vector<std::string>{"poisson3d-27pt:60", "elasticity3d-p1:24"}
                          : std::vector<std::string>{"poisson3d-27pt:200", "poisson3d-7pt:200",
                                                     "elasticity3d-p1:100"};
  const std::string device = executor->description();
  std::printf("%s\n\n| system | rows | format | vectors | us | GB/s | rate / single products | "
              "difference |\n|---|---|---|---|---|---|---|---|\n",
              device.c_str());
  std::vector<Row> rows;
  for (const std::string &system : options.systems) {
    const ModelProblem problem = generate(system);
    const CsrMatrix csr(executor, problem.A.csr());
    std::vector<std::string> formats = {"csr", "sell columns=short"};
    if (problem.A.unknowns->per_node > 1)
      formats = {"csr", "bsr", "bsell"};
    for (const std::string &format : formats)
      for (const Row &row : measure(executor, system, csr, format)) {
        rows.push_back(row);
        print(row);
      }
  }
  write_csv(options.csv, "device,system,n,format,vectors,us,single_us,gbs,ratio,difference,repeats",
            rows, [&](std::ostream &file, const Row &r) {
              file << '"' << device << "\"," << r.system << ',' << r.n << ",\"" << r.format << "\","
                   << r.n_columns << ',' << r.microseconds << ',' << r.single_microseconds << ','
                   << r.gigabytes_per_second << ',' << r.ratio() << ',' << r.difference << ','
                   << (r.is_reproducible ? "yes" : "no");
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
