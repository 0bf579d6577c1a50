#ifndef femgpu_solve_generators_random_h
#define femgpu_solve_generators_random_h

#include <cmath>
#include <cstdint>
#include <random>

namespace femgpu::linalg
{
/// Generates random numbers that, unlike std's distributions, are the same on every machine.
class Random
{
public:
  explicit Random(const std::uint64_t seed) : generator(seed)
  {}

  /// Returns a number in [low, high).
  double uniform(const double low, const double high)
  {
    constexpr unsigned int unused_bits = 11; // a double has 53 of the 64 bits
    const double u = static_cast<double>(generator() >> unused_bits) * 0x1p-53;
    return low + (high - low) * u;
  }

  /// Returns a number in [2^low, 2^high); each interval [2^k, 2^(k+1)) has the same probability.
  double log_uniform(const int low, const int high)
  {
    const double mantissa = uniform(1., 2.);
    return std::ldexp(mantissa, low + uniform_int(high - low));
  }

  /// Returns an integer in 0 ... n-1.
  int uniform_int(const int n)
  {
    return static_cast<int>(uniform(0., n));
  }

  bool bernoulli(const double probability)
  {
    return uniform(0., 1.) < probability;
  }

private:
  std::mt19937_64 generator;
};
} // namespace femgpu::linalg

#endif
