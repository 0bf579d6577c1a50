#include "linalg/sparse/part_rows.h"

#include "linalg/sparse/choose.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr const char *rows_for_others = "Rows for other parts";

/// The own rows that others have as ghosts, one neighbour after the other.
std::vector<int> sent_rows(const GhostPlan &plan)
{
  std::vector<int> rows;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours)
    rows.insert(rows.end(), neighbour.sent_rows.begin(), neighbour.sent_rows.end());
  return rows;
}

template <class Backend>
DerivedMatrix<Backend> rows_of(const CsrMatrix &M, const std::vector<int> &rows)
{
  const Buffer<int> on_executor(M.executor(), rows.data(), rows.size());
  const PatternRef pattern = pattern_of(M);
  return {M, M.n_columns(),
          choose<Backend>(pattern, EntriesWhere<AnyColumn>{pattern.view(), {}, on_executor.data()},
                          static_cast<int>(rows.size()), rows_for_others)};
}

template <class T>
std::vector<T> to_host(const CsrMatrix &M, const T *const numbers, const std::size_t n)
{
  std::vector<T> result(n);
  if (n > 0)
    M.executor()->copy_to_host(result.data(), numbers, n * sizeof(T));
  return result;
}

/// Their global numbers, which doubles hold.
std::vector<double> global_columns(const RowSpace &domain, const std::vector<int> &columns)
{
  std::vector<double> result;
  result.reserve(columns.size());
  for (const int column : columns)
    result.push_back(static_cast<double>(domain.global_number(column)));
  return result;
}

/// The domain of @p M with these columns, too.
RowSpacePtr domain_with(const CsrMatrix &M, const std::vector<double> &columns)
{
  std::vector<long long> ghosts(columns.begin(), columns.end());
  const std::vector<long long> &known = M.domain()->ghost_plan()->numbers;
  ghosts.insert(ghosts.end(), known.begin(), known.end());
  return std::make_shared<RowSpace>(*M.domain(), std::move(ghosts));
}

/// The first @p n columns of @p M, numbered as in a domain with more ghosts; in the same order.
template <class Backend>
void renumber(const CsrMatrix &M, const std::size_t n, const RowSpace &domain, int *const columns)
{
  std::vector<int> numbers;
  for (const long long ghost : M.domain()->ghost_plan()->numbers)
    numbers.push_back(domain.number_here(ghost));
  const Buffer<int> of_ghosts(M.executor(), numbers.data(), numbers.size());
  Runner<Backend>(*M.executor())
      .run(rows(static_cast<int>(n),
                [n_own = domain.n(), of_ghosts = of_ghosts.data(), from = M.csr_view().columns,
                 columns] FEMGPU_BODY(const int k) {
                  columns[k] = from[k] < n_own ? from[k] : of_ghosts[from[k] - n_own];
                }));
}
} // namespace

template <class Backend>
GhostRows<Backend>::GhostRows(const RowSpace &rows, const CsrMatrix &M)
    : sent(rows_of<Backend>(M, sent_rows(*rows.ghost_plan()))),
      exchange(*rows.communicator(), *rows.ghost_plan(), sent.matrix()->host_row_lengths())
{
  store_pattern(M, exchange.exchange(global_columns(*M.domain(), sent.matrix()->host_columns())));
  store_values(M);
}

template <class Backend>
void GhostRows<Backend>::store_pattern(const CsrMatrix &M, const std::vector<double> &columns)
{
  const ExecutorPtr &owner = M.executor();
  const RowSpacePtr domain = domain_with(M, columns);
  const std::size_t n = M.n_nonzeros();
  check_n_entries(rows_for_others,
                  static_cast<long long>(n) + static_cast<long long>(columns.size()));
  const std::vector<int> &lengths = exchange.lengths();
  std::vector<int> given, ends, numbers;
  for (const double column : columns)
    given.push_back(domain->number_here(static_cast<long long>(column)));
  order.resize(given.size());
  std::iota(order.begin(), order.end(), 0);
  auto begin = order.begin();
  for (const int length : lengths) { // other columns are own ones here, which come first
    std::sort(begin, begin + length, [&](const int k, const int l) { return given[k] < given[l]; });
    begin += length;
    ends.push_back(static_cast<int>(n) + static_cast<int>(begin - order.begin()));
  }
  for (const int k : order)
    numbers.push_back(given[k]);

  const auto n_rows = static_cast<std::size_t>(M.n());
  Buffer<int> row_starts(owner, n_rows + lengths.size() + 1), all(owner, n + columns.size());
  owner->copy_inside(row_starts.data(), M.csr_view().row_starts.low, (n_rows + 1) * sizeof(int));
  renumber<Backend>(M, n, *domain, all.data());
  if (!ends.empty())
    owner->copy_from_host(row_starts.data() + n_rows + 1, ends.data(), ends.size() * sizeof(int));
  if (!numbers.empty())
    owner->copy_from_host(all.data() + n, numbers.data(), numbers.size() * sizeof(int));
  const auto range = std::make_shared<RowSpace>(owner, M.n() + static_cast<int>(lengths.size()));
  Buffer<double> values(owner, all.size());
  result = std::make_shared<CsrMatrix>(range, domain, std::move(row_starts), std::move(all),
                                       std::move(values));
}

