#include "linalg/sparse/row_exchange.h"

#include "linalg/sparse/row_workspace.h"
#include "linalg/sparse/select_entries.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr const char *rows_for_others = "Rows for other subdomains";

/// The global numbers of a space's rows and ghosts, in the executor's memory.
class GlobalNumbering
{
public:
  explicit GlobalNumbering(const RowSpace &space)
      : ghosts(space.executor(), space.ghost_plan()->numbers.data(),
               space.ghost_plan()->numbers.size()),
        first(space.first()), n(space.n())
  {}

  struct View
  {
    long long first;
    int n, n_ghosts;
    const long long *ghosts;

    FEMGPU_HD
    bool is_own(const long long global) const
    {
      return global >= first && global < first + n;
    }
    FEMGPU_HD
    long long global(const int local) const
    {
      return local < n ? first + local : ghosts[local - n];
    }
    FEMGPU_HD
    int local(const long long global) const
    {
      return is_own(global) ? static_cast<int>(global - first)
                            : n + lower_bound(ghosts, 0, n_ghosts, global);
    }
  };

  View view() const
  {
    return {first, n, static_cast<int>(ghosts.size()), ghosts.data()};
  }

private:
  Buffer<long long> ghosts;
  long long first;
  int n;
};

/// Returns the global column numbers of the entries of @p M.
/// @param domain the domain of @p M
template <class Backend>
Buffer<long long> global_columns(const CsrMatrix &M, const RowSpace &domain)
{
  const GlobalNumbering numbers(domain);
  Buffer<long long> result(M.executor(), M.n_nonzeros());
  Runner<Backend>(*M.executor())
      .run(rows(static_cast<int>(result.size()),
                [numbers = numbers.view(), local = M.csr_view().columns,
                 global = result.data()] FEMGPU_BODY(const int k) {
                  global[k] = numbers.global(local[k]);
                }));
  return result;
}

/// Returns @p domain extended by @p columns, which are global numbers. Collective.
template <class Backend>
RowSpacePtr extend_domain(const RowSpace &domain, const Buffer<long long> &columns,
                          const Multiplies use)
{
  const ExecutorPtr &owner = domain.executor();
  const auto n = static_cast<int>(columns.size());
  Runner<Backend> runner(*owner);
  Buffer<long long> sorted_columns(owner, columns.size());
  Buffer<int> order(owner, columns.size()), flags(owner, columns.size());
  long long *const sorted = sorted_columns.data();
  const GlobalNumbering numbers(domain);
  sort_by_key<Backend>(owner, columns.data(), n, domain.n_global(), sorted, order.data());
  runner.run(
      rows(n, [numbers = numbers.view(), sorted, is_new = flags.data()] FEMGPU_BODY(const int k) {
        is_new[k] = !numbers.is_own(sorted[k]) && (k == 0 || sorted[k] != sorted[k - 1]) ? 1 : 0;
      }));
  const RowList positions = flagged_rows<Backend>(owner, flags);
  Buffer<long long> distinct(owner, static_cast<std::size_t>(positions.n));
  runner.run(rows(positions.n, Gather<long long>{sorted, positions.data(), distinct.data()}));
  std::vector<long long> ghosts = distinct.to_host();
  const std::vector<long long> &known = domain.ghost_plan()->numbers;
  const auto n_found = static_cast<std::ptrdiff_t>(ghosts.size());
  ghosts.insert(ghosts.end(), known.begin(), known.end());
  std::inplace_merge(ghosts.begin(), ghosts.begin() + n_found, ghosts.end());
  return use == Multiplies::matrices ? RowSpace::numbering(domain, std::move(ghosts))
                                     : std::make_shared<RowSpace>(domain, std::move(ghosts));
}

/// Sorts the entries of each row, given with global columns, by their local columns in @p domain.
/// (Owned columns come first, so that the order differs from that on the sending rank.) The sources
/// of the result are positions in @p columns.
template <class Backend>
DerivedPattern sorted_rows(const std::vector<int> &starts, Buffer<long long> columns,
                           const RowSpace &domain)
{
  const ExecutorPtr &owner = domain.executor();
  const auto n = static_cast<int>(columns.size());
  const auto n_columns = static_cast<long long>(domain.n_with_ghosts());
  Runner<Backend> runner(*owner);
  DerivedPattern result{
      {Buffer<int>(owner, starts.data(), starts.size()), Buffer<int>(owner, columns.size())},
      Buffer<int>(owner, columns.size())};
  const GlobalNumbering numbers(domain);
  const Buffer<int> row_of_entry = row_numbers<Backend>(pattern_of(owner, result.pattern));
  Buffer<long long> sorted(owner, columns.size());
  runner.run(rows(n, [numbers = numbers.view(), row = row_of_entry.data(), n_columns,
                      keys = columns.data()] FEMGPU_BODY(const int k) {
    keys[k] = row[k] * n_columns + numbers.local(keys[k]);
  }));
  sort_by_key<Backend>(owner, columns.data(), n, result.pattern.n() * n_columns, sorted.data(),
                       result.sources.data());
  runner.run(
      rows(n, [keys = sorted.data(), n_columns, to = result.pattern.columns.data()] FEMGPU_BODY(
                  const int k) { to[k] = static_cast<int>(keys[k] % n_columns); }));
  return result;
}

