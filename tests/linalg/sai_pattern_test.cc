#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
/// Returns the matrix of a chain whose nodes are all coupled with the first node, like the supply
/// rail of a circuit. The first column has n entries of different sizes.
HostMatrix chain_with_rail(const int n)
{
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    if (i > 0)
      A.add(0, -1. / (i + 1.));
    A.add(i, 4.);
    if (i > 0 && i + 1 < n)
      A.add(i + 1, -1.);
    A.end_row();
  }
  return A;
}

class SaiPattern : public OnBackend
{
protected:
  Solved solve_with(const HostMatrix &A, const std::string &preconditioner) const
  {
    return solve(executor, method("bicgstab", preconditioner), A, random_vector(A.n, 3));
  }
};

TEST_P(SaiPattern, LongColumnsKeepTheirLargestEntries)
{
  constexpr int n = 600;
  const HostMatrix A = chain_with_rail(n);
  const std::size_t all = A.values.size();
  for (const auto &[options, longest] :
       {std::pair("sai longest=0", n), {"sai longest=10", 10}, {"sai", 256}}) {
    const SolveReport report = solve_with(A, options).report;
    EXPECT_EQ(report.method.setup.n_nonzeros, all - static_cast<std::size_t>(n - longest))
        << options;
    EXPECT_TRUE(report.converged()) << report.message;
  }
}

TEST_P(SaiPattern, RowsThatAreNotLongerRemainAsTheyAre)
{
  const HostMatrix A = convection_diffusion(12, 9, 1., 0.5);
  const Solved bounded = solve_with(A, "sai longest=5"), unbounded = solve_with(A, "sai longest=0");
  EXPECT_EQ(bounded.report.history, unbounded.report.history);
  EXPECT_EQ(bounded.x, unbounded.x);
}

INSTANTIATE_TEST_SUITE_P(Backends, SaiPattern, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
