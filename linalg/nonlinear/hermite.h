#ifndef femgpu_linalg_nonlinear_hermite_h
#define femgpu_linalg_nonlinear_hermite_h

#include <cmath>

namespace femgpu::linalg
{
/// The cubic p on [a, b] with given values and derivatives at both ends: p(a) = pa, p'(a) = dpa,
/// p(b) = pb and p'(b) = dpb.
struct HermiteCubic
{
  double a, b, pa, pb, dpa, dpb;

  /// The factors of pa, dpa, pb and dpb in p(s).
  struct Weights
  {
    double pa, dpa, pb, dpb;
  };
  static Weights weights(const double a, const double b, const double s)
  {
    const double h = b - a;
    const double t = (s - a) / h;
    const double u = 1. - t;
    return {u * u * (1. + 2. * t), h * t * u * u, t * t * (1. + 2. * u), -h * t * t * u};
  }

  double value(const double s) const
  {
    const Weights w = weights(a, b, s);
    return w.pa * pa + w.dpa * dpa + w.pb * pb + w.dpb * dpb;
  }

  double derivative(const double s) const
  {
    const double t = (s - a) / (b - a);
    const double u = 1. - t;
    return u * (1. - 3. * t) * dpa + t * (3. * t - 2.) * dpb + 6. * t * u * (pb - pa) / (b - a);
  }

  /// Returns the position in [a, b] where p' changes its sign; p' must do so.
  double turning_point() const
  {
    return bisect([&](const double s) { return dpa > 0. ? derivative(s) : -derivative(s); });
  }

  /// Returns the position where the cubic has the value @p p, which must lie between pa and pb.
  double argument_of(const double p) const
  {
    return bisect([&](const double s) { return pa > pb ? value(s) - p : p - value(s); });
  }

private:
  /// Returns the position where @p f, positive at a, becomes non-positive.
  template <class Function>
  double bisect(const Function &f) const
  {
    double positive = a, other = b;
    for (int k = 0; k < 100; ++k) {
      const double middle = 0.5 * (positive + other);
      (f(middle) > 0. ? positive : other) = middle;
    }
    return 0.5 * (positive + other);
  }
};
} // namespace femgpu::linalg

#endif
