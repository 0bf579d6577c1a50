#include "benchmarks/sparse/candidate.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg::benchmark
{
namespace
{
using SparseBesideCusparse = test::OnCuda;

TEST_F(SparseBesideCusparse, ProductsAreThoseOfCusparse)
{
  for (const char *const text :
       {"poisson3d-27pt:12", "elasticity3d-p1:6", "convection-diffusion2d:40,20", "circuit:3000"}) {
    const SparseSystem system = make_system(text);
    const Factors factors{to_executor(executor, system.A), to_executor(executor, system.P),
                          system.is_symmetric};
    for (const Operation operation :
         {Operation::transpose, Operation::square, Operation::interpolated, Operation::coarse})
      for (const bool reuses_pattern : {false, true}) {
        SCOPED_TRACE(std::string(text) + ", operation " +
                     std::to_string(static_cast<int>(operation)));
        const auto peer = make_cusparse(operation, factors, reuses_pattern);
        if (peer == nullptr)
          continue;
        const auto femgpu = make_femgpu(operation, factors);
        const SparseArrays expected = to_host(peer->result()), found = to_host(femgpu->result());
        ASSERT_EQ(found.row_starts, expected.row_starts);
        ASSERT_EQ(found.columns, expected.columns);
        double largest = 0.;
        for (const double value : expected.values)
          largest = std::max(largest, std::abs(value));
        for (std::size_t k = 0; k < found.values.size(); ++k)
          ASSERT_NEAR(found.values[k], expected.values[k], 1e-13 * largest) << "entry " << k;
        femgpu->refresh();
        EXPECT_EQ(to_host(femgpu->result()).values, found.values);
      }
  }
}
} // namespace
} // namespace femgpu::linalg::benchmark
