#ifndef femgpu_linalg_preconditioners_biconjugation_factors_h
#define femgpu_linalg_preconditioners_biconjugation_factors_h

#include "linalg/base/error.h"
#include "linalg/preconditioners/biconjugation/system.h"
#include "linalg/preconditioners/biconjugation/update.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The factorisation Wᵀ A Z = D of an approximate inverse, in rounds of independent pivots.
 */
namespace femgpu::linalg
{
/// Thrown if the factorisation cannot continue; the catcher translates the column to a row of A.
struct BadPivot
{
  int column;
  double value;
};

/// Options of a factorisation.
struct BiconjugationOptions
{
  bool is_stabilised;
  bool is_shortest_first; ///< columns with the cheapest A z_j come first
  DropRule dropping;
};

/// Returns the columns in @p indices that are not pivots yet.
template <class Backend>
Buffer<int> remaining_columns(const ExecutorPtr &executor, const Buffer<int> &indices,
                              const Buffer<int> &pivot_rounds)
{
  const auto n = static_cast<int>(indices.size());
  Buffer<int> flags(executor, indices.size());
  Runner<Backend> runner(*executor);
  runner.run(rows(n, [columns = indices.data(), pivot_round = pivot_rounds.data(),
                      is_remaining = flags.data()] FEMGPU_BODY(const int item) {
    is_remaining[item] = pivot_round[columns[item]] == 0 ? 1 : 0;
  }));
  const RowList items = flagged_rows<Backend>(executor, flags);
  Buffer<int> remaining(executor, items.indices.size());
  runner.run(rows(items.n, Gather<int>{indices.data(), items.data(), remaining.data()}));
  return remaining;
}

/**
 * Biconjugates the unit vectors, Wᵀ A Z = D: AINV (Benzi, Meyer and Tůma 1996) and, with the
 * products A z_i instead of the rows of A, SAINV (Benzi, Cullum and Tůma 2000), right-looking as in
 * Dědeček 2013, chapter 6. Dědeček takes one pivot at a time. Here a round takes all columns that
 * precede every column with which they have a product z_jᵀ A z_i. The pivots of a round do not
 * affect each other, and one team of threads updates each remaining column with all of them. With
 * the natural order this is Dědeček's algorithm, except that entries of a column are dropped once a
 * round, when the sum over the pivots is complete.
 *
 * The cost of a round grows with the number of entries in the remaining columns and with the
 * changes that the round's pivots cause. The memory for the columns (ColumnPool) grows as needed.
 */
template <class Backend, int n_factors>
class Biconjugation
{
public:
  /// @param keys a different key for each column; columns with smaller keys become pivots first
  /// @throws BadPivot for an unusable pivot
  /// @throws DeviceError if memory is insufficient
  /// @throws SolverError if the factors have too many entries
  Biconjugation(const ExecutorPtr &executor, const AinvSystem<n_factors> &A, Buffer<ColumnKey> keys,
                const BiconjugationOptions &rule)
      : executor(executor), n(A.pattern.n()), A(A.view()), rule(rule), keys(std::move(keys)),
        pool(executor, n), min_keys(executor, size_of(n)), pivot_rounds(zeros(n)),
        owners(executor, size_of(n)), positions(executor, size_of(n)), last_touched(zeros(n)),
        n_products(zeros(n)), updated(zeros(n)), product_owners(executor, A.pattern.columns.size()),
        needs(executor, size_of(n)), status(executor, 1), columns(executor, size_of(n)),
        n_columns(n)
  {
    for (int factor = 0; factor < n_factors; ++factor) {
      owned[factor] = Buffer<double>(executor, size_of(n));
      pivot_values[factor] = Buffer<double>(executor, size_of(n));
      products[factor] = Buffer<double>(executor, A.pattern.columns.size());
    }
    Runner<Backend> runner(*executor);
    runner.run(rows(n, FillWith<ColumnKey>{min_keys.data(), no_key}));
    runner.run(rows(n, FillWith<int>{owners.data(), -1}));
    fill_iota<Backend>(executor, columns.data(), n);
    needs.fill_zero();
    host.used = static_cast<unsigned long long>(n);
    host.bad_pivot = n;
    write_status();
    run_rounds(runner);
  }

  ColumnsView<n_factors> factors()
  {
    return pool.view();
  }
  /// The pivots of Z, the diagonal of D.
  const Buffer<double> &pivots() const
  {
    return pivot_values[0];
  }
  const ExecutorPtr &executor_of_factors() const
  {
    return executor;
  }
  int n_rounds() const
  {
    return round;
  }

private:
  static std::size_t size_of(const int n)
  {
    return static_cast<std::size_t>(n);
  }
  Buffer<int> zeros(const int n) const
  {
    Buffer<int> result(executor, size_of(n));
    result.fill_zero();
    return result;
  }

