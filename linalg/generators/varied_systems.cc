#include "linalg/generators/varied_systems.h"

#include <cstddef>
#include <random>

namespace femgpu::linalg
{
VariedSystems::VariedSystems(const HostCsr &A, const std::vector<double> &b, const int count)
    : matrices(static_cast<std::size_t>(count), A)
{
  constexpr unsigned int unused_bits = 11; // of 64, where a double has 53
  std::mt19937_64 generator(1);
  values.reserve(matrices.size());
  this->b.reserve(matrices.size() * b.size());
  this->b = b;
  for (int k = 1; k < count; ++k) {
    const double factor = 1. + static_cast<double>(k) / count;
    std::vector<double> varied(A.values, A.values + A.n_nonzeros);
    for (double &a : varied)
      a *= factor;
    values.push_back(std::move(varied));
    matrices[k].values = values.back().data();
    for (const double b_i : b) {
      const double xi = static_cast<double>(generator() >> unused_bits) * 0x1p-52 - 1.;
      this->b.push_back(b_i * (1. + 0.5 * xi));
    }
  }
}
} // namespace femgpu::linalg
