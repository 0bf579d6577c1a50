#include "common/atomic_file.h"
#include "common/listing.h"
#include "common/spelling.h"
#include "common/version.h"
#include "expressions/expression_parser.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/direct_fallback.h"
#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/communicators.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/transformations/registry.h"
#include "solve/generators/registry.h"
#include "solve/matrix_market/matrix_market.h"
#include "solve/nonlinear_term.h"
#include "solve/ranks.h"
#include "solve/report.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <type_traits>

namespace
{
using namespace femgpu;

const std::vector<Choice> rhs_choices = {
    {"ones", "b = 1 for the scaled system"},
    {"row-sums", "b = A 1 of the scaled system, whose solution is then 1"},
    {"random:SEED", "elements between -1 and 1, the same on every machine"}};

std::string listing()
{
  return listing_of("--generate", linalg::generator_choices()) + listing_of("--rhs", rhs_choices) +
         listing_of("--solver", linalg::solvers.choices()) +
         listing_of("--preconditioner", linalg::preconditioner_choices()) +
         listing_of("--format", linalg::formats.choices()) +
         listing_of("--communicator", linalg::communicator_choices()) +
         listing_of("--scaling", linalg::scalings.choices()) +
         listing_of("--ordering", linalg::orderings.choices()) +
         listing_of("--nonlinear", nonlinear_terms.choices()) +
         listing_of("Functions of expressions", linalg::expression_functions()) +
         listing_of("--nonlinear-method", linalg::nonlinear_methods.choices()) +
         listing_of_backends("--backend");
}

/// Checks --nonlinear and --nonlinear-method. @throws ParameterError for invalid names or options
void check_nonlinear(const SolveCommand &command, const linalg::Executor &executor)
{
  if (command.nonlinear.empty())
    return;
  make_nonlinear_term(command.nonlinear);
  linalg::make_nonlinear_method(command.nonlinear_method, {}, executor.backend());
  const auto &method = linalg::nonlinear_methods.entry_of(command.nonlinear_method);
  if (!method.traits.solves_linear_systems && !command.solver.empty())
    throw ParameterError("The nonlinear method '" + std::string(method.name) +
                         "' does not solve linear systems, but --solver is '" + command.solver +
                         "'. Remove --solver, or use --nonlinear-method newton.");
}

/// Checks the names of all methods, before the system is read. @throws ParameterError
void check_names(const SolveCommand &command, const linalg::Executor &executor)
{
  if (!command.solver.empty())
    linalg::make_solver(command.solver, executor.backend());
  if (!command.solver.empty() && linalg::solvers.traits(command.solver).is_direct &&
      (!command.preconditioner.empty() || command.fixed_iterations))
    throw ParameterError("Solver 'direct' does not iterate and needs no preconditioner. Remove "
                         "--preconditioner and --fixed-iterations.");
  if (!command.preconditioner.empty())
    linalg::make_preconditioner(command.preconditioner, executor.backend());
  if ((command.repeat > 1 || command.fixed_iterations) && !command.preconditioner.empty() &&
      linalg::preconditioners.traits(command.preconditioner).is_automatic)
    throw ParameterError("--preconditioner auto may change during and between solves, so that "
                         "--repeat and --fixed-iterations do not support it. Choose a "
                         "preconditioner, for example jacobi or multigrid.");
  if (!command.scaling.empty())
    linalg::scalings.find(command.scaling);
  linalg::orderings.make(command.ordering);
  check_nonlinear(command, executor);
  if (!command.format.empty())
    linalg::formats.traits(command.format);
}

/// Checks that all output files can be created, before a long solve. @throws OutputError
void check_outputs(const SolveCommand &command)
{
  for (const std::string &file : {command.json, command.history, command.solution})
    if (!file.empty() && file != "-")
      const AtomicFile trial(file);
}

/// Prints the report of a SolveRecord or BatchRecord and writes the output files.
template <class Record>
ExitCode report_results(const SolveCommand &command, const SystemToSolve &system,
                        const Record &record, Console &console)
{
  if (command.json == "-")
    std::cout << report_json(command, system, record) << std::flush;
  console.print(report_text(command, system, record));
  if (!command.solution.empty())
    linalg::write_matrix_market_vectors(command.solution, record.x, system.n_systems,
                                        "Solution of " + command.system());
  if constexpr (std::is_same_v<Record, SolveRecord>)
    if (!command.history.empty())
      write_file(command.history, history_csv(record));
  if (!command.json.empty() && command.json != "-")
    write_file(command.json, report_json(command, system, record));
  const std::string text = remark(command, record);
  const bool is_done = succeeded(command, record);
  if (!text.empty())
    is_done ? console.warn(text) : console.error(text);
  return is_done ? ExitCode::done : ExitCode::not_converged;
}

/// Reads or generates the system. With several ranks, each rank generates its own rows if possible;
/// otherwise the first rank makes the whole system, and the other ranks receive only the methods.
SystemToSolve system_of(const SolveCommand &command, const Ranks &ranks)
{
  if (!ranks.is_parallel())
    return make_system(command, /* may fall back */ true);
  if (can_generate_locally(command))
    return generate_local_rows(command, ranks);
  SystemToSolve system;
  if (ranks.is_first()) {
    system = make_system(command, /* may fall back */ false);
    if (command.copies)
      throw ParameterError("The systems of --copies are solved together on one rank. Start "
                           "femgpu-solve without mpirun.");
  }
  system.n_systems = std::stoi(ranks.broadcast(std::to_string(system.n_systems)));
  system.is_batch = system.n_systems > 1;
  system.attempts.resize(1);
  Methods &methods = system.attempts.front();
  for (std::string *const name : {&methods.solver, &methods.preconditioner, &methods.scaling})
    *name = ranks.broadcast(*name);
  if (!command.nonlinear.empty() && !ranks.is_first())
    system.nonlinear = make_nonlinear_term(command.nonlinear);
  return system;
}

/// Returns the matrix format that the user named, or one chosen by the row lengths.
std::string format_of(const SolveCommand &command, const SystemToSolve &system,
                      const linalg::Executor &executor)
{
  if (!command.format.empty())
    return command.format;
  const bool has_dominant_row = executor.backend() != linalg::BackendKind::host &&
                                !system.is_batch &&
                                linalg::has_dominant_row(static_cast<double>(system.n_nonzeros),
                                                         system.lengths.mean, system.lengths.max);
  return has_dominant_row ? "pcsr" : "csr";
}

ExitCode run(const SolveCommand &command, const Ranks &ranks)
{
  const Stopwatch total;
  const bool prints_json = command.json == "-";
  Console console("femgpu-solve", ranks.is_first(),
                  command.quiet || prints_json ? Console::Verbosity::quiet
                                               : Console::Verbosity::normal);
  if (ranks.is_first())
    check_outputs(command);
  const std::string backend = command.solver.empty()
                                  ? command.backend
                                  : linalg::backend_for(command.solver, command.backend);
  const linalg::ExecutorPtr executor =
      ranks.make_executor(backend, {command.threads, command.device_memory});
  check_names(command, *executor);

  console.begin_phase(command.generator.empty() ? "read" : "generate");
  Stopwatch watch;
  SystemToSolve system = system_of(command, ranks);
  system.format = format_of(command, system, *executor);
  if (ranks.is_parallel())
    system.format = ranks.broadcast(system.format);
  const double read_seconds = watch.lap();
  const auto finish = [&](auto record) {
    record.read_seconds = read_seconds;
    record.total_seconds = total.elapsed();
    return ranks.is_first() ? report_results(command, system, record, console) : ExitCode::done;
  };
  return system.is_batch ? finish(solve_batch_repeatedly(command, system, executor, ranks, console))
                         : finish(solve_repeatedly(command, system, executor, ranks, console));
}

ExitCode dispatch(const SolveCommand &command, const Ranks &ranks)
{
  const bool only_prints_info = !command.help.empty() || command.version || command.list;
  if (only_prints_info && !ranks.is_first())
    return ExitCode::done;
  if (!command.help.empty())
    std::cout << command.help << std::flush;
  else if (command.version)
    std::cout << version_text("femgpu-solve") << std::endl;
  else if (command.list)
    std::cout << listing() << std::flush;
  else
    return run(command, ranks);
  return ExitCode::done;
}

int fail(const Ranks &ranks, const ExitCode code, const std::string &message)
{
  return ranks.fail(static_cast<int>(code), "femgpu-solve: " + with_short_values(message));
}
} // namespace

int main(int argc, char **argv)
{
  const Ranks ranks;
  std::signal(SIGXFSZ, SIG_IGN); // a file beyond `ulimit -f` is reported as an output error
  try {
    return static_cast<int>(dispatch(parse_solve_command(argc, argv), ranks));
  }
  catch (const Error &error) {
    return fail(ranks, error.code(), error.what());
  }
  catch (const std::bad_alloc &) {
    return fail(ranks, ExitCode::device,
                "The host does not have enough memory. Use a machine with more memory, or solve a "
                "smaller system.");
  }
  catch (const std::exception &error) {
    return fail(ranks, ExitCode::input, std::string("Unexpected error: ") + error.what());
  }
}
