#ifndef femgpu_linalg_matrices_rounded_format_h
#define femgpu_linalg_matrices_rounded_format_h

#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
/**
 * A matrix in the layout of another one, with its values rounded to float, to nearest. If a product
 * with the other matrix takes more than one step, the layout is that of its CSR.
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
  const Matrix &original;
};
} // namespace femgpu::linalg

#endif
