#include "linalg/dealii/group_solver.h"

#include "linalg/base/error.h"
#include "linalg/dealii/leader.h"
#include "linalg/direct_solver.h"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/communicators.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/weak_parts.h"

#include <deal.II/base/mpi.h>

#include <boost/serialization/array.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <malloc.h>

namespace femgpu::linalg
{
void check_methods(const GroupSolverOptions &options)
{
  if (!is_direct(options.solver))
    check(options);
  else if (options.control.energy_tolerance.is_given())
    throw ParameterError(
        "Solver 'direct' cannot stop at the energy error, because it does not iterate. Use " +
            solvers.names_with(&SolverTraits::knows_energy_error) + ", or stop at the residual.",
        "Solver/Stop at");
}

void check_methods(const NonlinearSolverOptions &options)
{
  if (is_direct(options.linear.solver))
    throw ParameterError(
        "Solver 'direct' supports only linear problems. For a nonlinear problem use " +
            names_of(solvers.choices()) + ".",
        "Solver/Solver");
  check(options);
}

namespace
{
bool are_direct(const GroupMethods &methods)
{
  const auto *const linear = std::get_if<GroupSolverOptions>(&methods);
  return linear != nullptr && is_direct(linear->solver);
}

/// @throws ParameterError if the direct solver cannot be used with these groups
void check_direct(const SolverGroups &groups)
{
  if (groups.backend().rfind("cuda", 0) == 0)
    throw ParameterError("Solver 'direct' runs only on the host, but the backend is '" +
                             groups.backend() + "'. Use backend auto or host, or another solver.",
                         "Solver/Backend");
  if (groups.n_groups() > 1)
    throw ParameterError("Solver 'direct' needs all rows in one solver group, but there are " +
                             std::to_string(groups.n_groups()) +
                             " groups. Use another solver, or backend host on one node.",
                         "Solver/Solver");
}

/// Returns whether @p backend names a device that exists, and so takes some time to initialise.
bool is_there(const std::string &backend)
{
  if (backend == "host")
    return false;
  const int n = n_cuda_devices();
  if (backend == "auto" || backend == "cuda")
    return n > 0;
  for (int device = 0; device < n; ++device)
    if (backend == "cuda:" + std::to_string(device))
      return true;
  return false;
}

/// Returns memory that this process has freed to the operating system.
void give_back_free_memory()
{
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::string node_name()
{
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return {name, static_cast<std::size_t>(length)};
}
} // namespace

/// The solver of a group; exists on its leader only.
class GroupSolver::Leader
{
public:
  Leader(const SolverGroups &groups, ExecutorPtr its_executor, const GroupMethods &methods)
      : executor(std::move(its_executor))
  {
    CommunicatorPtr communicator;
    if (groups.n_groups() > 1)
      communicator = make_communicator(groups.leaders(), executor, groups.communicator());
    if (const auto *const options = std::get_if<NonlinearSolverOptions>(&methods)) {
      check_methods(*options);
      nonlinear = std::make_unique<NonlinearSolver>(executor, *options, communicator);
    }
    else if (const auto *const options = std::get_if<ContinuationOptions>(&methods))
      continuation = std::make_unique<Continuation>(executor, *options, communicator);
    else if (!are_direct(methods)) {
      const auto &linear = std::get<GroupSolverOptions>(methods);
      iterative = std::make_unique<LinearSolver>(executor, linear, communicator);
      falls_back = linear.falls_back && !communicator;
      falls_back_if_indefinite = linear.falls_back_if_indefinite;
    }
  }

  void begin_pattern(const GroupSystem &system)
  {
    const HostCsr A = system.part().A;
    if (iterative)
      iterative->begin_pattern(A);
    if (nonlinear)
      nonlinear->begin_pattern(A);
    if (continuation)
      continuation->begin_pattern(A);
  }

  SolveReport solve(const GroupSystem &system, const bool same_pattern, const SolveControl &control)
  {
    const auto [A, b, w, x] = system.part();
    if (!iterative)
      return solve_direct(A, b, x, control);
    iterative->control() = control;
    iterative->set_matrix(A, same_pattern);
    SolveReport report = iterative->solve(b, x);
    fall_back(system, control, report);
    return report;
  }

