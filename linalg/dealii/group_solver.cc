#include "linalg/dealii/group_solver.h"

#include "linalg/base/error.h"
#include "linalg/dealii/leader.h"
#include "linalg/direct_fallback.h"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/communicators.h"
#include "linalg/solvers/component_deflation.h"
#include "linalg/solvers/registry.h"

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
namespace
{
/// Returns whether @p backend names a CUDA device that exists. Initialising it takes some time.
bool names_existing_device(const std::string &backend)
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

/// Returns freed heap memory to the operating system.
void trim_heap()
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
  Leader(const SolverGroups &groups, ExecutorPtr executor_, const GroupMethods &methods)
      : executor(std::move(executor_))
  {
    CommunicatorPtr communicator;
    if (groups.n_groups() > 1)
      communicator = make_communicator(groups.leaders(), executor, groups.communicator());
    if (const auto *const options = std::get_if<NonlinearSolverOptions>(&methods))
      nonlinear = std::make_unique<NonlinearSolver>(executor, *options, communicator);
    else if (const auto *const options = std::get_if<ContinuationOptions>(&methods))
      continuation = std::make_unique<Continuation>(executor, *options, communicator);
    else {
      const auto &linear_options = std::get<GroupSolverOptions>(methods);
      linear = std::make_unique<LinearSolver>(executor, linear_options, communicator);
      falls_back = linear_options.falls_back && !communicator &&
                   !solvers.traits(linear_options.solver).is_direct;
      falls_back_if_indefinite = linear_options.falls_back_if_indefinite;
    }
  }

  void begin_pattern(const GroupSystem &system)
  {
    const HostCsr A = system.block().A;
    if (linear)
      linear->begin_pattern(A);
    if (nonlinear)
      nonlinear->begin_pattern(A);
    if (continuation)
      continuation->begin_pattern(A);
  }

  SolveReport solve(const GroupSystem &system, const bool same_pattern, const bool same_matrix,
                    const SolveControl &control)
  {
    const auto [A, b, w, x] = system.block();
    linear->control() = control;
    if (!same_pattern || !same_matrix)
      linear->set_matrix(A, same_pattern);
    SolveReport report = linear->solve(b, x);
    fall_back(system, control, report);
    return report;
  }

  /// Solves by the direct solver if the solve that @p report describes has not converged and the
  /// options allow it.
  /// @return whether the direct solver succeeded; its report then replaces @p report
  bool fall_back(const GroupSystem &system, const SolveControl &control, SolveReport &report) const
  {
    const GroupSystem::Block block = system.block();
    const bool is_indefinite = report.outcome == Outcome::indefinite_matrix ||
                               report.outcome == Outcome::indefinite_preconditioner;
    return falls_back && !report.converged() && permits_fallback(block.A.n) &&
           (falls_back_if_indefinite || !is_indefinite) &&
           solve_by_fallback(block, control, report);
  }

  SolveReport solve_nonlinear(const GroupSystem &system, const bool same_pattern,
                              const Nonlinearity &phi, const SolveControl &control)
  {
    const auto [A, b, w, x] = system.block();
    nonlinear->control() = control;
    nonlinear->set_system(A, w, same_pattern);
    return nonlinear->solve(phi, b, x);
  }

  ContinuationReport trace(const GroupSystem &system, const ReactionTerm &reaction,
                           const Continuation::Callback &callback,
                           const Continuation::StateCallback &on_state,
                           const BranchState *const from)
  {
    const auto [A, b, w, guess] = system.block();
    std::vector<double> x(guess, guess + A.n);
    continuation->set_system(A, w);
    return continuation->trace(reaction, b, x.data(), callback, on_state, from, tangent.data());
  }

  void keep_tangent(const GroupSystem &system)
  {
    const GroupSystem::Block block = system.block();
    tangent.assign(block.x, block.x + block.A.n);
  }

  void release()
  {
    if (linear)
      linear->release();
    if (nonlinear)
      nonlinear->release();
  }

