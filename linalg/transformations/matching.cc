#include "linalg/transformations/matching.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int none = -1;

std::string row_text(const int i)
{
  return "Row " + std::to_string(i) + " of the matrix ";
}

/// Returns the costs c_ij = max_k log|a_ik| - log|a_ij| >= 0, which are infinite for stored zeros.
std::vector<double> costs_of(const HostCsr &A)
{
  std::vector<double> costs(A.n_nonzeros);
  for (int i = 0; i < A.n; ++i) {
    const std::size_t begin = A.row_starts[i], end = A.row_starts[i + 1];
    double largest = 0.;
    for (std::size_t k = begin; k < end; ++k) {
      if (!std::isfinite(A.values[k]))
        throw SolverError(row_text(i) + "has a non-finite entry in column " +
                          std::to_string(A.columns[k]) + ". Fix the matrix.");
      largest = std::max(largest, std::abs(A.values[k]));
    }
    for (std::size_t k = begin; k < end; ++k)
      costs[k] = A.values[k] == 0. ? infinity : std::log(largest) - std::log(std::abs(A.values[k]));
  }
  return costs;
}

/// The assignment problem min Σ c_ij with duals p_i + q_j <= c_ij, solved row by row.
class Assignment
{
public:
  explicit Assignment(const HostCsr &A)
      : A(A), costs(costs_of(A)), p(size(A), 0.), q(size(A), infinity), column_of(size(A), none),
        row_of(size(A), none), distances(size(A), infinity), predecessors(size(A), none),
        is_final(size(A), 0)
  {
    bound_duals();
    match_tight_entries();
  }

  void augment(int row);

  bool is_matched(const int row) const
  {
    return column_of[row] != none;
  }
  Matching result() const;

private:
  /// Distance and number of a column. The smallest distance is at the top of a Queue; of columns at
  /// equal distance, the one with the lower number.
  using QueueEntry = std::pair<double, int>;
  using Queue = std::priority_queue<QueueEntry, std::vector<QueueEntry>, std::greater<>>;

  static std::size_t size(const HostCsr &A)
  {
    return static_cast<std::size_t>(A.n);
  }
  void bound_duals();
  void match_tight_entries();
  bool displace(int row);
  int next_free_column(std::size_t begin, std::size_t end, int row) const;
  bool is_tight(const std::size_t k, const int row) const
  {
    return costs[k] - q[A.columns[k]] <= p[row]; // with the same rounding as bound_duals()
  }
  void match(int row, int column);
  void relax(int row, double length, Queue &queue);
  void flip_path(int start, int end);
  void update_duals(int start, double length);

  const HostCsr &A;
  std::vector<double> costs, p, q;
  std::vector<int> column_of, row_of; ///< the matching
  std::vector<double> distances;      ///< distances of columns from the row being matched
  std::vector<int> predecessors;      ///< the previous row on the path of a column
  std::vector<char> is_final;
  std::vector<int> touched, scanned; ///< columns with a distance, and those with a final distance
  int nearest_free = none;
};

/// Sets q_j = min_i c_ij and p_i = min_j c_ij - q_j. These duals are feasible, and each row has a
/// tight entry: p_i + q_j = c_ij.
void Assignment::bound_duals()
{
  for (std::size_t k = 0; k < A.n_nonzeros; ++k)
    q[A.columns[k]] = std::min(q[A.columns[k]], costs[k]);
  for (double &q_j : q)
    if (q_j == infinity) // no entry: some row will find no path
      q_j = 0.;
  for (int i = 0; i < A.n; ++i) {
    double min_cost = infinity;
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      min_cost = std::min(min_cost, costs[k] - q[A.columns[k]]);
    p[i] = min_cost == infinity ? 0. : min_cost;
  }
}

/// Matches most rows without a search. A row takes a free column in which it has a tight entry.
/// Failing that, it takes a matched column in which it has a tight entry, if the row matched to
/// that column has a tight entry in a free column and can move there.
void Assignment::match_tight_entries()
{
  for (int i = 0; i < A.n; ++i) {
    const int column = next_free_column(A.row_starts[i], A.row_starts[i + 1], i);
    if (column != none)
      match(i, column);
  }
  for (int i = 0; i < A.n; ++i)
    if (!is_matched(i))
      displace(i);
}

int Assignment::next_free_column(const std::size_t begin, const std::size_t end,
                                 const int row) const
{
  for (std::size_t k = begin; k < end; ++k)
    if (row_of[A.columns[k]] == none && is_tight(k, row))
      return A.columns[k];
  return none;
}

bool Assignment::displace(const int row)
{
  for (std::size_t k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k) {
    if (!is_tight(k, row))
      continue;
    const int column = A.columns[k], other = row_of[column];
    const int free = next_free_column(A.row_starts[other], A.row_starts[other + 1], other);
    if (free == none)
      continue;
    match(other, free);
    match(row, column);
    return true;
  }
  return false;
}

