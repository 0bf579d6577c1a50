#include "linalg/dealii/node_solver.h"

#include "linalg/base/error.h"
#include "linalg/dealii/direct_solver.h"
#include "linalg/solvers/registry.h"

#include <deal.II/base/mpi.h>

#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>

#include <sched.h>

#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Runs @p work on the leader while the other ranks sleep; its error becomes everybody's.
void on_leader(MPI_Comm comm, const std::function<void()> &work)
{
  std::pair<int, std::string> error(0, "");
  if (dealii::Utilities::MPI::this_mpi_process(comm) == 0) {
    try {
      work();
    }
    catch (const Error &e) {
      error = {static_cast<int>(e.code()), e.what()};
    }
    catch (const std::bad_alloc &) {
      error = {static_cast<int>(ExitCode::device),
               "The host has not enough memory for the solver. Refine less."};
    }
    catch (const std::exception &e) {
      error = {static_cast<int>(ExitCode::not_converged), e.what()};
    }
  }
  barrier_asleep(comm);
  error = dealii::Utilities::MPI::broadcast(comm, error, 0);
  if (error.first != 0)
    throw Error(static_cast<ExitCode>(error.first), error.second);
}

/// Lets this process run on every core that a rank of @p comm may use; returns their number.
unsigned int share_cores(MPI_Comm comm)
{
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof(mine), &mine);
  MPI_Allreduce(&mine, &all, sizeof(cpu_set_t), MPI_BYTE, MPI_BOR, comm);
  if (dealii::Utilities::MPI::this_mpi_process(comm) == 0)
    sched_setaffinity(0, sizeof(all), &all);
  return static_cast<unsigned int>(CPU_COUNT(&all));
}
} // namespace

std::vector<Choice> node_solver_choices()
{
  std::vector<Choice> choices = solver_choices();
  choices.push_back({"direct", "UMFPACK's LU factors, on one core of the host; for reference and "
                               "small systems"});
  return choices;
}

/// What only the leader has.
class NodeSolver::Leader
{
public:
  Leader(const std::string &backend, const unsigned int threads, const LinearSolverOptions &options)
      : executor(make_executor(options.solver == "direct" ? "host" : backend, threads))
  {
    if (options.solver == "direct" && backend.rfind("cuda", 0) == 0)
      throw ParameterError("Solver 'direct' runs on the host, but backend '" + backend +
                               "' was asked for. Use backend auto or host, or another solver.",
                           "Solver/Backend");
    if (options.solver != "direct")
      iterative = std::make_unique<LinearSolver>(executor, options);
  }

  Leader(const std::string &backend, const unsigned int threads,
         const NonlinearSolverOptions &options)
      : executor(make_executor(backend, threads))
  {
    if (options.linear.solver == "direct")
      throw ParameterError("Solver 'direct' solves linear problems only. For the linear systems of "
                           "a nonlinear problem use " +
                               names_of(solver_choices()) + ".",
                           "Solver/Solver");
    nonlinear = std::make_unique<NonlinearSolver>(executor, options);
  }

  SolveReport solve(const NodeSystem &system, const bool same_pattern, const SolveControl &control)
  {
    if (!iterative)
      return solve_direct(system.matrix(), system.rhs(), system.solution(), control);
    iterative->control() = control;
    iterative->set_matrix(system.matrix(), same_pattern);
    return iterative->solve(system.rhs(), system.solution());
  }

  SolveReport solve_nonlinear(const NodeSystem &system, const bool same_pattern,
                              const Nonlinearity &phi, const SolveControl &control)
  {
    nonlinear->control() = control;
    nonlinear->set_system(system.matrix(), system.weights(), same_pattern);
    return nonlinear->solve(phi, system.rhs(), system.solution());
  }

  ExecutorPtr executor;

private:
  std::unique_ptr<LinearSolver> iterative;
  std::unique_ptr<NonlinearSolver> nonlinear;
};

template <class Options>
void NodeSolver::make_leader(const std::string &backend, const unsigned int threads,
                             const Options &options)
{
  require_one_node(comm);
  const unsigned int cores = share_cores(comm);
  on_leader(comm, [&] {
    leader = std::make_unique<Leader>(backend, threads > 0 ? threads : cores, options);
    name = leader->executor->name();
    description = leader->executor->description();
  });
  name = dealii::Utilities::MPI::broadcast(comm, name, 0);
  description = dealii::Utilities::MPI::broadcast(comm, description, 0);
}

NodeSolver::NodeSolver(MPI_Comm communicator, const std::string &backend,
                       const unsigned int threads, const LinearSolverOptions &options)
    : comm(communicator)
{
  make_leader(backend, threads, options);
}

NodeSolver::NodeSolver(MPI_Comm communicator, const std::string &backend,
                       const unsigned int threads, const NonlinearSolverOptions &options)
    : comm(communicator)
{
  make_leader(backend, threads, options);
}

NodeSolver::~NodeSolver() = default;

SolveReport NodeSolver::solve_on_leader(NodeSystem &system,
                                        const std::function<SolveReport()> &solve)
{
  system.synchronize();
  SolveReport report;
  on_leader(comm, [&] { report = solve(); });
  system.synchronize();
  std::vector<double> history = std::move(report.history);
  report = dealii::Utilities::MPI::broadcast(comm, report, 0);
  report.history = std::move(history);
  return report;
}

SolveReport NodeSolver::solve(NodeSystem &system, const bool same_pattern,
                              const SolveControl &control)
{
  return solve_on_leader(system, [&] { return leader->solve(system, same_pattern, control); });
}

SolveReport NodeSolver::solve_nonlinear(NodeSystem &system, const bool same_pattern,
                                        const Nonlinearity &phi, const SolveControl &control)
{
  return solve_on_leader(
      system, [&] { return leader->solve_nonlinear(system, same_pattern, phi, control); });
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
