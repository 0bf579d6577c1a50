#include "linalg/dealii/node_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/method.h"
#include "linalg/dealii/direct_solver.h"
#include "linalg/dealii/leader.h"
#include "linalg/solvers/registry.h"

#include <deal.II/base/mpi.h>

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
std::vector<Choice> node_solver_choices()
{
  std::vector<Choice> choices = solvers.choices();
  choices.push_back({"direct", "UMFPACK's LU factors, on one core of the host; for reference and "
                               "small systems"});
  return choices;
}

namespace
{
/// Does the text name the direct solver?
bool is_direct(const std::string &solver)
{
  const Method method("solver", solver);
  if (method.name() != "direct")
    return false;
  method.finish(); // it has no options
  return true;
}
} // namespace

void check_node_solver(const std::string &text)
{
  if (is_direct(text))
    return;
  const std::string name = Method("solver", text).name();
  if (std::none_of(solvers.begin(), solvers.end(),
                   [&](const auto &entry) { return entry.name == name; }))
    throw ParameterError("There is no solver '" + name + "'; use " +
                         names_of(node_solver_choices()) + ".");
  make_solver(text, BackendKind::host);
}

void check_methods(const NodeSolverOptions &options)
{
  if (!is_direct(options.solver))
    check(options);
  else if (options.control.energy_tolerance.is_given())
    throw ParameterError("Solver 'direct' has no iterations that could stop by the energy error. "
                         "Use " +
                             solvers.names_with(&SolverTraits::knows_energy_error) +
                             ", or stop at the residual.",
                         "Solver/Stop at");
}

void check_methods(const NonlinearSolverOptions &options)
{
  if (is_direct(options.linear.solver))
    throw ParameterError("Solver 'direct' solves linear problems only. For the linear systems of "
                         "a nonlinear problem use " +
                             names_of(solvers.choices()) + ".",
                         "Solver/Solver");
  check(options);
}

/// What only the leader has.
class NodeSolver::Leader
{
public:
  Leader(const std::string &backend, const unsigned int threads, const NodeMethods &methods)
  {
    const auto *const linear = std::get_if<NodeSolverOptions>(&methods);
    const bool on_host = linear != nullptr && is_direct(linear->solver);
    if (on_host && backend.rfind("cuda", 0) == 0)
      throw ParameterError("Solver 'direct' runs on the host, but backend '" + backend +
                               "' was asked for. Use backend auto or host, or another solver.",
                           "Solver/Backend");
    executor = make_executor(on_host ? "host" : backend, threads);
    if (const auto *const options = std::get_if<NonlinearSolverOptions>(&methods)) {
      check_methods(*options);
      nonlinear = std::make_unique<NonlinearSolver>(executor, *options);
    }
    else if (linear == nullptr)
      continuation =
          std::make_unique<Continuation>(executor, std::get<ContinuationOptions>(methods));
    else if (!on_host) {
      iterative = std::make_unique<LinearSolver>(executor, *linear);
      falls_back = linear->falls_back;
    }
  }

  void begin_pattern(const NodeSystem &system)
  {
    if (iterative)
      iterative->begin_pattern(system.matrix());
    if (nonlinear)
      nonlinear->begin_pattern(system.matrix());
    if (continuation)
      continuation->begin_pattern(system.matrix());
  }

  SolveReport solve(const NodeSystem &system, const bool same_pattern, const SolveControl &control)
  {
    if (!iterative)
      return solve_direct(system.matrix(), system.rhs(), system.solution(), control);
    iterative->control() = control;
    iterative->set_matrix(system.matrix(), same_pattern);
    SolveReport report = iterative->solve(system.rhs(), system.solution());
    if (falls_back && !report.converged() && system.n() <= largest_fallback)
      fall_back(system, control, report);
    return report;
  }

  SolveReport solve_nonlinear(const NodeSystem &system, const bool same_pattern,
                              const Nonlinearity &phi, const SolveControl &control)
  {
    nonlinear->control() = control;
    nonlinear->set_system(system.matrix(), system.weights(), same_pattern);
    return nonlinear->solve(phi, system.rhs(), system.solution());
  }

  ContinuationReport trace(const NodeSystem &system, const Law &law,
                           const Continuation::Callback &callback)
  {
    std::vector<double> x(system.solution(), system.solution() + system.n());
    continuation->set_system(system.matrix(), system.weights());
    return continuation->trace(law, system.rhs(), x.data(), callback);
  }

