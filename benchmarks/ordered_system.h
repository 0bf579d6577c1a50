#ifndef femgpu_benchmarks_ordered_system_h
#define femgpu_benchmarks_ordered_system_h

#include "linalg/base/host_matrix.h"

#include <string>

namespace femgpu::linalg::benchmark
{
/**
 * Returns P A Pᵀ for the permutation P of an ordering. The member unknowns->part_starts of the
 * result contains the first row of each block of the ordering.
 * @param order an ordering of linalg with its options, such as "rcm", or "KIND:ROWS" for a
 *        partition of kind KIND (make_partition()) into blocks of about ROWS rows
 */
HostMatrix in_order(const HostMatrix &A, const std::string &order);
} // namespace femgpu::linalg::benchmark

#endif
