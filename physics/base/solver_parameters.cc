#include "physics/base/solver_parameters.h"

#include "linalg/base/choice.h"
#include "linalg/base/error.h"
#include "linalg/dealii/group_solver.h"
#include "linalg/direct_fallback.h"
#include "linalg/execution/make_executor.h"
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
// The choices of Solver = auto; benchmarks/convection.py measures those for convection.
constexpr const char *automatic = "auto", *symmetric_solver = "pipelined-cg",
                     *unsymmetric_solver = "pipelined-bicgstab", *convection_solver = "idr s=8",
                     *convection_preconditioner = "ilu level=1";

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

std::vector<Choice> solver_choices()
{
  std::vector<Choice> choices = linalg::solvers.choices();
  choices.insert(choices.begin(),
                 {"auto", std::string(symmetric_solver) +
                              " if the matrix is symmetric; otherwise " + unsymmetric_solver +
                              " or, for convection, " + convection_solver +
                              ", on cores with Preconditioner = " + convection_preconditioner +
                              " unless that is set"});
  return choices;
}

SolverSettings SolverSettings::chosen_for(const bool has_symmetric_matrix,
                                          const bool has_convection) const
{
  SolverSettings chosen = *this;
  if (solver != automatic)
    return chosen;
  chosen.solver = has_symmetric_matrix ? symmetric_solver
                  : has_convection     ? convection_solver
                                       : unsymmetric_solver;
  const bool may_use_gpu = backend != "host" && linalg::n_cuda_devices() > 0;
  if (has_convection && preconditioner == automatic && !may_use_gpu)
    chosen.preconditioner = convection_preconditioner;
  return chosen;
}

SolverParameters::SolverParameters() : ParameterAcceptor("/Solver")
{
  add_parameter(
      "Backend", backend,
      "Where femgpu solves linear systems. host: on the cores. cuda: on the GPUs; femgpu stops "
      "with an error if there are none. cuda:K: only on GPU K. auto: on the GPUs if there are any, "
      "otherwise on the host. Even if there are GPUs, auto solves on the host with Solver = "
      "direct, or if the last cycle has at most 10,000 dofs and no other parameter requires a GPU; "
      "the host solves such a system before a GPU is ready. Devices selects among several GPUs.");
  add_parameter("Devices", devices,
                "The devices that solve a system together. Each device solves for one subdomain "
                "and serves some of the ranks. auto: all GPUs of each node, but at most one per "
                "rank. N: the first N GPUs of each node; on the host, N groups of its cores. "
                "cuda:0,2: the GPUs with the numbers 0 and 2.");
  add_parameter("Communicator", communicator,
                "How several GPUs, or several groups of cores, exchange sums and ghost values. " +
                    meanings_of(linalg::communicator_choices()),
                prm, Patterns::Selection(selection_of(linalg::communicator_choices())));
  add_parameter("Threads", threads,
                "Number of threads of the host backend. 0: as many as the cores that are available "
                "to the ranks.",
                prm, Patterns::Integer(0, 4096));
  add_parameter(
      "Device memory", device_memory,
      "Memory that the solver may use on each device: a size such as 2GB or 1.5GiB, or all. A "
      "matrix that needs more than half of this memory stays in host memory.");
  add_parameter("Solver", solver,
                "Solver of linear systems: a name, followed by options NAME=VALUE. " +
                    meanings_of(solver_choices()));
  add_parameter("Preconditioner", preconditioner,
                "Preconditioner of the solver: a name, followed by options NAME=VALUE. " +
                    meanings_of(linalg::preconditioner_choices()));
  add_parameter(
      "Format", format,
      "Storage format of the matrix: a name, followed by options NAME=VALUE. " +
          meanings_of(linalg::formats.choices()) + " All formats take " +
          linalg::FormatScalars::option() +
          ". float rounds the stored values; the solution is refined to double precision.");
  add_parameter("Scaling", scaling,
                "Scaling of the matrix A. " + meanings_of(linalg::scalings.choices()), prm,
                Patterns::Selection(selection_of(linalg::scalings.choices())));
  add_parameter("Ordering", ordering,
                "Ordering of the unknowns: a name, followed by options NAME=VALUE. " +
                    meanings_of(linalg::orderings.choices()));
  declare_stopping_criteria();
  add_parameter("Fallback", fallback,
                "What femgpu does if Solver fails for a linear problem of up to " +
                    std::to_string(linalg::max_fallback_rows) +
                    " unknowns. direct: femgpu prints a warning, and solves by the direct "
                    "solver. none: femgpu writes the best iterate.",
                prm, Patterns::Selection("direct|none"));
  add_parameter("Execution", execution,
                "How a GPU runs the iteration loop of a linear solver. graph: as a CUDA graph with "
                "one kernel per step. resident: as a single kernel that keeps vectors and matrix "
                "on the chip. It needs a small system; one of the solvers " +
                    linalg::solvers.names_with(&linalg::SolverTraits::supports_resident_loop) +
                    "; and one of the preconditioners " +
                    linalg::preconditioners.names_with(&linalg::PreconditionerTraits::is_fused) +
                    ". auto: resident if it is possible and faster, otherwise graph.",
                prm, Patterns::Selection("auto|graph|resident"));
}

