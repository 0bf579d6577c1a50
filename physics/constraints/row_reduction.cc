#include "physics/constraints/row_reduction.h"

#include <cmath>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Row and column of the largest entry from row @p first on, in the columns [begin, end). Of those
/// that are the same but for @p tolerance it is in the first column, whatever rounding says.
std::pair<unsigned int, unsigned int> largest_entry(const FullMatrix<double> &A,
                                                    const unsigned int first,
                                                    const unsigned int begin,
                                                    const unsigned int end, const double tolerance)
{
  std::pair<unsigned int, unsigned int> largest(first, begin);
  for (unsigned int column = begin; column < end; ++column)
    for (unsigned int row = first; row < A.m(); ++row)
      if (std::abs(A(row, column)) > std::abs(A(largest.first, largest.second)) + tolerance)
        largest = {row, column};
  return largest;
}
} // namespace

std::vector<unsigned int> row_reduce(FullMatrix<double> &A, const unsigned int n_columns,
                                     const Pivots order, const double tolerance)
{
  std::vector<unsigned int> pivots;
  for (unsigned int step = 0; step < n_columns && pivots.size() < A.m(); ++step) {
    const auto rank = static_cast<unsigned int>(pivots.size());
    const bool by_columns = order == Pivots::by_columns;
    const auto [row, column] =
        largest_entry(A, rank, by_columns ? step : 0, by_columns ? step + 1 : n_columns, tolerance);
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
