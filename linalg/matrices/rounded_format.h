#ifndef femgpu_linalg_matrices_rounded_format_h
#define femgpu_linalg_matrices_rounded_format_h

#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
/**
 * The matrix A with its values rounded to the nearest float. It uses the layout of A, or the CSR
 * layout if A computes products in separate kernels (StoredView).
 */
template <class Backend>
class RoundedFormat final : public Format<float>
{
public:
  /// @param A must outlive this object
  /// @throws ParameterError if the values of A are float already
  explicit RoundedFormat(const Matrix &A);

  std::size_t bytes() const override;
  std::string description() const override;
  Matrix::View view() const override;
  void update() override;

private:
  const Matrix &original;
};
} // namespace femgpu::linalg

#endif