/// Returns the numbers of entries exchanged with each neighbour.
/// @param n_rows numbers of rows exchanged with each neighbour
/// @param sent_lengths, received_lengths lengths of these rows, one neighbour after the other
ExchangeCounts count_exchanged_entries(const ExchangeCounts &n_rows,
                                       const std::vector<int> &sent_lengths,
                                       const std::vector<int> &received_lengths)
{
  ExchangeCounts n_entries;
  auto sent = sent_lengths.begin();
  auto received = received_lengths.begin();
  for (const NeighbourCounts &neighbour : n_rows) {
    const auto sent_end = sent + static_cast<std::ptrdiff_t>(neighbour.n_sent);
    const auto received_end = received + static_cast<std::ptrdiff_t>(neighbour.n_received);
    n_entries.push_back({neighbour.rank, std::accumulate(sent, sent_end, std::size_t{0}),
                         std::accumulate(received, received_end, std::size_t{0})});
    sent = sent_end;
    received = received_end;
  }
  return n_entries;
}

/// Returns the matrix whose row k is row rows[k] of @p M.
template <class Backend>
DerivedMatrix<Backend> select_rows(const CsrMatrix &M, const std::vector<int> &rows)
{
  const Buffer<int> on_executor(M.executor(), rows.data(), rows.size());
  const PatternRef pattern = pattern_of(M);
  return {M, M.n_columns(),
          select_entries<Backend>(pattern,
                                  EntriesWhere<AnyColumn>{pattern.view(), {}, on_executor.data()},
                                  static_cast<int>(rows.size()), rows_for_others)};
}

/// Computes the columns of the first @p n entries of @p M as numbered in @p domain, which has more
/// ghosts than the domain of M. The order of columns does not change.
template <class Backend>
void renumber(const CsrMatrix &M, const std::size_t n, const RowSpace &domain, int *const columns)
{
  const GlobalNumbering from(*M.domain()), to(domain);
  Runner<Backend>(*M.executor())
      .run(rows(static_cast<int>(n), [from = from.view(), to = to.view(),
                                      M_columns = M.csr_view().columns,
                                      columns] FEMGPU_BODY(const int k) {
        columns[k] = M_columns[k] < from.n ? M_columns[k] : to.local(from.global(M_columns[k]));
      }));
}

/// Computes the row starts of the matrix with the rows of @p above, followed by those of @p below.
template <class Backend>
void store_starts(const CsrMatrix &above, const CsrMatrix &below, int *const starts)
{
  const int n = above.n();
  Runner<Backend>(*above.executor())
      .run(rows(n + below.n() + 1,
                [n, n_entries = static_cast<int>(above.n_nonzeros()),
                 above_starts = above.csr_view().row_starts.low,
                 below_starts = below.csr_view().row_starts.low, starts] FEMGPU_BODY(const int i) {
                  starts[i] = i < n ? above_starts[i] : n_entries + below_starts[i - n];
                }));
}
} // namespace

template <class Backend>
ReceivedRows<Backend>::ReceivedRows(const ExchangeCounts &n_rows, const CsrMatrix &sent,
                                    const RowSpacePtr &domain, const Multiplies use)
    : comm(*domain->communicator())
{
  const ExecutorPtr &owner = sent.executor();
  std::size_t n_received = 0;
  for (const NeighbourCounts &neighbour : n_rows)
    n_received += neighbour.n_received;
  std::vector<int> lengths(n_received);
  const std::vector<int> sent_lengths = sent.host_row_lengths();
  comm.exchange(n_rows, sizeof(int), sent_lengths.data(), lengths.data());
  n_entries = count_exchanged_entries(n_rows, sent_lengths, lengths);
  std::vector<int> starts(n_received + 1);
  check_n_entries(rows_for_others, std::accumulate(lengths.begin(), lengths.end(), 0LL));
  std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);

  const Buffer<long long> columns_sent = global_columns<Backend>(sent, *domain);
  Buffer<long long> columns(owner, static_cast<std::size_t>(starts.back()));
  comm.exchange_on(owner, n_entries, sizeof(long long), columns_sent.data(), columns.data());
  const RowSpacePtr extended_domain = extend_domain<Backend>(*domain, columns, use);
  DerivedPattern sorted = sorted_rows<Backend>(starts, std::move(columns), *extended_domain);
  order = std::move(sorted.sources);
  result = make_matrix(std::make_shared<RowSpace>(owner, static_cast<int>(n_received)),
                       extended_domain, std::move(sorted.pattern));
  update(sent);
}

template <class Backend>
void ReceivedRows<Backend>::update(const CsrMatrix &sent)
{
  Buffer<double> values(sent.executor(), order.size());
  comm.exchange_on(sent.executor(), n_entries, sizeof(double), sent.csr_view().values,
                   values.data());
  Runner<Backend>(*sent.executor())
      .run(rows(static_cast<int>(order.size()),
                Gather<double>{values.data(), order.data(), result->mutable_values()}));
}

