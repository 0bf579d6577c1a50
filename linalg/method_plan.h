#ifndef femgpu_linalg_method_plan_h
#define femgpu_linalg_method_plan_h

#include "linalg/base/host_matrix.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// The methods of an attempt to solve a linear system, by their names in the registries.
struct Methods
{
  std::string solver, preconditioner, scaling;
  std::string reason;     ///< reason for this choice; empty if the user named a method
  int max_iterations = 0; ///< iteration limit, unless the user sets one; 0: the default limit
};

/// Describes the methods: "idr s=8 with ilu, scaling matching".
std::string text_of(const Methods &methods);

/// The signs of the diagonal entries. Missing entries count as zeros.
struct DiagonalSigns
{
  long long n_zeros = 0, n_negative = 0;

  bool are_positive() const
  {
    return n_zeros == 0 && n_negative == 0;
  }
};

/// Returns whether @p A has a row without nonzero entries.
bool has_zero_row(const HostCsr &A);

/// The properties of a matrix that determine the choice of methods.
struct MatrixTraits
{
  bool is_symmetric = false;
  DiagonalSigns diagonal;
  bool has_zero_row = false;
};

/// Returns the methods with which to try to solve a system of @p n rows, in order, chosen by the
/// properties of the matrix; the last is `direct` if permits_fallback(n).
/// `benchmarks/collection.py` measures this choice.
std::vector<Methods> plan_methods(const MatrixTraits &matrix, long long n);
} // namespace femgpu::linalg

#endif
