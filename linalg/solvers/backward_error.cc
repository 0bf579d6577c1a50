#include "linalg/solvers/backward_error.h"

#include "linalg/base/atomic.h"
#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"

#include <cmath>
#include <cstring>

namespace femgpu::linalg
{
namespace
{
struct Squares
{
  double residual, rhs, scale;
};

struct MeasuringState : LoopState
{
  Squares squares{};
};

/// The bits of a double as an integer. Non-negative numbers and their bits have the same order; NaN
/// comes last.
using Bits = unsigned long long;

FEMGPU_HD
Bits bits_of(const double value)
{
  Bits bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

double number_of(const Bits bits)
{
  double value = 0.;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Computes r_i = b_i − (A x)_i and w_i = |b_i| + (|A| |x|)_i in row i, adds up the squares of r_i,
/// b_i and w_i, and finds the maximum of |r_i| / w_i.
struct MeasureRow
{
  MeasuredSystem system;
  Bits *componentwise; ///< maximum of |r_i| / w_i over all rows

  using Contributes = SumList<&Squares::residual, &Squares::rhs, &Squares::scale>;
  FEMGPU_HD
  void operator()(const MeasuringState & /* s */, const int i, Squares &sum) const
  {
    const auto &[A, b, x, r] = system;
    const double r_i = b[i] - A.row_product(i, 0, 1, x);
    const double w_i = std::fabs(b[i]) + A.row_magnitude(i, x);
    if (r != nullptr)
      r[i] = r_i;
    sum.residual += r_i * r_i;
    sum.rhs += b[i] * b[i];
    sum.scale += w_i * w_i;
    if (r_i != 0.)
      atomic_max(componentwise, bits_of(std::fabs(r_i / w_i)));
  }

  FEMGPU_HD
  void finish(MeasuringState &s, const Squares &sum) const
  {
    s.squares = sum;
  }
};
} // namespace

template <>
SystemNorms measure_on<ThisBackend>(const RowSpace &space, const MeasuredSystem &system)
{
  Iteration<ThisBackend, MeasuringState, Squares> iteration(space);
  iteration.set_state({});
  Buffer<Bits> componentwise(space.executor(), 1);
  componentwise.fill_zero();
  iteration.once(rows(system.A.n, MeasureRow{system, componentwise.data()}));
  const Squares squares = iteration.get_state().squares;
  return {std::sqrt(squares.residual), std::sqrt(squares.rhs), std::sqrt(squares.scale),
          space.max(number_of(componentwise.to_host().front()))};
}
} // namespace femgpu::linalg
