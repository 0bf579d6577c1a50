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
  double start = 0.;
  double first_step = 0.1;
  double largest_step = 0.5;
  int most_points = 200;
  std::vector<double> stop, upper_stop; ///< none or one
  double largest_u = 8.;
  std::vector<double> targets;
  std::string solver = "minres";
  double relative_tolerance = 1e-9;
  double linear_tolerance = 1e-8;
  unsigned int vtu_every = 5;

  /// What is said of linear systems in section "Solver" holds but for the solver and its tolerance.
  linalg::ContinuationOptions options(const SolverParameters &solver_parameters) const;

  /// Throws ParameterError for steps that do not fit together, and for a solver with a wrong name
  /// or options.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};

/**
 * Collective. Assembles a nonlinear problem and traces its branch of solutions over λ.
 */
template <int dim>
class BranchTracer
{
public:
  /// Is called on all ranks with each point, its solution with constraints and ghost values.
  using OnPoint = std::function<void(const linalg::BranchRecord &, const FeVector &)>;

  BranchTracer(const Problem<dim> &problem, const SolverParameters &solver_parameters,
               const ContinuationParameters &parameters, const linalg::SolverGroups &groups);

  /// @param u the guess at the first λ, and the solution at the last one
  linalg::ContinuationReport trace(const Discretization<dim> &discretization,
                                   linalg::GroupSystem &system, FeVector &u,
                                   std::map<std::string, double> &seconds, const OnPoint &on_point);

  linalg::GroupSolver &group_solver()
  {
    return leader_solver;
  }

private:
  const Problem<dim> &problem;
  linalg::GroupSolver leader_solver;
};
} // namespace femgpu

#endif