  ExecutorPtr executor;

private:
  /// The direct solver's solution and report, if it has one that @p report has not.
  static void fall_back(const NodeSystem &system, SolveControl control, SolveReport &report)
  {
    control.reference = SolveControl::Reference::rhs;
    if (!control.energy_tolerance.is_given()) {
      control.relative_tolerance = 0.; // the target in the norm of the system before scaling
      control.absolute_tolerance =
          report.rhs_norm > 0. ? report.target * report.given.rhs / report.rhs_norm : report.target;
    }
    std::vector<double> x(static_cast<std::size_t>(system.n()));
    SolveReport direct = solve_direct(system.matrix(), system.rhs(), x.data(), control);
    if (!direct.converged()) {
      report.message += " The direct solver has failed too: " + direct.message;
      return;
    }
    std::copy(x.begin(), x.end(), system.solution());
    direct.method.failed_attempt = report.message;
    direct.costs += report.costs;
    report = std::move(direct);
  }

  bool falls_back = false;
  std::unique_ptr<LinearSolver> iterative;
  std::unique_ptr<NonlinearSolver> nonlinear;
  std::unique_ptr<Continuation> continuation;
};

NodeSolver::NodeSolver(MPI_Comm communicator, const std::string &backend,
                       const unsigned int threads, const NodeMethods &methods)
    : comm(communicator)
{
  require_one_node(comm);
  const unsigned int cores = share_cores(comm);
  on_leader(comm, [&] {
    leader = std::make_unique<Leader>(backend, threads > 0 ? threads : cores, methods);
    name = leader->executor->name();
    description = leader->executor->description();
  });
  name = dealii::Utilities::MPI::broadcast(comm, name, 0);
  description = dealii::Utilities::MPI::broadcast(comm, description, 0);
}

NodeSolver::~NodeSolver() = default;

void NodeSolver::begin_pattern(const NodeSystem &system)
{
  if (system.pattern_number() == pattern_there)
    return;
  pattern_there = 0;
  on_leader(comm, [&] { leader->begin_pattern(system); });
}

SolveReport NodeSolver::solve_on_leader(NodeSystem &system,
                                        const std::function<SolveReport(bool same_pattern)> &solve)
{
  system.synchronize();
  SolveReport report;
  const bool same_pattern = std::exchange(pattern_there, 0) == system.pattern_number();
  on_leader(comm, [&] { report = solve(same_pattern); });
  pattern_there = system.pattern_number();
  system.synchronize();
  std::vector<double> history = std::move(report.history);
  report = dealii::Utilities::MPI::broadcast(comm, report, 0);
  report.history = std::move(history);
  return report;
}

SolveReport NodeSolver::solve(NodeSystem &system, const SolveControl &control)
{
  return solve_on_leader(system, [&](const bool same_pattern) {
    return leader->solve(system, same_pattern, control);
  });
}

SolveReport NodeSolver::solve_nonlinear(NodeSystem &system, const Nonlinearity &phi,
                                        const SolveControl &control)
{
  return solve_on_leader(system, [&](const bool same_pattern) {
    return leader->solve_nonlinear(system, same_pattern, phi, control);
  });
}

ContinuationReport NodeSolver::trace(NodeSystem &system, const Law &law,
                                     const std::function<void(const BranchRecord &)> &on_point)
{
  system.synchronize();
  ContinuationReport report;
  BranchRecord record;
  std::vector<BranchRecord> records;
  const auto show = [&] {
    record = dealii::Utilities::MPI::broadcast(comm, record, 0);
    records.push_back(record);
    system.synchronize();
    on_point(record);
  };
  on_leader(
      comm,
      [&](const std::function<void()> &call_event) {
        report = leader->trace(system, law, [&](const BranchRecord &r, const auto &x) {
          record = r;
          std::copy(x.begin(), x.end(), system.solution());
          call_event();
        });
      },
      show);
  report.records.clear();
  report = dealii::Utilities::MPI::broadcast(comm, report, 0);
  report.records = std::move(records);
  return report;
}

std::string NodeSolver::backend_name() const
{
  return name;
}

std::string NodeSolver::backend_description() const
{
  return description;
}

std::size_t NodeSolver::peak_device_bytes() const
{
  const bool on_device = leader && leader->executor->backend() == BackendKind::cuda;
  return dealii::Utilities::MPI::broadcast(
      comm, on_device ? leader->executor->peak_bytes() : std::size_t(0), 0);
}
} // namespace femgpu::linalg