void Assignment::match(const int row, const int column)
{
  column_of[row] = column;
  row_of[column] = row;
}

/// Reduces the distances of columns that are reached by entries of @p row, which is at distance @p
/// length.
void Assignment::relax(const int row, const double length, Queue &queue)
{
  for (std::size_t k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k) {
    const int j = A.columns[k];
    if (costs[k] == infinity || is_final[j])
      continue;
    const double distance = length + std::max(0., costs[k] - p[row] - q[j]);
    const double bound = nearest_free == none ? infinity : distances[nearest_free];
    if (!(distance < std::min(bound, distances[j])))
      continue;
    if (distances[j] == infinity)
      touched.push_back(j);
    distances[j] = distance;
    predecessors[j] = row;
    if (row_of[j] == none)
      nearest_free = j;
    else
      queue.emplace(distance, j);
  }
}

/// Augments the matching by Dijkstra's search from @p start for the nearest free column; lengths
/// are reduced costs.
void Assignment::augment(const int start)
{
  Queue queue;
  nearest_free = none;
  relax(start, 0., queue);
  while (!queue.empty()) {
    const auto [distance, j] = queue.top();
    queue.pop();
    if (nearest_free != none && distances[nearest_free] <= distance)
      break;
    if (is_final[j])
      continue;
    is_final[j] = 1;
    scanned.push_back(j);
    relax(row_of[j], distance, queue);
  }
  if (nearest_free == none)
    throw SolverError(
        row_text(start) +
        "cannot be matched to a column of its own: the matrix is structurally singular, because "
        "some rows have nonzero entries in too few columns. Fix the matrix; no solver can use it.");
  update_duals(start, distances[nearest_free]);
  flip_path(start, nearest_free);
  for (const int j : touched) {
    distances[j] = infinity;
    is_final[j] = 0;
  }
  touched.clear();
  scanned.clear();
}

/// Updates the duals so that reduced costs remain non-negative, and are zero on the shortest path,
/// whose length is @p length.
void Assignment::update_duals(const int start, const double length)
{
  p[start] += length;
  for (const int j : scanned) {
    q[j] += distances[j] - length;
    p[row_of[j]] += length - distances[j];
  }
}

void Assignment::flip_path(const int start, int end)
{
  for (int row = none; row != start;) {
    row = predecessors[end];
    const int next = column_of[row];
    match(row, end);
    end = next;
  }
}

/// Returns the matching, with dual variables for log|a_ij| instead of c_ij. u is recomputed from
/// the matched entries, which removes rounding errors.
Matching Assignment::result() const
{
  Matching matching{row_of, std::vector<double>(p.size()), q};
  for (int i = 0; i < A.n; ++i)
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.columns[k] == column_of[i])
        matching.u[i] = -std::log(std::abs(A.values[k])) - q[column_of[i]];
  return matching;
}

double mean(const std::vector<double> &v)
{
  double sum = 0.;
  for (const double v_i : v)
    sum += v_i;
  return v.empty() ? 0. : sum / static_cast<double>(v.size());
}

/// Returns exp(l + @p shift) for each l in @p logarithms.
/// @throws SolverError if a result is beyond the range of double
std::vector<double> factors(const std::vector<double> &logarithms, const double shift,
                            const std::string &what)
{
  std::vector<double> result;
  for (const double l : logarithms) {
    result.push_back(std::exp(l + shift));
    if (!(result.back() >= std::numeric_limits<double>::min() && result.back() < infinity))
      throw SolverError(what + " " + std::to_string(result.size() - 1) +
                        " of the matrix needs a scaling factor beyond the range of double: its "
                        "entries differ too much from the others. Use scaling balance.");
  }
  return result;
}
} // namespace

Matching maximum_product_matching(const HostCsr &A)
{
  Assignment assignment(A);
  for (int i = 0; i < A.n; ++i)
    if (!assignment.is_matched(i))
      assignment.augment(i);
  return assignment.result();
}

Scaling matching_scaling(const HostCsr &A, const RowSpace & /* rows */)
{
  Matching matching = maximum_product_matching(A);
  const double shift = 0.5 * (mean(matching.v) - mean(matching.u)); // makes factors similar in size
  Scaling scaling;
  scaling.left = factors(matching.u, shift, "Row");
  scaling.right = factors(matching.v, -shift, "Column");
  scaling.rows = std::move(matching.rows);
  for (int j = 0; j < A.n; ++j) { // makes the matched entries positive
    const int i = scaling.rows[j];
    const RowEntries<double> row = A.entries(i);
    const auto k = std::lower_bound(row.columns, row.columns + row.length, j) - row.columns;
    if (row.values[k] < 0.)
      scaling.left[i] = -scaling.left[i];
  }
  return scaling;
}
} // namespace femgpu::linalg
