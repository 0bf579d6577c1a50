/**
 * @file
 * Times preconditioners alone: setup, refresh for new values, application, beside the time that the
 * bytes of an application would take at the speed of a plain copy; and the iterations and the whole
 * time of a solve with each. See --help.
 */
#include "benchmarks/measure.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"

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
    "Times preconditioners: setup, refresh, application, and a solve to 1e-8 with cg, or bicgstab\n"
    "where the preconditioner is not symmetric.\n"
    "\n"
    "  femgpu_preconditioner_check [--backend NAME] [--system NAME]... [--setup] [--csv FILE] "
    "[M]...\n"
    "\n"
    "  --backend NAME  cuda (as it is), cuda:K or host\n"
    "  --system NAME   a model problem as femgpu-solve --generate takes it, as often as wanted\n"
    "  --setup         time setups alone: the first, and the median of three more\n"
    "  --csv FILE      write the timings as a table, too\n"
    "  M               a preconditioner with its options in one argument; without any: jacobi, "
    "fsai,\n"
    "                  and ilu for many numbers of blocks, levels and ways to solve with "
    "triangles\n"
    "  --help          print this\n"
    "\n"
    "Ends with 0; 1 for a wrong argument; 4 without a GPU.\n";

struct Options
{
  std::string backend = "cuda", csv;
  std::vector<std::string> systems, preconditioners;
  bool setup_only = false, help = false;
};

Options options_of(const std::vector<std::string> &arguments)
{
  Options options;
  const auto value = [&](std::size_t &i) {
    if (i + 1 == arguments.size())
      throw ParameterError("Argument '" + arguments[i] + "' lacks its value; see --help.");
    return arguments[++i];
  };
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == "--help" || arguments[i] == "-h")
      options.help = true;
    else if (arguments[i] == "--backend")
      options.backend = value(i);
    else if (arguments[i] == "--system")
      options.systems.push_back(value(i));
    else if (arguments[i] == "--setup")
      options.setup_only = true;
    else if (arguments[i] == "--csv")
      options.csv = value(i);
    else if (arguments[i].rfind("--", 0) == 0)
      throw ParameterError("Argument '" + arguments[i] + "' is unknown; see --help.");
    else
      options.preconditioners.push_back(arguments[i]);
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

/// What was measured of one preconditioner; milliseconds are medians.
struct Timing
{
  std::string system, method, remarks;
  int n = 0;
  std::size_t n_nonzeros = 0, bytes = 0;
  double first_setup = 0., setup = 0., update = 0., application = 0.;
  double fraction = 0.; ///< time of the bytes at the speed of a copy / time of an application
  int iterations = 0;
  double solve = 0.; ///< without setup
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

/// So many applications one after the other that starting them does not count.
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

/// The first setup, which may pay for what others find ready, and more.
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

void write_csv(const std::string &name, const Executor &executor,
               const std::vector<Timing> &timings)
{
  std::ofstream file(name);
  file << "device,system,n,preconditioner,setup_ms,next_setups_ms,update_ms,application_ms,"
          "nonzeros,bytes,"
          "fraction_of_copy,iterations,solve_ms,outcome,remarks\n";
  for (const Timing &t : timings)
    file << '"' << executor.description() << "\"," << t.system << ',' << t.n << ',' << t.method
         << ',' << t.first_setup << ',' << t.setup << ',' << t.update << ',' << t.application << ','
         << t.n_nonzeros << ',' << t.bytes << ',' << t.fraction << ',' << t.iterations << ','
         << t.solve << ',' << t.outcome << ",\"" << t.remarks << "\"\n";
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
    options.systems = {"poisson3d-7pt:72", "poisson3d-7pt:144", "poisson3d-27pt:100"};
  if (options.preconditioners.empty())
    options.preconditioners = default_preconditioners(executor->backend() == BackendKind::host);
  const double bandwidth = copy_bandwidth(*executor);
  print_heads(*executor, options, bandwidth);
  std::vector<Timing> timings;
  for (const std::string &system : options.systems)
    time_system(executor, system, options, bandwidth, timings);
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
