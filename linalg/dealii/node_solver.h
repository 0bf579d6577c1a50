#ifndef femgpu_linalg_dealii_node_solver_h
#define femgpu_linalg_dealii_node_solver_h

#include "linalg/base/choice.h"
#include "linalg/continuation.h"
#include "linalg/dealii/node_system.h"
#include "linalg/linear_solver.h"
#include "linalg/nonlinear_solver.h"

#include <functional>
#include <memory>
#include <string>

namespace femgpu::linalg
{
/// The names of LinearSolverOptions::solver that NodeSolver knows: linalg's and "direct".
std::vector<Choice> node_solver_choices();

/**
 * Solves the NodeSystem of a solver group: the first rank of the group, its leader, solves on its
 * device or with all cores of the group, while the others sleep. An object solves linear systems,
 * or nonlinear ones, or traces branches: its options say which. All functions are collective, and
 * what the leader throws is thrown on every rank.
 */
class NodeSolver
{
public:
  /**
   * @param backend as make_executor() takes it
   * @param threads of the host backend; 0 for all cores that the ranks together may use
   */
  NodeSolver(MPI_Comm communicator, const std::string &backend, unsigned int threads,
             const LinearSolverOptions &options);
  /// For nonlinear systems. @throws ParameterError for the solver "direct", which they cannot use
  NodeSolver(MPI_Comm communicator, const std::string &backend, unsigned int threads,
             const NonlinearSolverOptions &options);
  NodeSolver(MPI_Comm communicator, const std::string &backend, unsigned int threads,
             const ContinuationOptions &options);
  ~NodeSolver();

  /**
   * Solves A x = b with the x of @p system as initial guess.
   * @param same_pattern only the values of A changed
   */
  SolveReport solve(NodeSystem &system, bool same_pattern, const SolveControl &control);

  /// The same for A x = b + λ W φ(x), W = diag(w).
  SolveReport solve_nonlinear(NodeSystem &system, bool same_pattern, const Nonlinearity &phi,
                              const SolveControl &control);

  /**
   * Traces the branch of solutions of A x = b + λ W φ(x), with the x of @p system as first guess.
   * @param on_point is called on all ranks with each point that was found; x of @p system is there
   */
  ContinuationReport trace(NodeSystem &system, const Law &law,
                           const std::function<void(const BranchRecord &)> &on_point);

  /// Of the leader's executor.
  std::string backend_name() const;
  std::string backend_description() const;
  std::size_t peak_device_bytes() const; ///< 0 on the host

private:
  class Leader;

  template <class Options>
  void make_leader(const std::string &backend, unsigned int threads, const Options &options);
  SolveReport solve_on_leader(NodeSystem &system, const std::function<SolveReport()> &solve);

  MPI_Comm comm;
  std::unique_ptr<Leader> leader; ///< on the first rank only
  std::string name, description;
};
} // namespace femgpu::linalg

#endif