  ExecutorPtr executor;

private:
  bool solve_by_fallback(const GroupSystem::Block &system, SolveControl control,
                         SolveReport &report) const
  {
    control.reference = SolveControl::Reference::rhs;
    if (!control.energy_tolerance.is_set()) {
      // Converts the target of the iterative solver to the norm of the unscaled system.
      control.relative_tolerance = 0.;
      control.absolute_tolerance = report.rhs_norm > 0.
                                       ? report.target * report.original.rhs / report.rhs_norm
                                       : report.target;
    }
    std::vector<double> x(static_cast<std::size_t>(system.A.n));
    SolveReport replacement = solve_direct(executor, system.A, system.b, x.data(), control);
    if (!replacement.converged()) {
      report.message += " The direct solver failed too: " + replacement.message;
      return false;
    }
    std::copy(x.begin(), x.end(), system.x);
    replacement.method.failed_attempt = report.message;
    replacement.costs += report.costs;
    report = std::move(replacement);
    return true;
  }

  bool falls_back = false, falls_back_if_indefinite = true;
  std::unique_ptr<LinearSolver> linear;
  std::unique_ptr<NonlinearSolver> nonlinear;
  std::unique_ptr<Continuation> continuation;
  std::vector<double> tangent; // from which a branch continues
};

GroupSolver::GroupSolver(const SolverGroups &groups, Resources resources, GroupMethods methods_)
    : groups(groups), methods(std::move(methods_))
{
  bool initialises_device = false;
  run_on_leaders(groups, [&] {
    if (resources.threads == 0)
      resources.threads = groups.n_threads();
    initialises_device = names_existing_device(groups.backend());
    executor = std::async(
        initialises_device ? std::launch::async | std::launch::deferred : std::launch::deferred,
        [backend = groups.backend(), resources] { return make_executor(backend, resources); });
  });
  if (!dealii::Utilities::MPI::logical_or(initialises_device, groups.ranks()))
    locations(); // throws errors before any other work is done
}

/// Waits until the device of this rank's Leader is initialised, and returns the Leader. Throws
/// errors of the initialisation.
GroupSolver::Leader &GroupSolver::initialised_leader()
{
  if (!leader) {
    const ExecutorPtr executor_ = executor.get();
    executor_->make_current();
    leader = std::make_unique<Leader>(groups, executor_, methods);
  }
  return *leader;
}

const std::vector<GroupSolver::Location> &GroupSolver::locations()
{
  if (!all_locations.empty())
    return all_locations;
  std::array<std::string, 3> mine; // node, backend, description
  run_on_leaders(groups, [&] {
    const Executor &executor = *initialised_leader().executor;
    mine = {node_name(), executor.name(), executor.description()};
  });
  const auto all = dealii::Utilities::MPI::all_gather(groups.ranks(), mine);
  const std::vector<int> &first = groups.first_ranks();
  for (std::size_t group = 0; group + 1 < first.size(); ++group) {
    const auto &[node, backend, description] = all[static_cast<std::size_t>(first[group])];
    all_locations.push_back({first[group], first[group + 1] - 1, node, backend, description});
  }
  for (const Location &location : all_locations)
    if ((location.backend == "host") != (all_locations.front().backend == "host"))
      throw ParameterError("A solver group on " + all_locations.front().node + " has the backend " +
                               all_locations.front().backend + ", but one on " + location.node +
                               " has the backend " + location.backend +
                               ". Set the backend of all groups to cuda, or of all to host.",
                           "backend");
  return all_locations;
}

GroupSolver::~GroupSolver() = default;

void GroupSolver::begin_pattern(const GroupSystem &system)
{
  if (system.pattern_number() == transferred_pattern)
    return;
  trim_heap(); // memory that was used to make the pattern
  transferred_pattern = 0;
  run_on_leaders(groups, [&] { initialised_leader().begin_pattern(system); });
}

SolveReport GroupSolver::solve_on_leader(GroupSystem &system,
                                         const std::function<SolveReport(bool same_pattern)> &solve)
{
  system.synchronize();
  SolveReport report;
  const bool same_pattern = std::exchange(transferred_pattern, 0) == system.pattern_number();
  if (!same_pattern)
    trim_heap(); // memory that was used by the assembly
  run_on_leaders(groups, [&] { report = solve(same_pattern); });
  transferred_pattern = system.pattern_number();
  system.synchronize();
  std::vector<double> history = std::move(report.history);
  report = dealii::Utilities::MPI::broadcast(groups.ranks(), report, 0);
  report.history = std::move(history);
  return report;
}

SolveReport GroupSolver::solve(GroupSystem &system, const SolveControl &control,
                               const bool same_matrix)
{
  return solve_on_leader(system, [&](const bool same_pattern) {
    return initialised_leader().solve(system, same_pattern, same_matrix, control);
  });
}

