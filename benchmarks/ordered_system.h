#ifndef femgpu_benchmarks_ordered_system_h
#define femgpu_benchmarks_ordered_system_h

#include "linalg/base/host_matrix.h"

#include <string>

namespace femgpu::linalg::benchmark
{
/**
 * Returns P A Pᵀ for a permutation P. The unknowns of the result contain the starts of the blocks.
 * @param order an ordering of the registry with its options, or "KIND:ROWS" for the blocks of about
 *        ROWS rows that make_partition() makes with the kind KIND
 */
HostMatrix in_order(const HostMatrix &A, const std::string &order);
} // namespace femgpu::linalg::benchmark

#endif
