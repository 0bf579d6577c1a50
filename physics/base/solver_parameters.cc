#include "physics/base/solver_parameters.h"

#include "linalg/base/choice.h"
#include "linalg/base/error.h"
#include "linalg/dealii/group_solver.h"
#include "linalg/direct_solver.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/communicators.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/transformations/registry.h"

namespace femgpu
{
using namespace dealii;

namespace
{
/// Calls @p check and rethrows its ParameterError for the parameter @p path.
template <class Check>
void check_parameter(const std::string &path, const Check &check)
{
  try {
    check();
  }
  catch (const ParameterError &error) {
    throw ParameterError(error.what(), path);
  }
}
} // namespace

SolverParameters::SolverParameters() : ParameterAcceptor("/Solver")
{
  add_parameter(
      "Backend", backend,
      "auto: GPUs if there are some, else the host; the host also for up to 10,000 dofs in "
      "the last cycle, which it has solved before a GPU is ready, unless other "
      "parameters speak of GPUs; host; cuda; cuda:K for GPU K alone. Devices says which "
      "of several.");
  add_parameter(
      "Devices", devices,
      "Which GPUs solve together, each with a part of the unknowns and the ranks beside "
      "it. auto: all of a node that Backend = auto or cuda finds, but no more than it has "
      "ranks; N: the first N of each node, or, on the host, N parts of its cores; "
      "cuda:0,2: these.");
  add_parameter("Communicator", communicator,
                "Of several GPUs, or parts of the cores: how they tell each other sums and the "
                "values along their borders. " +
                    meanings_of(linalg::communicator_choices()),
                prm, Patterns::Selection(selection_of(linalg::communicator_choices())));
  add_parameter("Threads", threads,
                "Threads of the host backend; 0 for all cores that the ranks may use.", prm,
                Patterns::Integer(0, 4096));
  add_parameter("Device memory", device_memory,
                "What the solver may take of each device, as 2GB or 1.5GiB, or all. A matrix that "
                "needs more than half of what is granted is read from the memory of the host.");
  add_parameter("Solver", solver,
                "A name, and options behind it as NAME=VALUE. " +
                    meanings_of(linalg::solver_choices()));
  add_parameter("Preconditioner", preconditioner,
                "A name, and options behind it as NAME=VALUE. " +
                    meanings_of(linalg::preconditioner_choices()));
  add_parameter("Format", format,
                "How the matrix is stored: a name, and options behind it as NAME=VALUE. " +
                    meanings_of(linalg::formats.choices()) + " All take " +
                    linalg::FormatScalars::option() +
                    ": with float the values are rounded, the solution is refined to double.");
  add_parameter("Scaling", scaling, meanings_of(linalg::scalings.choices()), prm,
                Patterns::Selection(selection_of(linalg::scalings.choices())));
  add_parameter("Ordering", ordering,
                "Of the unknowns: a name, and options behind it as NAME=VALUE. " +
                    meanings_of(linalg::orderings.choices()));
  declare_ends();
  add_parameter(
      "Fallback", fallback,
      "What solves a linear problem of up to " + std::to_string(linalg::largest_fallback) +
          " unknowns that the solver does not solve. direct: UMFPACK's LU factors, with a "
          "warning; none: nothing, the last iterate is written.",
      prm, Patterns::Selection("direct|none"));
  add_parameter("Execution", execution,
                "How a GPU runs the loop of a linear solver. graph: one graph, a kernel a step; "
                "resident: one kernel that keeps vectors and matrix on the chip (" +
                    linalg::solvers.names_with(&linalg::SolverTraits::can_be_resident) +
                    " with preconditioner " +
                    linalg::preconditioners.names_with(&linalg::PreconditionerTraits::is_fused) +
                    ", small systems); auto: resident where it is faster.",
                prm, Patterns::Selection("auto|graph|resident"));
}

/// Declares the stopping criteria of linear solves.
void SolverParameters::declare_ends()
{
  add_parameter("Relative tolerance", relative_tolerance,
                "A linear solve ends when the true residual |b - A x| has fallen to this times the "
                "norm that 'Relative to' names. For nonlinear problems the tolerances of the "
                "section Nonlinear hold.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance, "... or to this, whichever is larger.",
                prm, Patterns::Double(0.));
  add_parameter("Relative to", relative_to, "rhs: |b|; initial: |b - A x0|.", prm,
                Patterns::Selection("rhs|initial"));
  add_parameter(
      "Stop at", stop_at,
      "What ends a solve. auto: the tolerances above (of the section Nonlinear for nonlinear "
      "problems); then, where it misses them by more than a factor of ten, the solve goes on until "
      "the residual is at most Relative tolerance times the internal forces, both in the norm of "
      "the inverse diagonal, and, with " +
          linalg::solvers.names_with(&linalg::SolverTraits::knows_energy_error) +
          " and linear problems, the estimated energy norm of the error, (e, A e)^(1/2), at most "
          "Relative tolerance times the energy norm of the solution with its boundary values. "
          "residual: the tolerances alone, which a large contrast, penalty or offset makes "
          "meaningless. energy error: the energy norm of the error at Energy tolerance. "
          "discretisation error: the same at a tenth of the discretisation error, which the "
          "energies of two or more cycles before tell; in the first cycles, and where they do not "
          "tell it, as auto.",
      prm, Patterns::Selection("auto|residual|energy error|discretisation error"));
  add_parameter("Energy tolerance", energy_tolerance,
                "Of Stop at = energy error, relative to the energy norm of the solution with its "
                "boundary values.",
                prm, Patterns::Double(1e-16, 1.));
  add_parameter("Maximum iterations", max_iterations, "Of one linear solve.", prm,
                Patterns::Integer(1, 100000000));
}

void SolverParameters::parse_parameters(ParameterHandler & /* prm */)
{
  if (backend.empty() || backend.find(' ') != std::string::npos)
    throw ParameterError("The backend is '" + backend + "'; use auto, host, cuda or cuda:K.",
                         "Solver/Backend");
  linalg::check_devices(devices);
  check_parameter("Solver/Device memory", [&] { bytes_of(device_memory); });
  check_parameter("Solver/Solver", [&] { linalg::check_solver(solver); });
  check_parameter("Solver/Preconditioner",
                  [&] { linalg::make_preconditioner(preconditioner, linalg::BackendKind::host); });
  check_parameter("Solver/Format", [&] { linalg::check_format(format); });
  check_parameter("Solver/Ordering", [&] { linalg::orderings.make(ordering); });
}

WantedOfUnknowns SolverParameters::wanted(const unsigned int n_components) const
{
  const std::string words = Method("preconditioner", preconditioner).text() + " ";
  const auto has = [&](const char *const word) { return words.find(word) != std::string::npos; };
  const auto &traits = linalg::preconditioners.traits(preconditioner);
  const bool orders_by_place = Method("ordering", ordering).name() == "geometry";
  return {orders_by_place || has(" partition=geometry ") ||
              (n_components > 1 && traits.takes_coordinates),
          traits.takes_coarser && !has(" coarsening=aggregation ")};
}

linalg::SolveControl SolverParameters::control() const
{
  linalg::SolveControl control;
  control.relative_tolerance = relative_tolerance;
  control.absolute_tolerance = absolute_tolerance;
  control.reference = relative_to == "rhs" ? linalg::SolveControl::Reference::rhs
                                           : linalg::SolveControl::Reference::initial_residual;
  if (stop_at == "energy error")
    control.energy_tolerance.relative = energy_tolerance;
  control.max_iterations = max_iterations;
  control.execution = linalg::execution_of(execution);
  return control;
}

linalg::GroupSolverOptions SolverParameters::options() const
{
  return {linalg::LinearSolverOptions{solver, preconditioner, format, scaling, ordering, control()},
          fallback == "direct"};
}

bool SolverParameters::asks_for_gpus() const
{
  const auto names_cusparse = [](const std::string &text) {
    return text.find("cusparse") != std::string::npos;
  };
  return devices != "auto" || communicator != "auto" || device_memory != "all" ||
         execution != "auto" || names_cusparse(format) || names_cusparse(preconditioner);
}

std::string SolverParameters::groups_backend(const double n) const
{
  constexpr double few = 10000; // one core solves this before a GPU has started, which takes 0.3 s
  const bool is_for_host = linalg::is_direct(solver) || (n <= few && !asks_for_gpus());
  return backend == "auto" && is_for_host ? "host" : backend;
}

NonlinearParameters::NonlinearParameters() : ParameterAcceptor("/Nonlinear")
{
  add_parameter("Method", method,
                "How a nonlinear problem A u = b + lambda W phi(u) is solved: a name, and options "
                "behind it as NAME=VALUE. " +
                    meanings_of(linalg::nonlinear_methods.choices()));
  add_parameter("Relative tolerance", relative_tolerance,
                "A nonlinear solve ends when the true residual |b + lambda W phi(u) - A u| has "
                "fallen to this times its value at u = 0 (with the boundary values).",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance, "... or to this, whichever is larger.",
                prm, Patterns::Double(0.));
  add_parameter("Maximum iterations", max_iterations,
                "Of a nonlinear solve; 0: 50 for newton, which takes few, and 20000 for others.",
                prm, Patterns::Integer(0, 100000000));
}

void NonlinearParameters::parse_parameters(ParameterHandler & /* prm */)
{
  check_parameter("Nonlinear/Method",
                  [&] { linalg::make_nonlinear_method(method, {}, linalg::BackendKind::host); });
}

linalg::SolveControl NonlinearParameters::control() const
{
  linalg::SolveControl control;
  control.relative_tolerance = relative_tolerance;
  control.absolute_tolerance = absolute_tolerance;
  control.max_iterations = max_iterations > 0
                               ? max_iterations
                               : linalg::nonlinear_methods.traits(method).usual_max_iterations;
  return control;
}

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
  add_parameter("Maximum of u", given.largest_u,
                "The branch ends when the largest |u| at nodes exceeds this.", prm,
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
} // namespace femgpu
