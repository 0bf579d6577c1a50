#ifndef femgpu_benchmarks_ordered_system_h
#define femgpu_benchmarks_ordered_system_h

#include "linalg/base/host_matrix.h"

#include <string>

namespace femgpu::linalg::benchmark
{
/**
 * Returns P A Pᵀ. @p order is an ordering of the registry with its options, or "KIND:ROWS": blocks
 * of about ROWS rows by make_partition(). The unknowns of the result hold the starts of the blocks.
 */
HostMatrix in_order(const HostMatrix &A, const std::string &order);
} // namespace femgpu::linalg::benchmark

#endif
