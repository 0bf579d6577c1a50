#include "linalg/nonlinear/branch_tracer.h"

#include "linalg/nonlinear/hermite.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// A step is rejected if the cosine of the angle by which the branch has turned is smaller than
/// smallest_cosine, or if the branch has moved away from the tangent by more than largest_offset
/// times the step: Newton's method may have reached another part of the branch.
constexpr double smallest_cosine = 0.8;
constexpr double largest_offset = 0.4;

/// Number of corrections that a step of suitable length takes.
constexpr double target_corrections = 3.;

/// Accuracy of λ at a fold, relative to λ or, if λ is small, to the step. Instead of 0, λ̇ is then
/// about the square root of this.
constexpr double fold_accuracy = 1e-10;
constexpr int max_fold_trials = 20;

/// Returns λ along the branch between two points of a step, as a cubic.
HermiteCubic lambda_between(const BranchPoint &left, const BranchPoint &right)
{
  return {left.sigma,
          right.sigma,
          left.lambda,
          right.lambda,
          left.speed * left.lambda_dot,
          right.speed * right.lambda_dot};
}

bool lambda_increases(const BranchPoint &p)
{
  return p.lambda_dot > 0.;
}

std::string ten_digits(const double value)
{
  std::ostringstream text;
  text.precision(10);
  text << value;
  return text.str();
}
} // namespace

std::string to_string(const BranchRecord::Kind kind)
{
  switch (kind) {
  case BranchRecord::Kind::point:
    return "point";
  case BranchRecord::Kind::fold:
    return "fold";
  case BranchRecord::Kind::target:
    return "target";
  }
  return "unknown";
}

std::string branch_name(const int folds)
{
  return folds == 0 ? "lower" : folds == 1 ? "upper" : "branch " + std::to_string(folds);
}

BranchTracer::BranchTracer(BranchCorrector &corrector, const ContinuationOptions &options,
                           const RowSpace &space, Emit emit, EmitState emit_state)
    : corrector(corrector), options(options), emit_point(std::move(emit)),
      emit_state(std::move(emit_state)), current(space),
      next(space), trials{BranchPoint(space), BranchPoint(space), BranchPoint(space)},
      target(space), step(options.first_step)
{}

ContinuationReport BranchTracer::trace()
{
  if (begin())
    take_steps();
  report.last_step = step;
  return report;
}

ContinuationReport BranchTracer::trace_on(const BranchState &state)
{
  current.lambda = state.lambda;
  current.lambda_dot = state.lambda_dot;
  step = state.step;
  arclength = state.arclength;
  folds = state.folds;
  static_cast<BranchCounts &>(report) = state.counts;
  report.records = state.records;
  take_steps();
  report.last_step = step;
  return report;
}

void BranchTracer::take_steps()
{
  while (is_running) {
    const int points = report.points;
    take_step();
    if (is_running && report.points > points && emit_state)
      emit_state(current, {current.lambda, current.lambda_dot, step, arclength, folds, report,
                           report.records});
  }
}

bool BranchTracer::begin()
{
  current.lambda = options.lambda_start;
  next.lambda_dot = options.direction; // with ẋ = 0, `next` serves as the previous tangent
  CorrectorResult correction = corrector.correct(current, nullptr, 0., options.control, 0);
  if (correction.converged())
    corrector.find_tangent(current, next, correction);
  count(correction);
  if (!correction.converged()) {
    end(correction.outcome, "The first point was not found: " + correction.message +
                                " Use another initial guess, or another first lambda.");
    return false;
  }
  const auto &targets = options.targets;
  const bool is_target = std::find(targets.begin(), targets.end(), current.lambda) != targets.end();
  emit(current, is_target ? BranchRecord::Kind::target : BranchRecord::Kind::point, correction);
  return true;
}

