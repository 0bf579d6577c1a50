#include "physics/polynomial_maximum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace femgpu
{
namespace
{
constexpr unsigned int max_nodes = 9; // in each coordinate, at degree 8

using Basis = std::array<double, max_nodes>;

/// Evaluates the Bernstein polynomials of @p degree at @p x by their recurrence.
Basis bernstein(const unsigned int degree, const double x)
{
  Basis b{};
  b[0] = 1.;
  for (unsigned int p = 1; p <= degree; ++p)
    for (unsigned int i = p + 1; i-- > 0;)
      b[i] = (i < p ? (1. - x) * b[i] : 0.) + (i > 0 ? x * b[i - 1] : 0.);
  return b;
}

/// Evaluates the Bernstein polynomials and their first and second derivatives.
std::array<Basis, 3> bernstein_jet(const unsigned int degree, const double x)
{
  std::array<Basis, 3> jet{bernstein(degree, x)};
  for (unsigned int k = 1; k <= 2 && k <= degree; ++k) {
    // k-fold differences of the polynomials of degree p - k
    Basis b = bernstein(degree - k, x);
    for (unsigned int step = 0; step < k; ++step) {
      const unsigned int p = degree - k + step + 1;
      for (unsigned int i = p + 1; i-- > 0;)
        b[i] = p * ((i > 0 ? b[i - 1] : 0.) - (i < p ? b[i] : 0.));
    }
    jet[k] = b;
  }
  return jet;
}

/// Solves A s = g in the first @p n rows and columns by Cholesky factorisation.
/// @return false if a pivot is at most @p smallest
bool solve_positive(std::array<std::array<double, 3>, 3> A, std::array<double, 3> g,
                    const unsigned int n, const double smallest, std::array<double, 3> &s)
{
  for (unsigned int j = 0; j < n; ++j) {
    for (unsigned int k = 0; k < j; ++k)
      A[j][j] -= A[j][k] * A[j][k];
    if (!(A[j][j] > smallest))
      return false;
    A[j][j] = std::sqrt(A[j][j]);
    for (unsigned int i = j + 1; i < n; ++i) {
      for (unsigned int k = 0; k < j; ++k)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  for (unsigned int i = 0; i < n; ++i) {
    for (unsigned int k = 0; k < i; ++k)
      g[i] -= A[i][k] * g[k];
    g[i] /= A[i][i];
  }
  for (unsigned int i = n; i-- > 0;) {
    for (unsigned int k = i + 1; k < n; ++k)
      g[i] -= A[k][i] * g[k];
    g[i] /= A[i][i];
  }
  s = g;
  return true;
}
} // namespace

double Objective::value(const double *const vector, const unsigned int n_components,
                        const std::size_t stride) const
{
  if (component != length)
    return sign * vector[component * stride];
  double square = 0.;
  for (unsigned int c = 0; c < n_components; ++c)
    square += vector[c * stride] * vector[c * stride];
  return sign * std::sqrt(square);
}

PolynomialMaximum::PolynomialMaximum(const unsigned int n_coordinates, const unsigned int degree,
                                     const unsigned int n_components)
    : n_coordinates(n_coordinates), degree(degree), n_components(n_components), n_coefficients(1)
{
  for (unsigned int a = 0; a < n_coordinates; ++a)
    n_coefficients *= degree + 1;
  for (unsigned int i = 0; i < n_coefficients; ++i) {
    std::array<unsigned int, 3> index{};
    unsigned int rest = i;
    for (unsigned int a = 0; a < n_coordinates; ++a, rest /= degree + 1)
      index[a] = rest % (degree + 1);
    indices.push_back(index);
  }
}

std::vector<double> PolynomialMaximum::coefficients_by_values(const unsigned int n_coordinates,
                                                              const unsigned int degree)
{
  // inverts the matrix of values in one coordinate by Gauss-Jordan elimination
  const unsigned int n = degree + 1;
  std::vector<std::vector<double>> values(n), inverse(n, std::vector<double>(n, 0.));
  for (unsigned int l = 0; l < n; ++l) {
    const Basis b = bernstein(degree, static_cast<double>(l) / degree);
    values[l].assign(b.begin(), b.begin() + n);
    inverse[l][l] = 1.;
  }
  for (unsigned int k = 0; k < n; ++k) {
    const double pivot = values[k][k]; // positive: the matrix is totally positive
    for (unsigned int j = 0; j < n; ++j) {
      values[k][j] /= pivot;
      inverse[k][j] /= pivot;
    }
    for (unsigned int i = 0; i < n; ++i)
      if (const double factor = values[i][k]; i != k)
        for (unsigned int j = 0; j < n; ++j) {
          values[i][j] -= factor * values[k][j];
          inverse[i][j] -= factor * inverse[k][j];
        }
  }
  const PolynomialMaximum tensor(n_coordinates, degree, 1);
  std::vector<double> matrix;
  for (const auto &row : tensor.indices)
    for (const auto &column : tensor.indices) {
      double entry = 1.;
      for (unsigned int a = 0; a < n_coordinates; ++a)
        entry *= inverse[row[a]][column[a]];
      matrix.push_back(entry);
    }
  return matrix;
}

/// Returns an upper bound of the objective in the box.
double PolynomialMaximum::bound(const Box &box) const
{
  const double *const b = box.coefficients.data();
  if (objective.component != Objective::length || objective.sign > 0.) {
    double largest = std::numeric_limits<double>::lowest();
    for (unsigned int i = 0; i < n_coefficients; ++i)
      largest = std::max(largest, objective.value(b + i, n_components, n_coefficients));
    return largest;
  }
  // minus the distance from the origin to the bounding box of the coefficients
  double square = 0.;
  for (unsigned int c = 0; c < n_components; ++c) {
    const auto [smallest, largest] =
        std::minmax_element(b + c * n_coefficients, b + (c + 1) * n_coefficients);
    const double distance = std::max({0., *smallest, -*largest});
    square += distance * distance;
  }
  return -std::sqrt(square);
}

/// Returns the lattice point of the coefficient with the largest objective, the first one if
/// several values are equal up to @p tolerance.
auto PolynomialMaximum::best_of_lattice(const Box &box, const double tolerance) const -> Coordinates
{
  unsigned int best = 0;
  const auto value = [&](const unsigned int i) {
    return objective.value(box.coefficients.data() + i, n_components, n_coefficients);
  };
  for (unsigned int i = 1; i < n_coefficients; ++i)
    if (value(i) > value(best) + tolerance)
      best = i;
  Coordinates x{};
  for (unsigned int a = 0; a < n_coordinates; ++a)
    x[a] = box.lower[a] + box.width[a] * indices[best][a] / degree;
  return x;
}

/// Returns an upper bound of the variation of the objective in the box.
double PolynomialMaximum::variation(const Box &box) const
{
  double square = 0.;
  for (unsigned int c = 0; c < n_components; ++c) {
    if (objective.component != Objective::length && objective.component != c)
      continue;
    const double *const b = box.coefficients.data() + c * n_coefficients;
    const auto [smallest, largest] = std::minmax_element(b, b + n_coefficients);
    square += (*largest - *smallest) * (*largest - *smallest);
  }
  return std::sqrt(square);
}

bool PolynomialMaximum::contains(const Box &box, const Coordinates &x) const
{
  for (unsigned int a = 0; a < n_coordinates; ++a)
    if (x[a] < box.lower[a] || x[a] > box.lower[a] + box.width[a])
      return false;
  return true;
}

/// Returns the coordinate in which neighbouring coefficients differ most.
unsigned int PolynomialMaximum::widest_axis(const Box &box) const
{
  std::array<double, 3> largest{};
  for (unsigned int a = 0, stride = 1; a < n_coordinates; ++a, stride *= degree + 1)
    for (unsigned int c = 0; c < n_components; ++c)
      for (unsigned int i = 0; i < n_coefficients; ++i)
        if (indices[i][a] < degree) {
          const double *const b = box.coefficients.data() + std::size_t(c) * n_coefficients + i;
          largest[a] = std::max(largest[a], std::abs(b[stride] - b[0]));
        }
  return static_cast<unsigned int>(std::max_element(largest.begin(), largest.end()) -
                                   largest.begin());
}

/// Returns the lower and the upper half of the box, by de Casteljau's algorithm.
auto PolynomialMaximum::bisected(const Box &box) const -> std::array<Box, 2>
{
  const unsigned int axis = widest_axis(box);
  std::array<Box, 2> halves{box, box};
  halves[0].width[axis] = halves[1].width[axis] = box.width[axis] / 2.;
  halves[1].lower[axis] += halves[1].width[axis];
  std::size_t stride = 1;
  for (unsigned int a = 0; a < axis; ++a)
    stride *= degree + 1;
  for (unsigned int i = 0; i < n_components * n_coefficients; ++i) {
    if (indices[i % n_coefficients][axis] > 0)
      continue;
    double *const lower = halves[0].coefficients.data() + i, *const upper =
                                                                 halves[1].coefficients.data() + i;
    // in de Casteljau's triangle, the first entries form the lower half, the last row the upper
    // half
    for (unsigned int step = 1; step <= degree; ++step) {
      for (unsigned int k = 0; k + step <= degree; ++k)
        upper[k * stride] = (upper[k * stride] + upper[(k + 1) * stride]) / 2.;
      lower[step * stride] = upper[0];
    }
  }
  return halves;
}

auto PolynomialMaximum::at(const Coordinates &x) -> Local
{
  constexpr unsigned int n_rows = 10; // value, gradient, upper triangle of the Hessian
  std::array<std::array<Basis, 3>, 3> basis;
  for (unsigned int a = 0; a < n_coordinates; ++a)
    basis[a] = bernstein_jet(degree, x[a]);
  Local local{};
  const bool is_length = objective.component == Objective::length;
  for (unsigned int c = 0; c < n_components; ++c) {
    if (!is_length && c != objective.component)
      continue;
    const double *const b = root->data() + c * n_coefficients;
    std::array<double, n_rows> jet{};
    for (unsigned int i = 0; i < n_coefficients; ++i) {
      const auto product = [&](const std::array<unsigned int, 3> &order) {
        double factor = b[i];
        for (unsigned int a = 0; a < n_coordinates; ++a)
          factor *= basis[a][order[a]][indices[i][a]];
        return factor;
      };
      jet[0] += product({0, 0, 0});
      for (unsigned int a = 0, row = 1 + n_coordinates; a < n_coordinates; ++a) {
        std::array<unsigned int, 3> order{};
        ++order[a];
        jet[1 + a] += product(order);
        for (unsigned int d = a; d < n_coordinates; ++d, ++row) {
          std::array<unsigned int, 3> second = order;
          ++second[d];
          jet[row] += product(second);
        }
      }
    }
    // derivatives of u²/2: u ∇u, ∇u ∇uᵀ + u ∇²u
    const double objective_derivative = objective.sign * (is_length ? jet[0] : 1.);
    local.value += is_length ? objective_derivative * jet[0] / 2. : objective_derivative * jet[0];
    for (unsigned int a = 0, row = 1 + n_coordinates; a < n_coordinates; ++a) {
      local.gradient[a] += objective_derivative * jet[1 + a];
      for (unsigned int d = a; d < n_coordinates; ++d, ++row)
        local.hessian[a][d] += objective_derivative * jet[row] +
                               (is_length ? objective.sign * jet[1 + a] * jet[1 + d] : 0.);
    }
  }
  for (unsigned int a = 0; a < n_coordinates; ++a)
    for (unsigned int d = 0; d < a; ++d)
      local.hessian[a][d] = local.hessian[d][a];
  return local;
}

/// Returns the Newton step for the coordinates @p free, regularised so that it points uphill.
auto PolynomialMaximum::ascent_step(const Local &current, const std::vector<unsigned int> &free)
    -> Coordinates
{
  constexpr double min_pivot = 1e-8; // also regularises flat directions, as along a ridge
  std::array<Coordinates, 3> minus_hessian{};
  Coordinates g{}, s{}, step{};
  double norm = 0., slope = 0.;
  const auto n = static_cast<unsigned int>(free.size());
  for (unsigned int i = 0; i < n; ++i) {
    g[i] = current.gradient[free[i]];
    slope = std::max(slope, std::abs(g[i]));
    for (unsigned int j = 0; j < n; ++j) {
      minus_hessian[i][j] = -current.hessian[free[i]][free[j]];
      norm = std::max(norm, std::abs(minus_hessian[i][j]));
    }
  }
  if (slope == 0.)
    return step;
  double shift = std::max(1e-3 * norm, slope);
  while (!solve_positive(minus_hessian, g, n, min_pivot * norm, s)) {
    for (unsigned int i = 0; i < n; ++i)
      minus_hessian[i][i] += shift;
    shift *= 4.;
  }
  for (unsigned int i = 0; i < n; ++i)
    step[free[i]] = s[i];
  return step;
}

/// Finds a local maximum, starting at @p x, by Newton's method projected to the cube.
auto PolynomialMaximum::ascend(Coordinates x) -> Coordinates
{
  constexpr unsigned int max_steps = 50;
  constexpr double min_step = 1e-13, rounding = 1e-15;
  Local current = at(x);
  for (unsigned int k = 0; k < max_steps; ++k) {
    std::vector<unsigned int> free; // coordinates not held at a side of the cube
    for (unsigned int a = 0; a < n_coordinates; ++a)
      if (!(x[a] <= 0. && current.gradient[a] <= 0.) && !(x[a] >= 1. && current.gradient[a] >= 0.))
        free.push_back(a);
    const Coordinates step = ascent_step(current, free);
    Coordinates next = x;
    Local trial{};
    double length = 0.;
    bool is_higher = false;
    for (double t = 1.; !is_higher && t > min_step; t /= 2.) {
      double gain = length = 0.;
      for (unsigned int a = 0; a < n_coordinates; ++a) {
        next[a] = std::clamp(x[a] + t * step[a], 0., 1.);
        gain += current.gradient[a] * (next[a] - x[a]);
        length = std::max(length, std::abs(next[a] - x[a]));
      }
      if (length <= min_step)
        return x;
      trial = at(next);
      is_higher = trial.value >= current.value + 1e-4 * gain - rounding * std::abs(current.value);
    }
    if (!is_higher)
      return x;
    x = next;
    current = trial;
  }
  return x;
}

double PolynomialMaximum::objective_at(const Coordinates &x)
{
  const double value = at(x).value;
  if (objective.component != Objective::length)
    return value;
  return objective.sign * std::sqrt(2. * std::abs(value));
}

std::optional<PolynomialMaximum::Result>
PolynomialMaximum::find(const std::vector<double> &coefficients, const Objective &of,
                        const double above, const double tolerance)
{
  constexpr unsigned int max_boxes = 2000;
  constexpr double dropped_fraction = 1e-4;
  root = &coefficients;
  objective = of;
  std::optional<Result> best;
  const auto best_value = [&] { return best ? best->value : above; };
  std::vector<Box> boxes = {{coefficients, {0., 0., 0.}, {1., 1., 1.}}};
  const double gap = dropped_fraction * variation(boxes[0]);
  for (unsigned int n = 0; !boxes.empty() && n < max_boxes; ++n) {
    const Box box = std::move(boxes.back());
    boxes.pop_back();
    const double highest = bound(box);
    if (!(highest > best_value() + tolerance))
      continue;
    if (!best || !contains(box, best->at)) {
      const Coordinates x = ascend(best_of_lattice(box, tolerance));
      if (const double value = objective_at(x); value > best_value() + tolerance)
        best = Result{value, x};
    }
    if (!(highest > best_value() + std::max(gap, tolerance)))
      continue;
    std::array<Box, 2> halves = bisected(box);
    boxes.push_back(std::move(halves[1]));
    boxes.push_back(std::move(halves[0]));
  }
  return best;
}
} // namespace femgpu
