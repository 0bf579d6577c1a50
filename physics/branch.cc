#include "physics/branch.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/solvers/registry.h"
#include "physics/solve.h"

namespace femgpu
{
using namespace dealii;

ContinuationParameters::ContinuationParameters() : ParameterAcceptor("/Continuation")
{
  given.most_points = 200;
  given.largest_u = 8.;
  const Patterns::List optional(Patterns::Double(), 0, 1);
  add_parameter("Enabled", enabled,
                "Follow the branch of solutions over lambda, through its fold, by pseudo-arclength "
                "continuation, instead of solving for one lambda; for Physics = bratu.");
  add_parameter("Start lambda", given.lambda_start, "Where the branch begins.", prm,
                Patterns::Double(0.));
  add_parameter("First step", given.first_step,
                "In arclength, which counts lambda and the root mean square of u alike.", prm,
                Patterns::Double(1e-6));
  add_parameter("Largest step", given.largest_step,
                "Steps grow up to this where they succeed; two folds within one are not seen.", prm,
                Patterns::Double(1e-6));
  add_parameter("Maximum points", given.most_points, "Steps, at most.", prm,
                Patterns::Integer(1, 1000000));
  add_parameter("Stop at lambda", stop,
                "The branch ends when it comes to this lambda before the fold; may be empty.", prm,
                optional);
  add_parameter("Stop at lambda after the fold", upper_stop,
                "The branch ends when it comes back to this lambda; may be empty.", prm, optional);
  add_parameter("Maximum of u", given.largest_u, "The branch ends when max |u| is larger.", prm,
                Patterns::Double(1e-6));
  add_parameter("Targets", given.targets,
                "Values of lambda, separated by ',', for which the solutions on all parts of the "
                "branch are wanted.",
                prm, Patterns::List(Patterns::Double()));
  add_parameter("Solver", given.linear.solver,
                "Of the linear systems, which are indefinite after a fold: minres, or bicgstab for "
                "preconditioners that are not symmetric; options behind the name as NAME=VALUE. "
                "Preconditioner, format and ordering are those of section Solver.");
  add_parameter("Relative tolerance", given.control.relative_tolerance,
                "A point is found when its residual has fallen to this times |b| + lambda |W "
                "phi(u)|.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Linear tolerance", given.linear.control.relative_tolerance,
                "The same for each linear system.", prm, Patterns::Double(0., 1.));
  add_parameter("Write VTU every", vtu_every,
                "Files for ParaView are written for every so many points, for folds and for "
                "targets; 0: for none.",
                prm, Patterns::Integer(0, 1000000));
}

void ContinuationParameters::parse_parameters(ParameterHandler & /* prm */)
{
  if (given.largest_step < given.first_step)
    throw ParameterError("Continuation/Largest step is " + std::to_string(given.largest_step) +
                             ", less than Continuation/First step, " +
                             std::to_string(given.first_step) + ". Make it larger.",
                         "Continuation/Largest step");
  check_parameter("Continuation/Solver",
                  [&] { linalg::make_solver(given.linear.solver, linalg::BackendKind::host); });
}

linalg::ContinuationOptions
ContinuationParameters::options(const SolverParameters &solver_parameters) const
{
  linalg::ContinuationOptions options = given;
  options.linear = solver_parameters.options();
  options.linear.solver = given.linear.solver;
  options.linear.control.relative_tolerance = given.linear.control.relative_tolerance;
  options.linear.control.absolute_tolerance = 0.;
  if (!stop.empty())
    options.lambda_end = stop.front();
  if (!upper_stop.empty())
    options.lambda_end_upper = upper_stop.front();
  return options;
}

template <int dim>
linalg::ContinuationReport
follow_branch(const Problem<dim> &problem, const Discretization<dim> &discretization,
              linalg::GroupSolver &solver, linalg::GroupSystem &system, FeVector &u,
              std::map<std::string, double> &seconds, const OnBranchPoint &on_point)
{
  Stopwatch watch;
  const auto &constraints = discretization.constraints();
  problem.check_data(discretization);
  solver.begin_pattern(system);
  assemble(problem, discretization, nullptr, system);
  set_initial_guess(u, constraints, system);
  seconds["assembly"] += watch.lap();
  auto report =
      solver.trace(system, problem.nonlinearity()->law, [&](const linalg::BranchRecord &r) {
        get_solution(system, constraints, u);
        on_point(r, u);
      });
  add_seconds(report.costs, seconds);
  return report;
}

template linalg::ContinuationReport follow_branch(const Problem<2> &, const Discretization<2> &,
                                                  linalg::GroupSolver &, linalg::GroupSystem &,
                                                  FeVector &, std::map<std::string, double> &,
                                                  const OnBranchPoint &);
template linalg::ContinuationReport follow_branch(const Problem<3> &, const Discretization<3> &,
                                                  linalg::GroupSolver &, linalg::GroupSystem &,
                                                  FeVector &, std::map<std::string, double> &,
                                                  const OnBranchPoint &);
} // namespace femgpu
