#include "linalg/operators/communicator.h"

#include "linalg/operators/ghost_exchange.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

namespace femgpu::linalg
{
std::vector<int> GhostPlan::sent_rows() const
{
  std::vector<int> rows;
  for (const Neighbour &neighbour : neighbours)
    rows.insert(rows.end(), neighbour.sent_rows.begin(), neighbour.sent_rows.end());
  return rows;
}

ExchangeCounts GhostPlan::counts() const
{
  ExchangeCounts result;
  for (const Neighbour &neighbour : neighbours)
    result.push_back({neighbour.rank, neighbour.sent_rows.size(),
                      static_cast<std::size_t>(neighbour.n_received)});
  return result;
}

ExchangeCounts reversed(ExchangeCounts counts)
{
  for (NeighbourCounts &neighbour : counts)
    std::swap(neighbour.n_sent, neighbour.n_received);
  return counts;
}

namespace
{
/// An error in the form in which ranks exchange it.
struct SentError
{
  int code = 0; ///< exit code; 0: there is no error
  std::array<char, 1024> message{}, parameter{};

  explicit SentError(const Error *const error)
  {
    if (error == nullptr)
      return;
    code = static_cast<int>(error->code());
    copy(error->what(), message);
    if (const auto *const parameter_error = dynamic_cast<const ParameterError *>(error))
      copy(parameter_error->parameter(), parameter);
  }
  SentError() = default;

  std::exception_ptr exception() const
  {
    switch (static_cast<ExitCode>(code)) {
    case ExitCode::parameter:
      return std::make_exception_ptr(ParameterError(message.data(), parameter.data()));
    case ExitCode::input:
      return std::make_exception_ptr(InputError(message.data()));
    case ExitCode::not_converged:
      return std::make_exception_ptr(SolverError(message.data()));
    case ExitCode::device:
      return std::make_exception_ptr(DeviceError(message.data()));
    default:
      return std::make_exception_ptr(Error(static_cast<ExitCode>(code), message.data()));
    }
  }

private:
  /// Copies as much of @p text as fits, followed by a zero byte.
  static void copy(const std::string &text, std::array<char, 1024> &to)
  {
    std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
  }
};
} // namespace

void Communicator::exchange_errors(const Error *const mine) const
{
  const auto n = static_cast<std::size_t>(n_ranks());
  const SentError sent(mine);
  std::vector<int> codes(n);
  do_gather(&sent.code, sizeof(sent.code), codes.data());
  const auto first =
      std::find_if(codes.begin(), codes.end(), [](const int code) { return code != 0; });
  if (first == codes.end())
    return;
  std::vector<SentError> errors(n);
  do_gather(&sent, sizeof(sent), errors.data());
  rethrown = errors[static_cast<std::size_t>(first - codes.begin())].exception();
  std::rethrow_exception(rethrown);
}

/// Sends @p error, which is being handled, to all ranks, which then throw the error of the lowest
/// rank that has failed. Does nothing if all ranks have already thrown @p error.
void Communicator::send_unless_rethrown(const Error &error) const
{
  if (std::current_exception() != rethrown)
    exchange_errors(&error);
}

namespace
{
/// Increments the depth of nested calls while this object exists.
class NestingGuard
{
public:
  explicit NestingGuard(int &depth) : depth(depth)
  {
    ++depth;
  }
  ~NestingGuard()
  {
    --depth;
  }
  NestingGuard(const NestingGuard &) = delete;
  NestingGuard &operator=(const NestingGuard &) = delete;

private:
  int &depth;
};
} // namespace

void Communicator::rethrow_on_all_ranks(const std::function<void()> &work) const
{
  const NestingGuard nesting(n_nested);
  try {
    work();
    throw_remote_errors();
  }
  catch (const Error &error) {
    send_unless_rethrown(error);
    throw;
  }
  catch (const std::bad_alloc &) {
    send_unless_rethrown(
        DeviceError("The host does not have enough memory for the solver. Refine less."));
    throw;
  }
  catch (const std::exception &error) {
    send_unless_rethrown(SolverError(error.what()));
    throw;
  }
}

void Communicator::sum(double *const values, const int n) const
{
  const auto count = static_cast<std::size_t>(n);
  std::vector<double> all(count * static_cast<std::size_t>(n_ranks()));
  gather(values, count * sizeof(double), all.data());
  std::fill_n(values, count, 0.);
  for (std::size_t k = 0; k < all.size(); ++k)
    values[k % count] += all[k];
}

double Communicator::max(const double value) const
{
  std::vector<double> all(static_cast<std::size_t>(n_ranks()));
  gather(&value, sizeof(double), all.data());
  return *std::max_element(all.begin(), all.end());
}

void Communicator::do_exchange_on(const ExecutorPtr &executor, const ExchangeCounts &counts,
                                  const std::size_t bytes, const void *sent, void *received) const
{
  if (executor->backend() == BackendKind::host)
    return do_exchange(counts, bytes, sent, received);
  std::size_t n_sent = 0, n_received = 0;
  for (const NeighbourCounts &neighbour : counts) {
    n_sent += neighbour.n_sent;
    n_received += neighbour.n_received;
  }
  sent_on_host.resize(n_sent * bytes);
  received_on_host.resize(n_received * bytes);
  if (n_sent > 0)
    executor->copy_to_host(sent_on_host.data(), sent, sent_on_host.size());
  do_exchange(counts, bytes, sent_on_host.data(), received_on_host.data());
  if (n_received > 0)
    executor->copy_from_host(received, received_on_host.data(), received_on_host.size());
}

std::unique_ptr<GhostExchange>
Communicator::ghost_exchange(const ExecutorPtr &executor, const int n, const GhostPlan &plan) const
{
  return std::make_unique<PackedExchange>(*this, executor, n, plan);
}

#ifndef FEMGPU_HAVE_CUDA
DeviceConnection make_peer_communicator(const CommunicatorPtr & /* communicator */,
                                        const ExecutorPtr & /* executor */,
                                        const bool /* allow_shared_device */)
{
  return {nullptr, "this femgpu was built without CUDA."};
}
#endif
#ifndef FEMGPU_HAVE_NCCL
DeviceConnection make_nccl_communicator(const CommunicatorPtr & /* communicator */,
                                        const ExecutorPtr & /* executor */)
{
  return {nullptr, "this femgpu was built without NCCL, because nccl.h was not found."};
}
#endif
} // namespace femgpu::linalg
