#ifndef femgpu_physics_branch_h
#define femgpu_physics_branch_h

#include "linalg/dealii/group_solver.h"
#include "physics/assembler.h"
#include "physics/parameters.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// Section "Continuation".
class ContinuationParameters : public dealii::ParameterAcceptor
{
public:
  ContinuationParameters();

  bool enabled = false;
  linalg::ContinuationOptions given; ///< but for linear systems, of which it has two things alone
  std::vector<double> stop, upper_stop; ///< none or one
  unsigned int vtu_every = 5;

  /// What is said of linear systems in section "Solver" holds but for the solver and its tolerance.
  linalg::ContinuationOptions options(const SolverParameters &solver_parameters) const;

  /// Throws ParameterError for steps that do not fit together, and for a solver with a wrong name
  /// or options.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};

/// Is called on all ranks with each point, its solution with constraints and ghost values.
using OnBranchPoint = std::function<void(const linalg::BranchRecord &, const FeVector &)>;

/**
 * Collective. Assembles a nonlinear problem and traces its branch of solutions over λ.
 * @param solver by ContinuationParameters::options()
 * @param u the guess at the first λ, and the solution at the last one
 * @param seconds gets the times of the phases
 */
template <int dim>
linalg::ContinuationReport
follow_branch(const Problem<dim> &problem, const Discretization<dim> &discretization,
              linalg::GroupSolver &solver, linalg::GroupSystem &system, FeVector &u,
              std::map<std::string, double> &seconds, const OnBranchPoint &on_point);
} // namespace femgpu

#endif
