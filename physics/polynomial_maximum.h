#ifndef femgpu_physics_polynomial_maximum_h
#define femgpu_physics_polynomial_maximum_h

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace femgpu
{
/// A function of a vector to be maximised: a component or the length, times a sign.
struct Objective
{
  static constexpr unsigned int length = static_cast<unsigned int>(-1);

  unsigned int component = 0; ///< index of the component, or `length`
  double sign = 1.;           ///< 1, or -1 to find the minimum

  /// Returns the objective of @p vector, whose components are @p stride numbers apart.
  double value(const double *vector, unsigned int n_components, std::size_t stride = 1) const;
};

/**
 * Maximises vector-valued polynomials on the unit cube in up to three coordinates, of degree p in
 * each, given by their Bernstein coefficients. The polynomial lies in the convex hull of its
 * coefficients, which therefore bound it. The cube is bisected into boxes (de Casteljau) where the
 * bound exceeds the best value. In each box that does not contain the best point, a projected,
 * regularised Newton method starts at the location of the best coefficient.
 *
 * Boxes whose bound exceeds the best value by less than 1e-4 of the polynomial's variation are
 * discarded, so another maximum that is higher by less than that may be missed. The search ends
 * after 2000 boxes, which diagonal ridges can require; the remaining boxes are discarded, too.
 */
class PolynomialMaximum
{
public:
  PolynomialMaximum(unsigned int n_coordinates, unsigned int degree, unsigned int n_components);

  struct Result
  {
    double value;
    std::array<double, 3> at; ///< unused coordinates are 0
  };

  /**
   * Returns the maximum; nullopt unless it exceeds @p above by more than @p tolerance.
   * @param coefficients (p+1)^n numbers for each component, with the first coordinate running
   * fastest
   */
  std::optional<Result> find(const std::vector<double> &coefficients, const Objective &objective,
                             double above, double tolerance);

  /// Returns the matrix, stored by rows, that maps values at the lattice i/p to Bernstein
  /// coefficients.
  static std::vector<double> coefficients_by_values(unsigned int n_coordinates,
                                                    unsigned int degree);

private:
  using Coordinates = std::array<double, 3>;
  struct Box
  {
    std::vector<double> coefficients;
    Coordinates lower, width;
  };
  /// The objective (for a length, half of its square) and its derivatives at a point.
  struct Local
  {
    double value;
    Coordinates gradient;
    std::array<Coordinates, 3> hessian;
  };

  double bound(const Box &box) const;
  Coordinates best_of_lattice(const Box &box, double tolerance) const;
  double variation(const Box &box) const;
  bool contains(const Box &box, const Coordinates &x) const;
  std::array<Box, 2> bisected(const Box &box) const;
  unsigned int widest_axis(const Box &box) const;
  Local at(const Coordinates &x);
  double objective_at(const Coordinates &x);
  static Coordinates ascent_step(const Local &current, const std::vector<unsigned int> &free);
  Coordinates ascend(Coordinates x);

  unsigned int n_coordinates, degree, n_components;
  std::size_t n_coefficients;
  const std::vector<double> *root = nullptr;
  Objective objective;
  std::vector<std::array<unsigned int, 3>> indices; ///< by coefficient; one index per coordinate
};
} // namespace femgpu

#endif
