#include "linalg/power_of_two_scaling.h"

#include "linalg/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// If the largest entry of b is between 2^-200 and 2^200, squares neither overflow nor underflow,
/// even if the residual changes by many powers of ten during a solve.
constexpr int largest_exponent = 200;

/// Returns k such that b has to be divided by 2^k; 0 if no scaling is needed, or b is zero or not
/// finite.
int exponent_of(const int n, const double *b, const Communicator *const communicator = nullptr)
{
  double largest = 0.;
  std::mutex largest_mutex;
  const auto find = [&](const int first, const int end) {
    double range_max = 0.;
    for (int i = first; i < end; ++i)
      range_max = std::max(range_max, std::fabs(b[i])); // NaN is handled by the solver
    const std::lock_guard<std::mutex> lock(largest_mutex);
    largest = std::max(largest, range_max);
  };
  parallel_ranges(n, find, n > 100000 ? n_loop_threads() : 1);
  if (communicator != nullptr)
    largest = communicator->max(largest);
  if (largest == 0. || !std::isfinite(largest))
    return 0;
  const int exponent = std::ilogb(largest);
  return std::abs(exponent) <= largest_exponent ? 0 : exponent;
}

/// Returns exponent_of() for a vector in the memory of any executor.
int exponent_of(const Vector<double> &b)
{
  // n largest² ≥ (b, b) ≥ largest²: within these limits the exponent is 0.
  const double square = dot(b, b);
  const auto n = static_cast<double>(std::max(b.space()->n_global(), 1LL));
  if (square <= std::ldexp(1., 2 * largest_exponent) &&
      square >= std::ldexp(n, -2 * largest_exponent))
    return 0;
  return exponent_of(b.n(), b.rows_on_host().data(), b.space()->communicator());
}

/// Multiplies @p v by 2^exponent, in two steps, because the power itself may overflow.
void multiply(Vector<double> &v, const int exponent)
{
  const int half = exponent / 2;
  scale(v, std::ldexp(1., half));
  scale(v, std::ldexp(1., exponent - half));
}
} // namespace

bool PowerOfTwoScaling::is_needed(const int n, const double *const b)
{
  return exponent_of(n, b) != 0;
}

PowerOfTwoScaling::PowerOfTwoScaling(const int n, const double *const b,
                                     const Communicator *const communicator)
    : exponent(exponent_of(n, b, communicator))
{}

PowerOfTwoScaling::PowerOfTwoScaling(const Vector<double> &b) : exponent(exponent_of(b))
{}

void PowerOfTwoScaling::scale(Vector<double> &v) const
{
  if (exponent != 0)
    multiply(v, -exponent);
}

void PowerOfTwoScaling::restore(Vector<double> &v) const
{
  if (exponent != 0)
    multiply(v, exponent);
}

SolveControl PowerOfTwoScaling::control(SolveControl original) const
{
  if (exponent == 0)
    return original;
  original.absolute_tolerance = std::ldexp(original.absolute_tolerance, -exponent);
  original.energy_tolerance.absolute = std::ldexp(original.energy_tolerance.absolute, -exponent);
  if (original.progress)
    original.progress = [callback = std::move(original.progress),
                         k = exponent](const int iteration, const double residual) {
      callback(iteration, std::ldexp(residual, k));
    };
  return original;
}

double PowerOfTwoScaling::restored(const double norm) const
{
  return std::ldexp(norm, exponent);
}

void PowerOfTwoScaling::restore(SolveReport &report) const
{
  if (exponent == 0)
    return;
  for (double *const norm : {&report.rhs_norm, &report.initial_residual, &report.true_residual,
                             &report.target, &report.original.residual, &report.original.rhs,
                             &report.energy.error, &report.energy.norm, &report.energy.target})
    *norm = restored(*norm);
  for (double &norm : report.history)
    norm = restored(norm);
}
} // namespace femgpu::linalg
