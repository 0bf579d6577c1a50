#ifndef femgpu_linalg_preconditioners_incomplete_factors_h
#define femgpu_linalg_preconditioners_incomplete_factors_h

#include "linalg/preconditioners/incomplete/pattern.h"
#include "linalg/preconditioners/incomplete/schedule.h"
#include "linalg/steps/chains.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The numeric phase of ILU(κ), M = (D + L) D⁻¹ (D + U), in the executor's memory.
 */
namespace femgpu::linalg
{
/**
 * Eliminates row i after the rows on which it depends are complete: for all k < i of its pattern,
 * in ascending order,
 *
 *     a_ij −= (l_ik u_kj) / d_k  for all j > k in both rows.
 *
 * If A and the pattern are symmetric, l_ik = u_ki exactly, because both sum the same terms in the
 * same order.
 */
struct EliminateRow
{
  static constexpr int team_size = 32, scratch = 0;
  RowPatternView factors;
  const int *order; ///< rows in scheduled order
  const int *diagonal;
  const double *largest;
  double smallest_pivot; ///< smallest good pivot, relative to the largest entry of its row
  bool must_be_positive;
  double *values, *inverse; ///< entries of L + D + U, and of D⁻¹
  int *bad_pivot;           ///< for each row: 1 if its pivot is bad, else 0

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = order[item], begin = factors.row_starts[i], d = diagonal[i];
    for (int k = begin + team.rank(); k < d; k += team.size())
      team.wait_for(factors.columns[k]);
    team.acquire_fence();
    for (int k = begin; k < d; ++k) {
      subtract_row(team, i, k);
      team.sync();
    }
    if (team.rank() == 0)
      invert_pivot(i, d);
    team.sync();
    if (team.rank() == 0)
      team.publish(i);
  }

  template <class Team>
  FEMGPU_HD
  void subtract_row(const Team &team, const int i, const int k) const
  {
    const int row = factors.columns[k];
    const double l = values[k], inverse_d = team.load_published(inverse + row);
    int at = k + 1;
    for (int m = diagonal[row] + 1 + team.rank(); m < factors.row_starts[row + 1];
         m += team.size()) {
      const int position = factors.find(i, factors.columns[m], at);
      if (position < 0)
        continue;
      const double lu = l * team.load_published(values + m);
      values[position] -= lu * inverse_d;
      at = position + 1;
    }
  }

  FEMGPU_HD
  void invert_pivot(const int i, const int d) const
  {
    const double pivot = must_be_positive ? values[d] : fabs(values[d]);
    const bool is_good = pivot > smallest_pivot * largest[i] && pivot - pivot == 0.;
    bad_pivot[i] = is_good ? 0 : 1;
    if (!is_good) // continues with a substitute
      values[d] = largest[i] > 0. ? largest[i] : 1.;
    inverse[i] = 1. / values[d];
  }
};

/// Statistics of the pivots.
struct PivotReport
{
  int n_bad = 0;      ///< bad pivots of A: zero, too small, or not positive although they must be
  int first_row = -1; ///< first row with a bad pivot, in the numbering of A
  double alpha = 0.;  ///< A + α diag(A) was factorised
};

/// A view of D + L + U for kernels, with rows in the order of the blocks.
struct FactorsView
{
  RowPatternView pattern;
  const int *diagonal; ///< position of the diagonal entry of each row
  const double *values;
  const double *inverse; ///< D⁻¹
};

/**
 * The factors M = (D + L) D⁻¹ (D + U) ≈ the diagonal blocks of P A Pᵀ, with the pattern of
 * ILU(level), where P orders the rows block by block. Elimination is row by row (Saad 2003,
 * Algorithm 10.4); each row waits for the rows on which it depends.
 */
template <class Backend>
class IncompleteFactors
{
public:
  /**
   * Finds the pattern and the order of elimination.
   * @param is_cholesky whether A is symmetric; then U = Lᵀ exactly, and pivots must be positive
   * @param by_levels whether the rows of a block are processed by levels, or else in numerical
   * order
   * @throws SolverError if the factors have more than max_indices entries
   */
  IncompleteFactors(const CsrMatrix &A, const BlockPartition &blocks, const int level,
                    const bool is_cholesky, const bool by_levels)
      : blocks(blocks), is_cholesky(is_cholesky), owner(A.executor()),
        n(static_cast<std::size_t>(A.n())), diagonal(owner, n), inverse(owner, n),
        largest(owner, n), bad_pivot(owner, n), chains(owner, blocks.host.starts, A.n())
  {
    const DerivedPattern block_rows = block_diagonal<Backend>(A, blocks);
    in_blocks = block_rows.pattern.columns.size();
    pattern = fill_pattern<Backend>(block_rows.pattern, level, owner);
    sources = Buffer<int>(owner, pattern.columns.size());
    values = Buffer<double>(owner, pattern.columns.size());
    find_sources(block_rows);
    order = make_schedule(pattern, diagonal, blocks, owner, by_levels);
    owner->synchronize(); // before the block rows are freed
  }

