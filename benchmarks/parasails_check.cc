/**
 * @file
 * Compares "fsai" and "sai" with hypre's ParaSails for the same pattern on the same processor:
 * entries of G or M, iterations of the same solver, and set-up seconds; see --help.
 */
#include "benchmarks/measure.h"
#include "benchmarks/parasails.h"
#include "common/command_line_reader.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/sparse/derived_matrix.h"
#include "linalg/transformations/registry.h"
#include "solve/generators/registry.h"
#include "solve/matrix_market/matrix_market.h"

#include <HYPRE_utilities.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
const char *const footer =
    "For symmetric systems, compares fsai tau=1 with ParaSails sym=1 in the solver cg. For\n"
    "other systems, compares sai tau=1 side=left with ParaSails sym=0, which also minimises\n"
    "|MA-I| row by row, in bicgstab. power=1 and 2 correspond to nlevels=0 and 1; filter and\n"
    "load balancing are off. Stored zeros of A are removed first, because ParaSails would\n"
    "include them in its pattern. Both preconditioners use the solvers of femgpu, to a true\n"
    "residual of 1e-8 |b|.\n"
    "\n"
    "Iterations may differ by 1. If they differ by more, both solve again for six right-hand\n"
    "sides that differ by rounding errors, and the ranges of iterations must overlap or be\n"
    "adjacent.\n"
    "\n"
    "With several MPI ranks (mpirun -n 2), only the setup of ParaSails is timed. To time the\n"
    "setup of femgpu on the same cores, use --setup with one rank.\n"
    "\n"
    "Exits with 3 if the preconditioners disagree.\n\n";

struct Options
{
  std::string help, csv;
  bool sai_only = false, setup_only = false;
  std::vector<int> powers;
  std::vector<std::string> systems;
};

Options parse(const int argc, const char *const *const argv)
{
  CommandLineReader reader("femgpu_parasails_check", "[SYSTEM]... [OPTIONS]",
                           "Compares fsai and sai with ParaSails of hypre for the same pattern, on "
                           "the host.",
                           std::string(footer) + exit_code_help);
  Options options;
  reader.positional("SYSTEM", "Model problem (poisson2d-p1:128) or Matrix Market file; default: a "
                              "list of model problems. Symmetric files are scaled by 'symmetric', "
                              "other files by 'balance'");
  reader.flag("--sai", options.sai_only, "Compare sai for symmetric systems, too");
  reader.option("--power", "N", "Power of the pattern, 1 or 2; default: both");
  reader.flag("--setup", options.setup_only,
              "Compare entries and values, and time only the setups with all threads");
  reader.option("--csv", "FILE", "Also write the table to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  for (const std::string &power : reader.values("--power"))
    options.powers.push_back(reader.parse_positive(power, "--power", 2));
  if (options.powers.empty())
    options.powers = {1, 2};
  options.systems = reader.values("SYSTEM");
  if (options.systems.empty())
    options.systems = {"poisson2d-p1:128",
                       "poisson2d-9pt:128",
                       "poisson3d-7pt:40",
                       "poisson3d-27pt:40",
                       "elasticity3d-p1:11",
                       "anisotropic2d:128,0.01",
                       "convection-diffusion2d:100,2",
                       "convection-diffusion2d:200,20"};
  return options;
}

// ------------------------------------------------------------------------------------------------
// Systems
// ------------------------------------------------------------------------------------------------

struct System
{
  std::string name;
  HostMatrix A;
  bool is_symmetric = false; ///< compare fsai instead of sai
};

HostMatrix without_zeros(const HostMatrix &A)
{
  HostMatrix result;
  for (int i = 0; i < A.n; ++i) {
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.values[k] != 0.)
        result.add(A.columns[k], A.values[k]);
    result.end_row();
  }
  return result;
}

System load(const std::string &name, const bool sai_only)
{
  if (name.find(".mtx") == std::string::npos) {
    const ModelProblem problem = generate(name);
    return {name, without_zeros(problem.A), problem.is_symmetric && !sai_only};
  }
  MatrixMarketMatrix file = read_matrix_market(name);
  const RowSpace rows(make_executor("host"), file.matrix.csr().n);
  const Scaling scaling =
      scalings.find(file.is_symmetric ? "symmetric" : "balance").make(file.matrix.csr(), rows);
  scale_values(file.matrix.csr(), scaling, file.matrix.values.data());
  const std::size_t begin = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
  return {name.substr(begin, name.find(".mtx", begin) - begin), without_zeros(file.matrix),
          file.is_symmetric && !sai_only};
}

// ------------------------------------------------------------------------------------------------
// Comparison
// ------------------------------------------------------------------------------------------------

