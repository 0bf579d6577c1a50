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
  add_parameter("Backend", backend,
                "auto: all GPUs; the host if there are none, or if the last cycle has at most "
                "10,000 dofs (the host solves those before a GPU is ready) and no other parameter "
                "requires a GPU. host: the cores. cuda: GPUs; an error if there are none. cuda:K: "
                "only GPU K. Devices selects among several GPUs.");
  add_parameter("Devices", devices,
                "The devices that solve together, each with a subdomain and some of the ranks. "
                "auto: all GPUs of a node that Backend = auto or cuda finds, but at most one per "
                "rank; N: the first N of each node or, on the host, N groups of its cores; "
                "cuda:0,2: these.");
  add_parameter("Communicator", communicator,
                "How several GPUs, or groups of cores, exchange sums and ghost values. " +
                    meanings_of(linalg::communicator_choices()),
                prm, Patterns::Selection(selection_of(linalg::communicator_choices())));
  add_parameter("Threads", threads,
                "Threads of the host backend; 0: all cores available to the ranks.", prm,
                Patterns::Integer(0, 4096));
  add_parameter("Device memory", device_memory,
                "Memory that the solver may use on each device, for example 2GB or 1.5GiB, or all. "
                "A matrix that needs more than half of it stays in host memory.");
  add_parameter("Solver", solver,
                "A name, followed by options NAME=VALUE. " + meanings_of(linalg::solver_choices()));
  add_parameter("Preconditioner", preconditioner,
                "A name, followed by options NAME=VALUE. " +
                    meanings_of(linalg::preconditioner_choices()));
  add_parameter(
      "Format", format,
      "Storage format of the matrix: a name, followed by options NAME=VALUE. " +
          meanings_of(linalg::formats.choices()) + " All support " +
          linalg::FormatScalars::option() +
          "; with float, values are rounded and the solution is refined to double precision.");
  add_parameter("Scaling", scaling, meanings_of(linalg::scalings.choices()), prm,
                Patterns::Selection(selection_of(linalg::scalings.choices())));
  add_parameter("Ordering", ordering,
                "Ordering of the unknowns: a name, followed by options NAME=VALUE. " +
                    meanings_of(linalg::orderings.choices()));
  declare_stopping_criteria();
  add_parameter("Fallback", fallback,
                "Solver for linear problems of up to " + std::to_string(linalg::max_fallback_rows) +
                    " unknowns if Solver fails. direct: UMFPACK's LU factorisation, with a "
                    "warning; none: femgpu writes the last iterate.",
                prm, Patterns::Selection("direct|none"));
  add_parameter("Execution", execution,
                "How a GPU runs the loop of a linear solver. graph: a graph of kernels, one kernel "
                "per step; resident: a single kernel that keeps vectors and matrix on the chip (" +
                    linalg::solvers.names_with(&linalg::SolverTraits::supports_resident_loop) +
                    " with preconditioner " +
                    linalg::preconditioners.names_with(&linalg::PreconditionerTraits::is_fused) +
                    ", small systems); auto: resident if it is faster.",
                prm, Patterns::Selection("auto|graph|resident"));
}

