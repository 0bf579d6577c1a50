#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
template <>
void apply_on<ThisBackend>(const Preconditioner &M, const Executor &executor, Buffer<double> &r,
                           Buffer<double> &result)
{
  Runner<ThisBackend> runner(executor);
  const Preconditioner::Action action = M.action();
  double *const from = r.data(), *const z = result.data();
  if (const auto *const m = std::get_if<DiagonalView>(&action))
    runner.run(rows(static_cast<int>(r.size()),
                    [m = *m, from, z] FEMGPU_BODY(const int i) { z[i] = m(i) * from[i]; }));
  else
    runner.run(product(*std::get<const PreconditionerOperator *>(action), from, StoreProduct{z}));
}
} // namespace femgpu::linalg