/// The result for one system and one pattern. "ours" is femgpu, "theirs" is ParaSails.
struct Comparison
{
  std::string system, method;
  int n = 0;
  std::size_t n_nonzeros = 0; ///< number of entries of A
  std::size_t ours_nonzeros = 0, theirs_nonzeros = 0;
  bool same_pattern = false;
  double difference = 0.; ///< ‖X − X'‖_F / ‖X'‖_F if patterns agree: X is our G or M, X' theirs
  double ours_residual = 0., theirs_residual = 0.; ///< ‖MA − I‖_F, for sai only
  SolveReport ours, theirs;
  double seconds_1 = 0., seconds_all = 0.; ///< our set-up with 1 thread and with all threads
  double theirs_seconds = 0.;
  std::string verdict;
};

/// Returns the least of three times, because other load on the machine can only increase a time.
template <class Function>
double min_seconds(const Function &seconds)
{
  double minimum = seconds();
  for (int repeat = 1; repeat < 3; ++repeat)
    minimum = std::min(minimum, seconds());
  return minimum;
}

HostMatrix copy_of(const CsrView<double> &A)
{
  const std::size_t n_entries = A.row_starts[A.n];
  HostMatrix copy;
  copy.n = A.n;
  copy.row_starts.assign(A.row_starts.low, A.row_starts.low + A.n + 1);
  copy.columns.assign(A.columns, A.columns + n_entries);
  copy.values.assign(A.values, A.values + n_entries);
  return copy;
}

/// Returns M of sai, or G of fsai: the transpose of Gᵀ, the last factor that fsai applies.
HostMatrix factor_of(const Preconditioner &M, const ExecutorPtr &host)
{
  HostMatrix last = copy_of(
      std::get<CsrView<double>>(std::get<const PreconditionerOperator *>(M.action())->view()));
  if (!M.is_symmetric())
    return last;
  return copy_of(transposed<HostBackend>(CsrMatrix(host, last.csr())).matrix()->csr_view());
}

double norm_of_difference(const std::vector<double> &a, const std::vector<double> &b)
{
  double squares = 0.;
  for (std::size_t k = 0; k < a.size(); ++k)
    squares += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(squares);
}

/// Returns ‖MA − I‖_F.
double residual_norm(const HostMatrix &M, const HostMatrix &A)
{
  std::vector<double> row(static_cast<std::size_t>(A.n), 0.);
  double squares = 0.;
  for (int i = 0; i < M.n; ++i) {
    row[i] = -1.;
    for (int k = M.row_starts[i]; k < M.row_starts[i + 1]; ++k)
      for (int l = A.row_starts[M.columns[k]]; l < A.row_starts[M.columns[k] + 1]; ++l)
        row[A.columns[l]] += M.values[k] * A.values[l];
    const auto take = [&](double &entry) {
      squares += entry * entry;
      entry = 0.;
    };
    take(row[i]);
    for (int k = M.row_starts[i]; k < M.row_starts[i + 1]; ++k)
      for (int l = A.row_starts[M.columns[k]]; l < A.row_starts[M.columns[k] + 1]; ++l)
        take(row[A.columns[l]]);
  }
  return std::sqrt(squares);
}

/// Solves after multiplying every other element of b by 1 + @p change.
SolveReport solve(const CsrMatrix &A, const Preconditioner &M, const double change = 0.)
{
  std::vector<double> host_b = right_hand_side(A.n());
  for (std::size_t i = 0; i < host_b.size(); i += 2)
    host_b[i] *= 1. + change;
  const Buffer<double> b(A.executor(), host_b.data(), host_b.size());
  Buffer<double> x(A.executor(), host_b.size());
  x.fill_zero();
  SolveControl control;
  control.relative_tolerance = 1e-8;
  control.max_iterations = 5000;
  return make_solver(M.is_symmetric() ? "cg" : "bicgstab", BackendKind::host)
      ->solve(A, M, b, x, control);
}

double setup_seconds(const System &system, const std::string &method, const ExecutorPtr &host)
{
  const CsrMatrix A(host, system.A.csr());
  const auto M = make_preconditioner(method, BackendKind::host);
  return min_seconds([&] {
    Stopwatch watch;
    M->setup(A);
    return watch.lap();
  });
}

/// The fewest and most iterations for right-hand sides that differ by rounding errors.
struct Spread
{
  int minimum, maximum;
};

Spread spread_of_iterations(const CsrMatrix &A, const Preconditioner &M, const int iterations)
{
  Spread spread{iterations, iterations};
  for (int k = 1; k <= 6; ++k) {
    const int found = solve(A, M, 1e-15 * k).iterations;
    spread.minimum = std::min(spread.minimum, found);
    spread.maximum = std::max(spread.maximum, found);
  }
  return spread;
}

