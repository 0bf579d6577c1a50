#include "linalg/powers/krylov_basis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg
{
namespace
{
using Values = std::vector<std::complex<double>>;

/// Returns log Π |θ − θ_j| for the values θ_j in @p chosen.
double log_of_distances(const std::complex<double> theta, const Values &chosen)
{
  double sum = 0.;
  for (const std::complex<double> &other : chosen)
    sum += std::log(std::abs(theta - other)); // -inf for a repeated value
  return sum;
}

/// Returns whether θ is the second value of a complex pair.
bool is_lower_conjugate(const std::complex<double> theta)
{
  return theta.imag() < 0.;
}

double largest_modulus(const Values &values)
{
  double largest = 0.;
  for (const std::complex<double> &theta : values)
    largest = std::max(largest, std::abs(theta));
  return largest;
}
} // namespace

std::vector<std::complex<double>> leja_order(std::vector<std::complex<double>> values,
                                             const int count)
{
  Values chosen;
  while (!values.empty() && static_cast<int>(chosen.size()) < count) {
    auto best = values.end();
    double best_merit = 0.;
    for (auto theta = values.begin(); theta != values.end(); ++theta) {
      const double merit = chosen.empty() ? std::abs(*theta) : log_of_distances(*theta, chosen);
      if (!is_lower_conjugate(*theta) && (best == values.end() || merit > best_merit)) {
        best = theta;
        best_merit = merit;
      }
    }
    if (best == values.end()) // only second values of pairs are left, without their first ones
      best = values.begin();
    const std::complex<double> theta = *best;
    values.erase(best);
    chosen.push_back(theta);
    const auto partner = std::find(values.begin(), values.end(), std::conj(theta));
    if (theta.imag() > 0. && partner != values.end()) {
      chosen.push_back(*partner);
      values.erase(partner);
    }
  }
  return chosen;
}

std::vector<BasisStep> newton_basis(const std::vector<std::complex<double>> &ritz,
                                    const int n_steps)
{
  const Values shifts = leja_order(ritz, n_steps);
  std::vector<BasisStep> steps;
  for (std::size_t k = 0; static_cast<int>(steps.size()) < n_steps; ++k) {
    if (shifts.empty()) {
      steps.emplace_back();
      continue;
    }
    const std::complex<double> theta = shifts[k % shifts.size()];
    double spectral_radius = 0.; // estimated spectral radius of A − Re θ I
    for (const std::complex<double> &other : ritz)
      spectral_radius = std::max(spectral_radius, std::abs(other - theta.real()));
    BasisStep step;
    step.shift = theta.real();
    step.scale = spectral_radius > 0. ? 1. / spectral_radius : 1.;
    if (is_lower_conjugate(theta) &&
        !steps.empty()) // (A − a)² + b² applied to the vector before the last
      step.square = theta.imag() * theta.imag() * steps.back().scale;
    steps.push_back(step);
  }
  return steps;
}

std::vector<BasisStep> monomial_basis(const std::vector<std::complex<double>> &ritz,
                                      const int n_steps)
{
  const double spectral_radius = largest_modulus(ritz);
  return std::vector<BasisStep>(static_cast<std::size_t>(n_steps),
                                {0., 0., spectral_radius > 0. ? 1. / spectral_radius : 1.});
}
} // namespace femgpu::linalg
