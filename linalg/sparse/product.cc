#include "linalg/sparse/product.h"

#include "linalg/sparse/product_steps.h"
#include "linalg/sparse/symmetry.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
namespace
{
// These limits of sums per team allow at least half of a multiprocessor's maximum occupancy.
constexpr TeamLimits small_team_limits{96, max_pairs_of_small_team}, warp_limits{768, 1 << 15};
constexpr int large_team = 256;
constexpr int max_room_of_large_team = 4096; // 32 KiB: several blocks fit on a multiprocessor
} // namespace

template <class Backend>
Product<Backend>::Product(const CsrMatrix &A, const CsrMatrix &B, const ProductKind kind,
                          const RowGroups *const columns, Buffer<int> full_rows)
    : kind(kind), full_rows(std::move(full_rows)), n_nonzeros_of_A(A.n_nonzeros()),
      n_nonzeros_of_B(B.n_nonzeros()), groups(A.n())
{
  const std::string what = "The product of " + describe(A) + " and " + describe(B);
  if (A.n_columns() != B.n())
    throw SolverError(what +
                      " does not exist: the number of columns of the first matrix must equal "
                      "the number of rows of the second.");
  result = make_matrix(A.range(), B.domain(),
                       multiply<Backend>(pattern_of(A), pattern_of(B), what, columns));
  if constexpr (Backend::kind != BackendKind::host) {
    groups = group_rows<Backend>(pattern_of(A));
    choose_teams(A, B);
  }
  if (this->full_rows.size() > 0)
    Runner<Backend>(*A.executor())
        .run(teams(groups.n(), CompleteFullRows{pattern_of(*result).view(), groups.view(),
                                                this->full_rows.data()}));
  else if (kind == ProductKind::symmetric && !is_symmetric<Backend>(pattern_of(*result)))
    throw SolverError(what + " was declared symmetric, but its pattern is not.");
  update(A, B);
}

namespace
{
/// Returns the number of entries in all rows of a group.
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
void Product<Backend>::choose_teams(const CsrMatrix &A, const CsrMatrix &B)
{
  const ExecutorPtr &owner = A.executor();
  const RowPatternView rows_of_B = pattern_of(B).view(), rows_of_C = pattern_of(*result).view();
  const int n = groups.n();
  const auto longest_of = [&](const int n_counted, const auto &count) {
    Buffer<int> counts(owner, static_cast<std::size_t>(n_counted));
    Runner<Backend>(*owner).run(rows(
        n_counted, GatherCounts<std::decay_t<decltype(count)>>{nullptr, count, counts.data()}));
    return total_counts<Backend>(owner, counts.data(), n_counted).largest;
  };
  max_sums = longest_of(n, GroupSize{rows_of_C, groups.view()});
  const int longest_of_B = longest_of(B.n(), RowLength{rows_of_B});
  Buffer<int> is_for_warp(owner, static_cast<std::size_t>(n)),
      is_for_block(owner, is_for_warp.size());
  is_long = Buffer<int>(owner, is_for_warp.size());
  const TeamLimits no_small_team{-1, 0};
  Runner<Backend>(*owner).run(
      rows(n, ChooseTeam{pattern_of(A).rows, rows_of_B, rows_of_C, groups.view(), longest_of_B,
                         groups.are_single_rows() ? small_team_limits : no_small_team, warp_limits,
                         is_long.data(), is_for_warp.data(), is_for_block.data()}));
  warp_groups = flagged_rows<Backend>(owner, is_for_warp);
  block_groups = flagged_rows<Backend>(owner, is_for_block);
  if (!groups.are_single_rows() || warp_groups.n + block_groups.n == 0)
    is_long = Buffer<int>();
}

template <class Backend>
void Product<Backend>::update(const CsrMatrix &A, const CsrMatrix &B)
{
  check_same_pattern("A product", A, n_nonzeros_of_A);
  check_same_pattern("A product", B, n_nonzeros_of_B);
  Runner<Backend> runner(*A.executor());
  const RowPatternView C = pattern_of(*result).view();
  double *const values = result->mutable_values();
  const bool is_symmetric = kind == ProductKind::symmetric;
  const ProductSystem product{A.csr_view(),
                              B.csr_view(),
                              C,
                              make_product<Backend>(pattern_of(A), pattern_of(B)).lanes,
                              is_symmetric,
                              full_rows.size() > 0 ? full_rows.data() : nullptr,
                              values};
  if constexpr (Backend::kind == BackendKind::host)
    runner.run(teams(A.n(), AddHostProductRow{product},
                     static_cast<int>(doubles_for_ints(static_cast<std::size_t>(B.n_columns())))));
  else if (groups.are_single_rows())
    add_rows<1>(product);
  else
    add_rows<max_rows_per_group>(product);
  if (is_symmetric)
    runner.run(teams(A.n(), MirrorRow{product}));
}

template <class Backend>
template <int max_rows>
void Product<Backend>::add_rows(const ProductSystem &product) const
{
  Runner<Backend> runner(*result->executor());
  if constexpr (max_rows == 1) {
    const int capacity = std::min(max_sums, small_team_limits.max_sums);
    runner.run(teams(groups.n(), AddShortProductRow{product, is_long.data(), capacity},
                     AddShortProductRow::scratch_for(capacity)));
  }
  const auto run = [&](const auto &body, const RowList &list) {
    runner.run(teams(list.n, body, body.capacity));
  };
  run(AddProductRows<32, max_rows>{product, groups.view(), warp_groups.data(),
                                   std::min(max_sums, warp_limits.max_sums)},
      warp_groups);
  run(AddProductRows<large_team, max_rows>{product, groups.view(), block_groups.data(),
                                           std::min(max_sums, max_room_of_large_team)},
      block_groups);
}

template class Product<ThisBackend>;
} // namespace femgpu::linalg
