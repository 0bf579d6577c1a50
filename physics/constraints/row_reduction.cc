#include "physics/constraints/row_reduction.h"

#include <cmath>

namespace femgpu
{
using namespace dealii;

std::vector<unsigned int> row_reduce(FullMatrix<double> &A, const unsigned int n_columns,
                                     const Pivots order, const double tolerance)
{
  std::vector<unsigned int> pivots;
  for (unsigned int step = 0; step < n_columns && pivots.size() < A.m(); ++step) {
    const auto rank = static_cast<unsigned int>(pivots.size());
    const bool by_columns = order == Pivots::by_columns;
    const unsigned int begin = by_columns ? step : 0, end = by_columns ? step + 1 : n_columns;
    // Select the largest entry. Among entries that are equal within the tolerance, select the one
    // in the first column, so that rounding errors do not affect the choice.
    unsigned int row = rank, column = begin;
    for (unsigned int j = begin; j < end; ++j)
      for (unsigned int i = rank; i < A.m(); ++i)
        if (std::abs(A(i, j)) > std::abs(A(row, column)) + tolerance) {
          row = i;
          column = j;
        }
    if (std::abs(A(row, column)) <= tolerance)
      continue;
    A.swap_row(row, rank);
    const double pivot = A(rank, column);
    for (unsigned int j = 0; j < A.n(); ++j)
      A(rank, j) /= pivot;
    for (unsigned int i = 0; i < A.m(); ++i)
      if (i != rank)
        A.add_row(i, -A(i, column), rank);
    pivots.push_back(column);
  }
  return pivots;
}
} // namespace femgpu