void BranchTracer::take_step()
{
  if (report.points == options.max_points) {
    end_at_limit();
    return;
  }
  const CorrectorResult correction = try_step();
  count(correction);
  CorrectorResult fold_result = correction;
  const BranchPoint *fold = nullptr;
  if (correction.converged() && lambda_increases(current) != lambda_increases(next)) {
    fold_result = find_fold(fold);
    count(fold_result);
  }
  if (!fold_result.converged()) {
    ++report.failed_steps;
    step *= 0.5;
    if (step < options.smallest_step)
      end(fold_result.outcome,
          "No step of at least " + ten_digits(options.smallest_step) +
              " succeeds from lambda = " + ten_digits(current.lambda) + ": " + fold_result.message +
              " Allow smaller steps or more corrections, or raise the tolerance.");
    return;
  }
  if (fold != nullptr) {
    pass_targets(current, *fold);
    if (!is_running)
      return;
    emit(*fold, BranchRecord::Kind::fold, fold_result);
    ++folds;
  }
  pass_targets(fold != nullptr ? *fold : current, next);
  if (is_running)
    accept(correction);
}

/// Predicts and corrects `next`, at the distance of one step from `current`.
CorrectorResult BranchTracer::try_step()
{
  current.sigma = 0.;
  current.speed = 1.;
  next.sigma = step;
  corrector.predict(current, next);
  CorrectorResult correction = corrector.correct(next, &current, step, options.control, 0);
  if (correction.converged())
    corrector.find_tangent(next, current, correction);
  if (!correction.converged())
    return correction;
  const double cosine = corrector.cosine(current, next);
  const double chord = corrector.distance(current, next);
  next.speed = 1. / cosine;
  if (cosine < smallest_cosine ||
      chord * chord > (1. + largest_offset * largest_offset) * step * step) {
    correction.outcome = Outcome::stagnated;
    correction.message = "the branch turns too much within a step.";
  }
  return correction;
}

BranchPoint &BranchTracer::unused_trial(const BranchPoint *const left,
                                        const BranchPoint *const right)
{
  for (BranchPoint &trial : trials)
    if (&trial != left && &trial != right)
      return trial;
  return trials[0]; // unreachable, because at most two of the three are in use
}

/// Moves @p p to the predicted turning point of λ between @p left and @p right, and corrects it.
CorrectorResult BranchTracer::correct_trial(BranchPoint &p, const BranchPoint &left,
                                            const BranchPoint &right)
{
  p.sigma = lambda_between(left, right).turning_point();
  corrector.interpolate(left, right, p);
  CorrectorResult correction = corrector.correct(p, &current, p.sigma, options.control, 1);
  if (correction.converged())
    corrector.find_tangent(p, current, correction);
  if (correction.converged())
    p.speed = 1. / corrector.cosine(current, p);
  return correction;
}

/**
 * Finds the fold between `current` and `next`: the turning point of the cubic through λ and λ̇ at
 * both ends of a bracket is corrected and replaces one end, until the cubic yields no improvement.
 */
CorrectorResult BranchTracer::find_fold(const BranchPoint *&fold)
{
  const BranchPoint *left = &current;
  const BranchPoint *right = &next;
  CorrectorResult all;
  for (int k = 0; k < max_fold_trials; ++k) {
    BranchPoint &p = unused_trial(left, right);
    const CorrectorResult correction = correct_trial(p, *left, *right);
    all.outcome = correction.outcome;
    all.message = correction.message;
    all.residual = correction.residual;
    all.target = correction.target;
    all.corrections += correction.corrections;
    all.linear_iterations += correction.linear_iterations;
    if (!correction.converged())
      return all;
    fold = &p;
    (lambda_increases(p) == lambda_increases(*left) ? left : right) = &p;
    const HermiteCubic lambda = lambda_between(*left, *right);
    const double better = lambda.value(lambda.turning_point());
    if (std::abs(better - p.lambda) <= fold_accuracy * std::max(std::abs(p.lambda), step))
      return all;
  }
  all.outcome = Outcome::stagnated;
  all.message = "the fold near lambda = " + ten_digits(fold->lambda) + " was not found exactly.";
  return all;
}

double BranchTracer::lambda_end() const
{
  return folds == 0 ? options.lambda_end : options.lambda_end_upper;
}

