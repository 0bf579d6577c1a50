#include "linalg/sparse/product.h"

#include "linalg/sparse/product_steps.h"
#include "linalg/sparse/symmetry.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
// With so many sums for each of its warps a multiprocessor still has half the warps that it can.
constexpr int most_room = 768;
constexpr int most_pairs_of_warp = 1 << 15;
constexpr int large_team = 256;
constexpr int most_room_of_large = 4096; // 32 KiB: some blocks a multiprocessor
} // namespace

template <class Backend>
Product<Backend>::Product(const CsrMatrix &A, const CsrMatrix &B, const ProductKind kind,
                          const RowGroups *const columns)
    : kind(kind), n_of_A(A.n_nonzeros()), n_of_B(B.n_nonzeros()), groups(A.n())
{
  const std::string what = "The product of " + describe(A) + " and " + describe(B);
  if (A.n_columns() != B.n())
    throw SolverError(what + " does not exist: the columns of the first must be as many as the "
                             "rows of the second.");
  result = make_matrix(A.executor(), multiply<Backend>(pattern_of(A), pattern_of(B), what, columns),
                       B.n_columns());
  if (kind == ProductKind::symmetric && !is_symmetric<Backend>(pattern_of(*result)))
    throw SolverError(what + " was said to be symmetric, but its pattern is not.");
  if constexpr (Backend::kind != BackendKind::host) {
    groups = group_rows<Backend>(pattern_of(A));
    find_large_groups(A, B);
  }
  update(A, B);
}

namespace
{
/// Entries of all rows of a group.
struct GroupSize
{
  RowPatternView pattern;
  RowGroupsView groups;

  FEMGPU_HD
  int operator()(const int group) const
  {
    const auto [begin, end] = groups[group];
    return pattern.row_starts[end] - pattern.row_starts[begin];
  }
};
} // namespace

template <class Backend>
void Product<Backend>::find_large_groups(const CsrMatrix &A, const CsrMatrix &B)
{
  const ExecutorPtr &owner = A.executor();
  const PatternRef C = pattern_of(*result);
  const int n = groups.n();
  Runner<Backend> runner(*owner);
  is_large = Buffer<int>(owner, static_cast<std::size_t>(n));
  runner.run(
      rows(n, GatherCounts<GroupSize>{nullptr, GroupSize{C.view, groups.view()}, is_large.data()}));
  const int largest = total_counts<Backend>(owner, is_large.data(), n).largest;
  room = std::min(largest, most_room);
  room_of_large = std::min(largest, most_room_of_large);
  runner.run(rows(n, MarkLargeGroup{pattern_of(A).view, pattern_of(B).view, C.view, groups.view(),
                                    room, most_pairs_of_warp, is_large.data()}));
  large = flagged_rows<Backend>(owner, is_large).some;
  if (large.size() == 0)
    is_large = Buffer<int>();
}

template <class Backend>
void Product<Backend>::update(const CsrMatrix &A, const CsrMatrix &B)
{
  check_same_pattern("A product", A, n_of_A);
  check_same_pattern("A product", B, n_of_B);
  Runner<Backend> runner(*A.executor());
  const RowPatternView C = pattern_of(*result).view;
  double *const values = result->mutable_values();
  const bool is_symmetric = kind == ProductKind::symmetric;
  const ProductSystem product{
      A.csr_view(), B.csr_view(), C, make_product<Backend>(pattern_of(A), pattern_of(B)).lanes,
      is_symmetric, values};
  if constexpr (Backend::kind == BackendKind::host)
    runner.run(teams(A.n(), AddProductRowOfHost{product},
                     static_cast<int>(doubles_for_ints(static_cast<std::size_t>(B.n_columns())))));
  else if (groups.are_single_rows())
    add_products<1>(product);
  else
    add_products<most_rows_of_group>(product);
  if (is_symmetric)
    runner.run(teams(A.n(), MirrorRow{C, values}));
}

template <class Backend>
template <int most_rows>
void Product<Backend>::add_products(const ProductSystem &product) const
{
  Runner<Backend> runner(*result->executor());
  runner.run(teams(
      groups.n(),
      AddProductRows<32, most_rows>{product, groups.view(), nullptr, is_large.data(), room}, room));
  if (large.size() > 0)
    runner.run(teams(static_cast<int>(large.size()),
                     AddProductRows<large_team, most_rows>{product, groups.view(), large.data(),
                                                           nullptr, room_of_large},
                     room_of_large));
}

template class Product<ThisBackend>;
} // namespace femgpu::linalg
