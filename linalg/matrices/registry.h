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
  bool needs_gpu = false;     ///< is refused by the host
  bool counts_by_int = false; ///< entries of A, see check_countable()
};

/// All of them have the option `values`, of FormatScalars: float halves the bytes of the values.
extern const BackendRegistry<FormatTraits, Matrix, const CsrMatrix &> formats;

/**
 * The matrix @p A in the format that @p text names, on the same executor; @p A must outlive it.
 * @throws ParameterError for unknown names and options, and if the format cannot hold @p A;
 *         DeviceError without memory.
 */
inline std::unique_ptr<Matrix> make_format(const std::string &text, const CsrMatrix &A)
{
  return formats.make(text, A.executor()->backend(), A);
}

/// Does the longest row take longer than all others in a product with `csr` on a GPU, where few
/// threads share a row? `pcsr` cuts it into pieces then.
bool has_dominant_row(double n_nonzeros, double mean_length, int longest);

/// Throws what make_format() would throw of @p text whatever the matrix: for early checks.
void check_format(const std::string &text);
} // namespace femgpu::linalg

#endif
