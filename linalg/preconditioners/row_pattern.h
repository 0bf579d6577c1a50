#ifndef femgpu_linalg_preconditioners_row_pattern_h
#define femgpu_linalg_preconditioners_row_pattern_h

#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"
#include "linalg/matrices/csr_matrix.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * Patterns of preconditioners, row by row where the matrix lives. Only row lengths visit the host.
 */
namespace femgpu::linalg
{
/// Rows of ascending columns.
struct RowPatternView
{
  const int *row_starts; ///< n+1
  const int *columns;

  FEMGPU_HD
  int length(const int i) const
  {
    return row_starts[i + 1] - row_starts[i];
  }

  /// The place of entry (i, column) at @p from or after it; -1 if there is none.
  FEMGPU_HD
  int find(const int i, const int column, const int from) const
  {
    int begin = from, end = row_starts[i + 1];
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (columns[middle] < column)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin < row_starts[i + 1] && columns[begin] == column ? begin : -1;
  }
  FEMGPU_HD
  int find(const int i, const int column) const
  {
    return find(i, column, row_starts[i]);
  }
};

struct RowPattern
{
  Buffer<int> row_starts, columns;
  std::vector<int> host_row_starts;

  RowPatternView view() const
  {
    return {row_starts.data(), columns.data()};
  }
  int n() const
  {
    return static_cast<int>(host_row_starts.size()) - 1;
  }
};

/// Room for rows of the @p lengths given, in host memory. @throws SolverError beyond 2^31-1 entries
inline RowPattern make_rows(const ExecutorPtr &executor, const std::vector<int> &lengths)
{
  RowPattern pattern;
  pattern.host_row_starts.push_back(0);
  std::size_t n_entries = 0;
  for (const int length : lengths) {
    n_entries += static_cast<std::size_t>(length);
    pattern.host_row_starts.push_back(static_cast<int>(n_entries));
  }
  if (n_entries > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw SolverError("The pattern of a preconditioner would have " + std::to_string(n_entries) +
                      " entries, more than its indices can count. Use a smaller tau, power or "
                      "level.");
  pattern.row_starts =
      Buffer<int>(executor, pattern.host_row_starts.data(), pattern.host_row_starts.size());
  pattern.columns = Buffer<int>(executor, n_entries);
  return pattern;
}

/// Calls f(column) for the entries of row i of A that count, with the diagonal, in their order.
template <class Function>
FEMGPU_HD
void for_large_entries(const CsrView<double> &A, const double tau, const int i, const Function &f)
{
  double largest = 0.;
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
    largest = fmax(largest, fabs(A.values[k]));
  bool needs_diagonal = true;
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
    const int column = A.columns[k];
    if (needs_diagonal && column >= i) {
      needs_diagonal = false;
      f(i);
    }
    if (column != i && fabs(A.values[k]) > (1. - tau) * largest)
      f(column);
  }
  if (needs_diagonal)
    f(i);
}

struct CountLargeEntries
{
  CsrView<double> A;
  double tau;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for_large_entries(A, tau, i, [&](int) { ++length; });
    lengths[i] = length;
  }
};

struct StoreLargeEntries
{
  CsrView<double> A;
  double tau;
  const int *row_starts;
  int *columns;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for_large_entries(A, tau, i, [&](const int column) { columns[at++] = column; });
  }
};

/**
 * The entries of each row with |a| > (1 − τ) max |a|, and the diagonal (Dehnavi 2012, chapter 5;
 * there for columns). τ = 1: all that are not zero; τ = 0: the diagonal alone.
 */
template <class Backend>
RowPattern large_entries(const CsrMatrix &A, const double tau)
{
  Runner<Backend> runner(*A.executor());
  Buffer<int> lengths(A.executor(), static_cast<std::size_t>(A.n()));
  runner.run(rows(A.n(), CountLargeEntries{A.csr_view(), tau, lengths.data()}));
  RowPattern pattern = make_rows(A.executor(), lengths.to_host());
  runner.run(rows(A.n(), StoreLargeEntries{A.csr_view(), tau, pattern.row_starts.data(),
                                           pattern.columns.data()}));
  return pattern;
}

/// The entries j <= i of a row i, or j >= i.
struct LowerPart
{
  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return j <= i;
  }
};
struct UpperPart
{
  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return j >= i;
  }
};

