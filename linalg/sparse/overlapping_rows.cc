#include "linalg/sparse/overlapping_rows.h"

#include "linalg/base/atomic.h"
#include "linalg/sparse/select_entries.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Gives columns new numbers. The n owned columns from `first` on stay contiguous.
struct ColumnNumbers
{
  int first, n;       ///< range of the owned columns
  int new_first;      ///< first owned column in the new numbering
  const int *overlap; ///< new numbers of all other columns; -1: the column is dropped

  FEMGPU_HD
  int operator()(const int column) const
  {
    return column < first       ? overlap[column]
           : column < first + n ? column - first + new_first
                                : overlap[column - n];
  }
};

/// A selector for select_entries(): selects rows and gives their columns new numbers. In the new
/// numbering, columns before `middle` follow the columns from `middle` to `end`. Entries are
/// processed in the new order, so that the columns of the result ascend.
struct SwappedColumnRanges
{
  RowPatternView A;
  const int *rows;
  int middle, end;
  ColumnNumbers numbers;

  FEMGPU_HD
  int row(const int r) const
  {
    return rows[r];
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k == A.row_starts[i + 1])
      return;
    const int begin = A.row_starts[i];
    const int n_first = A.lower_bound(i, middle, begin) - begin;
    const int n_second = A.lower_bound(i, end, begin + n_first) - begin - n_first;
    const int position = k - begin;
    const int source = begin + (position < n_second             ? position + n_first
                                : position < n_second + n_first ? position - n_second
                                                                : position);
    if (const int column = numbers(A.columns[source]); column >= 0)
      f(column, source);
  }
};

/// Returns the pattern of some rows of @p M with renumbered columns.
/// @param new_overlap see ColumnNumbers::overlap
template <class Backend>
DerivedPattern renumbered(const CsrMatrix &M, const std::vector<int> &rows, const int middle,
                          const int end, ColumnNumbers numbers, const std::vector<int> &new_overlap)
{
  const ExecutorPtr &owner = M.executor();
  const Buffer<int> rows_buffer(owner, rows.data(), rows.size()),
      others_buffer(owner, new_overlap.data(), new_overlap.size());
  numbers.overlap = others_buffer.data();
  const PatternRef pattern = pattern_of(M);
  return select_entries<Backend>(
      pattern, SwappedColumnRanges{pattern.view(), rows_buffer.data(), middle, end, numbers},
      static_cast<int>(rows.size()), "Rows of other subdomains");
}

/// Returns how many of the ascending @p numbers are less than @p row.
int count_below(const std::vector<long long> &numbers, const long long row)
{
  return static_cast<int>(std::lower_bound(numbers.begin(), numbers.end(), row) - numbers.begin());
}

/// Returns a flag for each column of @p M: 1 if one of the @p n rows from @p first on has an entry
/// in that column, else 0.
template <class Backend>
std::vector<int> used_columns(const CsrMatrix &M, const int first, const int n)
{
  const ExecutorPtr &owner = M.executor();
  Buffer<int> flags(owner, static_cast<std::size_t>(M.n_columns()));
  flags.fill_zero();
  Runner<Backend>(*owner).run(
      rows(n, [view = M.csr_view(), first, used = flags.data()] FEMGPU_BODY(const int i) {
        const RowEntries<double> row = view.entries(first + i);
        for (int k = 0; k < row.length; ++k)
          store_relaxed(used + row.columns[k], 1);
      }));
  return flags.to_host();
}
} // namespace

template <class Backend>
OverlappingRows<Backend>::OverlappingRows(const CsrMatrix &A, const int layers) : A(A)
{
  if (A.range()->communicator() == nullptr)
    return;
  std::unique_ptr<GhostRows<Backend>> rows; // owned rows, and rows of the ghosts of extended_domain
  RowSpacePtr extended_domain = A.domain();
  for (int layer = 1;; ++layer) {
    rows.reset(); // frees the copy of A
    rows = std::make_unique<GhostRows<Backend>>(
        *extended_domain, A, layer == layers ? Multiplies::matrices : Multiplies::vectors);
    if (layer == layers)
      break;
    extended_domain = rows->matrix().domain();
  }
  const int n = A.n();
  overlap = extended_domain->ghost_plan()->numbers;
  n_before = count_below(overlap, extended_domain->first());
  const auto n_overlap = static_cast<int>(overlap.size());
  const auto in_order = [&](const int other) { return other < n_before ? other : n + other; };

  std::vector<int> list(static_cast<std::size_t>(n + n_overlap)), columns;
  std::iota(list.begin() + n_before, list.begin() + n_before + n, 0);
  for (int other = 0; other < n_overlap; ++other)
    list[in_order(other)] = n + other;
  const std::vector<long long> &known = rows->matrix().domain()->ghost_plan()->numbers;
  for (const long long number : known) {
    const int position = count_below(overlap, number);
    columns.push_back(position < n_overlap && overlap[position] == number ? in_order(position)
                                                                          : -1);
  }
  square.emplace(rows->matrix(), n + n_overlap,
                 renumbered<Backend>(rows->matrix(), list, n,
                                     n + count_below(known, extended_domain->first()),
                                     {0, n, n_before, nullptr}, columns));
}

/// Returns the domain of A if it has all ghosts that the owned rows of @p M need on all ranks; else
/// a new domain with the ghosts that they need.
template <class Backend>
RowSpacePtr OverlappingRows<Backend>::domain_of(const CsrMatrix &M) const
{
  const std::vector<int> is_used = used_columns<Backend>(M, n_before, A.n());
  std::vector<long long> ghosts;
  for (int other = 0; other < static_cast<int>(overlap.size()); ++other)
    if (is_used[other < n_before ? other : other + A.n()] != 0)
      ghosts.push_back(overlap[other]);
  const std::vector<long long> &known = A.domain()->ghost_plan()->numbers;
  const bool is_new = !std::includes(known.begin(), known.end(), ghosts.begin(), ghosts.end());
  return A.range()->max(is_new ? 1. : 0.) == 0.
             ? A.domain()
             : std::make_shared<RowSpace>(*A.range(), std::move(ghosts));
}

template <class Backend>
std::shared_ptr<const CsrMatrix>
OverlappingRows<Backend>::owned_rows(std::shared_ptr<const CsrMatrix> M) const
{
  if (!square)
    return M;
  const int n = A.n();
  const RowSpacePtr domain = domain_of(*M);
  std::vector<int> list(static_cast<std::size_t>(n)), columns;
  std::iota(list.begin(), list.end(), n_before);
  for (const long long number : overlap)
    columns.push_back(domain->local_index(number));
  return DerivedMatrix<Backend>(*M, A.range(), domain,
                                renumbered<Backend>(*M, list, n_before, n_before + n,
                                                    {n_before, n, 0, nullptr}, columns))
      .matrix();
}

template class OverlappingRows<ThisBackend>;
} // namespace femgpu::linalg
