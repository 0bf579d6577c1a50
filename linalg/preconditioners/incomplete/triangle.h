#ifndef femgpu_linalg_preconditioners_incomplete_triangle_h
#define femgpu_linalg_preconditioners_incomplete_triangle_h

#include "linalg/preconditioners/incomplete/factors.h"
#include "linalg/sparse/derived_matrix.h"

#include <algorithm>

/**
 * @file
 * L and U of incomplete factors, stored for solves with them.
 */
namespace femgpu::linalg
{
/// A triangle without its diagonal, rows stored in the order in which they are done.
struct TriangleView
{
  const int *rows;       ///< the row at each place
  const int *row_starts; ///< of each place
  const int *columns;
  const double *values;
  const double *inverse; ///< of the diagonal, for each place
};

struct CountTriangleRow
{
  FactorsView factors;
  const int *rows;
  bool is_lower;
  int *lengths;

  FEMGPU_HD
  void operator()(const int place) const
  {
    const int i = rows[place], d = factors.diagonal[i];
    lengths[place] =
        is_lower ? d - factors.pattern.row_starts[i] : factors.pattern.row_starts[i + 1] - d - 1;
  }
};

struct StoreTriangleRow
{
  FactorsView factors;
  const int *rows, *row_starts;
  bool is_lower;
  int *columns, *sources;

  FEMGPU_HD
  void operator()(const int place) const
  {
    const int i = rows[place];
    const int first = is_lower ? factors.pattern.row_starts[i] : factors.diagonal[i] + 1;
    for (int k = 0; k < row_starts[place + 1] - row_starts[place]; ++k) {
      columns[row_starts[place] + k] = factors.pattern.columns[first + k];
      sources[row_starts[place] + k] = first + k;
    }
  }
};

template <class Backend>
class Triangle
{
public:
  /// @param order of the rows, as they are done
  Triangle(const FactorsView &factors, const std::vector<int> &order, const bool is_lower,
           const ExecutorPtr &owner)
      : owner(owner), row_order(owner, order.data(), order.size()), inverse(owner, order.size())
  {
    Runner<Backend> runner(*owner);
    const int n = static_cast<int>(order.size());
    Buffer<int> lengths(owner, order.size());
    runner.run(rows(n, CountTriangleRow{factors, row_order.data(), is_lower, lengths.data()}));
    pattern = make_rows<Backend>(owner, lengths);
    sources = Buffer<int>(owner, pattern.columns.size());
    values = Buffer<double>(owner, pattern.columns.size());
    runner.run(rows(n, StoreTriangleRow{factors, row_order.data(), pattern.row_starts.data(),
                                        is_lower, pattern.columns.data(), sources.data()}));
  }

  /// Takes over the values of the factors.
  void update(const FactorsView &factors)
  {
    Runner<Backend> runner(*owner);
    runner.run(rows(static_cast<int>(values.size()),
                    Gather<double>{factors.values, sources.data(), values.data()}));
    runner.run(
        rows(pattern.n(), Gather<double>{factors.inverse, row_order.data(), inverse.data()}));
  }

  TriangleView view() const
  {
    return {row_order.data(), pattern.row_starts.data(), pattern.columns.data(), values.data(),
            inverse.data()};
  }
  int n() const
  {
    return pattern.n();
  }
  /// Threads of a GPU that should share a row.
  int lanes() const
  {
    const double mean = n() > 0 ? static_cast<double>(values.size()) / n() : 0.;
    return threads_for_rows(*owner, mean);
  }
  std::size_t bytes() const
  {
    return row_order.bytes() + pattern.row_starts.bytes() + pattern.columns.bytes() +
           values.bytes() + inverse.bytes();
  }

private:
  ExecutorPtr owner;
  Buffer<int> row_order;
  RowPattern pattern;
  Buffer<int> sources; ///< in the factors
  Buffer<double> values, inverse;
};
} // namespace femgpu::linalg

#endif
