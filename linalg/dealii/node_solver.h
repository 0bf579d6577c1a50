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
#include <utility>
#include <variant>

namespace femgpu::linalg
{
/// The names of LinearSolverOptions::solver that NodeSolver knows: linalg's and "direct".
std::vector<Choice> node_solver_choices();

/// The methods of a NodeSolver for linear systems.
struct NodeSolverOptions : LinearSolverOptions
{
  NodeSolverOptions(LinearSolverOptions linear, const bool falls_back = false)
      : LinearSolverOptions(std::move(linear)), falls_back(falls_back)
  {}

  /// Systems of up to largest_fallback rows that the solver does not solve are solved by "direct".
  bool falls_back;
};

/// The methods of a NodeSolver: for linear systems, for nonlinear ones, or to trace branches.
using NodeMethods = std::variant<NodeSolverOptions, NonlinearSolverOptions, ContinuationOptions>;

/// Rows. One core takes 2.2 s and 0.7 GB for 38,000 rows of 3D elasticity of degree 2 one cell
/// thick, 4.2 s for 54,000, and 92 s and 2.8 GB for 82,000 rows four cells thick.
constexpr int largest_fallback = 50000;

/// @throws ParameterError naming the valid ones if @p text has an unknown name or option
void check_node_solver(const std::string &text);

/// @throws ParameterError unless the methods of the options bear one another
void check_methods(const NodeSolverOptions &options);
void check_methods(const NonlinearSolverOptions &options);

/**
 * Solves the NodeSystem of a solver group: the first rank of the group, its leader, solves on its
 * device or with all cores of the group, while the others sleep. An object solves linear systems,
 * or nonlinear ones, or traces branches, as its methods say. A pattern that the leader has moved
 * already stays there, and only values move. All functions are collective, and what the leader
 * throws is thrown on every rank.
 */
class NodeSolver
{
public:
  /**
   * @param backend as make_executor() takes it
   * @param threads of the host backend; 0 for all cores that the ranks together may use
   * @throws ParameterError for the solver "direct" on a GPU or with nonlinear systems
   */
  NodeSolver(MPI_Comm communicator, const std::string &backend, unsigned int threads,
             const NodeMethods &methods);
  ~NodeSolver();

  /**
   * The leader begins to move the pattern of @p system, if it is a new one, by a thread of its own,
   * so that this goes on while the ranks assemble. The next call must be one of those below, with
   * the same pattern; it throws what went wrong.
   */
  void begin_pattern(const NodeSystem &system);

  /// Solves A x = b with the x of @p system as initial guess.
  SolveReport solve(NodeSystem &system, const SolveControl &control);

  /// The same for A x = b + λ W φ(x), W = diag(w).
  SolveReport solve_nonlinear(NodeSystem &system, const Nonlinearity &phi,
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

  SolveReport solve_on_leader(NodeSystem &system,
                              const std::function<SolveReport(bool same_pattern)> &solve);

  MPI_Comm comm;
  std::unique_ptr<Leader> leader; ///< on the first rank only
  std::size_t pattern_there = 0;  ///< number of the pattern that the leader has moved
  std::string name, description;
};
} // namespace femgpu::linalg

#endif