double GroupSolver::correct_motions(GroupSystem &system, const double max_energy_error)
{
  if (groups.n_groups() > 1)
    return 0.;
  double norm = 0.;
  run_on_leaders(groups, [&] {
    const auto [A, b, w, x] = system.block();
    const ComponentDeflation deflation(A, b, x);
    norm = deflation.energy_error();
    if (norm > max_energy_error)
      deflation.correct(x);
  });
  system.synchronize();
  return dealii::Utilities::MPI::broadcast(groups.ranks(), norm, 0);
}

bool GroupSolver::fall_back(GroupSystem &system, const SolveControl &control, SolveReport &report)
{
  bool was_replaced = false;
  system.synchronize();
  run_on_leaders(groups,
                 [&] { was_replaced = initialised_leader().fall_back(system, control, report); });
  system.synchronize();
  std::vector<double> history = std::move(report.history);
  report = dealii::Utilities::MPI::broadcast(groups.ranks(), report, 0);
  report.history = std::move(history);
  return dealii::Utilities::MPI::broadcast(groups.ranks(), was_replaced, 0);
}

SolveReport GroupSolver::solve_nonlinear(GroupSystem &system, const Nonlinearity &phi,
                                         const SolveControl &control)
{
  return solve_on_leader(system, [&](const bool same_pattern) {
    return initialised_leader().solve_nonlinear(system, same_pattern, phi, control);
  });
}

ContinuationReport GroupSolver::trace(GroupSystem &system, const ReactionTerm &reaction,
                                      const std::function<void(const BranchRecord &)> &on_point,
                                      const std::function<void(const BranchState &)> &on_state,
                                      const BranchState *const from)
{
  system.synchronize();
  ContinuationReport report;
  BranchRecord record;
  BranchState state;
  bool is_state = false; // the event is a state, not a point
  std::vector<BranchRecord> records;
  if (from != nullptr)
    records = from->records;
  const auto report_event = [&] {
    using dealii::Utilities::MPI::broadcast;
    is_state = broadcast(groups.ranks(), is_state, 0);
    if (is_state)
      state = broadcast(groups.ranks(), state, 0);
    else {
      record = broadcast(groups.ranks(), record, 0);
      records.push_back(record);
    }
    system.synchronize();
    if (!is_state)
      on_point(record);
    else {
      state.records = records;
      on_state(state);
    }
  };
  run_on_leaders(
      groups,
      [&](const std::function<void()> &call_event) {
        const auto call = [&](const std::vector<double> &x) {
          std::copy(x.begin(), x.end(), system.block().x);
          call_event();
        };
        const auto call_on_point = [&](const BranchRecord &r, const std::vector<double> &x) {
          is_state = false;
          record = r;
          call(x);
        };
        const auto call_on_state = [&](const BranchState &s, const std::vector<double> &x_dot) {
          is_state = true;
          state = s;
          call(x_dot);
        };
        report = initialised_leader().trace(
            system, reaction, call_on_point,
            on_state ? call_on_state : Continuation::StateCallback(), from);
      },
      report_event);
  report.records.clear();
  report = dealii::Utilities::MPI::broadcast(groups.ranks(), report, 0);
  report.records = std::move(records);
  return report;
}

void GroupSolver::keep_tangent(GroupSystem &system)
{
  system.synchronize();
  run_on_leaders(groups, [&] { initialised_leader().keep_tangent(system); });
}

void GroupSolver::release()
{
  transferred_pattern = 0;
  run_on_leaders(groups, [&] { initialised_leader().release(); });
}

void GroupSolver::start_anew()
{
  transferred_pattern = 0;
  run_on_leaders(groups, [&] {
    const ExecutorPtr executor_of_leader = initialised_leader().executor;
    leader.reset(); // before the next one needs its memory
    leader = std::make_unique<Leader>(groups, executor_of_leader, methods);
  });
}

std::size_t GroupSolver::peak_device_bytes() const
{
  const bool is_on_device = leader && leader->executor->backend() == BackendKind::cuda;
  return dealii::Utilities::MPI::max(is_on_device ? leader->executor->peak_bytes() : std::size_t(0),
                                     groups.ranks());
}
} // namespace femgpu::linalg
