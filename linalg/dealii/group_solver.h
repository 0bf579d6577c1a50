#ifndef femgpu_linalg_dealii_group_solver_h
#define femgpu_linalg_dealii_group_solver_h

#include "linalg/base/choice.h"
#include "linalg/continuation.h"
#include "linalg/dealii/group_system.h"
#include "linalg/linear_solver.h"
#include "linalg/nonlinear_solver.h"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace femgpu::linalg
{
/// The methods of a GroupSolver for linear systems.
struct GroupSolverOptions : LinearSolverOptions
{
  GroupSolverOptions(LinearSolverOptions linear, const bool falls_back = false)
      : LinearSolverOptions(std::move(linear)), falls_back(falls_back)
  {}

  /// Systems of up to largest_fallback rows that the solver does not solve are solved by "direct".
  bool falls_back;
  /// Also if the solver has found that the matrix is indefinite.
  bool falls_back_if_indefinite = true;
};

/// The methods of a GroupSolver: for linear systems, for nonlinear ones, or to trace branches.
using GroupMethods = std::variant<GroupSolverOptions, NonlinearSolverOptions, ContinuationOptions>;

/// @throws ParameterError unless the methods of the options bear one another
void check_methods(const GroupSolverOptions &options);
void check_methods(const NonlinearSolverOptions &options);

/**
 * Solves a GroupSystem: the first rank of each solver group, its leader, solves on its device or
 * with all cores of the group, together with the leaders of the others, while its ranks sleep. An
 * object solves linear systems, or nonlinear ones, or traces branches, as its methods say. A
 * pattern that leaders have moved already stays there, and only values move. All functions are
 * collective, and what leaders throw is thrown on every rank.
 */
class GroupSolver
{
public:
  /**
   * Devices get ready beside what comes next: what keeps them from it is thrown by the first other
   * function.
   * @param resources of a leader's executor; 0 threads: all cores that the ranks of a group may use
   * together
   * @throws ParameterError for the solver "direct" on a GPU, in several groups or with nonlinear
   *         systems
   */
  GroupSolver(const SolverGroups &groups, Resources resources, GroupMethods methods);
  ~GroupSolver();

  /**
   * The leader begins to move the pattern of @p system, if it is a new one, by a thread of its own,
   * so that this goes on while the ranks assemble. The next call must be one of those below, with
   * the same pattern; it throws what went wrong.
   */
  void begin_pattern(const GroupSystem &system);

  /// Solves A x = b with the x of @p system as initial guess.
  SolveReport solve(GroupSystem &system, const SolveControl &control);

  /// The same for A x = b + λ W φ(x), W = diag(w).
  SolveReport solve_nonlinear(GroupSystem &system, const Nonlinearity &phi,
                              const SolveControl &control);

  /**
   * Corrects x of A x = b by the motions of weakly held parts (see WeakParts) if their error
   * exceeds
   * @p most in the energy norm.
   * @param system with a symmetric matrix
   * @return the energy norm of that error before the correction; 0 with several groups
   */
  double correct_motions(GroupSystem &system, double most);

  /// Solves A x = b by the direct solver if the methods may fall back to it, see
  /// GroupSolverOptions, and gives its report in place of @p report, whose solver has failed.
  /// @return is @p report another?
  bool fall_back(GroupSystem &system, const SolveControl &control, SolveReport &report);

  /**
   * Traces the branch of solutions of A x = b + λ W φ(x), with the x of @p system as first guess.
   * @param on_point is called on all ranks with each point that was found; x of @p system is there
   */
  ContinuationReport trace(GroupSystem &system, const Law &law,
                           const std::function<void(const BranchRecord &)> &on_point);

  /// Leaders free the matrix; the next one moves with its pattern.
  void release();

  /// Where a group solves.
  struct Place
  {
    int first_rank, last_rank;
    std::string node;                 ///< its name
    std::string backend, description; ///< of the leader's executor
  };
  /// Of each group. @throws ParameterError where some are on GPUs and others on hosts
  const std::vector<Place> &places();
  /// The largest of the groups'; 0 on the host.
  std::size_t peak_device_bytes() const;

private:
  class Leader;

  Leader &ready();
  SolveReport solve_on_leader(GroupSystem &system,
                              const std::function<SolveReport(bool same_pattern)> &solve);

  SolverGroups groups;
  GroupMethods methods;
  std::future<ExecutorPtr> executor; ///< of a leader that is not ready
  std::unique_ptr<Leader> leader;    ///< on leaders only, when it is ready
  std::size_t pattern_there = 0;     ///< number of the pattern that the leader has moved
  std::vector<Place> all_places;
};
} // namespace femgpu::linalg

#endif
