#ifndef femgpu_linalg_sparse_pattern_product_h
#define femgpu_linalg_sparse_pattern_product_h

#include "linalg/sparse/row_workspace.h"

namespace femgpu::linalg
{
/// The pattern of P B. @param what it is, for the text of an error
/// @throws SolverError beyond most_indices entries; DeviceError without memory
template <class Backend>
RowPattern multiply(const PatternRef &P, const PatternRef &B,
                    const std::string &what = "The pattern of a preconditioner");

/// The lengths of some rows of P B, in host memory.
template <class Backend>
std::vector<int> product_lengths(const PatternRef &P, const PatternRef &B, const RowList &list);
} // namespace femgpu::linalg

#endif
