#include "linalg/system_transfer.h"

#include "linalg/base/timing.h"

#include <omp.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
SystemTransfer::SystemTransfer(ExecutorPtr executor, const LinearSolverOptions &options)
    : owner(std::move(executor)), transformation(options.scaling, options.ordering)
{}

void SystemTransfer::begin_pattern(const HostCsr &A)
{
  if (under_way.valid())
    under_way.wait(); // a pattern that nobody wanted in the end
  const auto work = [this, A] {
    owner->use_in_this_thread();
    omp_set_num_threads(1); // of this thread's loops alone
    move_pattern(A);
  };
  try {
    under_way = std::async(std::launch::async, work);
  }
  catch (const std::system_error &) {
    under_way = {}; // no thread is to be had: move_matrix() moves all
  }
}

void SystemTransfer::move_pattern(const HostCsr &A)
{
  const Stopwatch watch;
  csr.reset(); // two patterns at a time might not fit
  HostCsr pattern = transformation.set_pattern(A);
  pattern.values = nullptr;
  csr = std::make_unique<CsrMatrix>(owner, pattern);
  moved.bytes += (static_cast<std::size_t>(A.n) + 1 + A.n_nonzeros) * sizeof(int);
  pattern_seconds = watch.elapsed();
}

void SystemTransfer::finish_pattern()
{
  const Stopwatch watch;
  under_way.get();
  moved.overlapped_seconds += std::max(0., pattern_seconds - watch.elapsed());
}

void SystemTransfer::move_matrix(const HostCsr &A, const bool same_pattern)
{
  const Stopwatch watch;
  if (under_way.valid())
    finish_pattern();
  else if (!same_pattern || !csr)
    move_pattern(A);
  csr->update_values(transformation.update(A).values);
  moved.bytes += A.n_nonzeros * sizeof(double);
  moved.seconds += watch.elapsed();
}

void SystemTransfer::move_vector(const double *const v, const Transform transform,
                                 Buffer<double> &to)
{
  const Stopwatch watch;
  if (transformation.is_identity())
    to.copy_from_host(v);
  else {
    std::vector<double> transformed(to.size());
    (transformation.*transform)(v, transformed.data());
    to.copy_from_host(transformed.data());
  }
  moved.bytes += to.bytes();
  moved.seconds += watch.elapsed();
}

void SystemTransfer::move_rhs(const double *const b, Buffer<double> &to)
{
  move_vector(b, &LinearSystemTransformation::transform_rhs, to);
}

void SystemTransfer::move_guess(const double *const x, Buffer<double> &to)
{
  move_vector(x, &LinearSystemTransformation::transform_guess, to);
}

void SystemTransfer::move_solution(const Buffer<double> &from, double *const x)
{
  const Stopwatch watch;
  if (transformation.is_identity())
    from.copy_to_host(x);
  else
    transformation.restore_solution(from.to_host().data(), x);
  moved.bytes += from.bytes();
  moved.seconds += watch.elapsed();
}

Transfer SystemTransfer::take_counts()
{
  return std::exchange(moved, {});
}
} // namespace femgpu::linalg
