#ifndef femgpu_linalg_sparse_row_product_h
#define femgpu_linalg_sparse_row_product_h

#include "linalg/sparse/column_set.h"
#include "linalg/sparse/row_workspace.h"

/**
 * @file
 * Products of patterns, row by row.
 */
namespace femgpu::linalg
{
/// Two patterns that are multiplied, P B.
struct ProductView
{
  RowPatternView P, B;
  int lanes; ///< threads of a team that share a row of B

  /// Calls f(place in row i of P, place in B) for all pairs of entries, by all threads of a team.
  template <class Team, class Function>
  FEMGPU_HD
  void for_pairs(const Team &team, const int i, const Function &f) const
  {
    const int width = lanes < team.size() ? lanes : team.size();
    const int lane = team.rank() % width;
    for (int k = P.row_starts[i] + team.rank() / width; k < P.row_starts[i + 1];
         k += team.size() / width) {
      const int j = P.columns[k];
      for (int l = B.row_starts[j] + lane; l < B.row_starts[j + 1]; l += width)
        f(k - P.row_starts[i], l);
    }
  }

  /// Is row i of the product a row of B, or empty? It needs no set then.
  FEMGPU_HD
  bool is_copied(const int i) const
  {
    return P.length(i) <= 1;
  }
  /// The row of B that it is, if it is one.
  FEMGPU_HD
  int copied_row(const int i) const
  {
    return P.length(i) == 1 ? P.columns[P.row_starts[i]] : -1;
  }

  /// At most so many columns has row i of the product, but not more than @p most.
  template <class Team>
  FEMGPU_HD
  int bound(const Team &team, const int i, const int most) const
  {
    double sum = 0.;
    for (int k = P.row_starts[i] + team.rank(); k < P.row_starts[i + 1]; k += team.size())
      sum += B.length(P.columns[k]);
    sum = team.sum(sum);
    return sum < most ? static_cast<int>(sum) : most;
  }

  /// Puts the columns of row i of the product into the set.
  template <class Team>
  FEMGPU_HD
  void insert_row(const Team &team, ColumnSet &set, const int i) const
  {
    set.clear(team);
    for_pairs(team, i, [&](int, const int l) { set.insert(team, B.columns[l]); });
  }
};

/// With as many lanes as B has entries in a row, about.
template <class Backend>
ProductView make_product(const PatternRef &P, const PatternRef &B)
{
  int lanes = 1;
  while (Backend::kind != BackendKind::host && lanes < 32 &&
         static_cast<std::size_t>(lanes) * static_cast<std::size_t>(B.n) < B.n_entries)
    lanes *= 2;
  return {P.view, B.view, lanes};
}

/// A bound of the length of a row of a product; not more than @p most.
struct ProductBound
{
  RowPatternView P, B;
  int most;

  FEMGPU_HD
  int operator()(const int i) const
  {
    int bound = 0;
    for (int k = P.row_starts[i]; k < P.row_starts[i + 1] && bound < most; ++k) {
      const int length = B.length(P.columns[k]);
      bound = length < most - bound ? bound + length : most;
    }
    return bound;
  }
};

/// The columns for which a row of a product needs a set; none where it is a copy.
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

/// The set of a team for row i, in its workspace.
template <class Team, class Workspaces>
FEMGPU_HD
ColumnSet product_row_set(const Team &team, const ProductView &product,
                          const Workspaces &workspaces, const int item)
{
  int most = ColumnSet::most_in(2 * workspaces.size(item));
  if constexpr (Workspaces::in_scratch)
    most = product.bound(team, workspaces.row(item), most);
  return {reinterpret_cast<int *>(workspaces.begin(team, item)), most};
}

template <class Workspaces>
struct CountProductRow
{
  static constexpr int team_size = Workspaces::team_size, scratch = 0;
  ProductView product;
  Workspaces workspaces;
  int *lengths, *unfit;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = workspaces.row(item);
    if (product.is_copied(i)) {
      const int j = product.copied_row(i);
      if (team.rank() == 0) {
        lengths[i] = j < 0 ? 0 : product.B.length(j);
        unfit[i] = 0;
      }
      return;
    }
    ColumnSet set = product_row_set(team, product, workspaces, item);
    product.insert_row(team, set, i);
    const int length = set.n_columns(team);
    if (team.rank() == 0) {
      lengths[i] = length;
      unfit[i] = length > set.capacity() ? 1 : 0;
    }
  }
};

