#ifndef femgpu_physics_polynomial_maximum_h
#define femgpu_physics_polynomial_maximum_h

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace femgpu
{
/// A number that is maximised: a component of a vector or the length of the vector, times a sign.
struct Objective
{
  static constexpr unsigned int length = static_cast<unsigned int>(-1);

  unsigned int component = 0; ///< or `length`
  double sign = 1.;           ///< 1, or -1 for the smallest value

  /// @param stride from one component of @p vector to the next
  double value(const double *vector, unsigned int n_components, std::size_t stride = 1) const;
};

/**
 * Maximises vector-valued polynomials on the unit cube of up to three coordinates, of degree p in
 * each, that are given by their Bernstein coefficients. These bound the polynomial: it lies in
 * their convex hull. Boxes whose bound beats the best value are bisected (de Casteljau); in each of
 * them that does not contain the best point, a projected Newton method with regularisation climbs
 * from where its best coefficient lies.
 *
 * Boxes whose bound exceeds the best value by less than 1e-4 of the polynomial's variation are
 * dropped: a second maximum that no climb has reached can be higher by that much. So are boxes
 * beyond the first 2000, as of ridges that run diagonally.
 */
class PolynomialMaximum
{
public:
  PolynomialMaximum(unsigned int n_coordinates, unsigned int degree, unsigned int n_components);

  struct Result
  {
    double value;
    std::array<double, 3> at; ///< the further coordinates are 0
  };

  /**
   * The maximum, if it is larger than @p above by more than @p tolerance.
   * @param coefficients of each component in turn (p+1)^n numbers, the first coordinate runs
   * fastest
   */
  std::optional<Result> find(const std::vector<double> &coefficients, const Objective &objective,
                             double above, double tolerance);

  /// Bernstein coefficients are this matrix, by rows, times values at the lattice of i/p.
  static std::vector<double> coefficients_by_values(unsigned int n_coordinates,
                                                    unsigned int degree);

private:
  using Coordinates = std::array<double, 3>;
  struct Box
  {
    std::vector<double> coefficients;
    Coordinates lower, width;
  };
  /// Objective (of a length half of its square) with its derivatives.
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
  static Coordinates uphill_step(const Local &here, const std::vector<unsigned int> &free);
  Coordinates climb(Coordinates x);

  unsigned int n_coordinates, degree, n_components;
  std::size_t n_coefficients;
  const std::vector<double> *root = nullptr;
  Objective objective;
  std::vector<std::array<unsigned int, 3>> indices; ///< of each coefficient, by coordinate
};
} // namespace femgpu

#endif
