#include "linalg/matrices/slices.h"

#include "linalg/base/error.h"
#include "linalg/base/row_starts.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace femgpu::linalg
{
namespace
{
std::vector<int> sorted_rows(const std::vector<int> &row_lengths, const int window)
{
  std::vector<int> by_length(row_lengths.size());
  std::iota(by_length.begin(), by_length.end(), 0);
  const auto is_longer = [&](const int i, const int j) { return row_lengths[i] > row_lengths[j]; };
  const auto n = static_cast<std::ptrdiff_t>(by_length.size());
  for (std::ptrdiff_t begin = 0; begin < n; begin += window)
    std::stable_sort(by_length.begin() + begin,
                     by_length.begin() + std::min<std::ptrdiff_t>(begin + window, n), is_longer);
  return by_length;
}

std::vector<std::size_t> slice_starts(const std::vector<int> &row_lengths,
                                      const std::vector<int> &order, const int log_slice)
{
  std::vector<std::size_t> starts = {0};
  const std::size_t n = order.size(), size = std::size_t{1} << log_slice;
  for (std::size_t begin = 0; begin < n; begin += size) {
    int width = 0;
    for (std::size_t p = begin; p < std::min(begin + size, n); ++p)
      width = std::max(width, row_lengths[order[p]]);
    const std::size_t n_entries = size * static_cast<std::size_t>(width);
    if (n_entries > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw ParameterError(
          "A slice of " + std::to_string(size) + " rows would have " + std::to_string(n_entries) +
          " entries with padding, more than the limit of 2^31 - 1. Use a smaller slice, or csr.");
    starts.push_back(starts.back() + n_entries);
  }
  return starts;
}
} // namespace

RowSlices choose_slices(const std::vector<int> &row_lengths, const int log_slice, const int window,
                        const std::size_t entry_bytes)
{
  std::vector<int> natural_order(row_lengths.size());
  std::iota(natural_order.begin(), natural_order.end(), 0);
  std::vector<int> by_length = sorted_rows(row_lengths, window);
  std::vector<std::size_t> starts = slice_starts(row_lengths, natural_order, log_slice);
  std::vector<std::size_t> sorted_starts = slice_starts(row_lengths, by_length, log_slice);
  const std::size_t order_bytes = by_length.size() * sizeof(int);
  if (sorted_starts.back() * entry_bytes + order_bytes < starts.back() * entry_bytes)
    return {std::move(by_length), true, std::move(sorted_starts)};
  return {std::move(natural_order), false, std::move(starts)};
}

std::vector<int> RowSlices::low_starts() const
{
  std::vector<int> low(starts.size());
  std::transform(starts.begin(), starts.end(), low.begin(), low_bits);
  return low;
}

int slice_option(Method &method, const int default_slice)
{
  const int slice = method.integer("slice", default_slice, 1, 1024);
  int log_slice = 0;
  while (1 << log_slice < slice)
    ++log_slice;
  if (1 << log_slice != slice)
    throw ParameterError("Option 'slice' of the format '" + method.name() + "' is " +
                         std::to_string(slice) + ", but must be a power of two.");
  return log_slice;
}
} // namespace femgpu::linalg
