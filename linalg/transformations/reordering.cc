#include "linalg/transformations/reordering.h"

#include "linalg/base/error.h"
#include "linalg/base/parallel.h"

#include <algorithm>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Returns the new position of each row.
/// @throws SolverError if @p order is not a permutation of n rows
std::vector<int> inverse(const std::vector<int> &order, const int n)
{
  if (order.size() != static_cast<std::size_t>(n))
    throw SolverError("A permutation of " + std::to_string(order.size()) +
                      " rows does not fit a matrix with " + std::to_string(n) + " rows.");
  std::vector<int> positions(order.size(), -1);
  for (int i = 0; i < n; ++i) {
    if (order[i] < 0 || order[i] >= n || positions[order[i]] != -1)
      throw SolverError("Element " + std::to_string(i) + " of the permutation of " +
                        std::to_string(n) + " rows is " + std::to_string(order[i]) +
                        ", which is out of range or a duplicate. List each row exactly once.");
    positions[order[i]] = i;
  }
  return positions;
}
} // namespace

bool preserves_node_blocks(const std::vector<int> &order, const int node_size)
{
  const int n = static_cast<int>(order.size());
  for (int i = 0; i < n; ++i) {
    const int c = i % node_size;
    if (order[i] % node_size != c || order[i] != order[i - c] + c)
      return false;
  }
  return n % node_size == 0;
}

PermutedPattern permute_pattern(const HostCsr &A, const std::vector<int> &rows,
                                const std::vector<int> &columns)
{
  const std::vector<int> positions = inverse(columns, A.n);
  if (&rows != &columns)
    inverse(rows, A.n); // throws unless `rows` is a permutation
  PermutedPattern pattern;
  pattern.row_starts.resize(rows.size() + 1);
  for (int i = 0; i < A.n; ++i)
    pattern.row_starts[i + 1] = pattern.row_starts[i] + A.row_starts.length(rows[i]);
  pattern.columns.resize(A.n_nonzeros);
  pattern.entries.resize(A.n_nonzeros);
  parallel_ranges(A.n, [&](const int first, const int end) {
    std::vector<std::pair<int, int>> row; // column, entry of A
    for (int i = first; i < end; ++i) {
      row.clear();
      const int *const starts = A.row_starts.low;
      for (int k = starts[rows[i]]; k < starts[rows[i] + 1]; ++k)
        row.emplace_back(positions[A.columns[k]], k);
      std::sort(row.begin(), row.end());
      int position = pattern.row_starts[i];
      for (const auto &[column, entry] : row) {
        pattern.columns[position] = column;
        pattern.entries[position++] = entry;
      }
    }
  });
  return pattern;
}

void permute(const std::vector<int> &order, const double *const v, double *const permuted)
{
  parallel_for(order.size(), [&](const std::size_t i) { permuted[i] = v[order[i]]; });
}

void unpermute(const std::vector<int> &order, const double *const permuted, double *const v)
{
  parallel_for(order.size(), [&](const std::size_t i) { v[order[i]] = permuted[i]; });
}
} // namespace femgpu::linalg
