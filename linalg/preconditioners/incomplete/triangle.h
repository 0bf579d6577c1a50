#ifndef femgpu_linalg_preconditioners_incomplete_triangle_h
#define femgpu_linalg_preconditioners_incomplete_triangle_h

#include "linalg/preconditioners/incomplete/factors.h"
#include "linalg/sparse/choose.h"

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

/// The rows of a triangle as they are done; see choose().
struct TriangleRows
{
  RowPatternView factors;
  const int *rows;
  bool is_lower;

  FEMGPU_HD
  int row(const int place) const
  {
    return rows[place];
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k == factors.row_starts[i + 1])
      return;
    const int column = factors.columns[k];
    if (is_lower ? column < i : column > i)
      f(column, k);
  }
};

/// A triangle, and, where its rows are stored as they are numbered, the operator that it is.
template <class Backend>
class Triangle final : public ViewedOperator<CsrView<double>>
{
public:
  /// @param order of the rows, as they are done
  Triangle(const PatternRef &factors, const std::vector<int> &order, const bool is_lower)
      : ViewedOperator(std::make_shared<RowSpace>(factors.executor, factors.n)),
        row_order(executor(), order.data(), order.size()),
        derived(choose<Backend>(factors, TriangleRows{factors.view, row_order.data(), is_lower},
                                factors.n)),
        values(executor(), derived.sources.size()), inverse(executor(), order.size())
  {}

  /// Takes over the values of the factors.
  void update(const FactorsView &factors)
  {
    Runner<Backend> runner(*executor());
    runner.run(rows(static_cast<int>(values.size()),
                    Gather<double>{factors.values, derived.sources.data(), values.data()}));
    runner.run(rows(n(), Gather<double>{factors.inverse, row_order.data(), inverse.data()}));
  }

  View view() const override
  {
    return CsrView<double>{n(), lanes(), derived.pattern.row_starts.data(),
                           derived.pattern.columns.data(), values.data()};
  }
  TriangleView in_order() const
  {
    return {row_order.data(), derived.pattern.row_starts.data(), derived.pattern.columns.data(),
            values.data(), inverse.data()};
  }
  /// Threads of a GPU that should share a row.
  int lanes() const
  {
    const double mean = n() > 0 ? static_cast<double>(values.size()) / n() : 0.;
    return threads_for_rows(*executor(), mean);
  }
  std::size_t bytes() const
  {
    return row_order.bytes() + derived.pattern.row_starts.bytes() +
           derived.pattern.columns.bytes() + values.bytes() + inverse.bytes();
  }

private:
  Buffer<int> row_order;
  DerivedPattern derived; ///< from that of the factors
  Buffer<double> values, inverse;
};
} // namespace femgpu::linalg

#endif
