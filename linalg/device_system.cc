#include "linalg/device_system.h"

#include "linalg/base/countable.h"
#include "linalg/base/error.h"
#include "linalg/matrices/registry.h"
#include "linalg/operators/stored_operator.h"
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
      preconditioner(preconditioner_of(options)),
      changes_system(scalings.find(options.scaling).traits.changes_system),
      is_plain(!changes_system && Method("ordering", options.ordering).name() == "none")
{
  if (this->communicator && solvers.traits(options.solver).is_direct)
    throw ParameterError("Solver '" + Method("solver", options.solver).name() +
                             "' needs all rows in one subdomain, but this system has several. Use "
                             "another solver, or one subdomain: one rank or one solver group.",
                         "solver");
  if (this->communicator && !orderings.traits(options.ordering).preserves_order)
    throw ParameterError("Ordering '" + Method("ordering", options.ordering).name() +
                             "' needs all rows in one subdomain, but this system has several. Use "
                             "ordering none, or a single subdomain.",
                         "ordering");
  if (this->communicator && transformation.needs_values())
    throw ParameterError("Scaling '" + options.scaling +
                             "' needs all rows in one subdomain, but this system has several. Use "
                             "scaling balance, or a single subdomain.",
                         "scaling");
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
    transfer_pattern(A, spaces, location_of(A));
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

void DeviceSystem::transfer_pattern(const HostCsr &A, const Spaces &spaces,
                                    const MemoryLocation location)
{
  const TraceRange range("transfer of the pattern");
  const Stopwatch watch;
  check_countable("matrix format", formats, format, A.n_nonzeros);
  check_countable("preconditioner", preconditioners, preconditioner, A.n_nonzeros);
  csr.reset(); // two patterns at a time might not fit
  HostCsr pattern = transformation.set_pattern(A);
  pattern.values = nullptr;
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
  is_from_device = false;
  rethrow_on_all_ranks(communicator.get(), [&] { set_arrays(A, only_values, location_of(A)); });
}

void DeviceSystem::set_matrix(const DeviceCsr &A, const bool only_values)
{
  rethrow_on_all_ranks(communicator.get(), [&] {
    is_from_device = true;
    if (owner->backend() == BackendKind::host)
      throw DeviceError("The matrix is in the memory of a device, but the solver's executor is the "
                        "host. Use the executor of that device, or copy the matrix to the host.");
    if (is_plain) {
      HostCsr view{A.n, A.n_nonzeros, A.row_starts, A.columns, A.values}; // not read on the host
      view.unknowns = A.unknowns;
      return set_arrays(view, only_values, MemoryLocation::source);
    }
    copy_to_host(A, only_values);
    set_arrays(host_copy.csr(), only_values, location_of(host_copy.csr()));
  });
}

void DeviceSystem::copy_to_host(const DeviceCsr &A, const bool only_values)
{
  const Stopwatch watch;
  const auto copy = [&](auto &to, const auto *from, const std::size_t size) {
    to.resize(size);
    owner->copy_to_host(to.data(), from, size * sizeof(*from));
    costs.transfer.bytes += size * sizeof(*from);
  };
  if (!only_values) {
    copy(host_copy.row_starts, A.row_starts, static_cast<std::size_t>(A.n) + 1);
    copy(host_copy.columns, A.columns, A.n_nonzeros);
  }
  copy(host_copy.values, A.values, A.n_nonzeros);
  host_copy.n = A.n;
  host_copy.unknowns = A.unknowns;
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::set_operator(std::shared_ptr<const LinearOperator> A)
{
  if (!is_plain || Method("format", format).text() != "csr")
    throw ParameterError("The entries of an operator are not stored, so that it cannot be scaled, "
                         "reordered or converted. Use scaling none, ordering none and format csr.");
  release();
  formatted_matrix = std::make_unique<OperatorMatrix>(std::move(A));
}

void DeviceSystem::set_arrays(const HostCsr &A, const bool only_values,
                              const MemoryLocation location)
{
  if (!only_values)
    formatted_matrix.reset(); // refers to the old pattern
  transfer_matrix(A, only_values, location);
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

void DeviceSystem::transfer_matrix(const HostCsr &A, const bool only_values,
                                   const MemoryLocation location)
{
  const TraceRange range("transfer of the matrix");
  const Stopwatch watch;
  const std::optional<Spaces> spaces = std::exchange(pending_spaces, std::nullopt);
  if (pending_transfer.valid())
    finish_pattern_transfer();
  else if (!only_values)
    transfer_pattern(A, spaces ? *spaces : spaces_of(A), location);
  if (!only_values)
    original_rows = host_rows(A, communicator);
  const HostCsr transformed = transformation.update(A, *original_rows);
  csr->update_values(transformed.values);
  csr->set_unknowns(transformed.unknowns);
  if (changes_system) {
    if (!only_values)
      host_matrix =
          std::make_unique<CsrMatrix>(original_rows, original_rows, A, MemoryLocation::source);
    host_matrix->update_values(A.values);
  }
  if (location != MemoryLocation::source)
    costs.transfer.bytes += A.n_nonzeros * sizeof(double);
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::transfer_vector(const double *const v, const Transform transform,
                                   Buffer<double> &to)
{
  const TraceRange range("transfer of a vector");
  const Stopwatch watch;
  const auto n = static_cast<std::size_t>(matrix().n());
  const bool is_on_device = owner->is_device_memory(v);
  if (is_plain || transformation.is_identity())
    to.copy_from_host(v, n);
  else {
    std::vector<double> on_host(is_on_device ? n : 0), transformed(to.size());
    if (is_on_device)
      owner->copy_to_host(on_host.data(), v, n * sizeof(double));
    (transformation.*transform)(is_on_device ? on_host.data() : v, transformed.data());
    to.copy_from_host(transformed.data());
  }
  if (!is_plain || !is_on_device)
    costs.transfer.bytes += to.bytes();
  costs.transfer.seconds += watch.elapsed();
}

Vector<double> DeviceSystem::copy_for_judgement(const double *const v) const
{
  Vector<double> copy(original_rows);
  if (owner->is_device_memory(v))
    owner->copy_to_host(copy.data(), v, static_cast<std::size_t>(copy.n()) * sizeof(double));
  else
    copy.assign(v);
  return copy;
}

void DeviceSystem::transfer_rhs(const double *const b, Buffer<double> &to)
{
  transfer_vector(b, &LinearSystemTransformation::transform_rhs, to);
}

void DeviceSystem::transfer_guess(const double *const x, Buffer<double> &to)
{
  transfer_vector(x, &LinearSystemTransformation::transform_guess, to);
}

void DeviceSystem::copy_judged(const Vector<double> &v, double *const to) const
{
  if (owner->is_device_memory(to))
    owner->copy_from_host(to, v.data(), static_cast<std::size_t>(v.n()) * sizeof(double));
  else
    v.copy_rows_to(to);
}

void DeviceSystem::transfer_back(const Buffer<double> &from, const Transform restore,
                                 double *const v)
{
  const TraceRange range("transfer of the solution");
  const Stopwatch watch;
  const auto n = static_cast<std::size_t>(matrix().n());
  const bool is_on_device = owner->is_device_memory(v);
  if (is_plain || transformation.is_identity())
    from.copy_to_host(v, n);
  else {
    std::vector<double> on_host(is_on_device ? n : 0);
    (transformation.*restore)(from.to_host().data(), is_on_device ? on_host.data() : v);
    if (is_on_device)
      owner->copy_from_host(v, on_host.data(), n * sizeof(double));
  }
  if (!is_plain || !is_on_device)
    costs.transfer.bytes += from.bytes();
  costs.transfer.seconds += watch.elapsed();
}

void DeviceSystem::transfer_solution(const Buffer<double> &from, double *const x)
{
  transfer_back(from, &LinearSystemTransformation::restore_solution, x);
}

void DeviceSystem::transfer_rhs_back(const Buffer<double> &from, double *const b)
{
  transfer_back(from, &LinearSystemTransformation::restore_rhs, b);
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
