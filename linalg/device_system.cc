#include "linalg/device_system.h"

#include "linalg/base/countable.h"
#include "linalg/base/error.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"
#include "linalg/transformations/registry.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
DeviceSystem::DeviceSystem(ExecutorPtr executor, const LinearSolverOptions &options,
                           CommunicatorPtr communicator)
    : owner(std::move(executor)), communicator(std::move(communicator)),
      transformation(options.scaling, options.ordering), format(options.format),
      preconditioner(preconditioner_of(options))
{
  if (this->communicator && !orderings.traits(options.ordering).keeps_order)
    throw ParameterError("Ordering '" + Method("ordering", options.ordering).name() +
                             "' needs all rows in one subdomain, but this system has several. Use "
                             "ordering none, or a single subdomain.",
                         "Solver/Ordering");
  if (this->communicator && transformation.needs_values())
    throw ParameterError("Scaling '" + options.scaling +
                             "' needs all rows in one subdomain, but this system has several. Use "
                             "scaling balance, or a single subdomain.",
                         "Solver/Scaling");
}

void DeviceSystem::release()
{
  under_way = {}; // waits for a pattern that is not needed after all
  begun.reset();
  matrix_there.reset(); // refers to the pattern
  csr.reset();
}

void DeviceSystem::begin_pattern(const HostCsr &A)
{
  release();
  if (transformation.needs_values())
    return;
  begun = spaces_of(A); // collective, so not called in the other thread
  const auto work = [this, A, spaces = *begun] {
    owner->use_in_this_thread();
    set_n_loop_threads(1);
    move_pattern(A, spaces);
  };
  try {
    under_way = std::async(std::launch::async, work);
  }
  catch (const std::system_error &) {
    under_way = {}; // no thread is available: set_matrix() transfers everything
  }
}

DeviceSystem::Spaces DeviceSystem::spaces_of(const HostCsr &A) const
{
  const auto range = std::make_shared<RowSpace>(owner, A.n, communicator);
  return {range, communicator ? std::make_shared<RowSpace>(*range, *A.ghosts) : range};
}

/// Returns the location for the matrix. If memory is limited, a matrix that needs more than half of
/// it stays in host memory, because vectors need the other half. The host backend reads it in
/// place.
MemoryPlace DeviceSystem::place_of(const HostCsr &A) const
{
  const std::size_t bytes = A.n_nonzeros * (sizeof(double) + sizeof(int)) +
                            (static_cast<std::size_t>(A.n) + 1) * sizeof(int);
  if (owner->has_limited_memory() && bytes > owner->memory().total / 2)
    return MemoryPlace::host;
  return owner->backend() == BackendKind::host ? MemoryPlace::source : MemoryPlace::executor;
}

void DeviceSystem::move_pattern(const HostCsr &A, const Spaces &spaces)
{
  const Stopwatch watch;
  check_countable("matrix format", formats, format, A.n_nonzeros);
  check_countable("preconditioner", preconditioners, preconditioner, A.n_nonzeros);
  csr.reset(); // two patterns at a time might not fit
  HostCsr pattern = transformation.set_pattern(A);
  pattern.values = nullptr;
  const MemoryPlace place = place_of(A);
  csr = std::make_unique<CsrMatrix>(spaces.range, spaces.domain, pattern, place);
  if (place != MemoryPlace::source)
    costs.transfer.bytes += (static_cast<std::size_t>(A.n) + 1 + A.n_nonzeros) * sizeof(int);
  pattern_seconds = watch.elapsed();
}

void DeviceSystem::finish_pattern()
{
  const Stopwatch watch;
  under_way.get();
  const double overlapped = std::max(0., pattern_seconds - watch.elapsed());
  costs.transfer.overlapped_seconds += overlapped;
  costs.transfer.seconds += overlapped;
}

void DeviceSystem::set_matrix(const HostCsr &A, const bool only_values)
{
  rethrow_on_all_parts(communicator.get(), [&] { take_over(A, only_values); });
}

void DeviceSystem::take_over(const HostCsr &A, const bool only_values)
{
  if (!only_values)
    matrix_there.reset(); // refers to the old pattern
  move_matrix(A, only_values);
  const Stopwatch watch;
  if (only_values)
    matrix_there->update();
  else
    matrix_there = make_format(format, *csr);
  owner->synchronize();
  costs.format_seconds += watch.elapsed();
}

void DeviceSystem::require_matrix() const
{
  if (!matrix_there)
    throw SolverError("The solver has no matrix: none was set, it was released, or its set-up "
                      "failed. Set one before solving.");
}

void DeviceSystem::move_matrix(const HostCsr &A, const bool only_values)
{
  const Stopwatch watch;
  const std::optional<Spaces> spaces = std::exchange(begun, std::nullopt);
  if (under_way.valid())
    finish_pattern();
  else if (!only_values)
    move_pattern(A, spaces ? *spaces : spaces_of(A));
  if (!only_values)
    given_rows = linalg::host_rows(A, communicator);
  const HostCsr transformed = transformation.update(A, *given_rows);
  csr->update_values(transformed.values);
  csr->set_unknowns(transformed.unknowns);
  if (place_of(A) != MemoryPlace::source)
    costs.transfer.bytes += A.n_nonzeros * sizeof(double);
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::move_vector(const double *const v, const Transform transform, Buffer<double> &to)
{
  const Stopwatch watch;
  if (transformation.is_identity())
    to.copy_from_host(v, static_cast<std::size_t>(matrix().n()));
  else {
    std::vector<double> transformed(to.size());
    (transformation.*transform)(v, transformed.data());
    to.copy_from_host(transformed.data());
  }
  costs.transfer.bytes += to.bytes();
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::move_rhs(const double *const b, Buffer<double> &to)
{
  move_vector(b, &LinearSystemTransformation::transform_rhs, to);
}

void DeviceSystem::move_guess(const double *const x, Buffer<double> &to)
{
  move_vector(x, &LinearSystemTransformation::transform_guess, to);
}

void DeviceSystem::move_solution(const Buffer<double> &from, double *const x)
{
  const Stopwatch watch;
  if (transformation.is_identity())
    from.copy_to_host(x, static_cast<std::size_t>(matrix().n()));
  else
    transformation.restore_solution(from.to_host().data(), x);
  costs.transfer.bytes += from.bytes();
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::sum_over_parts(const std::vector<std::size_t *> &sizes) const
{
  if (!communicator)
    return;
  std::vector<double> sums;
  for (const std::size_t *const size : sizes)
    sums.push_back(static_cast<double>(*size));
  communicator->sum(sums.data(), static_cast<int>(sums.size()));
  for (std::size_t k = 0; k < sums.size(); ++k)
    *sizes[k] = static_cast<std::size_t>(sums[k]);
}

SolveCosts DeviceSystem::take_costs()
{
  sum_over_parts({&costs.transfer.bytes, &costs.setup_bytes_to_host});
  return std::exchange(costs, {});
}

void DeviceSystem::finish(SolveReport &report)
{
  report.costs += take_costs();
  MethodReport &method = report.method;
  method.communicator = communicator ? communicator->name() : "none";
  sum_over_parts({&method.matrix_stored, &method.matrix_bytes, &method.preconditioner_bytes,
                  &method.bytes_per_iteration, &method.setup.n_nonzeros,
                  &report.costs.communication.exchanged_bytes});
}
} // namespace femgpu::linalg