/// Declares the stopping criteria of linear solves.
void SolverParameters::declare_stopping_criteria()
{
  add_parameter("Relative tolerance", relative_tolerance,
                "A linear solve ends when the true residual |b - A x| is at most this times the "
                "norm 'Relative to'. Nonlinear problems use the tolerances of section Nonlinear.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance,
                "Absolute tolerance of the same residual; the larger of both tolerances applies.",
                prm, Patterns::Double(0.));
  add_parameter("Relative to", relative_to,
                "Norm of Relative tolerance. rhs: |b|; initial: |b - A x0|.", prm,
                Patterns::Selection("rhs|initial"));
  add_parameter(
      "Stop at", stop_at,
      "Stopping criterion of a solve. auto: a solve ends at the tolerances above (for nonlinear "
      "problems, at those of section Nonlinear). Two checks follow: (1) the residual is at most "
      "Relative tolerance times the internal forces, both in the norm of the inverse diagonal; (2) "
      "for linear problems with " +
          linalg::solvers.names_with(&linalg::SolverTraits::estimates_energy_error) +
          ", the estimated energy norm of the error, (e, A e)^(1/2), is at most Relative tolerance "
          "times the energy norm of the solution with its boundary values. If a check is missed by "
          "more than a factor of ten, the solve continues until both hold. "
          "residual: only the tolerances; they say little if contrasts, penalties or offsets are "
          "large. energy error: the energy norm of the error is at most Energy tolerance. "
          "discretisation error: the energy norm of the error is at most a tenth of the "
          "discretisation error, which is estimated from the energies of two or more previous "
          "cycles; without an estimate, for example in the first cycles, like auto.",
      prm, Patterns::Selection("auto|residual|energy error|discretisation error"));
  add_parameter("Energy tolerance", energy_tolerance,
                "Tolerance of Stop at = energy error, relative to the energy norm of the solution "
                "with its boundary values.",
                prm, Patterns::Double(1e-16, 1.));
  add_parameter("Maximum iterations", max_iterations, "Iteration limit of a linear solve.", prm,
                Patterns::Integer(1, 100000000));
}

void SolverParameters::parse_parameters(ParameterHandler & /* prm */)
{
  if (backend.empty() || backend.find(' ') != std::string::npos)
    throw ParameterError("Unknown backend '" + backend + "'. Set auto, host, cuda or cuda:K.",
                         "Solver/Backend");
  linalg::check_devices(devices);
  check_parameter("Solver/Device memory", [&] { parse_memory_size(device_memory); });
  check_parameter("Solver/Solver", [&] { linalg::check_solver(solver); });
  check_parameter("Solver/Preconditioner",
                  [&] { linalg::make_preconditioner(preconditioner, linalg::BackendKind::host); });
  check_parameter("Solver/Format", [&] { linalg::check_format(format); });
  check_parameter("Solver/Ordering", [&] { linalg::orderings.make(ordering); });
}

