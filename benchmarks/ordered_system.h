#ifndef femgpu_benchmarks_ordered_system_h
#define femgpu_benchmarks_ordered_system_h

#include "linalg/base/host_matrix.h"

#include <string>

namespace femgpu::linalg::benchmark
{
/**
 * P A Pᵀ for an order of the registry, with its options, or "KIND:ROWS": parts of about so many
 * rows by make_partition(). Where parts begin is in its unknowns.
 */
HostMatrix in_order(const HostMatrix &A, const std::string &order);
} // namespace femgpu::linalg::benchmark

#endif
