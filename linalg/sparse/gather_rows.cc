#include "linalg/sparse/gather_rows.h"

#include "linalg/execution/this_backend.h"

namespace femgpu::linalg
{
template <>
void with_runner<ThisBackend>(const Executor &executor,
                              const std::function<void(StepRunner &)> &work)
{
  Runner<ThisBackend> runner(executor);
  work(runner);
}

template <>
void gather_rows<ThisBackend>(StepRunner &runner, const double *const v, const Buffer<int> &rows,
                              Buffer<double> &to)
{
  static_cast<Runner<ThisBackend> &>(runner).run(linalg::rows(
      static_cast<int>(rows.size()),
      [v, rows = rows.data(), to = to.data()] FEMGPU_BODY(const int k) { to[k] = v[rows[k]]; }));
}

template <>
void add_to_rows<ThisBackend>(StepRunner &runner, const double *const from, const int *const rows,
                              const int n, double *const v)
{
  static_cast<Runner<ThisBackend> &>(runner).run(
      linalg::rows(n, [from, rows, v] FEMGPU_BODY(const int k) { v[rows[k]] += from[k]; }));
}
} // namespace femgpu::linalg
