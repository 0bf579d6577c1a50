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
/// The options of a GroupSolver for linear systems.
struct GroupSolverOptions : LinearSolverOptions
{
  GroupSolverOptions(LinearSolverOptions linear, const bool falls_back = false)
      : LinearSolverOptions(std::move(linear)), falls_back(falls_back)
  {}

  /// Whether a direct solver solves systems of up to max_fallback_rows rows if the iterative one
  /// fails.
  bool falls_back;
  /// Whether the direct solver also solves systems whose matrix was found to be indefinite.
  bool falls_back_if_indefinite = true;
};

/// The methods of a GroupSolver: for linear systems, for nonlinear ones, or for continuation.
using GroupMethods = std::variant<GroupSolverOptions, NonlinearSolverOptions, ContinuationOptions>;

/**
 * Solves a GroupSystem. The first rank of each solver group, its leader, solves on its device or
 * with all cores of the group, together with the leaders of the other groups, while the other ranks
 * of its group sleep. An object solves linear systems or nonlinear ones, or traces branches,
 * depending on its methods. If the leaders have already transferred the pattern of a system to
 * their devices, they transfer only its values. All functions are collective, and exceptions of
 * leaders are thrown on every rank.
 */
class GroupSolver
{
public:
  /**
   * Starts to initialise devices in the background. Errors of the initialisation are thrown by the
   * first call of another function of this class.
   * @param resources resources of a leader's executor; 0 threads select all cores that the ranks of
   * a group may use
   * @throws ParameterError for the solver "direct" in several groups
   */
  GroupSolver(const SolverGroups &groups, Resources resources, GroupMethods methods);
  ~GroupSolver();

  /**
   * Starts to transfer the pattern of @p system, if it is new, in a separate thread of the leader,
   * overlapped with the assembly. The next call must be one of the functions below, with the same
   * pattern; errors of the transfer are thrown by that call.
   */
  void begin_pattern(const GroupSystem &system);

  /// Solves A x = b with the x of @p system as initial guess.
  /// @param same_matrix whether A is that of the last call: then only b and x are transferred, and
  /// nothing is set up
  SolveReport solve(GroupSystem &system, const SolveControl &control, bool same_matrix = false);

  /// Solves A x = b + λ W φ(x), W = diag(w), with the x of @p system as initial guess.
  SolveReport solve_nonlinear(GroupSystem &system, const Nonlinearity &phi,
                              const SolveControl &control);

  /**
   * Corrects the error of the solution x of A x = b in the motions of weakly coupled parts (see
   * ComponentDeflation) if the energy norm of this error exceeds @p max_energy_error.
   * @param system must have a symmetric matrix
   * @return the energy norm of that error before the correction; 0 with several groups
   */
  double correct_motions(GroupSystem &system, double max_energy_error);

  /// After a failed solve, which @p report describes, solves A x = b by the direct solver if
  /// GroupSolverOptions allow it. If this succeeds, replaces @p report.
  /// @return whether @p report was replaced
  bool fall_back(GroupSystem &system, const SolveControl &control, SolveReport &report);

  /**
   * Traces the branch of solutions of A x = b + λ W φ(x), with the x of @p system as initial guess.
   * @param on_point is called on all ranks with each point found; x of @p system is the solution
   * there
   * @param on_state is called on all ranks after each step, with the state from which a branch can
   * continue; x of @p system is the tangent ẋ
   * @param from if given, the branch continues from this state and x of @p system, with the tangent
   * of the last keep_tangent()
   */
  ContinuationReport trace(GroupSystem &system, const ReactionTerm &reaction,
                           const std::function<void(const BranchRecord &)> &on_point,
                           const std::function<void(const BranchState &)> &on_state = {},
                           const BranchState *from = nullptr);
  /// Stores x of @p system as the tangent from which trace() continues.
  void keep_tangent(GroupSystem &system);

  /// Frees the matrix on leaders; the next matrix is transferred with its pattern.
  void release();
  /// Collective. Frees all that was made so far but executors, and forgets what earlier solves have
  /// shown about preconditioners. Later solves get the bits of a new object.
  void start_anew();

  /// The location and device of a group.
  struct Location
  {
    int first_rank, last_rank;
    std::string node;                 ///< name of the node
    std::string backend, description; ///< name and description of the leader's executor
  };
  /// Returns the location of each group.
  /// @throws ParameterError if some groups are on GPUs and others are on hosts
  const std::vector<Location> &locations();
  /// Returns the peak device memory in bytes, the maximum over the groups; 0 on the host.
  std::size_t peak_device_bytes() const;

private:
  class Leader;

  Leader &initialised_leader();
  SolveReport solve_on_leader(GroupSystem &system,
                              const std::function<SolveReport(bool same_pattern)> &solve);

  SolverGroups groups;
  GroupMethods methods;
  std::future<ExecutorPtr> executor;   ///< executor of a leader whose device is being initialised
  std::unique_ptr<Leader> leader;      ///< nullptr before initialisation, and if not a leader
  std::size_t transferred_pattern = 0; ///< pattern_number() of the pattern on the leader; 0: none
  std::vector<Location> all_locations;
};
} // namespace femgpu::linalg

#endif