/// Declares the stopping criteria of linear solves.
void SolverParameters::declare_stopping_criteria()
{
  add_parameter("Relative tolerance", relative_tolerance,
                "A linear solve ends when the true residual |b - A x| is at most this tolerance "
                "times the norm that 'Relative to' selects. Nonlinear problems use the tolerances "
                "of section Nonlinear.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance,
                "A linear solve also ends when |b - A x| is at most this tolerance.", prm,
                Patterns::Double(0.));
  add_parameter("Relative to", relative_to,
                "The norm to which Relative tolerance refers. rhs: |b|. initial: |b - A x0|, with "
                "the initial guess x0.",
                prm, Patterns::Selection("rhs|initial"));
  add_parameter(
      "Stop at", stop_at,
      "Stopping criterion of a solve. auto: the solve ends at the tolerances of this section or, "
      "for nonlinear problems, of section Nonlinear. femgpu then checks the solution by three "
      "criteria. (1) The residual is at most Relative tolerance times the internal forces, both in "
      "the norm of the inverse diagonal. (2) The estimated energy norm of the error, (e, A "
      "e)^(1/2), is at most Relative tolerance times the energy norm of the solution with its "
      "boundary values. This criterion applies to linear problems with one of the solvers " +
          linalg::solvers.names_with(&linalg::SolverTraits::estimates_energy_error) +
          ". (3) The error in the motions of weakly held parts of the body is at most a tenth of "
          "the bound of (2). This criterion applies to linear problems with a symmetric matrix on "
          "one device. If (1) or (2) is missed by more than a factor of ten, or (3) by any factor, "
          "the solve continues to a smaller target. residual: the solve ends at the tolerances, "
          "and femgpu does not check the solution. A small residual does not imply a small error "
          "if contrasts, penalties or offsets are large. energy error: the solve ends when the "
          "energy norm of the error is at most Energy tolerance. discretisation error: the solve "
          "ends when the energy norm of the error is at most a tenth of the discretisation error. "
          "femgpu estimates the discretisation error from the energies of two or more previous "
          "cycles. Without an estimate, for example in the first cycles, the solve ends as with "
          "auto.",
      prm, Patterns::Selection("auto|residual|energy error|discretisation error"));
  add_parameter("Energy tolerance", energy_tolerance,
                "Tolerance for Stop at = energy error, relative to the energy norm of the solution "
                "with its boundary values.",
                prm, Patterns::Double(1e-16, 1.));
  add_parameter("Maximum iterations", max_iterations,
                "Maximum number of iterations of a linear solve.", prm,
                Patterns::Integer(1, 100000000));
}

void SolverParameters::parse_parameters(ParameterHandler & /* prm */)
{
  if (backend.empty() || backend.find(' ') != std::string::npos)
    throw ParameterError("Unknown backend '" + backend + "'. Set auto, host, cuda or cuda:K.",
                         "Solver/Backend");
  linalg::check_devices(devices);
  check_parameter("Solver/Device memory", [&] { parse_memory_size(device_memory); });
  if (solver != automatic && Method("solver", solver).name() == automatic)
    throw ParameterError("Solver auto has no options. Set Solver/Solver to auto, or to the name of "
                         "a solver and its options.",
                         "Solver/Solver");
  if (solver != automatic)
    check_parameter("Solver/Solver",
                    [&] { linalg::make_solver(solver, linalg::BackendKind::host); });
  check_parameter("Solver/Preconditioner",
                  [&] { linalg::make_preconditioner(preconditioner, linalg::BackendKind::host); });
  check_parameter("Solver/Format", [&] { linalg::check_format(format); });
  check_parameter("Solver/Ordering", [&] { linalg::orderings.make(ordering); });
}

RequiredDofData SolverSettings::required_dof_data(const unsigned int n_components) const
{
  const std::string words = Method("preconditioner", preconditioner).text() + " ";
  const auto has = [&](const char *const word) { return words.find(word) != std::string::npos; };
  const auto &traits = linalg::preconditioners.traits(preconditioner);
  const bool orders_by_coordinates = Method("ordering", ordering).name() == "geometry";
  return {orders_by_coordinates || has(" partition=geometry ") ||
              (n_components > 1 && traits.uses_coordinates),
          traits.uses_coarser_spaces && !has(" coarsening=aggregation ")};
}

