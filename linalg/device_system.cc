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
  if (this->communicator && !orderings.traits(options.ordering).preserves_order)
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
  pending_transfer = {}; // waits for a pattern that is not needed after all
  pending_spaces.reset();
  formatted_matrix.reset(); // refers to the pattern
  csr.reset();
}

void DeviceSystem::begin_pattern(const HostCsr &A)
{
  release();
  if (transformation.needs_values())
    return;
  pending_spaces = spaces_of(A); // collective, so not called in the other thread
  const auto work = [this, A, spaces = *pending_spaces] {
    owner->make_current();
    set_n_loop_threads(1);
    transfer_pattern(A, spaces);
  };
  try {
    pending_transfer = std::async(std::launch::async, work);
  }
  catch (const std::system_error &) {
    pending_transfer = {}; // no thread is available: set_matrix() transfers everything
  }
}

DeviceSystem::Spaces DeviceSystem::spaces_of(const HostCsr &A) const
{
  const auto range = std::make_shared<RowSpace>(owner, A.n, communicator);
  return {range, communicator ? std::make_shared<RowSpace>(*range, *A.ghosts) : range};
}

/// Returns the location for the matrix. If the memory of the executor is limited, a matrix that
/// needs more than half of this memory stays in host memory, because vectors need the other half.
/// The host backend reads the matrix in place.
MemoryLocation DeviceSystem::location_of(const HostCsr &A) const
{
  const std::size_t bytes = A.n_nonzeros * (sizeof(double) + sizeof(int)) +
                            (static_cast<std::size_t>(A.n) + 1) * sizeof(int);
  if (owner->has_limited_memory() && bytes > owner->memory().total / 2)
    return MemoryLocation::host;
  return owner->backend() == BackendKind::host ? MemoryLocation::source : MemoryLocation::executor;
}

void DeviceSystem::transfer_pattern(const HostCsr &A, const Spaces &spaces)
{
  const TraceRange range("transfer of the pattern");
  const Stopwatch watch;
  check_countable("matrix format", formats, format, A.n_nonzeros);
  check_countable("preconditioner", preconditioners, preconditioner, A.n_nonzeros);
  csr.reset(); // two patterns at a time might not fit
  HostCsr pattern = transformation.set_pattern(A);
  pattern.values = nullptr;
  const MemoryLocation location = location_of(A);
  csr = std::make_unique<CsrMatrix>(spaces.range, spaces.domain, pattern, location);
  if (location != MemoryLocation::source)
    costs.transfer.bytes += (static_cast<std::size_t>(A.n) + 1 + A.n_nonzeros) * sizeof(int);
  pattern_seconds = watch.elapsed();
}

void DeviceSystem::finish_pattern_transfer()
{
  const Stopwatch watch;
  pending_transfer.get();
  const double overlapped = std::max(0., pattern_seconds - watch.elapsed());
  costs.transfer.overlapped_seconds += overlapped;
  costs.transfer.seconds += overlapped;
}

void DeviceSystem::set_matrix(const HostCsr &A, const bool only_values)
{
  rethrow_on_all_ranks(communicator.get(), [&] { transfer_and_set_up(A, only_values); });
}

void DeviceSystem::transfer_and_set_up(const HostCsr &A, const bool only_values)
{
  if (!only_values)
    formatted_matrix.reset(); // refers to the old pattern
  transfer_matrix(A, only_values);
  const TraceRange range("format");
  const Stopwatch watch;
  if (only_values)
    formatted_matrix->update();
  else
    formatted_matrix = make_format(format, *csr);
  owner->synchronize();
  costs.format_seconds += watch.elapsed();
}

void DeviceSystem::require_matrix() const
{
  if (!formatted_matrix)
    throw SolverError("The solver has no matrix: none was set, it was released, or its set-up "
                      "failed. Set one before solving.");
}

void DeviceSystem::transfer_matrix(const HostCsr &A, const bool only_values)
{
  const TraceRange range("transfer of the matrix");
  const Stopwatch watch;
  const std::optional<Spaces> spaces = std::exchange(pending_spaces, std::nullopt);
  if (pending_transfer.valid())
    finish_pattern_transfer();
  else if (!only_values)
    transfer_pattern(A, spaces ? *spaces : spaces_of(A));
  if (!only_values)
    original_rows = linalg::host_rows(A, communicator);
  const HostCsr transformed = transformation.update(A, *original_rows);
  csr->update_values(transformed.values);
  csr->set_unknowns(transformed.unknowns);
  if (location_of(A) != MemoryLocation::source)
    costs.transfer.bytes += A.n_nonzeros * sizeof(double);
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::transfer_vector(const double *const v, const Transform transform,
                                   Buffer<double> &to)
{
  const TraceRange range("transfer of a vector");
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

void DeviceSystem::transfer_rhs(const double *const b, Buffer<double> &to)
{
  transfer_vector(b, &LinearSystemTransformation::transform_rhs, to);
}

void DeviceSystem::transfer_guess(const double *const x, Buffer<double> &to)
{
  transfer_vector(x, &LinearSystemTransformation::transform_guess, to);
}

void DeviceSystem::transfer_solution(const Buffer<double> &from, double *const x)
{
  const TraceRange range("transfer of the solution");
  const Stopwatch watch;
  if (transformation.is_identity())
    from.copy_to_host(x, static_cast<std::size_t>(matrix().n()));
  else
    transformation.restore_solution(from.to_host().data(), x);
  costs.transfer.bytes += from.bytes();
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::sum_over_ranks(const std::vector<std::size_t *> &sizes) const
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

SolveCosts DeviceSystem::collect_costs()
{
  sum_over_ranks({&costs.transfer.bytes, &costs.setup_bytes_to_host});
  return std::exchange(costs, {});
}

void DeviceSystem::complete_report(SolveReport &report)
{
  report.costs += collect_costs();
  MethodReport &method = report.method;
  method.communicator = communicator ? communicator->name() : "none";
  sum_over_ranks({&method.matrix_stored, &method.matrix_bytes, &method.preconditioner_bytes,
                  &method.bytes_per_iteration, &method.setup.n_nonzeros,
                  &report.costs.communication.exchanged_bytes});
}
} // namespace femgpu::linalg
