#ifndef femgpu_linalg_preconditioners_biconjugation_columns_h
#define femgpu_linalg_preconditioners_biconjugation_columns_h

#include "linalg/sparse/row_pattern.h"

#include <algorithm>
#include <string>
#include <utility>

/**
 * @file
 * The growing factors of an approximate inverse, Wᵀ A Z = D, where the matrix lives.
 */
namespace femgpu::linalg
{
/**
 * Columns z_j and, with two parts, w_j on the same rows. With one part w_j is z_j. Rows are in no
 * order, but always in the same.
 */
template <int parts>
struct ColumnsView
{
  int *starts, *lengths; ///< n
  int *rows;
  double *values[parts]; ///< of z, and of w

  /// The part that makes the coefficients of the other: z_j goes with Aᵀ w_i, w_j with A z_i.
  static constexpr int other(const int part)
  {
    return parts - 1 - part;
  }
};

/// numbers[i] = i
template <class Backend>
void count_up(const ExecutorPtr &executor, int *const numbers, const int n)
{
  Runner<Backend>(*executor).run(rows(n, [=] FEMGPU_BODY(const int i) { numbers[i] = i; }));
}

template <int parts>
struct CopyColumn
{
  static constexpr int team_size = 32, scratch = 0;
  ColumnsView<parts> from, to; // which have their lengths in common

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int j) const
  {
    const int begin = from.starts[j], new_begin = to.starts[j];
    for (int e = team.rank(); e < from.lengths[j]; e += team.size()) {
      to.rows[new_begin + e] = from.rows[begin + e];
      for (int part = 0; part < parts; ++part)
        to.values[part][new_begin + e] = from.values[part][begin + e];
    }
  }
};

/**
 * The memory that all columns share. A column that changes gets a new place behind the others; what
 * it leaves is free again when the pool moves.
 */
template <class Backend, int parts>
class ColumnPool
{
public:
  /// The columns of the unit matrix.
  ColumnPool(const ExecutorPtr &executor, const int n)
      : executor(executor), n(n), starts(executor, static_cast<std::size_t>(n) + 1),
        lengths(executor, static_cast<std::size_t>(n))
  {
    allocate(std::max<std::size_t>(8 * static_cast<std::size_t>(n), 1024));
    count_up<Backend>(executor, starts.data(), n);
    count_up<Backend>(executor, entry_rows.data(), n);
    Runner<Backend> runner(*executor);
    runner.run(rows(n, FillWith<int>{lengths.data(), 1}));
    for (Buffer<double> &part : values)
      runner.run(rows(n, FillWith<double>{part.data(), 1.}));
  }

  /// What is good until the pool moves.
  ColumnsView<parts> view()
  {
    ColumnsView<parts> result{starts.data(), lengths.data(), entry_rows.data(), {}};
    for (int part = 0; part < parts; ++part)
      result.values[part] = values[part].data();
    return result;
  }
  std::size_t capacity() const
  {
    return entry_rows.size();
  }

  /**
   * Moves the columns to a pool with room for as much again, one behind the other.
   * @return entries in use
   * @throws DeviceError with the bytes, without memory; SolverError beyond most_indices entries
   */
  std::size_t move()
  {
    const auto used =
        static_cast<std::size_t>(total_counts<Backend>(executor, lengths.data(), n).sum);
    const std::size_t most = most_indices;
    const std::size_t wanted = std::min(2 * used + 4 * static_cast<std::size_t>(n), most);
    if (used + used / 8 > most)
      throw SolverError("The factors of the approximate inverse have " + std::to_string(used) +
                        " entries and grow, but their indices can count no more than " +
                        std::to_string(most) + ". Use a larger drop, or fill=K.");
    ColumnPool old(std::move(*this));
    executor = old.executor;
    starts = Buffer<int>(executor, static_cast<std::size_t>(n) + 1);
    scan_counts<Backend>(executor, old.lengths.data(), n, starts.data());
    allocate(wanted);
    ColumnsView<parts> to = view();
    to.lengths = old.lengths.data();
    Runner<Backend>(*executor).run(teams(n, CopyColumn<parts>{old.view(), to}));
    lengths = std::move(old.lengths);
    executor->synchronize(); // before the old memory goes
    return used;
  }

private:
  ColumnPool(ColumnPool &&other) noexcept = default;

  void allocate(const std::size_t capacity)
  {
    entry_rows = Buffer<int>(executor, capacity);
    for (Buffer<double> &part : values)
      part = Buffer<double>(executor, capacity);
  }

  ExecutorPtr executor;
  int n;
  Buffer<int> starts, lengths, entry_rows;
  Buffer<double> values[parts];
};
} // namespace femgpu::linalg

#endif
