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

std::vector<double> scaled(const int n, const double *v, const int exponent)
{
  std::vector<double> result(v, v + n);
  for (double &value : result)
    value = std::ldexp(value, exponent);
  return result;
}
} // namespace

bool PowerOfTwoScaling::is_needed(const int n, const double *const b)
{
  return exponent_of(n, b) != 0;
}

PowerOfTwoScaling::PowerOfTwoScaling(const int n, const double *const b, double *const x,
                                     const Communicator *const communicator)
    : exponent(exponent_of(n, b, communicator)), original_b(b), original_x(x)
{
  if (exponent == 0)
    return;
  scaled_b = scaled(n, b, -exponent);
  scaled_x = scaled(n, x, -exponent);
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
  for (std::size_t i = 0; i < scaled_x.size(); ++i)
    original_x[i] = std::ldexp(scaled_x[i], exponent);
  for (double *const norm : {&report.rhs_norm, &report.initial_residual, &report.true_residual,
                             &report.target, &report.original.residual, &report.original.rhs,
                             &report.energy.error, &report.energy.norm, &report.energy.target})
    *norm = restored(*norm);
  for (double &norm : report.history)
    norm = restored(norm);
}
} // namespace femgpu::linalg
