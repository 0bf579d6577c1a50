#ifndef femgpu_linalg_sparse_sum_h
#define femgpu_linalg_sparse_sum_h

#include "linalg/sparse/row_pattern.h"

#include <memory>

namespace femgpu::linalg
{
/// The entries that two patterns have.
struct UnionPattern
{
  RowPattern pattern;
  Buffer<int> A_entries, B_entries; ///< where each comes from; -1 where there is none
};

/// Two searches an entry, whatever the lengths of the rows. @param what it is, for the text of an
/// error. @throws SolverError beyond most_indices entries; DeviceError without memory
template <class Backend>
UnionPattern union_pattern(const PatternRef &A, const PatternRef &B, const std::string &what);

/**
 * a A + b B, with the entries that A or B has, also where they cancel. The pattern is made once;
 * new values are one pass, which reads and writes at most 32 bytes an entry.
 */
template <class Backend>
class Sum
{
public:
  /// @throws SolverError for matrices of different sizes, and beyond most_indices entries;
  ///         DeviceError without memory
  Sum(double a, const CsrMatrix &A, double b, const CsrMatrix &B);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return result;
  }

  /// Takes over factors and the values of A and B, whose patterns are those that this was made of.
  /// @throws SolverError if they have not as many entries
  void update(double a, const CsrMatrix &A, double b, const CsrMatrix &B);

private:
  std::shared_ptr<CsrMatrix> result;
  Buffer<int> A_entries, B_entries;
  std::size_t n_of_A, n_of_B;
};
} // namespace femgpu::linalg

#endif
