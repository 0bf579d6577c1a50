#ifndef femgpu_linalg_sparse_sum_h
#define femgpu_linalg_sparse_sum_h

#include "linalg/sparse/row_pattern.h"

#include <memory>

namespace femgpu::linalg
{
/// The union of two patterns.
struct UnionPattern
{
  RowPattern pattern;
  Buffer<int> A_entries, B_entries; ///< position of each entry in A and B; -1: none
};

/// Computes the union of two patterns by two searches per entry, for any lengths of rows.
/// @param what name of the result for error messages
/// @throws SolverError if there are more than max_indices entries
/// @throws DeviceError if memory is exhausted
template <class Backend>
UnionPattern union_pattern(const PatternRef &A, const PatternRef &B, const std::string &what);

/**
 * The sum a A + b B. It has an entry where A or B has one, even if the entries cancel. The pattern
 * is computed once. Updating the values is one pass, which reads and writes at most 32 bytes per
 * entry.
 */
template <class Backend>
class Sum
{
public:
  /// @throws SolverError if the sizes of the matrices differ, or the sum has more than max_indices
  /// entries
  /// @throws DeviceError if memory is exhausted
  Sum(double a, const CsrMatrix &A, double b, const CsrMatrix &B);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return result;
  }

  /// Updates the values from the factors a and b and the values of A and B, which must have the
  /// original patterns.
  /// @throws SolverError if A or B has a different number of entries
  void update(double a, const CsrMatrix &A, double b, const CsrMatrix &B);

private:
  std::shared_ptr<CsrMatrix> result;
  Buffer<int> A_entries, B_entries;
  std::size_t n_nonzeros_of_A, n_nonzeros_of_B;
};
} // namespace femgpu::linalg

#endif