template <class Backend>
GhostRows<Backend>::GhostRows(const RowSpace &rows, const CsrMatrix &M, const Multiplies use)
    : sent(select_rows<Backend>(M, rows.ghost_plan()->sent_rows())),
      received(rows.ghost_plan()->counts(), *sent.matrix(), M.domain(), use)
{
  const ExecutorPtr &owner = M.executor();
  const CsrMatrix &received_rows = received.matrix();
  const std::size_t n = M.n_nonzeros();
  const int n_rows = M.n() + received_rows.n();
  check_n_entries(rows_for_others,
                  static_cast<long long>(n) + static_cast<long long>(received_rows.n_nonzeros()));
  RowPattern pattern{Buffer<int>(owner, static_cast<std::size_t>(n_rows) + 1),
                     Buffer<int>(owner, n + received_rows.n_nonzeros())};
  store_starts<Backend>(M, received_rows, pattern.row_starts.data());
  renumber<Backend>(M, n, *received_rows.domain(), pattern.columns.data());
  owner->copy_within(pattern.columns.data() + n, received_rows.csr_view().columns,
                     received_rows.n_nonzeros() * sizeof(int));
  result = make_matrix(std::make_shared<RowSpace>(owner, n_rows), received_rows.domain(),
                       std::move(pattern));
  set_values(M);
}

template <class Backend>
void GhostRows<Backend>::set_values(const CsrMatrix &M)
{
  const CsrMatrix &received_rows = received.matrix();
  double *const values = result->mutable_values();
  M.executor()->copy_within(values, M.csr_view().values, M.n_nonzeros() * sizeof(double));
  M.executor()->copy_within(values + M.n_nonzeros(), received_rows.csr_view().values,
                            received_rows.n_nonzeros() * sizeof(double));
}

template <class Backend>
void GhostRows<Backend>::update(const CsrMatrix &M)
{
  sent.update(M);
  received.update(*sent.matrix());
  set_values(M);
}

namespace
{
/// Returns the row numbers of ghosts; ghosts follow the owned rows.
std::vector<int> ghost_rows(const RowSpace &rows)
{
  std::vector<int> result(rows.n_with_ghosts() - static_cast<std::size_t>(rows.n()));
  std::iota(result.begin(), result.end(), rows.n());
  return result;
}

/// Returns a matrix whose row i is 1 in each column k with list[k] = i, and has no other entries.
template <class Backend>
DerivedMatrix<Backend> gather_matrix_of(const RowSpace &rows, const std::vector<int> &list)
{
  const ExecutorPtr &owner = rows.executor();
  std::vector<int> starts(list.size() + 1);
  std::iota(starts.begin(), starts.end(), 0);
  const std::vector<double> ones(list.size(), 1.);
  return transposed<Backend>(CsrMatrix(owner, rows.n(),
                                       Buffer<int>(owner, starts.data(), starts.size()),
                                       Buffer<int>(owner, list.data(), list.size()),
                                       Buffer<double>(owner, ones.data(), ones.size())));
}
} // namespace

template <class Backend>
AccumulatedRows<Backend>::AccumulatedRows(const RowSpacePtr &rows, const CsrMatrix &M)
    : sent(select_rows<Backend>(M, ghost_rows(*rows))),
      received(reversed(rows->ghost_plan()->counts()), *sent.matrix(), M.domain(),
               Multiplies::vectors),
      gather_matrix(gather_matrix_of<Backend>(*rows, rows->ghost_plan()->sent_rows())),
      received_sums(*gather_matrix.matrix(), received.matrix())
{
  const ExecutorPtr &owner = M.executor();
  const RowSpacePtr &domain = received.matrix().domain();
  const auto n_starts = static_cast<std::size_t>(rows->n()) + 1;
  const std::size_t n = M.n_nonzeros() - sent.matrix()->n_nonzeros();
  RowPattern pattern{Buffer<int>(owner, n_starts), Buffer<int>(owner, n)};
  owner->copy_within(pattern.row_starts.data(), M.csr_view().row_starts.low,
                     n_starts * sizeof(int));
  renumber<Backend>(M, n, *domain, pattern.columns.data());
  owned = make_matrix(std::make_shared<RowSpace>(*rows, rows->n()), domain, std::move(pattern));
  set_owned_values(M);
  sum = std::make_unique<Sum<Backend>>(1., *owned, 1., *received_sums.matrix());
}

template <class Backend>
void AccumulatedRows<Backend>::set_owned_values(const CsrMatrix &M)
{
  M.executor()->copy_within(owned->mutable_values(), M.csr_view().values,
                            owned->n_nonzeros() * sizeof(double));
}

template <class Backend>
void AccumulatedRows<Backend>::update(const CsrMatrix &M)
{
  sent.update(M);
  received.update(*sent.matrix());
  received_sums.update(*gather_matrix.matrix(), received.matrix());
  set_owned_values(M);
  sum->update(1., *owned, 1., *received_sums.matrix());
}

template class ReceivedRows<ThisBackend>;
template class GhostRows<ThisBackend>;
template class AccumulatedRows<ThisBackend>;
} // namespace femgpu::linalg
