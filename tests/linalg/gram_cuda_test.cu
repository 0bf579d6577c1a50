#include "tests/linalg/gram_checks.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
class CudaGram : public OnCuda
{};

TEST_F(CudaGram, AwkwardSizes)
{
  check_gram_of_edge_case_sizes<CudaBackend>(executor);
}

TEST_F(CudaGram, InALoopThatHasEnded)
{
  check_gram_in_a_loop_that_has_ended<CudaBackend>(executor);
}
} // namespace
} // namespace femgpu::linalg::test