template <class Keep>
struct CountKept
{
  RowPatternView pattern;
  Keep keep;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      length += keep(i, pattern.columns[k]) ? 1 : 0;
    lengths[i] = length;
  }
};

template <class Keep>
struct StoreKept
{
  RowPatternView pattern;
  Keep keep;
  const int *row_starts;
  int *columns;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      if (keep(i, pattern.columns[k]))
        columns[at++] = pattern.columns[k];
  }
};

/// The entries (i, j) for which keep(i, j) holds.
template <class Backend, class Keep>
RowPattern select(const RowPattern &pattern, const Keep &keep, const ExecutorPtr &executor)
{
  Runner<Backend> runner(*executor);
  Buffer<int> lengths(executor, static_cast<std::size_t>(pattern.n()));
  runner.run(rows(pattern.n(), CountKept<Keep>{pattern.view(), keep, lengths.data()}));
  RowPattern kept = make_rows(executor, lengths.to_host());
  runner.run(rows(pattern.n(), StoreKept<Keep>{pattern.view(), keep, kept.row_starts.data(),
                                               kept.columns.data()}));
  return kept;
}

/// The workspace of one row: a set of columns that a team fills.
class ColumnSet
{
public:
  /// ints that a set of at most @p most columns needs
  FEMGPU_HD
  static std::size_t size(const int most)
  {
    return static_cast<std::size_t>(table_size(most)) + static_cast<std::size_t>(most) + 1;
  }

  FEMGPU_HD
  ColumnSet(int *memory, const int most)
      : count(memory), list(memory + 1), table(memory + 1 + most), mask(table_size(most) - 1)
  {}

  template <class Team>
  FEMGPU_HD
  void clear(const Team &team)
  {
    for (int k = team.rank(); k <= mask; k += team.size())
      table[k] = -1;
    if (team.rank() == 0)
      *count = 0;
    team.sync();
  }

  template <class Team>
  FEMGPU_HD
  void insert(const Team &team, const int column)
  {
    unsigned int slot = static_cast<unsigned int>(column) * 2654435761U >> 7;
    for (;; ++slot) {
      slot &= static_cast<unsigned int>(mask);
      const int old = team.compare_and_swap(table + slot, -1, column);
      if (old == column)
        return;
      if (old == -1)
        break;
    }
    list[team.count_up(count)] = column;
  }

  /// To be called by all threads after the last insert().
  template <class Team>
  FEMGPU_HD
  int n_columns(const Team &team) const
  {
    team.sync();
    return *count;
  }

  template <class Team>
  FEMGPU_HD
  void store_sorted(const Team &team, int *to) const
  {
    team.sync();
    team.sort(list, *count, to);
    team.sync();
  }

private:
  FEMGPU_HD
  static int table_size(const int most)
  {
    int size = 16;
    while (size < 2 * most)
      size *= 2;
    return size;
  }

  int *count, *list, *table;
  int mask;
};

/// The columns of all rows of B that row @p i of P names.
template <class Team>
FEMGPU_HD
void insert_product_row(const Team &team, ColumnSet &set, const RowPatternView &P,
                        const RowPatternView &B, const int i)
{
  set.clear(team);
  for (int k = P.row_starts[i]; k < P.row_starts[i + 1]; ++k) {
    const int j = P.columns[k];
    for (int l = B.row_starts[j] + team.rank(); l < B.row_starts[j + 1]; l += team.size())
      set.insert(team, B.columns[l]);
  }
}

/// At most so many columns has row i of the product of two patterns.
struct BoundProductRow
{
  RowPatternView P, B;
  int n;
  int *bounds;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int bound = 0;
    for (int k = P.row_starts[i]; k < P.row_starts[i + 1] && bound < n; ++k)
      bound += B.length(P.columns[k]);
    bounds[i] = bound < n ? bound : n;
  }
};

/// Where a batch of rows works: row first + i has the memory from offsets[i] on.
struct Batch
{
  int first;
  const std::size_t *offsets;
  double *memory;
};

/**
 * Calls @p f(batch, n_rows) for batches of rows whose workspaces, of sizes(i) doubles, fit into a
 * part of the memory that is free.
 * @throws DeviceError if there is not even memory for one row
 */
