#include "linalg/preconditioners/apply.h"

#include "linalg/execution/steps/row_bodies.h"
#include "linalg/execution/this_backend.h"

namespace femgpu::linalg
{
namespace
{
/// z = m r
struct MultiplyRow
{
  DiagonalView m;
  const double *r;
  double *z;

  FEMGPU_HD
  void operator()(const int i) const
  {
    z[i] = m(i) * r[i];
  }
};
} // namespace

template <>
void apply_on<ThisBackend>(const Preconditioner &M, const Executor &executor, Buffer<double> &r,
                           Buffer<double> &z)
{
  Runner<ThisBackend> runner(executor);
  const auto run = [&](const auto &m) {
    using View = std::decay_t<decltype(m)>;
    if constexpr (std::is_same_v<View, const PreconditionerOperator *>)
      runner.run(product(*m, r.data(), StoreProduct{z.data()}));
    else
      runner.run(rows(static_cast<int>(r.size()), MultiplyRow{m, r.data(), z.data()}));
  };
  std::visit(run, M.action());
}
} // namespace femgpu::linalg
