/**
 * @file
 * Times preconditioners alone: set-up, refresh for new values, and application, compared with the
 * time of a plain copy of as many bytes. Also reports the iterations and the time of a solve with
 * each preconditioner. See --help.
 */
#include "benchmarks/measure.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
struct Options
{
  std::string help, backend = "cuda", csv;
  std::vector<std::string> systems, preconditioners;
  bool setup_only = false;
};

Options parse(const int argc, const char *const *const argv)
{
  CommandLineReader reader(
      "femgpu_preconditioner_check", "[M]... [OPTIONS]",
      "Times preconditioners: setup, refresh, application, and a solve to 1e-8 "
      "with cg, or with bicgstab if the preconditioner is not symmetric.",
      exit_code_help);
  Options options;
  reader.positional("M", "Preconditioner with its options, in one argument; default: jacobi, fsai, "
                         "and ilu with many numbers of blocks, levels of fill and methods for "
                         "triangular solves");
  reader.backend(options.backend);
  reader.option("--system", "NAME", "A model problem, as for femgpu-solve --generate (repeatable)");
  reader.flag("--setup", options.setup_only,
              "Time only setups: the first setup, and the median of three more");
  reader.option("--csv", "FILE", "Also write the timings to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  options.systems = reader.values("--system");
  options.preconditioners = reader.values("M");
  return options;
}

std::vector<std::string> default_preconditioners(const bool on_host)
{
  std::vector<std::string> all = {"jacobi", "fsai"};
  for (const char *const level : {"0", "1"}) {
    const std::string ilu = std::string("ilu level=") + level + " ";
    for (const int blocks : {1, 4, 16, 64, 256, 1024, 4096})
      all.push_back(ilu + "blocks=" + std::to_string(blocks));
    all.push_back(ilu);
    all.push_back(ilu + "partition=geometry");
    if (on_host)
      continue;
    for (const char *const triangular : {"levels", "dependencies", "sweeps"})
      for (const int blocks : {1, 256})
        all.push_back(ilu + "blocks=" + std::to_string(blocks) + " triangular=" + triangular);
  }
  return all;
}

/// The measurements of one preconditioner; times are medians in milliseconds.
struct Timing
{
  std::string system, method, remarks;
  int n = 0;
  std::size_t n_nonzeros = 0, bytes = 0;
  double first_setup = 0., setup = 0., update = 0., application = 0.;
  double fraction = 0.; ///< time to copy as many bytes / time of an application
  int iterations = 0;
  double solve = 0.; ///< time of a solve, without set-up
  std::string outcome;
};

template <class Action>
double median_milliseconds(const Executor &executor, const int repeats, const Action &action)
{
  std::vector<double> all;
  for (int k = 0; k < repeats; ++k) {
    executor.synchronize();
    Stopwatch watch;
    action();
    executor.synchronize();
    all.push_back(1e3 * watch.lap());
  }
  return median(all);
}

/// Returns the mean time of many applications in a row, so that launch latency does not count.
double milliseconds_of_application(const Preconditioner &M, const Executor &executor,
                                   Buffer<double> &r, Buffer<double> &z)
{
  apply(M, executor, r, z);
  const double one = median_milliseconds(executor, 3, [&] { apply(M, executor, r, z); });
  const int in_a_row = one < 5. ? 20 : 1;
  const int repeats = one < 50. ? 10 : 3;
  return median_milliseconds(executor, repeats,
                             [&] {
                               for (int k = 0; k < in_a_row; ++k)
                                 apply(M, executor, r, z);
                             }) /
         in_a_row;
}

void print_setup(const Timing &timing)
{
  std::printf("%-20s %-36s %10.2f %10.2f %12zu  %s\n", timing.system.c_str(), timing.method.c_str(),
              timing.first_setup, timing.setup, timing.n_nonzeros, timing.remarks.c_str());
}

void print_all(const Timing &timing)
{
  std::printf("%-18s %-48s %9.2f %9.2f %9.3f %5.0f %% %6d %9.2f  %s\n", timing.system.c_str(),
              timing.method.c_str(), timing.first_setup, timing.update, timing.application,
              100. * timing.fraction, timing.iterations, timing.solve,
              timing.outcome == "converged" ? "" : timing.outcome.c_str());
}

/// Times the first set-up, which may include one-off costs, and later set-ups.
Timing time_setup(const CsrMatrix &A, const std::string &method)
{
  const Executor &executor = *A.executor();
  const auto M = make_preconditioner(method, executor.backend());
  Timing timing;
  timing.method = method;
  timing.n = A.n();
  timing.first_setup = median_milliseconds(executor, 1, [&] { M->setup(A); });
  timing.setup = median_milliseconds(executor, 3, [&] { M->setup(A); });
  const SetupReport setup = M->setup_report();
  timing.n_nonzeros = setup.n_nonzeros;
  timing.remarks = setup.remarks;
  timing.bytes = M->bytes();
  return timing;
}

Timing time_one(const CsrMatrix &A, const std::string &method, const double bandwidth)
{
  const ExecutorPtr executor = A.executor();
  const auto n = static_cast<std::size_t>(A.n());
  const std::vector<double> host_b = right_hand_side(A.n());
  Buffer<double> b(executor, host_b.data(), n);
  Buffer<double> x(executor, n);
  const auto M = make_preconditioner(method, executor->backend());
  Timing timing;
  timing.method = method;
  timing.n = A.n();
  timing.first_setup = median_milliseconds(*executor, 1, [&] { M->setup(A); });
  timing.update = median_milliseconds(*executor, 3, [&] { M->update(A); });
  timing.application = milliseconds_of_application(*M, *executor, b, x);
  const SetupReport setup = M->setup_report();
  timing.n_nonzeros = setup.n_nonzeros;
  timing.remarks = setup.remarks;
  timing.bytes = M->bytes();
  timing.fraction = 1e3 * static_cast<double>(timing.bytes) / bandwidth / timing.application;

  SolveControl control;
  control.relative_tolerance = 1e-8;
  control.max_iterations = 5000;
  const auto solver = make_solver(M->is_symmetric() ? "cg" : "bicgstab", executor->backend());
  SolveReport report;
  timing.solve = median_milliseconds(*executor, 3, [&] {
    x.fill_zero();
    report = solver->solve(A, *M, b, x, control);
  });
  timing.iterations = report.iterations;
  timing.outcome = to_string(report.outcome);
  return timing;
}

void time_system(const ExecutorPtr &executor, const std::string &system, const Options &options,
                 const double bandwidth, std::vector<Timing> &timings)
{
  const ModelProblem problem = generate(system);
  const CsrMatrix A(executor, problem.A.csr());
  for (const std::string &method : options.preconditioners) {
    try {
      Timing timing = options.setup_only ? time_setup(A, method) : time_one(A, method, bandwidth);
      timing.system = system;
      options.setup_only ? print_setup(timing) : print_all(timing);
      timings.push_back(std::move(timing));
    }
    catch (const Error &error) {
      std::printf("%-18s %-48s left out: %s\n", system.c_str(), method.c_str(), error.what());
    }
    std::fflush(stdout);
  }
}

void print_heads(const Executor &executor, const Options &options, const double bandwidth)
{
  std::printf("Copy on %s (%s): %.0f GB/s, read and written\n", executor.name().c_str(),
              executor.description().c_str(), 1e-9 * bandwidth);
  if (options.setup_only)
    std::printf("%-20s %-36s %10s %10s %12s\n", "system", "preconditioner", "first ms", "setup ms",
                "nonzeros");
  else
    std::printf("%-18s %-48s %9s %9s %9s %7s %6s %9s\n", "system", "preconditioner", "setup ms",
                "update ms", "apply ms", "of copy", "iter", "solve ms");
}

int run(Options options)
{
  const ExecutorPtr executor = make_executor(options.backend);
  if (options.systems.empty())
    options.systems = {"poisson3d-7pt:72", "poisson3d-7pt:144", "poisson3d-27pt:100"};
  if (options.preconditioners.empty())
    options.preconditioners = default_preconditioners(executor->backend() == BackendKind::host);
  const double bandwidth = copy_bandwidth(*executor);
  print_heads(*executor, options, bandwidth);
  std::vector<Timing> timings;
  for (const std::string &system : options.systems)
    time_system(executor, system, options, bandwidth, timings);
  write_csv(options.csv,
            "device,system,n,preconditioner,setup_ms,next_setups_ms,update_ms,application_ms,"
            "nonzeros,bytes,fraction_of_copy,iterations,solve_ms,outcome,remarks",
            timings, [&](std::ostream &file, const Timing &t) {
              file << '"' << executor->description() << "\"," << t.system << ',' << t.n << ','
                   << t.method << ',' << t.first_setup << ',' << t.setup << ',' << t.update << ','
                   << t.application << ',' << t.n_nonzeros << ',' << t.bytes << ',' << t.fraction
                   << ',' << t.iterations << ',' << t.solve << ',' << t.outcome << ",\""
                   << t.remarks << '"';
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