template <class Sizes, class Function>
void for_batches(const ExecutorPtr &executor, const int n, const Sizes &sizes, const Function &f)
{
  // doubles: 2 GiB fill a GPU; the host has few rows at work, and new pages cost it much
  const std::size_t most = std::size_t{1} << (executor->backend() == BackendKind::host ? 22 : 28);
  const std::size_t budget = std::min(most, executor->memory().free / 4 / sizeof(double));
  Buffer<double> memory;
  for (int first = 0, last = 0; first < n; first = last) {
    std::vector<std::size_t> offsets;
    std::size_t total = 0;
    for (; last < n && (last == first || total + sizes(last) <= budget); ++last) {
      offsets.push_back(total);
      total += sizes(last);
    }
    const Buffer<std::size_t> device_offsets(executor, offsets.data(), offsets.size());
    if (memory.size() < total) {
      memory = Buffer<double>(); // before there is another one
      memory = Buffer<double>(executor, total);
    }
    f(Batch{first, device_offsets.data(), memory.data()}, last - first);
    executor->synchronize();
  }
}

/// doubles that hold @p n ints
inline std::size_t doubles_for_ints(const std::size_t n)
{
  return (n * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

struct CountProductRow
{
  static constexpr int team_size = 32, scratch = 0;
  RowPatternView P, B;
  Batch batch;
  const int *bounds;
  int *lengths;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = batch.first + item;
    ColumnSet set(reinterpret_cast<int *>(batch.memory + batch.offsets[item]), bounds[i]);
    insert_product_row(team, set, P, B, i);
    const int length = set.n_columns(team);
    if (team.rank() == 0)
      lengths[i] = length;
  }
};

struct StoreProductRow
{
  static constexpr int team_size = 32, scratch = 0;
  RowPatternView P, B;
  Batch batch;
  const int *bounds, *row_starts;
  int *columns;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = batch.first + item;
    ColumnSet set(reinterpret_cast<int *>(batch.memory + batch.offsets[item]), bounds[i]);
    insert_product_row(team, set, P, B, i);
    set.store_sorted(team, columns + row_starts[i]);
  }
};

/// Bounds of the row lengths of the product of two patterns, and then the lengths.
struct ProductLengths
{
  Buffer<int> bounds;
  std::vector<int> host_bounds, lengths;

  std::size_t set_size(const int i) const
  {
    return doubles_for_ints(ColumnSet::size(host_bounds[static_cast<std::size_t>(i)]));
  }
};

template <class Backend>
ProductLengths product_lengths(const ExecutorPtr &executor, const int n, const RowPatternView &P,
                               const RowPatternView &B)
{
  Runner<Backend> runner(*executor);
  ProductLengths result;
  result.bounds = Buffer<int>(executor, static_cast<std::size_t>(n));
  runner.run(rows(n, BoundProductRow{P, B, n, result.bounds.data()}));
  result.host_bounds = result.bounds.to_host();
  Buffer<int> lengths(executor, static_cast<std::size_t>(n));
  for_batches(
      executor, n, [&](const int i) { return result.set_size(i); },
      [&](const Batch &batch, const int n_rows) {
        runner.run(
            teams(n_rows, CountProductRow{P, B, batch, result.bounds.data(), lengths.data()}));
      });
  result.lengths = lengths.to_host();
  return result;
}

/// The pattern of P B.
template <class Backend>
RowPattern multiply(const RowPattern &P, const RowPattern &B, const ExecutorPtr &executor)
{
  Runner<Backend> runner(*executor);
  const ProductLengths lengths = product_lengths<Backend>(executor, P.n(), P.view(), B.view());
  RowPattern product = make_rows(executor, lengths.lengths);
  for_batches(
      executor, P.n(), [&](const int i) { return lengths.set_size(i); },
      [&](const Batch &batch, const int n_rows) {
        runner.run(
            teams(n_rows, StoreProductRow{P.view(), B.view(), batch, lengths.bounds.data(),
                                          product.row_starts.data(), product.columns.data()}));
      });
  return product;
}

/// The pattern of S^power, where S are the large entries of A.
template <class Backend>
RowPattern inverse_pattern(const CsrMatrix &A, const double tau, const int power)
{
  RowPattern S = large_entries<Backend>(A, tau);
  if (power == 1)
    return S;
  RowPattern pattern = multiply<Backend>(S, S, A.executor());
  for (int k = 2; k < power; ++k)
    pattern = multiply<Backend>(pattern, S, A.executor());
  return pattern;
}
} // namespace femgpu::linalg

#endif
