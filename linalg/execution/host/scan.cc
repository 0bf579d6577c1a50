#include "linalg/execution/steps/scan.h"
#include "linalg/execution/host/runner.h"

#include <algorithm>

namespace femgpu::linalg
{
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

template CountTotals total_counts<HostBackend>(const ExecutorPtr &, const int *, int);
template void scan_counts<HostBackend>(const ExecutorPtr &, const int *, int, int *);
} // namespace femgpu::linalg
