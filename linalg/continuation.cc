#include "linalg/continuation.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/nonlinear/branch_tracer.h"
#include "linalg/nonlinear_solver.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg
{
namespace
{
void require(const bool is_right, const std::string &what, const double value)
{
  if (!is_right)
    throw ParameterError("Continuation: " + what + ", but is " + std::to_string(value) + ".");
}

void check_values(const ContinuationOptions &o)
{
  require(std::isfinite(o.lambda_start), "the first lambda must be finite", o.lambda_start);
  require(std::abs(o.direction) == 1., "the direction must be 1 or -1", o.direction);
  require(o.theta > 0. && std::isfinite(o.theta), "theta must be positive and finite", o.theta);
  require(o.smallest_step > 0., "the smallest step must be positive", o.smallest_step);
  require(o.first_step >= o.smallest_step, "the first step must be at least the smallest step",
          o.first_step);
  require(o.largest_step >= o.first_step && std::isfinite(o.largest_step),
          "the largest step must be finite and at least the first step", o.largest_step);
  require(o.max_points >= 1, "the maximum number of points must be at least 1", o.max_points);
  require(o.control.max_iterations >= 1, "the maximum number of corrections must be at least 1",
          o.control.max_iterations);
  require(o.largest_u > 0., "the limit of max |u| must be positive", o.largest_u);
  for (const double lambda : o.targets)
    require(std::isfinite(lambda), "each target lambda must be finite", lambda);
}
} // namespace

void check(const ContinuationOptions &options)
{
  const LinearSolverOptions &linear = options.linear;
  check_values(options);
  check_unscaled(linear);
  make_solver(linear.solver, BackendKind::host); // throws for invalid options
  check_symmetry(linear.solver, *make_preconditioner(preconditioner_of(linear), BackendKind::host));
}

Continuation::Continuation(ExecutorPtr executor, ContinuationOptions options,
                           CommunicatorPtr communicator)
    : owner(std::move(executor)), communicator(std::move(communicator)),
      options(std::move(options)), system(owner, this->options.linear, this->communicator)
{
  check(this->options);
}

double Continuation::sum_over_ranks(double value) const
{
  if (communicator)
    communicator->sum(&value, 1);
  return value;
}

void Continuation::begin_pattern(const HostCsr &A)
{
  system.begin_pattern(A);
}

void Continuation::set_system(const HostCsr &A, const double *weights)
{
  const auto n = static_cast<std::size_t>(A.n);
  weight_sum = 0.;
  for (std::size_t i = 0; i < n; ++i) {
    require(weights[i] >= 0., "each weight must be non-negative", weights[i]);
    weight_sum += weights[i];
  }
  weight_sum = sum_over_ranks(weight_sum);
  require(weight_sum > 0. && std::isfinite(weight_sum),
          "the sum of the weights must be positive and finite", weight_sum);
  normalised_weights.assign(weights, weights + n);
  for (double &share : normalised_weights)
    share /= weight_sum;
  system.set_matrix(A, /* only values */ false);
  w = system.make_vector();
  system.transfer_rhs(weights, w); // only reorders, because there is no scaling
}

/// Copies @p x to the host and sets the members of @p record that depend on x.
void Continuation::measure(const Buffer<double> &x, std::vector<double> &x_host,
                           BranchRecord &record)
{
  system.transfer_solution(x, x_host.data());
  double sum = 0.;
  for (std::size_t i = 0; i < x_host.size(); ++i) {
    record.largest_u = std::max(record.largest_u, std::abs(x_host[i]));
    sum += normalised_weights[i] * x_host[i] * x_host[i];
  }
  record.norm = std::sqrt(sum_over_ranks(sum));
  if (communicator)
    record.largest_u = communicator->max(record.largest_u);
}

ContinuationReport Continuation::trace(const ReactionTerm &reaction, const double *b, double *x,
                                       const Callback &callback, const StateCallback &on_state,
                                       const BranchState *const from, const double *const x_dot)
{
  const std::size_t n = normalised_weights.size();
  Buffer<double> rhs = system.make_vector();
  system.transfer_rhs(b, rhs);
  SemilinearEquation equation(system.matrix(), w, rhs, {reaction, options.lambda_start});
  std::unique_ptr<BranchCorrector> corrector;
  system.set_up([&] {
    corrector = make_branch_corrector(equation, {w, options.theta / weight_sum}, options.linear);
  });
  std::vector<double> x_host(n);
  const auto emit = [&](const BranchPoint &p, BranchRecord &record) {
    measure(p.x, x_host, record);
    if (callback)
      callback(record, x_host);
  };
  std::vector<double> x_dot_host(on_state ? n : 0);
  const auto emit_state = [&](const BranchPoint &p, const BranchState &state) {
    system.transfer_solution(p.x_dot, x_dot_host.data());
    on_state(state, x_dot_host);
  };
  BranchTracer tracer(*corrector, options, equation.space(), emit,
                      on_state ? emit_state : BranchTracer::EmitState());
  system.transfer_guess(x, tracer.start().x);
  if (from != nullptr)
    system.transfer_guess(x_dot, tracer.start().x_dot);
  SolveCosts costs = system.collect_costs();
  const Communication before = system.communication();
  const Stopwatch watch;

  ContinuationReport report = from != nullptr ? tracer.trace_on(*from) : tracer.trace();

  if (report.records.size() > (from != nullptr ? from->records.size() : 0))
    std::copy(x_host.begin(), x_host.end(), x);
  costs.solve_seconds = watch.elapsed();
  costs.communication = system.communication() - before;
  costs.communication.exchanged_bytes = static_cast<std::size_t>(
      sum_over_ranks(static_cast<double>(costs.communication.exchanged_bytes)));
  report.costs = costs;
  if (communicator)
    report.communicator = communicator->name();
  system.collect_costs(); // discards the transfers of solutions, which are part of the solve time
  return report;
}
} // namespace femgpu::linalg