/// Emits the solutions for requested values of λ between the points @p from and @p to, where λ is
/// monotonic, up to the end of the branch.
void BranchTracer::pass_targets(const BranchPoint &from, const BranchPoint &to)
{
  const auto is_passed = [&](const double lambda) {
    return lambda != from.lambda && (lambda - from.lambda) * (lambda - to.lambda) <= 0.;
  };
  std::vector<double> lambdas;
  for (const double lambda : options.targets)
    if (is_passed(lambda))
      lambdas.push_back(lambda);
  if (is_passed(lambda_end()))
    lambdas.push_back(lambda_end());
  std::sort(lambdas.begin(), lambdas.end());
  lambdas.erase(std::unique(lambdas.begin(), lambdas.end()), lambdas.end());
  if (to.lambda < from.lambda)
    std::reverse(lambdas.begin(), lambdas.end());
  for (const double lambda : lambdas) {
    if (is_running)
      emit_target(from, to, lambda);
    if (is_running && lambda == lambda_end())
      end(Outcome::converged, "The branch reached lambda = " + ten_digits(lambda) + ".");
  }
}

void BranchTracer::emit_target(const BranchPoint &from, const BranchPoint &to, const double lambda)
{
  target.sigma = lambda_between(from, to).argument_of(lambda);
  corrector.interpolate(from, to, target);
  target.lambda = lambda;
  CorrectorResult correction = corrector.correct(target, nullptr, 0., options.control, 1);
  if (correction.converged())
    corrector.find_tangent(target, current, correction);
  count(correction);
  if (correction.converged() && lambda_increases(target) != (to.lambda > from.lambda)) {
    correction.outcome = Outcome::stagnated;
    correction.message = "Newton's method jumped to the other side of a fold.";
  }
  if (correction.converged())
    emit(target, BranchRecord::Kind::target, correction);
  else
    end(correction.outcome,
        "The solution at lambda = " + ten_digits(lambda) +
            " was not found, although the branch passes it: " + correction.message +
            " Use smaller steps, or a lambda farther from the fold.");
}

/// Records `next`, makes it the current point, and chooses the length of the next step.
void BranchTracer::accept(const CorrectorResult &correction)
{
  ++report.points;
  emit(next, BranchRecord::Kind::point, correction);
  arclength += next.sigma;
  std::swap(current, next);
  const double step_factor = target_corrections / std::max(correction.corrections, 1);
  step = std::clamp(step * std::clamp(step_factor, 0.5, 2.), options.smallest_step,
                    options.largest_step);
  if (report.records.back().largest_u >= options.largest_u)
    end(Outcome::converged,
        "The branch reached max |u| = " + ten_digits(report.records.back().largest_u) +
            " at lambda = " + ten_digits(current.lambda) + ".");
}

void BranchTracer::emit(const BranchPoint &p, const BranchRecord::Kind kind,
                        const CorrectorResult &correction)
{
  BranchRecord record;
  record.kind = kind;
  record.index = static_cast<int>(report.records.size());
  record.folds = folds;
  record.arclength = arclength + p.sigma;
  record.lambda = p.lambda;
  record.lambda_dot = p.lambda_dot;
  record.corrections = correction.corrections;
  record.linear_iterations = correction.linear_iterations;
  record.residual = correction.residual;
  record.residual_target = correction.target;
  emit_point(p, record);
  report.records.push_back(record);
}

/// Ends the branch at the limit of points, which is a success if no other end was given.
void BranchTracer::end_at_limit()
{
  const bool has_end = std::isfinite(options.largest_u) || std::isfinite(options.lambda_end) ||
                       std::isfinite(options.lambda_end_upper);
  if (has_end)
    end(Outcome::iteration_limit, "The branch did not reach its end: the maximum number of points "
                                  "was reached first. Allow more points, or longer steps.");
  else
    end(Outcome::converged, "The branch has the requested number of points.");
}

void BranchTracer::count(const CorrectorResult &correction)
{
  report.corrections += correction.corrections;
  report.linear_iterations += correction.linear_iterations;
}

void BranchTracer::end(const Outcome outcome, const std::string &message)
{
  is_running = false;
  report.outcome = outcome;
  report.message =
      message + " The branch has " + std::to_string(report.points) + " points after the first";
  for (const BranchRecord &record : report.records)
    if (record.kind == BranchRecord::Kind::fold)
      report.message += ", and a fold at lambda = " + ten_digits(record.lambda);
  report.message += ".";
}
} // namespace femgpu::linalg
