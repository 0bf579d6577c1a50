#include "linalg/transformations/linear_system_transformation.h"

#include "linalg/base/countable.h"
#include "linalg/execution/host/executor.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Returns the rows of @p v, which have @p width numbers each, in the order @p order.
std::vector<double> rows_in_order(const std::vector<int> &order, const std::vector<double> &v,
                                  const int width)
{
  std::vector<double> result;
  result.reserve(v.size());
  for (const int row : order) {
    const auto begin = v.begin() + static_cast<std::ptrdiff_t>(row) * width;
    result.insert(result.end(), begin, begin + width);
  }
  return result;
}

HostProlongation rows_in_order(const std::vector<int> &order, const HostProlongation &P)
{
  HostProlongation result;
  result.n_columns = P.n_columns;
  result.row_starts.reserve(P.row_starts.size());
  result.columns.reserve(P.columns.size());
  result.values.reserve(P.values.size());
  for (const int row : order) {
    const int begin = P.row_starts[row], end = P.row_starts[row + 1];
    result.columns.insert(result.columns.end(), P.columns.begin() + begin, P.columns.begin() + end);
    result.values.insert(result.values.end(), P.values.begin() + begin, P.values.begin() + end);
    result.row_starts.push_back(static_cast<int>(result.columns.size()));
  }
  return result;
}
} // namespace

LinearSystemTransformation::LinearSystemTransformation(const std::string &scaling,
                                                       const std::string &ordering)
    : make_scaling(scalings.find(scaling).make), scaling_name(scaling), ordering(ordering),
      permutes_rows(scalings.find(scaling).traits.permutes_rows),
      make_order(orderings.make(ordering))
{}

HostCsr LinearSystemTransformation::setup(const HostCsr &A)
{
  set_pattern(A);
  return update(A);
}

HostCsr LinearSystemTransformation::set_pattern(const HostCsr &A)
{
  check_countable("ordering", orderings, ordering, A.n_nonzeros);
  check_countable("scaling", scalings, scaling_name, A.n_nonzeros);
  n = A.n;
  n_nonzeros = A.n_nonzeros;
  scaling = {};
  set_orders(A);
  pattern = order.empty() ? PermutedPattern() : permute_pattern(A, row_order, order);
  return transformed(A, nullptr);
}

/// Sets order to the ordering P of the pattern of Q A, and row_order to P Q.
void LinearSystemTransformation::set_orders(const HostCsr &A)
{
  HostCsr matched = A;
  PermutedPattern matched_pattern;
  std::vector<int> identity;
  if (permutes_rows) {
    scaling = make_scaling(A, RowSpace(std::make_shared<HostExecutor>(), n));
    identity.resize(static_cast<std::size_t>(n));
    std::iota(identity.begin(), identity.end(), 0);
    matched_pattern = permute_pattern(A, scaling.rows, identity);
    matched.row_starts = matched_pattern.row_starts.data();
    matched.columns = matched_pattern.columns.data();
    matched.values = nullptr;
  }
  Partition partition = make_order(matched);
  order = std::move(partition.order);
  part_starts = std::move(partition.starts);
  if (order.empty())
    order = std::move(identity);
  row_order = order;
  for (int &row : row_order)
    row = permutes_rows ? scaling.rows[row] : row;
}

HostCsr LinearSystemTransformation::update(const HostCsr &A, const RowSpace &rows)
{
  if (A.n != n || A.n_nonzeros != n_nonzeros)
    throw SolverError("New values of a matrix with " + std::to_string(A.n) + " rows and " +
                      std::to_string(A.n_nonzeros) +
                      " entries do not fit the pattern of one with " + std::to_string(n) +
                      " rows and " + std::to_string(n_nonzeros) +
                      " entries. Set up the new pattern first.");
  if (!permutes_rows)
    scaling = make_scaling(A, rows);
  if (is_identity())
    return A;
  values.resize(n_nonzeros);
  if (order.empty())
    scale_values(A, scaling, values.data());
  else
    transform_values(A);
  return transformed(A, values.data());
}