  /// Solves by the direct solver, if @p report has not converged and the options allow it.
  /// @return whether it succeeded, and @p report is the direct solver's
  bool fall_back(const GroupSystem &system, const SolveControl &control, SolveReport &report) const
  {
    const GroupSystem::Part part = system.part();
    const bool is_indefinite = report.outcome == Outcome::indefinite_matrix ||
                               report.outcome == Outcome::indefinite_preconditioner;
    return falls_back && !report.converged() && part.A.n <= largest_fallback &&
           (falls_back_if_indefinite || !is_indefinite) && solve_instead(part, control, report);
  }

  SolveReport solve_nonlinear(const GroupSystem &system, const bool same_pattern,
                              const Nonlinearity &phi, const SolveControl &control)
  {
    const auto [A, b, w, x] = system.part();
    nonlinear->control() = control;
    nonlinear->set_system(A, w, same_pattern);
    return nonlinear->solve(phi, b, x);
  }

  ContinuationReport trace(const GroupSystem &system, const Law &law,
                           const Continuation::Callback &callback)
  {
    const auto [A, b, w, guess] = system.part();
    std::vector<double> x(guess, guess + A.n);
    continuation->set_system(A, w);
    return continuation->trace(law, b, x.data(), callback);
  }

  void release()
  {
    if (iterative)
      iterative->release();
    if (nonlinear)
      nonlinear->release();
  }

  ExecutorPtr executor;

private:
  static bool solve_instead(const GroupSystem::Part &system, SolveControl control,
                            SolveReport &report)
  {
    control.reference = SolveControl::Reference::rhs;
    if (!control.energy_tolerance.is_given()) {
      control.relative_tolerance = 0.; // the target, in the norm of the unscaled system
      control.absolute_tolerance =
          report.rhs_norm > 0. ? report.target * report.given.rhs / report.rhs_norm : report.target;
    }
    std::vector<double> x(static_cast<std::size_t>(system.A.n));
    SolveReport direct = solve_direct(system.A, system.b, x.data(), control);
    if (!direct.converged()) {
      report.message += " The direct solver failed too: " + direct.message;
      return false;
    }
    std::copy(x.begin(), x.end(), system.x);
    direct.method.failed_attempt = report.message;
    direct.costs += report.costs;
    report = std::move(direct);
    return true;
  }

