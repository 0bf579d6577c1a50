#include "linalg/solvers/backward_error.h"

#include "linalg/execution/this_backend.h"

#include <cmath>

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

/// r = b − A x and |A||x| + |b|
struct MeasureRow
{
  MeasuredSystem system;

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
  iteration.once(rows(system.A.n, MeasureRow{system}));
  const Squares squares = iteration.get_state().squares;
  return {std::sqrt(squares.residual), std::sqrt(squares.rhs), std::sqrt(squares.scale)};
}
} // namespace femgpu::linalg
