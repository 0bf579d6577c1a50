#ifndef femgpu_linalg_matrices_rounded_format_h
#define femgpu_linalg_matrices_rounded_format_h

#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
/**
 * The matrix in the layout of another one, whose values it has rounded to float, to nearest; where
 * a product with that is more than one step, in the layout of its CSR.
 */
template <class Backend>
class RoundedFormat final : public Format<float>
{
public:
  /// @param A outlives it. @throws ParameterError if its values are float already
  explicit RoundedFormat(const Matrix &A);

  std::size_t bytes() const override;
  std::string description() const override;
  Matrix::View view() const override;
  void update() override;

private:
  const Matrix &given;
};
} // namespace femgpu::linalg

#endif