/// Judges iteration counts that differ. @return text that begins with "ok" if perturbing b by
/// rounding errors explains the difference, otherwise with "ITERATIONS DIFFER"
std::string verdict_on_rounding(const CsrMatrix &A, const Comparison &c, const Preconditioner &ours,
                                const Preconditioner &theirs)
{
  const Spread a = spread_of_iterations(A, ours, c.ours.iterations);
  const Spread b = spread_of_iterations(A, theirs, c.theirs.iterations);
  const auto text = [](const Spread &spread) {
    return std::to_string(spread.minimum) + "-" + std::to_string(spread.maximum);
  };
  const bool overlap = a.minimum <= b.maximum + 1 && b.minimum <= a.maximum + 1;
  return std::string(overlap ? "ok, rounding" : "ITERATIONS DIFFER") + ": " + text(a) +
         ", theirs " + text(b);
}

std::string verdict_of_matrices(const Comparison &c)
{
  if (!c.same_pattern)
    return "PATTERN DIFFERS";
  return c.difference > 1e-6 ? "VALUES DIFFER" : "ok";
}

std::string verdict_of(const Comparison &c)
{
  if (std::string verdict = verdict_of_matrices(c); verdict != "ok")
    return verdict;
  if (c.ours.outcome != c.theirs.outcome)
    return "OUTCOME DIFFERS";
  return c.ours.converged() ? "ok" : "ok, both " + to_string(c.ours.outcome);
}

Comparison describe(const System &system, const int power)
{
  Comparison c;
  c.system = system.name;
  c.n = system.A.n;
  c.n_nonzeros = system.A.columns.size();
  c.method = (system.is_symmetric ? "fsai tau=1 power=" : "sai tau=1 side=left power=") +
             std::to_string(power);
  return c;
}

void compare_matrices(const HostMatrix &ours, const HostMatrix &theirs, Comparison &c)
{
  c.ours_nonzeros = ours.columns.size();
  c.theirs_nonzeros = theirs.columns.size();
  c.same_pattern = ours.row_starts == theirs.row_starts && ours.columns == theirs.columns;
  if (c.same_pattern)
    c.difference = norm_of_difference(ours.values, theirs.values) /
                   norm_of_difference(theirs.values, std::vector<double>(theirs.values.size()));
}

/// Compares matrices and set-up times of femgpu (with all threads) and of ParaSails (with one
/// rank).
Comparison compare_setups(const System &system, const int power)
{
  const ExecutorPtr all = make_executor("host");
  Comparison c = describe(system, power);
  const CsrMatrix A(all, system.A.csr());
  const auto M = make_preconditioner(c.method, BackendKind::host);
  M->setup(A);
  c.seconds_all = setup_seconds(system, c.method, all);
  ParaSails sails(system.A.csr(), {system.is_symmetric, power - 1});
  c.theirs_seconds = min_seconds([&] { return sails.setup(); });
  compare_matrices(factor_of(*M, all), sails.matrix(), c);
  c.verdict = verdict_of_matrices(c);
  return c;
}

Comparison compare(const System &system, const int power)
{
  const ExecutorPtr one = make_executor("host", 1), all = make_executor("host");
  Comparison c = describe(system, power);
  const CsrMatrix A(one, system.A.csr());
  const auto M = make_preconditioner(c.method, BackendKind::host);
  M->setup(A);
  c.seconds_1 = setup_seconds(system, c.method, one);
  c.seconds_all = setup_seconds(system, c.method, all);
  c.ours = solve(A, *M);
  const HostMatrix ours = factor_of(*M, one);
  c.ours_nonzeros = ours.columns.size();

  ParaSails sails(system.A.csr(), {system.is_symmetric, power - 1});
  try {
    c.theirs_seconds = min_seconds([&] { return sails.setup(); });
  }
  catch (const SolverError &error) {
    c.verdict = "ParaSails refuses: " + M->setup_report().remarks;
    return c;
  }
  const ParaSailsPreconditioner M_theirs(one, sails, c.n, system.is_symmetric);
  c.theirs = solve(A, M_theirs);
  const HostMatrix theirs = sails.matrix();
  compare_matrices(ours, theirs, c);
  if (!system.is_symmetric) {
    c.ours_residual = residual_norm(ours, system.A);
    c.theirs_residual = residual_norm(theirs, system.A);
  }
  c.verdict = verdict_of(c);
  if (c.verdict == "ok" && std::abs(c.ours.iterations - c.theirs.iterations) > 1)
    c.verdict = verdict_on_rounding(A, c, *M, M_theirs);
  return c;
}

