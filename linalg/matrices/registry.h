#ifndef femgpu_linalg_matrices_registry_h
#define femgpu_linalg_matrices_registry_h

#include "linalg/execution/backends.h"
#include "linalg/operators/csr_matrix.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
struct FormatTraits
{
  bool needs_gpu = false;        ///< is unavailable on the host
  bool uses_int_offsets = false; ///< indexes the entries of A by int, see check_countable()
};

/// The formats that users can choose. All have the option `values`, the type of the stored values:
/// double or float.
extern const BackendRegistry<FormatTraits, Matrix, const CsrMatrix &> formats;

/**
 * Makes a matrix that equals @p A in the format that @p text names, on the same executor. @p A must
 * outlive the result.
 * @throws ParameterError for unknown names and options, and if the format cannot store @p A
 * @throws DeviceError if memory is insufficient
 */
inline std::unique_ptr<Matrix> make_format(const std::string &text, const CsrMatrix &A)
{
  return formats.make(text, A.executor()->backend(), A);
}

/// Returns whether, in a product with format `csr` on a GPU, the longest row takes longer than all
/// other rows together, because few threads share a row. Format `pcsr` divides such a row.
bool has_dominant_row(double n_nonzeros, double mean_length, int longest);

/// Checks a format early: throws the exceptions that make_format() would throw for @p text with any
/// matrix.
void check_format(const std::string &text);
} // namespace femgpu::linalg

#endif