  void run_rounds(Runner<Backend> &runner)
  {
    while (host.n_pivots < n) {
      ++round;
      const int n_before = host.n_pivots;
      runner.run(
          teams(n_columns, LowerRowKeys<n_factors>{pool.view(), round_view(), columns.data()}));
      compact();
      runner.run(
          teams(n_columns, SelectPivot<n_factors>{A, pool.view(), round_view(), columns.data()}));
      runner.run(rows(n, MultiplyPivots<n_factors>{A, round_view()}));
      update();
      if (host.n_pivots == n_before)
        throw SolverError("None of the remaining " + std::to_string(n - n_before) +
                          " columns is usable as a pivot of the approximate inverse, which is an "
                          "error in femgpu. Please report this message.");
    }
  }

  RoundView<n_factors> round_view()
  {
    RoundView<n_factors> view{round,
                              n,
                              rule.is_stabilised,
                              rule.is_shortest_first,
                              keys.data(),
                              min_keys.data(),
                              pivot_rounds.data(),
                              {},
                              owners.data(),
                              positions.data(),
                              {},
                              last_touched.data(),
                              n_products.data(),
                              product_owners.data(),
                              {},
                              status.data()};
    for (int factor = 0; factor < n_factors; ++factor) {
      view.pivots[factor] = pivot_values[factor].data();
      view.owned[factor] = owned[factor].data();
      view.products[factor] = products[factor].data();
    }
    return view;
  }

  void write_status()
  {
    status.copy_from_host(&host);
  }
  void read_status()
  {
    status.copy_to_host(&host);
  }

  /// Removes former pivots from the list of columns if they are at least an eighth of the list.
  void compact()
  {
    if (n - host.n_pivots <= n_columns - n_columns / 8) {
      columns = remaining_columns<Backend>(executor, columns, pivot_rounds);
      n_columns = static_cast<int>(columns.size());
    }
  }

  /// Updates all remaining columns; repeats the update of columns for which the workspace or the
  /// pool was too small.
  void update()
  {
    for (;;) {
      run_update(RowBatch{columns.data(), n_columns, 0, default_scratch()});
      read_status();
      if (host.bad_pivot < n)
        throw BadPivot{host.bad_pivot, smallest_pivot(host.bad_pivot)};
      if (host.n_too_large > 0)
        update_large();
      if (host.n_unallocated == 0)
        return;
      host.used = pool.move();
      host.n_unallocated = 0;
      write_status();
    }
  }

  /// Returns the pivot of @p column in Z or in W, whichever is smaller in absolute value.
  double smallest_pivot(const int column) const
  {
    double smallest = pivot_values[0].to_host()[column];
    for (int factor = 1; factor < n_factors; ++factor) {
      const double pivot = pivot_values[factor].to_host()[column];
      smallest = std::abs(smallest) <= std::abs(pivot) ? smallest : pivot;
    }
    return smallest;
  }

  void update_large()
  {
    host.n_too_large = 0;
    write_status();
    const int scratch_limit = Runner<Backend>(*executor).max_scratch();
    run_update(RowBatch{columns.data(), n_columns, 0, scratch_limit});
    read_status();
    if (host.n_too_large == 0)
      return;
    host.n_too_large = 0;
    write_status();
    const std::vector<std::size_t> all = needs.to_host();
    std::vector<int> large;
    std::vector<std::size_t> sizes;
    for (int j = 0; j < n; ++j)
      if (all[j] > 0) {
        large.push_back(j);
        sizes.push_back(all[j]);
      }
    const RowList list{static_cast<int>(large.size()),
                       Buffer<int>(executor, large.data(), large.size())};
    for_each_batch(executor, list, sizes, [&](const RowBatch &batch) { run_update(batch); });
    read_status();
  }

  void run_update(const RowBatch &batch)
  {
    const UpdateColumn<n_factors> body{pool.view(),   round_view(),    A.pattern.row_starts,
                                       rule.dropping, pool.capacity(), updated.data(),
                                       needs.data()};
    constexpr bool on_host = Backend::kind == BackendKind::host;
    if (batch.memory != nullptr)
      run_teams<Backend, on_host ? 32 : largest_team, false>(executor, batch, body, nullptr);
    else if (on_host || batch.scratch == default_scratch())
      run_teams<Backend, 32, true>(executor, batch, body, nullptr);
    else if constexpr (!on_host)
      run_teams<Backend, largest_team, true>(executor, batch, body, nullptr);
  }

  /// Returns the usual size of a team's workspace in doubles. On a GPU it is so small that many
  /// warps fit on a multiprocessor.
  static constexpr int default_scratch()
  {
    return Backend::kind == BackendKind::host ? 4096 : 512;
  }

  ExecutorPtr executor;
  int n;
  SystemView<n_factors> A;
  BiconjugationOptions rule;
  Buffer<ColumnKey> keys;
  ColumnPool<Backend, n_factors> pool;
  Buffer<ColumnKey> min_keys;
  Buffer<int> pivot_rounds, owners, positions, last_touched, n_products, updated, product_owners;
  Buffer<double> pivot_values[n_factors], owned[n_factors], products[n_factors];
  Buffer<std::size_t> needs;
  Buffer<RoundStatus> status;
  RoundStatus host = {};
  Buffer<int> columns; ///< the remaining columns, and some former pivots
  int n_columns, round = 0;
};
} // namespace femgpu::linalg

#endif