template <class Workspaces>
struct StoreProductRow
{
  static constexpr int team_size = Workspaces::team_size, scratch = 0;
  ProductView product;
  Workspaces workspaces;
  const int *row_starts;
  int *columns, *unfit;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = workspaces.row(item);
    if (product.is_copied(i)) {
      copy_row(team, i);
      return;
    }
    ColumnSet set = product_row_set(team, product, workspaces, item);
    product.insert_row(team, set, i);
    const bool fits = set.n_columns(team) <= set.capacity();
    if (team.rank() == 0)
      unfit[i] = fits ? 0 : 1;
    if (fits)
      set.store_sorted(team, columns + row_starts[i]);
  }

  template <class Team>
  FEMGPU_HD
  void copy_row(const Team &team, const int i) const
  {
    const int j = product.copied_row(i), length = j < 0 ? 0 : product.B.length(j);
    for (int k = team.rank(); k < length; k += team.size())
      columns[row_starts[i] + k] = product.B.columns[product.B.row_starts[j] + k];
    if (team.rank() == 0)
      unfit[i] = 0;
  }
};

/// Lengths and columns of the rows of a product of two patterns, P B.
template <class Backend>
class PatternProduct
{
public:
  PatternProduct(const PatternRef &P, const PatternRef &B)
      : executor(P.executor), product(make_product<Backend>(P, B)), n(P.n), n_columns(B.n_columns),
        lengths(executor, static_cast<std::size_t>(n)), unfit(executor, static_cast<std::size_t>(n))
  {}

  /// Of the rows of a list, in host memory.
  std::vector<int> lengths_to_host(const RowList &list)
  {
    run_in_memory(executor, list, bounds(list),
                  [&](const RowBatch &batch, const int n_items) { count(batch, n_items); });
    return counts_to_host<Backend>(executor, list, ElementOf{lengths.data()});
  }

  /// @param what the product, for the text of an error. @throws as make_rows()
  RowPattern columns(const std::string &what)
  {
    run_rows<Backend>(
        executor, n, unfit,
        [&](const RowBatch &batch, const int n_items) { count(batch, n_items); },
        [&](const RowList &sample) {
          lengths_to_host(sample);
          return sizes_of_sets(sample);
        },
        [&](const RowList &list) { return bounds(list); });
    RowPattern result = make_rows<Backend>(executor, lengths, what);
    const auto store = [&](const RowBatch &batch, const int n_items) {
      with_workspaces<Backend>(batch, [&](const auto &workspaces) {
        const StoreProductRow<std::decay_t<decltype(workspaces)>> body{
            product, workspaces, result.row_starts.data(), result.columns.data(), unfit.data()};
        Runner<Backend>(*executor).run(teams(n_items, body, workspaces.scratch));
      });
    };
    const auto sizes = [&](const RowList &list) { return sizes_of_sets(list); };
    run_rows<Backend>(executor, n, unfit, store, sizes, sizes);
    return result;
  }

private:
  static std::vector<std::size_t> set_sizes(const std::vector<int> &most)
  {
    std::vector<std::size_t> sizes;
    for (const int m : most)
      sizes.push_back(doubles_for_ints(ColumnSet::size(m)));
    return sizes;
  }
  std::vector<std::size_t> bounds(const RowList &list) const
  {
    using Size = SetSize<ProductBound>;
    const Size size{product, {product.P, product.B, n_columns}};
    return set_sizes(counts_to_host<Backend>(executor, list, size));
  }
  /// Of rows whose lengths are known.
  std::vector<std::size_t> sizes_of_sets(const RowList &list) const
  {
    const SetSize<ElementOf> size{product, {lengths.data()}};
    return set_sizes(counts_to_host<Backend>(executor, list, size));
  }
  void count(const RowBatch &batch, const int n_items)
  {
    with_workspaces<Backend>(batch, [&](const auto &workspaces) {
      const CountProductRow<std::decay_t<decltype(workspaces)>> body{product, workspaces,
                                                                     lengths.data(), unfit.data()};
      Runner<Backend>(*executor).run(teams(n_items, body, workspaces.scratch));
    });
  }

  ExecutorPtr executor;
  ProductView product;
  int n, n_columns;
  Buffer<int> lengths, unfit;
};
} // namespace femgpu::linalg

#endif
