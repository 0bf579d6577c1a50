#include "linalg/execution/scan_and_sort.h"
#include "linalg/base/parallel.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/host/runner.h"
#include "linalg/memory/buffer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
constexpr int digit_bits = 11;
constexpr unsigned int n_digits = 1U << digit_bits;

/// Returns the digit of a non-negative key that begins at bit @p shift.
template <class Key>
unsigned int digit_of(const Key key, const int shift)
{
  return static_cast<unsigned int>(key >> shift) & (n_digits - 1U);
}

/// Keys with their original positions.
template <class Key>
struct KeyedIndices
{
  Key *keys;
  int *indices;
};

/// Performs one pass of a stable radix sort. Each chunk of the keys is processed by one thread and
/// has, for each digit, its own range of positions in the result, so that the result does not
/// depend on the number of chunks.
template <class Key>
void sort_by_digit(const KeyedIndices<Key> &from, const int n, const int shift,
                   const KeyedIndices<Key> &to, const int n_chunks)
{
  const auto begin_of = [&](const int chunk) {
    return static_cast<int>(static_cast<long long>(n) * chunk / n_chunks);
  };
  std::vector<std::vector<int>> next(static_cast<std::size_t>(n_chunks));
  on_threads(n_chunks, [&](const int chunk) {
    next[chunk].assign(n_digits, 0);
    for (int k = begin_of(chunk); k < begin_of(chunk + 1); ++k)
      ++next[chunk][digit_of(from.keys[k], shift)];
  });
  int start = 0;
  for (unsigned int digit = 0; digit < n_digits; ++digit)
    for (std::vector<int> &of_chunk : next)
      start += std::exchange(of_chunk[digit], start);
  on_threads(n_chunks, [&](const int chunk) {
    for (int k = begin_of(chunk); k < begin_of(chunk + 1); ++k) {
      const int at = next[chunk][digit_of(from.keys[k], shift)]++;
      to.keys[at] = from.keys[k];
      to.indices[at] = from.indices[k];
    }
  });
}
} // namespace

template <class Backend>
CountTotals total_counts(const ExecutorPtr & /* executor */, const int *counts, const int n)
{
  CountTotals totals;
  for (int i = 0; i < n; ++i) {
    totals.sum += counts[i];
    totals.largest = std::max(totals.largest, counts[i]);
  }
  return totals;
}

template <class Backend>
void scan_counts(const ExecutorPtr & /* executor */, const int *counts, const int n, int *starts)
{
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    starts[i] = sum;
    sum += counts[i];
  }
  starts[n] = sum;
}

template <class Backend, class Key>
void sort_by_key(const ExecutorPtr &executor, const Key *keys, const int n, const Key n_keys,
                 Key *sorted, int *order)
{
  constexpr int min_parallel_keys = 1 << 16; // with fewer keys, starting threads does not pay
  const auto n_threads = static_cast<int>(static_cast<const HostExecutor &>(*executor).n_threads());
  const int n_chunks = n < min_parallel_keys ? 1 : n_threads;
  Buffer<Key> other_keys(executor, static_cast<std::size_t>(n));
  Buffer<int> other_indices(executor, static_cast<std::size_t>(n));
  KeyedIndices<Key> from{sorted, order}, to{other_keys.data(), other_indices.data()};
  std::copy(keys, keys + n, from.keys);
  std::iota(from.indices, from.indices + n, 0);
  constexpr int n_bits = std::numeric_limits<Key>::digits;
  for (int shift = 0; shift < n_bits && (n_keys - 1) >> shift > 0; shift += digit_bits) {
    sort_by_digit(from, n, shift, to, n_chunks);
    std::swap(from, to);
  }
  if (from.keys != sorted) {
    std::copy(from.keys, from.keys + n, sorted);
    std::copy(from.indices, from.indices + n, order);
  }
}

template CountTotals total_counts<HostBackend>(const ExecutorPtr &, const int *, int);
template void scan_counts<HostBackend>(const ExecutorPtr &, const int *, int, int *);
template void sort_by_key<HostBackend>(const ExecutorPtr &, const int *, int, int, int *, int *);
template void sort_by_key<HostBackend>(const ExecutorPtr &, const long long *, int, long long,
                                       long long *, int *);
} // namespace femgpu::linalg
