#include "benchmarks/ordered_system.h"

#include "linalg/base/error.h"
#include "linalg/transformations/linear_system_transformation.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace femgpu::linalg::benchmark
{
namespace
{
Partition partition_for(const HostCsr &A, const std::string &order)
{
  const std::size_t colon = order.find(':');
  if (colon == std::string::npos)
    return orderings.make(order)(A);
  const std::string rows_per_part = order.substr(colon + 1);
  int rows = 0;
  const char *const end = rows_per_part.data() + rows_per_part.size();
  if (std::from_chars(rows_per_part.data(), end, rows).ptr != end || rows < 1)
    throw ParameterError("Order '" + order +
                         "' needs a positive number of rows per part after ':'.");
  return make_partition(order.substr(0, colon), A, std::max(A.n / rows, 1));
}
} // namespace

HostMatrix in_order(const HostMatrix &A, const std::string &order)
{
  Partition partition = partition_for(A.csr(), order);
  HostMatrix result;
  if (partition.order.empty())
    result = A;
  else {
    PermutedPattern pattern = permute_pattern(A.csr(), partition.order);
    result.n = A.n;
    result.values.resize(pattern.entries.size());
    permute(pattern.entries, A.values.data(), result.values.data());
    result.row_starts = std::move(pattern.row_starts);
    result.columns = std::move(pattern.columns);
  }
  Unknowns unknowns;
  unknowns.part_starts = std::move(partition.starts);
  result.unknowns = std::make_shared<const Unknowns>(std::move(unknowns));
  return result;
}
} // namespace femgpu::linalg::benchmark
