#ifndef femgpu_linalg_sparse_row_product_h
#define femgpu_linalg_sparse_row_product_h

#include "linalg/sparse/column_set.h"
#include "linalg/sparse/row_groups.h"

#include <algorithm>

/**
 * @file
 * Products of patterns, row by row.
 */
namespace femgpu::linalg
{
/// The factors of a product P B of patterns; P may have any number of entries.
struct ProductView
{
  LongPatternView P;
  RowPatternView B;
  int lanes; ///< threads of a team that share a row of B

  /// Calls f(position in row i of P, position in B), by all threads of a team, for all pairs of an
  /// entry p_ij in row i of P and an entry in row j of B.
  template <class Team, class Function>
  FEMGPU_HD
  void for_each_pair(const Team &team, const int i, const Function &f) const
  {
    const int width = lanes < team.size() ? lanes : team.size();
    const int lane = team.rank() % width;
    const RowColumns row = P[i];
    for (int k = team.rank() / width; k < row.length; k += team.size() / width) {
      const int j = row.columns[k];
      for (int l = B.row_starts[j] + lane; l < B.row_starts[j + 1]; l += width)
        f(k, l);
    }
  }

  /// Returns whether row i of the product is a row of B, or empty. Such a row needs no ColumnSet.
  FEMGPU_HD
  bool is_copied(const int i) const
  {
    return P.length(i) <= 1;
  }
  /// Returns the row of B that equals row i of the product; -1 if the row is empty.
  FEMGPU_HD
  int copied_row(const int i) const
  {
    const RowColumns row = P[i];
    return row.length == 1 ? row.columns[0] : -1;
  }

  /// Returns the number of pairs of entries of row i, an upper bound of its number of columns.
  template <class Team>
  FEMGPU_HD
  double n_pairs(const Team &team, const int i) const
  {
    const RowColumns row = P[i];
    double sum = 0.;
    for (int k = team.rank(); k < row.length; k += team.size())
      sum += B.length(row.columns[k]);
    return team.sum(sum);
  }

  /// Returns an upper bound of the number of columns of row i of the product, capped at @p limit.
  template <class Team>
  FEMGPU_HD
  int bound(const Team &team, const int i, const int limit) const
  {
    const double n = n_pairs(team, i);
    return n < limit ? static_cast<int>(n) : limit;
  }

  /// Clears the set, and inserts the columns of row i of the product.
  template <class Team>
  FEMGPU_HD
  void insert_row(const Team &team, ColumnSet &set, const int i) const
  {
    set.clear(team);
    for_each_pair(team, i, [&](int, const int l) { set.insert(team, B.columns[l]); });
  }
};

/// Makes the view of a product, with about as many lanes as B has entries per row.
template <class Backend>
ProductView make_product(const PatternRef &P, const PatternRef &B)
{
  int lanes = 1;
  while (Backend::kind != BackendKind::host && lanes < 32 &&
         static_cast<std::size_t>(lanes) * static_cast<std::size_t>(B.n) < B.n_entries)
    lanes *= 2;
  return {P.rows, B.view(), lanes};
}

/// Computes an upper bound of the length of a row of a product, capped at @p limit.
struct ProductBound
{
  LongPatternView P;
  RowPatternView B;
  int limit;

  FEMGPU_HD
  int operator()(const int i) const
  {
    const RowColumns row = P[i];
    int bound = 0;
    for (int k = 0; k < row.length && bound < limit; ++k) {
      const int length = B.length(row.columns[k]);
      bound = length < limit - bound ? bound + length : limit;
    }
    return bound;
  }
};

/// Returns how many columns the ColumnSet of a row must hold; 0 if the row is a copy.
template <class Count>
struct SetSize
{
  ProductView product;
  Count n_columns;

  FEMGPU_HD
  int operator()(const int i) const
  {
    return product.is_copied(i) ? 0 : n_columns(i);
  }
};

constexpr int max_pairs_of_small_team = 1 << 12; ///< more pairs need at least a warp

/// Computes the columns of a row of P B, or counts them.
template <bool stores>
struct ProductRow
{
  static constexpr int min_team_size = 8; // the smallest team, for run_batch()
  ProductView product;
  int *lengths; ///< used if `stores` is false
  const int *row_starts;
  int *columns;

  template <class Team, class RowWorkspace>
  FEMGPU_HD
  bool operator()(const Team &team, const RowWorkspace &workspace) const
  {
    const int i = workspace.row;
    if (product.is_copied(i)) {
      copy_row(team, i);
      return true;
    }
    int limit = ColumnSet::capacity_in(2 * workspace.size);
    if constexpr (RowWorkspace::in_scratch) {
      const double n_pairs = product.n_pairs(team, i);
      if (Team::size() == min_team_size && n_pairs > max_pairs_of_small_team)
        return false; // the team would finish last
      limit = n_pairs < limit ? static_cast<int>(n_pairs) : limit;
    }
    ColumnSet set(reinterpret_cast<int *>(workspace.memory), limit);
    product.insert_row(team, set, i);
    const int length = set.n_columns(team);
    const bool fits = length <= set.capacity();
    if constexpr (stores) {
      if (fits)
        set.store_sorted(team, columns + row_starts[i]);
    }
    else if (team.rank() == 0)
      lengths[i] = length;
    return fits;
  }

