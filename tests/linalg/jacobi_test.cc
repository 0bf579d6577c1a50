#include "linalg/preconditioners/registry.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
class JacobiTest : public OnBackend
{
protected:
  // Returns the diagonal of M⁻¹ for @p n rows.
  std::vector<double> inverse_of(const Preconditioner &M, const int n) const
  {
    std::vector<double> inverse(static_cast<std::size_t>(n));
    const auto view = std::get<DiagonalView>(M.action());
    if (view.is_uniform())
      return std::vector<double>(inverse.size(), view.uniform);
    executor->copy_to_host(inverse.data(), view.inverse, inverse.size() * sizeof(double));
    return inverse;
  }

  std::unique_ptr<Preconditioner> jacobi() const
  {
    return make_preconditioner("jacobi", executor->backend());
  }
};

TEST_P(JacobiTest, HoldsTheInverseDiagonal)
{
  const CsrMatrix A(executor, dense({{2., 1., 0.}, {1., -4., 1.}, {0., 1., 0.5}}).csr());
  const auto M = jacobi();
  M->setup(A);
  EXPECT_EQ(inverse_of(*M, 3), (std::vector<double>{0.5, -0.25, 2.}));
  EXPECT_TRUE(M->is_symmetric());
  EXPECT_EQ(M->name(), "jacobi");
  EXPECT_EQ(M->bytes(), 24U);
}

TEST_P(JacobiTest, FindsTheDiagonalOfEveryRow)
{
  for (const int n : {0, 1, 31, 32, 33, 100007}) {
    HostMatrix host_matrix = laplacian_1d(n);
    std::vector<double> expected;
    for (int i = 0; i < n; ++i) {
      host_matrix.values[static_cast<std::size_t>(i == 0 ? 0 : 3 * i)] = i + 1;
      expected.push_back(1. / (i + 1));
    }
    const CsrMatrix A(executor, host_matrix.csr());
    const auto M = jacobi();
    M->setup(A);
    EXPECT_EQ(inverse_of(*M, n), expected) << n << " rows";
  }
}

TEST_P(JacobiTest, ReadsNothingWhereAllEntriesAreTheSame)
{
  HostMatrix host_matrix = laplacian_2d(40, 50);
  CsrMatrix A(executor, host_matrix.csr());
  const auto M = jacobi();
  M->setup(A);
  EXPECT_EQ(M->bytes(), 0U);
  EXPECT_EQ(inverse_of(*M, 2000), std::vector<double>(2000, 0.25));
  host_matrix.values.back() = 5.; // A_nn
  A.update_values(host_matrix.values.data());
  M->update(A);
  EXPECT_EQ(M->bytes(), 16000U);
  EXPECT_EQ(inverse_of(*M, 2000).front(), 0.25);
  EXPECT_EQ(inverse_of(*M, 2000).back(), 0.2);
}

TEST_P(JacobiTest, FollowsNewValuesAndNewPatterns)
{
  HostMatrix host_matrix = diagonal({1., 2., 4.});
  CsrMatrix A(executor, host_matrix.csr());
  const auto M = jacobi();
  M->setup(A);
  host_matrix.values = {8., 4., 2.};
  A.update_values(host_matrix.values.data());
  M->update(A);
  EXPECT_EQ(inverse_of(*M, 3), (std::vector<double>{0.125, 0.25, 0.5}));
  M->setup(CsrMatrix(executor, laplacian_1d(5).csr()));
  EXPECT_EQ(inverse_of(*M, 5), std::vector<double>(5, 0.5));
}

TEST_P(JacobiTest, CountsZeroAndMissingEntries)
{
  HostMatrix host_matrix = with_empty_rows(3000); // every third row is empty
  host_matrix.values[0] = 0.;                     // A_00 is zero, too
  const CsrMatrix A(executor, host_matrix.csr());
  const std::string text = text_of<SolverError>([&] { jacobi()->setup(A); });
  EXPECT_NE(text.find("1001 of 3000 rows"), std::string::npos) << text;
}

TEST_P(JacobiTest, FindsAZeroThatAnUpdateBrings)
{
  HostMatrix host_matrix = diagonal({1., 2., 4.});
  CsrMatrix A(executor, host_matrix.csr());
  const auto M = jacobi();
  M->setup(A);
  host_matrix.values[1] = 0.;
  A.update_values(host_matrix.values.data());
  const std::string text = text_of<SolverError>([&] { M->update(A); });
  EXPECT_NE(text.find("1 of 3 rows"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Backends, JacobiTest, backends(), backend_name);

TEST(PreconditionerRegistry, UnknownNameIsAnErrorThatListsTheValidOnes)
{
  const std::string text =
      text_of<ParameterError>([] { make_preconditioner("ilu-9", BackendKind::host); });
  for (const std::string substring : {"'ilu-9'", "identity", "jacobi"})
    EXPECT_NE(text.find(substring), std::string::npos) << text;
}

TEST(PreconditionerRegistry, MakesWhatItNames)
{
  for (const Choice &choice : linalg::preconditioners.choices())
    EXPECT_EQ(make_preconditioner(choice.name, BackendKind::host)->name(),
              choice.name == "auto" ? "jacobi" : choice.name);
}
} // namespace
} // namespace femgpu::linalg::test