template <class Backend>
void GhostRows<Backend>::store_values(const CsrMatrix &M)
{
  const CsrMatrix &rows = *sent.matrix();
  const std::vector<double> given =
      exchange.exchange(to_host(rows, rows.csr_view().values, rows.n_nonzeros()));
  std::vector<double> values;
  for (const int k : order)
    values.push_back(given[k]);
  const std::size_t n = M.n_nonzeros();
  M.executor()->copy_inside(result->mutable_values(), M.csr_view().values, n * sizeof(double));
  if (!values.empty())
    M.executor()->copy_from_host(result->mutable_values() + n, values.data(),
                                 values.size() * sizeof(double));
}

template <class Backend>
void GhostRows<Backend>::update(const CsrMatrix &M)
{
  sent.update(M);
  store_values(M);
}

template <class Backend>
CollectedRows<Backend>::CollectedRows(const RowSpacePtr &rows, const CsrMatrix &M)
{
  const auto n_rows = static_cast<std::size_t>(rows->n());
  const CsrView<double> view = M.csr_view();
  const std::vector<int> starts =
      to_host(M, view.row_starts.low + n_rows, rows->n_with_ghosts() - n_rows + 1);
  n_own = static_cast<std::size_t>(starts.front());
  n_sent = M.n_nonzeros() - n_own;
  std::vector<int> lengths;
  for (std::size_t k = 0; k + 1 < starts.size(); ++k)
    lengths.push_back(starts[k + 1] - starts[k]);
  exchange =
      std::make_unique<RowExchange>(*rows->communicator(), reversed(*rows->ghost_plan()), lengths);
  make_pattern(
      rows, M,
      exchange->exchange(global_columns(*M.domain(), to_host(M, view.columns + n_own, n_sent))));
  set_values(M);
  sum = std::make_unique<Sum<Backend>>(1., *own, 1., *received);
}

/// @param columns of the entries received
template <class Backend>
void CollectedRows<Backend>::make_pattern(const RowSpacePtr &rows, const CsrMatrix &M,
                                          const std::vector<double> &columns)
{
  const ExecutorPtr &owner = M.executor();
  const RowSpacePtr domain = domain_with(M, columns);
  const auto n_rows = static_cast<std::size_t>(rows->n());
  Buffer<int> row_starts(owner, n_rows + 1), own_columns(owner, n_own);
  owner->copy_inside(row_starts.data(), M.csr_view().row_starts.low, (n_rows + 1) * sizeof(int));
  renumber<Backend>(M, n_own, *domain, own_columns.data());
  const auto range = std::make_shared<RowSpace>(*rows, rows->n()); // without ghosts
  own = std::make_shared<CsrMatrix>(range, domain, std::move(row_starts), std::move(own_columns),
                                    Buffer<double>(owner, n_own));

  std::vector<std::tuple<int, int, int>> entries; // row, column, and which one it is
  const std::vector<int> rows_received = sent_rows(*rows->ghost_plan());
  for (std::size_t row = 0; row < rows_received.size(); ++row)
    for (int k = 0; k < exchange->lengths()[row]; ++k) {
      const auto number = static_cast<int>(entries.size());
      entries.emplace_back(rows_received[row],
                           domain->number_here(static_cast<long long>(columns[number])), number);
    }
  std::sort(entries.begin(), entries.end());
  places.resize(entries.size());
  std::vector<int> lengths(n_rows), different;
  int row_before = -1, column_before = -1;
  for (const auto &[row, column, number] : entries) {
    if (row != row_before || column != column_before) {
      different.push_back(column);
      ++lengths[static_cast<std::size_t>(row)];
    }
    places[static_cast<std::size_t>(number)] = static_cast<int>(different.size()) - 1;
    row_before = row;
    column_before = column;
  }
  std::vector<int> starts(n_rows + 1);
  std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
  received =
      std::make_shared<CsrMatrix>(rows, domain, Buffer<int>(owner, starts.data(), starts.size()),
                                  Buffer<int>(owner, different.data(), different.size()),
                                  Buffer<double>(owner, different.size()));
}

template <class Backend>
void CollectedRows<Backend>::set_values(const CsrMatrix &M)
{
  const double *const values = M.csr_view().values;
  M.executor()->copy_inside(own->mutable_values(), values, n_own * sizeof(double));
  const std::vector<double> of_others = exchange->exchange(to_host(M, values + n_own, n_sent));
  std::vector<double> sums(received->n_nonzeros());
  for (std::size_t k = 0; k < places.size(); ++k) // in the order of the neighbours
    sums[static_cast<std::size_t>(places[k])] += of_others[k];
  if (!sums.empty())
    received->update_values(sums.data());
}

template <class Backend>
void CollectedRows<Backend>::update(const CsrMatrix &M)
{
  set_values(M);
  sum->update(1., *own, 1., *received);
}

template class GhostRows<ThisBackend>;
template class CollectedRows<ThisBackend>;
} // namespace femgpu::linalg