  template <class Team>
  FEMGPU_HD
  void copy_row(const Team &team, const int i) const
  {
    const int j = product.copied_row(i), length = j < 0 ? 0 : product.B.length(j);
    if constexpr (stores)
      for (int k = team.rank(); k < length; k += team.size())
        columns[row_starts[i] + k] = product.B.columns[product.B.row_starts[j] + k];
    else if (team.rank() == 0)
      lengths[i] = length;
  }
};

/// Computes or counts the columns of a row of P B by one thread of the host. The scratch, initially
/// 0, holds for each column the number of the last row, counted from 1, in which the column
/// occurred, so that nothing needs to be searched or cleared.
template <bool stores>
struct HostProductRow
{
  static constexpr int team_size = 1, scratch = 0;
  ProductView product;
  int *lengths;
  const int *row_starts;
  int *columns;

  template <class Team>
  void operator()(const Team &team, const int i) const
  {
    int *const seen = reinterpret_cast<int *>(team.scratch());
    int *const to = stores ? columns + row_starts[i] : nullptr;
    int length = 0;
    product.for_each_pair(team, i, [&](int, const int l) {
      const int column = product.B.columns[l];
      if (seen[column] == i + 1)
        return;
      seen[column] = i + 1;
      if constexpr (stores)
        to[length] = column;
      ++length;
    });
    if constexpr (stores)
      std::sort(to, to + length);
    else
      lengths[i] = length;
  }
};

/// Computes the lengths and columns of the rows of a product P B of patterns.
template <class Backend>
class PatternProduct
{
public:
  PatternProduct(const PatternRef &P, const PatternRef &B)
      : executor(P.executor), product(make_product<Backend>(P, B)), n(P.n), n_columns(B.n_columns),
        lengths(executor, static_cast<std::size_t>(n))
  {}

  /// Returns the lengths of the rows in @p list, in host memory.
  std::vector<int> lengths_to_host(const RowList &list)
  {
    run_in_memory<Backend>(executor, list, bounds(list), counting(), nullptr);
    return counts_to_host<Backend>(executor, list, ElementOf{lengths.data()});
  }

  /// Computes the pattern.
  /// @param what name of the product for error messages
  /// @throws SolverError if there are more than max_indices entries
  RowPattern columns(const std::string &what)
  {
    if constexpr (Backend::kind == BackendKind::host)
      return columns_on_host(what);
    else
      return columns_by_teams(what);
  }

private:
  RowPattern columns_on_host(const std::string &what)
  {
    Runner<Backend> runner(*executor);
    const auto scratch = static_cast<int>(doubles_for_ints(static_cast<std::size_t>(n_columns)));
    runner.run(teams(n, HostProductRow<false>{product, lengths.data(), nullptr, nullptr}, scratch));
    RowPattern result = make_rows<Backend>(executor, lengths, what);
    runner.run(teams(
        n, HostProductRow<true>{product, nullptr, result.row_starts.data(), result.columns.data()},
        scratch));
    return result;
  }

  RowPattern columns_by_teams(const std::string &what)
  {
    const auto sizes = [&](const RowList &list) { return sizes_of_sets(list); };
    run_rows<Backend>(
        executor, n, counting(),
        [&](const RowList &sample) {
          lengths_to_host(sample);
          return sizes_of_sets(sample);
        },
        [&](const RowList &list) { return bounds(list); });
    RowPattern result = make_rows<Backend>(executor, lengths, what);
    run_rows<Backend>(
        executor, n,
        ProductRow<true>{product, nullptr, result.row_starts.data(), result.columns.data()}, sizes,
        sizes);
    return result;
  }

  ProductRow<false> counting()
  {
    return {product, lengths.data(), nullptr, nullptr};
  }
  template <class Count>
  std::vector<std::size_t> set_sizes(const RowList &list, const Count &n_columns) const
  {
    std::vector<std::size_t> sizes;
    for (const int limit :
         counts_to_host<Backend>(executor, list, SetSize<Count>{product, n_columns}))
      sizes.push_back(doubles_for_ints(ColumnSet::size(limit)));
    return sizes;
  }
  std::vector<std::size_t> bounds(const RowList &list) const
  {
    return set_sizes(list, ProductBound{product.P, product.B, n_columns});
  }
  /// Returns the sizes of the sets of rows whose lengths are known.
  std::vector<std::size_t> sizes_of_sets(const RowList &list) const
  {
    return set_sizes(list, ElementOf{lengths.data()});
  }

  ExecutorPtr executor;
  ProductView product;
  int n, n_columns;
  Buffer<int> lengths;
};

/**
 * Returns the pattern of P B. If many rows of P are in groups (row_groups.h), such as the rows of
 * nodes with several unknowns, the pattern is computed for groups of rows and columns and then
 * expanded.
 * @param what name of the result for error messages
 * @param columns groups of columns of B that occur in the same rows; nullptr: unknown
 * @throws SolverError if there are more than max_indices entries
 * @throws DeviceError if memory is exhausted
 */
template <class Backend>
RowPattern multiply(const PatternRef &P, const PatternRef &B,
                    const std::string &what = "The pattern of a preconditioner",
                    const RowGroups *columns = nullptr);

/// Returns the lengths of the rows of P B in @p list, in host memory.
template <class Backend>
std::vector<int> product_lengths(const PatternRef &P, const PatternRef &B, const RowList &list);
} // namespace femgpu::linalg

#endif
