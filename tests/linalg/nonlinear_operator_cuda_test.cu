#include "tests/linalg/diffusion_equation.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
class CudaNonlinearOperator : public OnCuda
{
protected:
  CsrMatrix laplacian() const
  {
    return {executor, laplacian_1d(33).csr()};
  }
};

TEST_F(CudaNonlinearOperator, IsSolvedByItsResidualAndJacobian)
{
  check_methods<CudaBackend>(laplacian());
}

TEST_F(CudaNonlinearOperator, IsTracedByItsDerivativeToo)
{
  check_branch<CudaBackend>(laplacian());
}
} // namespace
} // namespace femgpu::linalg::test
