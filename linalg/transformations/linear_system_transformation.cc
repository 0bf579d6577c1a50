#include "linalg/transformations/linear_system_transformation.h"

#include "linalg/base/countable.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// The rows of @p width numbers each, in another order.
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
    : make_scaling(scalings.find(scaling).make), ordering(ordering),
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
  n = A.n;
  n_nonzeros = A.n_nonzeros;
  Partition parts = make_order(A);
  order = std::move(parts.order);
  part_starts = std::move(parts.starts);
  pattern = order.empty() ? PermutedPattern() : permute_pattern(A, order);
  scaling = {};
  return transformed(A, nullptr);
}

HostCsr LinearSystemTransformation::update(const HostCsr &A, const RowSpace &rows)
{
  if (A.n != n || A.n_nonzeros != n_nonzeros)
    throw SolverError("New values of a matrix with " + std::to_string(A.n) + " rows and " +
                      std::to_string(A.n_nonzeros) +
                      " entries do not fit the pattern of one with " + std::to_string(n) + " and " +
                      std::to_string(n_nonzeros) + "; set up the new pattern first.");
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

/// Â with these values.
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

/// Of Â, as far as the scaling is known.
UnknownsPtr LinearSystemTransformation::transformed_unknowns(const HostCsr &A) const
{
  if (is_identity())
    return A.unknowns;
  Unknowns result = *A.unknowns;
  result.scales = scaling.right;
  result.scales.resize(scaling.left.size()); // without those of ghosts
  if (order.empty())
    return std::make_shared<const Unknowns>(std::move(result));
  result.part_starts = part_starts;
  if (result.per_node > 1 && !keeps_nodes(order, result.per_node))
    result.per_node = 0;
  if (!scaling.is_none())
    permute(order, scaling.right.data(), result.scales.data());
  if (!result.coordinates.empty())
    result.coordinates = rows_in_order(order, A.unknowns->coordinates, result.dimension);
  if (result.coarser.may_be_known())
    result.coarser = LazyCoarserUnknowns([order = order, given = result.coarser] {
      const auto coarser = given.get();
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
  permute(order, scaling.left.data(), permuted.left.data());
  permute(order, scaling.right.data(), permuted.right.data());
  scale_values({n, n_nonzeros, pattern.row_starts.data(), pattern.columns.data(), values.data()},
               permuted, values.data());
}

bool LinearSystemTransformation::is_identity() const
{
  return order.empty() && scaling.is_none();
}

// The scaling is that of the original order: scale first, restore last.

void LinearSystemTransformation::transform(const double *const v, const ScaleVector scale,
                                           double *const transformed) const
{
  if (scaling.is_none())
    return reorder(v, transformed);
  std::vector<double> scaled(static_cast<std::size_t>(n));
  scale(scaling, v, scaled.data());
  reorder(scaled.data(), transformed);
}

void LinearSystemTransformation::restore(const double *const transformed, const ScaleVector unscale,
                                         double *const v) const
{
  restore_order(transformed, v);
  if (!scaling.is_none())
    unscale(scaling, v, v);
}

void LinearSystemTransformation::restore_order(const double *const permuted, double *const v) const
{
  if (order.empty())
    std::copy(permuted, permuted + n, v);
  else
    unpermute(order, permuted, v);
}

void LinearSystemTransformation::reorder(const double *const v, double *const permuted) const
{
  if (order.empty())
    std::copy(v, v + n, permuted);
  else
    permute(order, v, permuted);
}
} // namespace femgpu::linalg