/// Returns Â with the values @p new_values.
HostCsr LinearSystemTransformation::transformed(const HostCsr &A,
                                                const double *const new_values) const
{
  HostCsr result = A;
  if (!order.empty())
    result = {n, n_nonzeros, pattern.row_starts.data(), pattern.columns.data()};
  result.values = new_values;
  result.unknowns = transformed_unknowns(A);
  return result;
}

/// Returns the properties of the unknowns of Â. If the scaling is not known yet, the result lacks
/// scales.
UnknownsPtr LinearSystemTransformation::transformed_unknowns(const HostCsr &A) const
{
  if (is_identity())
    return A.unknowns;
  if (permutes_rows) // properties of unknowns need not hold for the rows matched to them
    return default_unknowns;
  Unknowns result = *A.unknowns;
  result.scales = scaling.right;
  result.scales.resize(scaling.left.size()); // without ghosts
  if (order.empty())
    return std::make_shared<const Unknowns>(std::move(result));
  result.part_starts = part_starts;
  if (result.per_node > 1 && !preserves_node_blocks(order, result.per_node))
    result.per_node = 0;
  if (!scaling.is_none())
    permute(order, scaling.right.data(), result.scales.data());
  if (!result.coordinates.empty())
    result.coordinates = rows_in_order(order, A.unknowns->coordinates, result.dimension);
  result.near_null = rows_in_order(order, A.unknowns->near_null, result.n_near_null);
  if (result.coarser.may_exist())
    result.coarser = LazyCoarserUnknowns([order = order, original = result.coarser] {
      const auto coarser = original.get();
      return coarser ? std::make_shared<const CoarserUnknowns>(CoarserUnknowns{
                           rows_in_order(order, coarser->prolongation), coarser->unknowns})
                     : nullptr;
    });
  return std::make_shared<const Unknowns>(std::move(result));
}

void LinearSystemTransformation::transform_values(const HostCsr &A)
{
  permute(pattern.entries, A.values, values.data());
  if (scaling.is_none())
    return;
  Scaling permuted;
  permuted.left.resize(order.size());
  permuted.right.resize(order.size());
  permute(row_order, scaling.left.data(), permuted.left.data());
  permute(order, scaling.right.data(), permuted.right.data());
  scale_values({n, n_nonzeros, pattern.row_starts.data(), pattern.columns.data(), values.data()},
               permuted, values.data());
}

bool LinearSystemTransformation::is_identity() const
{
  return order.empty() && scaling.is_none();
}

namespace
{
/// Sets permuted[i] to v[order[i]] or, if @p order is empty, to v[i]. The vectors do not overlap.
void reorder(const std::vector<int> &order, const std::size_t n, const double *const v,
             double *const permuted)
{
  if (order.empty())
    std::copy(v, v + n, permuted);
  else
    permute(order, v, permuted);
}

/// Computes v from the result of reorder().
void restore_order(const std::vector<int> &order, const std::size_t n, const double *const permuted,
                   double *const v)
{
  if (order.empty())
    std::copy(permuted, permuted + n, v);
  else
    unpermute(order, permuted, v);
}
} // namespace

// The scaling refers to the original order: scale first, unscale last.

void LinearSystemTransformation::transform(const double *const v, const ScaleVector scale,
                                           const std::vector<int> &to_order,
                                           double *const transformed) const
{
  const auto size = static_cast<std::size_t>(n);
  if (scaling.is_none())
    return reorder(to_order, size, v, transformed);
  std::vector<double> scaled(size);
  scale(scaling, v, scaled.data());
  reorder(to_order, size, scaled.data(), transformed);
}

void LinearSystemTransformation::restore(const double *const transformed,
                                         const std::vector<int> &from_order,
                                         const ScaleVector unscale, double *const v) const
{
  restore_order(from_order, static_cast<std::size_t>(n), transformed, v);
  if (!scaling.is_none())
    unscale(scaling, v, v);
}
} // namespace femgpu::linalg