  bool falls_back = false, falls_back_if_indefinite = true;
  std::unique_ptr<LinearSolver> iterative;
  std::unique_ptr<NonlinearSolver> nonlinear;
  std::unique_ptr<Continuation> continuation;
};

GroupSolver::GroupSolver(const SolverGroups &groups, Resources resources, GroupMethods its_methods)
    : groups(groups), methods(std::move(its_methods))
{
  bool takes_time = false;
  on_leaders(groups, [&] {
    if (resources.threads == 0)
      resources.threads = groups.n_threads();
    const bool on_host = are_direct(methods);
    if (on_host)
      check_direct(groups);
    const std::string backend = on_host ? "host" : groups.backend();
    takes_time = is_there(backend);
    executor =
        std::async(takes_time ? std::launch::async | std::launch::deferred : std::launch::deferred,
                   [backend, resources] { return make_executor(backend, resources); });
  });
  if (!dealii::Utilities::MPI::logical_or(takes_time, groups.ranks()))
    places(); // throws errors before any other work is done
}

/// Returns the leader as soon as its device is initialised. @throws the error of the initialisation
GroupSolver::Leader &GroupSolver::ready()
{
  if (!leader) {
    const ExecutorPtr its_executor = executor.get();
    its_executor->use_in_this_thread();
    leader = std::make_unique<Leader>(groups, its_executor, methods);
  }
  return *leader;
}

const std::vector<GroupSolver::Place> &GroupSolver::places()
{
  if (!all_places.empty())
    return all_places;
  std::array<std::string, 3> mine; // node, backend, description
  on_leaders(groups, [&] {
    const Executor &executor = *ready().executor;
    mine = {node_name(), executor.name(), executor.description()};
  });
  const auto all = dealii::Utilities::MPI::all_gather(groups.ranks(), mine);
  const std::vector<int> &first = groups.first_ranks();
  for (std::size_t group = 0; group + 1 < first.size(); ++group) {
    const auto &[node, backend, description] = all[static_cast<std::size_t>(first[group])];
    all_places.push_back({first[group], first[group + 1] - 1, node, backend, description});
  }
  for (const Place &place : all_places)
    if ((place.backend == "host") != (all_places.front().backend == "host"))
      throw ParameterError("A solver group on " + all_places.front().node + " has the backend " +
                               all_places.front().backend + ", but one on " + place.node +
                               " has the backend " + place.backend +
                               ". Set the backend of all groups to cuda, or of all to host.",
                           "Solver/Backend");
  return all_places;
}

GroupSolver::~GroupSolver() = default;

void GroupSolver::begin_pattern(const GroupSystem &system)
{
  if (system.pattern_number() == pattern_there)
    return;
  give_back_free_memory(); // of temporary data of the pattern
  pattern_there = 0;
  on_leaders(groups, [&] { ready().begin_pattern(system); });
}

SolveReport GroupSolver::solve_on_leader(GroupSystem &system,
                                         const std::function<SolveReport(bool same_pattern)> &solve)
{
  system.synchronize();
  give_back_free_memory(); // of temporary data of the assembly
  SolveReport report;
  const bool same_pattern = std::exchange(pattern_there, 0) == system.pattern_number();
  on_leaders(groups, [&] { report = solve(same_pattern); });
  pattern_there = system.pattern_number();
  system.synchronize();
  std::vector<double> history = std::move(report.history);
  report = dealii::Utilities::MPI::broadcast(groups.ranks(), report, 0);
  report.history = std::move(history);
  return report;
}

SolveReport GroupSolver::solve(GroupSystem &system, const SolveControl &control)
{
  return solve_on_leader(system, [&](const bool same_pattern) {
    return ready().solve(system, same_pattern, control);
  });
}

double GroupSolver::correct_motions(GroupSystem &system, const double most)
{
  if (groups.n_groups() > 1)
    return 0.;
  double norm = 0.;
  on_leaders(groups, [&] {
    const auto [A, b, w, x] = system.part();
    const WeakParts parts(A, b, x);
    norm = parts.energy_error();
    if (norm > most)
      parts.correct(x);
  });
  system.synchronize();
  return dealii::Utilities::MPI::broadcast(groups.ranks(), norm, 0);
}

bool GroupSolver::fall_back(GroupSystem &system, const SolveControl &control, SolveReport &report)
{
  bool is_another = false;
  system.synchronize();
  on_leaders(groups, [&] { is_another = ready().fall_back(system, control, report); });
  system.synchronize();
  std::vector<double> history = std::move(report.history);
  report = dealii::Utilities::MPI::broadcast(groups.ranks(), report, 0);
  report.history = std::move(history);
  return dealii::Utilities::MPI::broadcast(groups.ranks(), is_another, 0);
}

SolveReport GroupSolver::solve_nonlinear(GroupSystem &system, const Nonlinearity &phi,
                                         const SolveControl &control)
{
  return solve_on_leader(system, [&](const bool same_pattern) {
    return ready().solve_nonlinear(system, same_pattern, phi, control);
  });
}

ContinuationReport GroupSolver::trace(GroupSystem &system, const Law &law,
                                      const std::function<void(const BranchRecord &)> &on_point)
{
  system.synchronize();
  ContinuationReport report;
  BranchRecord record;
  std::vector<BranchRecord> records;
  const auto show = [&] {
    record = dealii::Utilities::MPI::broadcast(groups.ranks(), record, 0);
    records.push_back(record);
    system.synchronize();
    on_point(record);
  };
  on_leaders(
      groups,
      [&](const std::function<void()> &call_event) {
        report = ready().trace(system, law, [&](const BranchRecord &r, const auto &x) {
          record = r;
          std::copy(x.begin(), x.end(), system.part().x);
          call_event();
        });
      },
      show);
  report.records.clear();
  report = dealii::Utilities::MPI::broadcast(groups.ranks(), report, 0);
  report.records = std::move(records);
  return report;
}

void GroupSolver::release()
{
  pattern_there = 0;
  on_leaders(groups, [&] { ready().release(); });
}

std::size_t GroupSolver::peak_device_bytes() const
{
  const bool is_on_device = leader && leader->executor->backend() == BackendKind::cuda;
  return dealii::Utilities::MPI::max(is_on_device ? leader->executor->peak_bytes() : std::size_t(0),
                                     groups.ranks());
}
} // namespace femgpu::linalg