RequiredDofData SolverParameters::required_dof_data(const unsigned int n_components) const
{
  const std::string words = Method("preconditioner", preconditioner).text() + " ";
  const auto has = [&](const char *const word) { return words.find(word) != std::string::npos; };
  const auto &traits = linalg::preconditioners.traits(preconditioner);
  const bool orders_by_coordinates = Method("ordering", ordering).name() == "geometry";
  return {orders_by_coordinates || has(" partition=geometry ") ||
              (n_components > 1 && traits.uses_coordinates),
          traits.uses_coarser_spaces && !has(" coarsening=aggregation ")};
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

bool SolverParameters::has_gpu_settings() const
{
  const auto names_cusparse = [](const std::string &text) {
    return text.find("cusparse") != std::string::npos;
  };
  return devices != "auto" || communicator != "auto" || device_memory != "all" ||
         execution != "auto" || names_cusparse(format) || names_cusparse(preconditioner);
}

std::string SolverParameters::groups_backend(const double n) const
{
  constexpr double few = 10000; // one core solves this in 0.3 s, the time that a GPU takes to start
  const bool is_for_host = linalg::is_direct(solver) || (n <= few && !has_gpu_settings());
  return backend == "auto" && is_for_host ? "host" : backend;
}

NonlinearParameters::NonlinearParameters() : ParameterAcceptor("/Nonlinear")
{
  add_parameter(
      "Method", method,
      "Method for nonlinear problems A u = b + lambda W phi(u) (W: diagonal matrix of quadrature "
      "weights; lambda: 1, except for Bratu's problem): a name, followed by options NAME=VALUE. " +
          meanings_of(linalg::nonlinear_methods.choices()));
  add_parameter("Relative tolerance", relative_tolerance,
                "A nonlinear solve ends when the true residual |b + lambda W phi(u) - A u| is at "
                "most this times its value at u = 0 (with the boundary values).",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance,
                "Absolute tolerance of the same residual; the larger of both tolerances applies.",
                prm, Patterns::Double(0.));
  add_parameter("Maximum iterations", max_iterations,
                "Iteration limit of a nonlinear solve; 0: 50 for newton, 20000 for other methods.",
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
  branch_options.max_points = 200;
  branch_options.largest_u = 8.;
  const Patterns::List optional(Patterns::Double(), 0, 1);
  add_parameter("Enabled", enabled,
                "Follow the branch of solutions over lambda, through its fold, by pseudo-arclength "
                "continuation, instead of solving for one lambda; for Physics = bratu.");
  add_parameter("Start lambda", branch_options.lambda_start,
                "Value of lambda at which the branch starts.", prm, Patterns::Double(0.));
  add_parameter(
      "First step", branch_options.first_step,
      "First step in arclength, which weights lambda and the root mean square of u equally.", prm,
      Patterns::Double(1e-6));
  add_parameter(
      "Largest step", branch_options.largest_step,
      "Largest step; successful steps grow up to it. Two folds within one step go unnoticed.", prm,
      Patterns::Double(1e-6));
  add_parameter("Maximum points", branch_options.max_points,
                "Maximum number of points on the branch.", prm, Patterns::Integer(1, 1000000));
  add_parameter("Stop at lambda", stop,
                "The branch ends when it reaches this lambda before the fold. Empty: no limit.",
                prm, optional);
  add_parameter("Stop at lambda after the fold", upper_stop,
                "The branch ends when it returns to this lambda after the fold. Empty: no limit.",
                prm, optional);
  add_parameter("Maximum of u", branch_options.largest_u,
                "The branch ends when the largest |u| at nodes exceeds this.", prm,
                Patterns::Double(1e-6));
  add_parameter("Targets", branch_options.targets,
                "Values of lambda, separated by ',', for which femgpu computes the solutions on "
                "all parts of the branch.",
                prm, Patterns::List(Patterns::Double()));
  add_parameter("Solver", branch_options.linear.solver,
                "Solver for the linear systems, which are indefinite after a fold: minres, or "
                "bicgstab for unsymmetric preconditioners, followed by options NAME=VALUE. "
                "Preconditioner, format and ordering are set in section Solver.");
  add_parameter("Relative tolerance", branch_options.control.relative_tolerance,
                "A point has converged when its residual is at most this times |b| + lambda |W "
                "phi(u)|.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Linear tolerance", branch_options.linear.control.relative_tolerance,
                "Relative tolerance of each linear system.", prm, Patterns::Double(0., 1.));
  add_parameter("Write VTU every", vtu_interval,
                "Interval, in points, at which files for ParaView are written; also written at "
                "folds and targets. 0: no files.",
                prm, Patterns::Integer(0, 1000000));
}

void ContinuationParameters::parse_parameters(ParameterHandler & /* prm */)
{
  if (branch_options.largest_step < branch_options.first_step)
    throw ParameterError(
        "Continuation/Largest step is " + std::to_string(branch_options.largest_step) +
            ", less than Continuation/First step = " + std::to_string(branch_options.first_step) +
            ". Raise it.",
        "Continuation/Largest step");
  check_parameter("Continuation/Solver", [&] {
    linalg::make_solver(branch_options.linear.solver, linalg::BackendKind::host);
  });
}

linalg::ContinuationOptions
ContinuationParameters::options(const SolverParameters &solver_parameters) const
{
  linalg::ContinuationOptions options = branch_options;
  options.linear = solver_parameters.options();
  options.linear.solver = branch_options.linear.solver;
  options.linear.control.relative_tolerance = branch_options.linear.control.relative_tolerance;
  options.linear.control.absolute_tolerance = 0.;
  if (!stop.empty())
    options.lambda_end = stop.front();
  if (!upper_stop.empty())
    options.lambda_end_upper = upper_stop.front();
  return options;
}
} // namespace femgpu
