#include "solve/generators/varied_systems.h"

#include "solve/generators/random.h"

#include <cstddef>

namespace femgpu::linalg
{
VariedSystems::VariedSystems(const HostCsr &A, const std::vector<double> &b, const int count)
    : matrices(static_cast<std::size_t>(count), A)
{
  Random random(1);
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
    for (const double b_i : b)
      this->b.push_back(b_i * (1. + 0.5 * random.uniform(-1., 1.)));
  }
}
} // namespace femgpu::linalg