  /// Finds the position in A of the initial value of each entry of the factors, and the positions
  /// of the diagonal entries.
  void find_sources(const DerivedPattern &of_blocks)
  {
    Runner<Backend> runner(*owner);
    const RowPatternView factors = pattern.view();
    int *const from_A = sources.data();
    runner.run(rows(pattern.n(), [factors, block_rows = of_blocks.pattern.view(),
                                  entries = of_blocks.sources.data(), from_A,
                                  diagonal = diagonal.data()] FEMGPU_BODY(const int i) {
      int from = block_rows.row_starts[i]; // all columns of block_rows are in the factors too
      for (int k = factors.row_starts[i]; k < factors.row_starts[i + 1]; ++k) {
        const int column = factors.columns[k];
        from_A[k] = block_rows.is_at(from, i, column) ? entries[from++] : -1;
        if (column == i)
          diagonal[i] = k;
      }
    }));
    if (is_cholesky) // an entry below the diagonal is read from its mirror image above
      runner.run(rows(pattern.n(), [factors, from_A] FEMGPU_BODY(const int i) {
        for (int k = factors.row_starts[i]; factors.columns[k] < i; ++k)
          from_A[k] = from_A[factors.find(factors.columns[k], i)];
      }));
  }

  /**
   * Factorises @p A, or A + α diag(A) with the smallest α of 0, 10⁻³, 2·10⁻³, ... without bad
   * pivots (Manteuffel 1980).
   * @throws SolverError if there is no such α up to 10³
   */
  void factorise(const CsrMatrix &A)
  {
    constexpr double first_shift = 1e-3, largest_shift = 1e3;
    report = {};
    for (double alpha = 0.;; alpha = alpha == 0. ? first_shift : 2. * alpha) {
      const std::vector<int> bad = eliminate(A, alpha);
      const int n_bad = static_cast<int>(std::count(bad.begin(), bad.end(), 1));
      report.alpha = alpha;
      if (n_bad == 0)
        return;
      if (alpha == 0.) {
        report.n_bad = n_bad;
        report.first_row = first_bad_row(bad);
      }
      if (alpha >= largest_shift)
        throw_bad_pivots(first_bad_row(bad));
    }
  }

  /// Loads A + α diag(A) on the pattern of the factors, and finds the largest entry of each row.
  void load_values(const double *const A_values, const double alpha)
  {
    Runner<Backend>(*owner).run(rows(
        pattern.n(), [=, factors = pattern.view(), sources = sources.data(), values = values.data(),
                      largest = largest.data()] FEMGPU_BODY(const int i) {
          double row_maximum = 0.;
          for (int k = factors.row_starts[i]; k < factors.row_starts[i + 1]; ++k) {
            double value = sources[k] < 0 ? 0. : A_values[sources[k]];
            if (factors.columns[k] == i)
              value *= 1. + alpha;
            values[k] = value;
            row_maximum = fmax(row_maximum, fabs(value));
          }
          largest[i] = row_maximum;
        }));
  }

  FactorsView view() const
  {
    return {pattern.view(), diagonal.data(), values.data(), inverse.data()};
  }
  PatternRef pattern_ref() const
  {
    return pattern_of(owner, pattern);
  }
  const Schedule &schedule() const
  {
    return order;
  }
  const PivotReport &pivots() const
  {
    return report;
  }
  const BlockPartition &partition() const
  {
    return blocks;
  }
  ExecutorPtr executor() const
  {
    return owner;
  }
  std::size_t n_nonzeros() const
  {
    return pattern.columns.size();
  }
  /// Returns the number of entries of A in the diagonal blocks, counting all diagonal entries.
  std::size_t n_nonzeros_in_blocks() const
  {
    return in_blocks;
  }

private:
  std::vector<int> eliminate(const CsrMatrix &A, const double alpha)
  {
    // A pivot that has lost twelve digits consists only of rounding errors.
    constexpr double smallest_pivot = 1e-12;
    load_values(A.csr_view().values, alpha);
    const EliminateRow body{pattern.view(), order.lower.rows.data(), diagonal.data(),
                            largest.data(), smallest_pivot,          is_cholesky,
                            values.data(),  inverse.data(),          bad_pivot.data()};
    Runner<Backend>(*owner).run(chains.step(body, order.lower.items_at_once(A.n())));
    return bad_pivot.to_host();
  }

  /// Returns the first row with a bad pivot, in the numbering of A.
  int first_bad_row(const std::vector<int> &bad) const
  {
    int first = static_cast<int>(n);
    for (std::size_t i = 0; i < bad.size(); ++i)
      if (bad[i] != 0)
        first = std::min(first, blocks.old_row(static_cast<int>(i)));
    return first;
  }

  [[noreturn]] void throw_bad_pivots(const int row) const
  {
    throw SolverError(
        "The incomplete factorisation failed: " + std::to_string(report.n_bad) + " of " +
        std::to_string(n) + " pivots are " +
        (is_cholesky ? "not positive" : "zero or nearly zero") + ", the first in row " +
        std::to_string(report.first_row) +
        "; with the diagonal multiplied by 1000, it still fails in row " + std::to_string(row) +
        (is_cholesky ? ". The matrix is not positive definite: use ilu and a solver for "
                       "unsymmetric matrices, or minres with preconditioner identity."
                     : ". Use scaling 'matching', which brings large entries to the diagonal, "
                       "or solver direct."));
  }

  const BlockPartition &blocks;
  bool is_cholesky;
  ExecutorPtr owner;
  std::size_t n, in_blocks = 0;
  RowPattern pattern;
  Buffer<int> sources; ///< position in A of the initial value of each entry; -1: starts as 0
  Buffer<double> values;
  Buffer<int> diagonal;
  Buffer<double> inverse, largest;
  Buffer<int> bad_pivot;
  Chains chains; ///< one chain of rows for each block, see ChainStep
  Schedule order;
  PivotReport report;
};
} // namespace femgpu::linalg

#endif