linalg::SolveControl SolverSettings::control() const
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

linalg::GroupSolverOptions SolverSettings::options() const
{
  return {linalg::LinearSolverOptions{solver, preconditioner, format, scaling, ordering, control()},
          fallback == "direct"};
}

bool SolverSettings::has_gpu_settings() const
{
  const auto names_cusparse = [](const std::string &text) {
    return text.find("cusparse") != std::string::npos;
  };
  return devices != "auto" || communicator != "auto" || device_memory != "all" ||
         execution != "auto" || names_cusparse(format) || names_cusparse(preconditioner);
}

std::string SolverSettings::groups_backend(const double n) const
{
  constexpr double few = 10000; // one core solves this in 0.3 s, the time that a GPU takes to start
  return backend == "auto" && n <= few && !has_gpu_settings()
             ? "host"
             : linalg::backend_for(solver, backend);
}

NonlinearParameters::NonlinearParameters() : ParameterAcceptor("/Nonlinear")
{
  add_parameter("Method", method,
                "Method for nonlinear problems A u = b + lambda W phi(u): a name, followed by "
                "options NAME=VALUE. W is the diagonal matrix of quadrature weights. lambda is 1, "
                "except in Bratu's problem. " +
                    meanings_of(linalg::nonlinear_methods.choices()));
  add_parameter(
      "Relative tolerance", relative_tolerance,
      "A nonlinear solve ends when the true residual |b + lambda W phi(u) - A u| is at most this "
      "tolerance times its value for u = 0 with the prescribed boundary values.",
      prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance,
                "A nonlinear solve also ends when |b + lambda W phi(u) - A u| is at most this "
                "tolerance.",
                prm, Patterns::Double(0.));
  add_parameter(
      "Maximum iterations", max_iterations,
      "Maximum number of iterations of a nonlinear solve. 0: 50 for newton, 20000 for nlcg.", prm,
      Patterns::Integer(0, 100000000));
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
                "true: the same as Analysis = branch. femgpu then follows the branch of solutions "
                "through its fold by pseudo-arclength continuation in lambda. false: Analysis "
                "decides.");
  add_parameter("Start lambda", branch_options.lambda_start,
                "Value of lambda at which the branch starts.", prm, Patterns::Double(0.));
  add_parameter("First step", branch_options.first_step,
                "First step along the branch, in the arclength. lambda and the root mean square of "
                "u have the same weight in the arclength.",
                prm, Patterns::Double(1e-6));
  add_parameter("Largest step", branch_options.largest_step,
                "Largest step along the branch, in the arclength. Successful steps grow up to this "
                "size. femgpu does not detect two folds within one step.",
                prm, Patterns::Double(1e-6));
  add_parameter("Maximum points", branch_options.max_points,
                "Maximum number of points on the branch.", prm, Patterns::Integer(1, 1000000));
  add_parameter("Stop at lambda", stop,
                "The branch ends when it reaches this lambda before the fold. Empty: no limit.",
                prm, optional);
  add_parameter("Stop at lambda after the fold", upper_stop,
                "The branch ends when it returns to this lambda after the fold. Empty: no limit.",
                prm, optional);
  add_parameter("Maximum of u", branch_options.largest_u,
                "The branch ends when the largest |u| at the nodes exceeds this value.", prm,
                Patterns::Double(1e-6));
  add_parameter("Targets", branch_options.targets,
                "Values of lambda, separated by ','. femgpu computes the solution at each point "
                "where the branch reaches one of these values.",
                prm, Patterns::List(Patterns::Double()));
  add_parameter(
      "Solver", branch_options.linear.solver,
      "Solver of the linear systems, which are indefinite after a fold: a name, followed "
      "by options NAME=VALUE. Use minres, bicgstab for unsymmetric preconditioners, or "
      "direct for small systems. The section Solver sets the preconditioner, format and ordering.");
  add_parameter("Relative tolerance", branch_options.control.relative_tolerance,
                "A point has converged when its residual is at most this tolerance times |b| + "
                "lambda |W phi(u)|.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Linear tolerance", branch_options.linear.control.relative_tolerance,
                "Relative tolerance of each linear system.", prm, Patterns::Double(0., 1.));
  add_parameter("Write VTU every", vtu_interval,
                "Interval between the points of the branch for which femgpu writes files for "
                "ParaView. For example, 5 selects every fifth point. femgpu also writes files at "
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
ContinuationParameters::options(const SolverSettings &solver_settings) const
{
  linalg::ContinuationOptions options = branch_options;
  options.linear = solver_settings.options();
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