// ------------------------------------------------------------------------------------------------
// Output
// ------------------------------------------------------------------------------------------------

void print_setups(const Comparison &c)
{
  std::printf("%-30s %7d %-26s %9zu %9zu %8.1e  %s: %.3f s, ParaSails on 1 rank: %.3f s  %s\n",
              c.system.c_str(), c.n, c.method.c_str(), c.ours_nonzeros, c.theirs_nonzeros,
              c.difference, make_executor("host")->description().c_str(), c.seconds_all,
              c.theirs_seconds, c.verdict.c_str());
  std::fflush(stdout);
}

void print(const Comparison &c)
{
  char residuals[64] = "";
  if (c.ours_residual > 0.)
    std::snprintf(residuals, sizeof residuals, "%.6g %.6g", c.ours_residual, c.theirs_residual);
  std::printf("%-30s %7d %-26s %9zu %9zu %8.1e %-18s %5d %5d %8.3f %8.3f %8.3f %6.2f  %s\n",
              c.system.c_str(), c.n, c.method.c_str(), c.ours_nonzeros, c.theirs_nonzeros,
              c.difference, residuals, c.ours.iterations, c.theirs.iterations, c.seconds_1,
              c.seconds_all, c.theirs_seconds, c.seconds_1 / c.theirs_seconds, c.verdict.c_str());
  std::fflush(stdout);
}

void print_heads(const Options &options)
{
  if (options.setup_only)
    std::printf("Setup in seconds, the least of three\n");
  else
    std::printf("Setup in seconds, the least of three: ours with 1 thread and with %s, and\n"
                "ParaSails on 1 rank; ratio: ours with 1 thread / ParaSails\n"
                "%-30s %7s %-26s %9s %9s %8s %-18s %5s %5s %8s %8s %8s %6s\n",
                make_executor("host")->description().c_str(), "system", "n", "method", "nonzeros",
                "theirs", "|X-X'|", "|MA-I|, theirs", "iter", "their", "1 thread", "all",
                "ParaSails", "ratio");
}

/// Compares all systems on one rank. @return whether all agree
bool compare_all(const Options &options)
{
  print_heads(options);
  std::vector<Comparison> comparisons;
  bool good = true;
  for (const std::string &name : options.systems) {
    const System system = load(name, options.sai_only);
    for (const int power : options.powers) {
      comparisons.push_back(options.setup_only ? compare_setups(system, power)
                                               : compare(system, power));
      options.setup_only ? print_setups(comparisons.back()) : print(comparisons.back());
      good = good && comparisons.back().verdict.find("DIFFER") == std::string::npos;
    }
  }
  const std::string threads = make_executor("host")->description();
  write_csv(
      options.csv,
      "system,n,n_nonzeros,method,threads,nonzeros,parasails_nonzeros,difference,residual_norm,"
      "parasails_residual_norm,iterations,parasails_iterations,setup_s_1_thread,"
      "setup_s_all_threads,parasails_setup_s,verdict",
      comparisons, [&](std::ostream &file, const Comparison &c) {
        file << '"' << c.system << "\"," << c.n << ',' << c.n_nonzeros << ',' << c.method << ','
             << threads << ',' << c.ours_nonzeros << ',' << c.theirs_nonzeros << ',' << c.difference
             << ',' << c.ours_residual << ',' << c.theirs_residual << ',' << c.ours.iterations
             << ',' << c.theirs.iterations << ',' << c.seconds_1 << ',' << c.seconds_all << ','
             << c.theirs_seconds << ",\"" << c.verdict << '"';
      });
  return good;
}

/// Times ParaSails on several ranks.
void time_parasails(const Options &options, const bool prints)
{
  for (const std::string &name : options.systems) {
    const System system = load(name, options.sai_only);
    for (const int power : options.powers) {
      ParaSails sails(system.A.csr(), {system.is_symmetric, power - 1});
      const double seconds = min_seconds([&] { return sails.setup(); });
      if (prints)
        std::printf("%-30s %7d  sym=%d nlevels=%d %8.3f s\n", system.name.c_str(), system.A.n,
                    system.is_symmetric ? 1 : 0, power - 1, seconds);
    }
  }
}

int run(const Options &options)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  if (n_ranks > 1)
    time_parasails(options, rank == 0);
  else if (!compare_all(options))
    throw SolverError("linalg and ParaSails disagree, see DIFFER above.");
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(int argc, char **argv)
{
  // Without this setting, Open MPI binds a process started without mpirun, and all its threads, to
  // one core.
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  using namespace femgpu::linalg::benchmark;
  const int status = run_program(argc, argv, parse, run);
  HYPRE_Finalize();
  MPI_Finalize();
  return status;
}
