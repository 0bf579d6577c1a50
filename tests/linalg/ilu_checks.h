#ifndef femgpu_tests_linalg_ilu_checks_h
#define femgpu_tests_linalg_ilu_checks_h

#include "linalg/preconditioners/incomplete/factors.h"
#include "linalg/preconditioners/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/ilu_reference.h"
#include "tests/linalg/on_backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Checks incomplete factors on any backend: ilu_test.cc runs the checks on the host,
 * ilu_cuda_test.cu on a CUDA device.
 */
namespace femgpu::linalg::test
{
/// A matrix with a preconditioner that can be applied to vectors on the host.
template <class Backend>
class AppliedPreconditioner
{
public:
  AppliedPreconditioner(const ExecutorPtr &executor, const std::string &method, const HostMatrix &A)
      : executor(executor), csr(executor, A.csr()),
        M(make_preconditioner(method, executor->backend()))
  {
    M->setup(csr);
  }

  std::vector<double> operator()(const std::vector<double> &r) const
  {
    Buffer<double> v(executor, r.data(), r.size());
    Buffer<double> z(executor, r.size());
    apply(*M, *executor, v, z);
    return z.to_host();
  }
  void update(const std::vector<double> &values)
  {
    csr.update_values(values.data());
    M->update(csr);
  }

  ExecutorPtr executor;
  CsrMatrix csr;
  std::unique_ptr<Preconditioner> M;
};

inline std::vector<HostMatrix> ilu_matrices()
{
  HostMatrix lower_half = dense({{2., 0., 0., 0., 0.},
                                 {-1., 2., 0., 0., 1.},
                                 {0., -1., 2., 0., 0.},
                                 {-1., 0., -1., 2., 0.},
                                 {1., 0., 0., -1., 2.}});
  return {laplacian_1d(1),
          laplacian_1d(33),
          laplacian_2d(9, 7),
          box_27(4, 3, 3),
          arrow(31),
          convection_diffusion(8, 6, 3., -2.),
          random_spd(60, 4, 2),
          random_dominant(60, 4, 3),
          unsymmetric_pattern(50, 3, 4),
          lower_half};
}

template <class Backend>
void check_pattern_is_that_of_the_levels(const ExecutorPtr &executor)
{
  for (const HostMatrix &A : ilu_matrices())
    for (int level = 0; level <= 4; ++level) {
      SCOPED_TRACE(std::to_string(A.n) + " rows, level " + std::to_string(level));
      const CsrMatrix csr(executor, A.csr());
      const BlockPartition blocks(executor, make_partition("contiguous", A.csr(), 1));
      const DerivedPattern block_rows = block_diagonal<Backend>(csr, blocks);
      const RowPattern pattern = fill_pattern<Backend>(block_rows.pattern, level, executor);
      const std::vector<int> starts = pattern.row_starts.to_host();
      const std::vector<int> columns = pattern.columns.to_host();
      const DenseLevels expected = fill_levels(dense_matrix(A), level);
      for (int i = 0; i < A.n; ++i) {
        std::vector<int> row;
        for (int j = 0; j < A.n; ++j)
          if (expected[i][j] <= level)
            row.push_back(j);
        EXPECT_EQ(row,
                  std::vector<int>(columns.begin() + starts[i], columns.begin() + starts[i + 1]))
            << "row " << i;
      }
    }
}

template <class Backend>
void check_product_of_factors_is_A_on_the_pattern(const ExecutorPtr &executor)
{
  for (const HostMatrix &A : {laplacian_2d(13, 9), box_27(5, 4, 3), random_dominant(200, 5, 3),
                              convection_diffusion(12, 11, 3., -2.)})
    for (const int level : {0, 1, 3}) {
      SCOPED_TRACE(std::to_string(A.n) + " rows, level " + std::to_string(level));
      const CsrMatrix csr(executor, A.csr());
      const BlockPartition blocks(executor, make_partition("contiguous", A.csr(), 1));
      IncompleteFactors<Backend> factors(csr, blocks, level, false, true);
      factors.factorise(csr);
      const Dense a = dense_matrix(A), lu = dense_factors(factors);
      const DenseLevels levels = fill_levels(a, level);
      for (int i = 0; i < A.n; ++i)
        for (int j = 0; j < A.n; ++j)
          if (levels[i][j] <= level) {
            double sum = 0.; // M_ij = Σ l_ik u_kj / d_k
            for (int k = 0; k <= std::min(i, j); ++k)
              sum += lu[i][k] * lu[k][j] / lu[k][k];
            EXPECT_NEAR(sum, a[i][j], 1e-13 * a[i][i]) << "entry " << i << ", " << j;
          }
          else
            EXPECT_EQ(lu[i][j], 0.) << "entry " << i << ", " << j;
    }
}

template <class Backend>
void check_full_pattern_solves_the_system(const ExecutorPtr &executor)
{
  for (const HostMatrix &A : {laplacian_1d(33), arrow(31), laplacian_2d(4, 3),
                              random_dominant(12, 4, 3), laplacian_1d(32)})
    for (const char *const method :
         {"ilu level=10 blocks=1 triangular=levels",
          "ilu level=10 blocks=1 triangular=dependencies",
          "two-stage level=10 blocks=1 outer=2 inner=3 triangular=levels"}) {
      const std::vector<double> x = random_vector(A.n, 1);
      const AppliedPreconditioner<Backend> M(executor, method, A);
      EXPECT_LT(relative_difference(M(multiply(A, x)), x), 1e-12) << method;
    }
}

template <class Backend>
void check_triangular_solves_agree(const ExecutorPtr &executor)
{
  std::vector<std::string> ways = {"dependencies", "sweeps sweeps=100"};
  if (executor->backend() == BackendKind::host)
    ways.emplace_back("auto");
  for (const HostMatrix &A : {laplacian_1d(1), laplacian_1d(31), laplacian_1d(32), laplacian_1d(33),
                              box_27(9, 8, 7), laplacian_3d(22, 21, 20),
                              random_dominant(1000, 20, 5), convection_diffusion(40, 30, 3., 1.)})
    for (const char *const blocks : {"1", "3", "40"}) {
      const std::string method = "two-stage level=1 outer=2 inner=2 blocks=" + std::string(blocks);
      SCOPED_TRACE(std::to_string(A.n) + " rows, " + method);
      const std::vector<double> r = random_vector(A.n, 7);
      const std::vector<double> expected =
          AppliedPreconditioner<Backend>(executor, method + " triangular=levels", A)(r);
      for (const std::string &way : ways) {
        // The 100 sweeps are exact for at most 100 levels, and so for at most 100 rows.
        if (way[0] == 's' && A.n > 100)
          continue;
        const AppliedPreconditioner<Backend> M(executor, method + " triangular=" + way, A);
        EXPECT_LT(relative_difference(M(r), expected), 1e-13) << way;
        EXPECT_EQ(M(r), M(r)) << way << ": a repeat differs";
      }
    }
}

/// Checks that triangular solves by levels and by dependencies agree for blocks of rows that exceed
/// the shared memory of a thread block.
template <class Backend>
void check_solves_with_large_blocks_agree(const ExecutorPtr &executor)
{
  for (const HostMatrix &A : {laplacian_2d(300, 300), laplacian_3d(40, 30, 30)})
    for (const char *const blocks : {"3", "11", "30"}) {
      const std::string method = "ilu level=1 blocks=" + std::string(blocks) + " triangular=";
      const std::vector<double> r = random_vector(A.n, 7);
      const AppliedPreconditioner<Backend> by_levels(executor, method + "levels", A);
      const AppliedPreconditioner<Backend> by_rows(executor, method + "dependencies", A);
      EXPECT_LT(relative_difference(by_levels(r), by_rows(r)), 1e-13) << method;
      for (int repeat = 0; repeat < 8; ++repeat) {
        EXPECT_EQ(by_levels(r), by_levels(r));
        EXPECT_EQ(by_rows(r), by_rows(r));
      }
    }
}

template <class Backend>
void check_sweeps_are_truncated_series(const ExecutorPtr &executor)
{
  const HostMatrix A = laplacian_2d(12, 9);
  const Dense lu = incomplete_lu(dense_matrix(A), 1);
  const std::vector<double> r = random_vector(A.n, 3);
  for (const int sweeps : {1, 2, 5}) {
    const AppliedPreconditioner<Backend> M(
        executor, "ilu level=1 blocks=1 triangular=sweeps sweeps=" + std::to_string(sweeps), A);
    EXPECT_LT(relative_difference(M(r), swept_solution(lu, r, sweeps)), 1e-13) << sweeps;
  }
}

/// Returns a matrix with 1 on the diagonal and -c below the diagonal, so that each sweep multiplies
/// errors by c.
inline HostMatrix coupled_chain(const int n, const double c)
{
  Dense A(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
  for (std::size_t i = 0; i < A.size(); ++i) {
    A[i][i] = 1.;
    if (i > 0)
      A[i][i - 1] = -c;
  }
  return dense(A);
}

template <class Backend>
void check_sweeps_contract_or_are_replaced(const ExecutorPtr &executor)
{
  const int n = 50;
  const std::vector<double> r = random_vector(n, 3);
  const auto has_remark = [](const AppliedPreconditioner<Backend> &M, const std::string &text) {
    const std::string remarks = M.M->setup_report().remarks;
    return remarks.find(text) != std::string::npos ? testing::AssertionSuccess()
                                                   : testing::AssertionFailure() << remarks;
  };
  const std::string sweeps = "ilu blocks=1 triangular=sweeps";
  const AppliedPreconditioner<Backend> small(executor, sweeps,
                                             coupled_chain(n, 0.7)); // 0.7⁴ = 0.24 remains
  EXPECT_TRUE(has_remark(small, "triangles by 3 Jacobi sweeps per triangle, which leave 0.2"));
  const AppliedPreconditioner<Backend> raised(executor, sweeps,
                                              coupled_chain(n, 0.9)); // 0.9⁷ = 0.48 remains
  EXPECT_TRUE(has_remark(raised, "triangles by 6 Jacobi sweeps per triangle, which leave 0.4"));
  const AppliedPreconditioner<Backend> slow(executor, sweeps,
                                            coupled_chain(n, 0.99)); // 0.99²⁵ √(25/50) = 0.55
  EXPECT_TRUE(has_remark(slow, "triangles by 24 Jacobi sweeps per triangle, which leave 0.5"));

  const HostMatrix A = coupled_chain(n, 1.5);
  AppliedPreconditioner<Backend> exact(executor, sweeps, A);
  EXPECT_TRUE(has_remark(exact, ", because 24 Jacobi sweeps per triangle leave"));
  const AppliedPreconditioner<Backend> reference(executor, "ilu blocks=1 triangular=dependencies",
                                                 A);
  EXPECT_LT(relative_difference(exact(r), reference(r)), 1e-13);
  exact.update(coupled_chain(n, 0.7).values); // sweeps converge for these values
  EXPECT_TRUE(has_remark(exact, "triangles by 3 Jacobi sweeps per triangle"));
  EXPECT_LT(relative_difference(exact(r), small(r)), 1e-13);

  const AppliedPreconditioner<Backend> requested(executor, sweeps + " sweeps=3",
                                                 A); // 3 sweeps, although they diverge: 1.5⁴ = 5.1
  EXPECT_TRUE(has_remark(requested, "triangles by 3 Jacobi sweeps per triangle, which leave 4."));
}

template <class Backend>
void check_two_stage_is_algorithm_3(const ExecutorPtr &executor)
{
  std::vector<std::string> partitions = {"contiguous", "geometry"};
  if (have_metis())
    partitions.emplace_back("metis");
  for (const char *const problem : {"poisson2d-5pt:9x8", "convection-diffusion2d:8,3"})
    for (const std::string &partition : partitions)
      for (const int p : {1, 2, 5})
        for (const int m : {1, 2, 3})
          for (const int q : {1, 2, 3}) {
            const int level = (p + m + q) % 2;
            const HostMatrix A = generate(problem).A;
            const std::string method =
                "two-stage partition=" + partition + " blocks=" + std::to_string(p) +
                " outer=" + std::to_string(m) + " inner=" + std::to_string(q) +
                " level=" + std::to_string(level) + " triangular=levels";
            const std::vector<double> r = random_vector(A.n, 5);
            const AppliedPreconditioner<Backend> M(executor, method, A);
            const Partition blocks = make_partition(partition, A.csr(), p);
            EXPECT_LT(relative_difference(M(r), two_stage_solution(A, blocks, r, {m, q, level})),
                      1e-12)
                << problem << ", " << method;
          }
}

template <class Backend>
void check_is_symmetric_for_symmetric_matrices(const ExecutorPtr &executor)
{
  for (const HostMatrix &A : {laplacian_2d(40, 30), box_27(9, 8, 7), random_spd(500, 6, 3)})
    for (const char *const method :
         {"ilu", "ic level=1", "two-stage outer=2 inner=2 blocks=4 level=1",
          "two-stage outer=3 inner=1 blocks=3 factor=ic", "ilu triangular=sweeps sweeps=2"}) {
      const AppliedPreconditioner<Backend> M(executor, method, A);
      EXPECT_TRUE(M.M->is_symmetric());
      const std::vector<double> x = random_vector(A.n, 1), y = random_vector(A.n, 2);
      const std::vector<double> Mx = M(x), My = M(y);
      double x_My = 0., Mx_y = 0.;
      for (int i = 0; i < A.n; ++i) {
        x_My += x[i] * My[i];
        Mx_y += Mx[i] * y[i];
      }
      EXPECT_NEAR(x_My, Mx_y, 1e-13 * norm(Mx) * norm(y)) << method;
    }
  EXPECT_FALSE(AppliedPreconditioner<Backend>(executor, "ilu", convection_diffusion(9, 7, 3., 1.))
                   .M->is_symmetric());
}

/// Checks that the factors are bitwise symmetric. Cholesky factors must be symmetric even if
/// rounding has made A slightly unsymmetric.
template <class Backend>
void check_cholesky_factors_are_symmetric_to_the_bit(const ExecutorPtr &executor)
{
  HostMatrix A = random_spd(300, 6, 3);
  for (const bool is_cholesky : {false, true}) {
    const CsrMatrix csr(executor, A.csr());
    const BlockPartition blocks(executor, make_partition("contiguous", A.csr(), 2));
    IncompleteFactors<Backend> factors(csr, blocks, 1, is_cholesky, true);
    factors.factorise(csr);
    const Dense lu = dense_factors(factors);
    for (int i = 0; i < A.n; ++i)
      for (int j = 0; j < i; ++j)
        EXPECT_EQ(lu[i][j], lu[j][i]) << i << ", " << j;
    for (int i = 0; i < A.n; ++i)
      for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        A.values[k] *= A.columns[k] < i ? 1. + 4e-16 : 1.;
  }
}

template <class Backend>
void check_update_is_setup_with_new_values(const ExecutorPtr &executor)
{
  const HostMatrix A = convection_diffusion(30, 20, 3., -2.);
  HostMatrix B = A;
  for (std::size_t k = 0; k < B.values.size(); ++k)
    B.values[k] *= 1. + 0.1 * static_cast<double>(k % 7);
  const std::vector<double> r = random_vector(A.n, 1);
  for (const std::string triangular : {"levels", "dependencies", "sweeps"}) {
    const std::string method =
        "two-stage level=1 outer=2 inner=2 blocks=3 partition=metis triangular=" + triangular;
    if (!have_metis())
      return;
    AppliedPreconditioner<Backend> M(executor, method, A);
    const std::vector<double> before = M(r);
    M.update(B.values);
    EXPECT_EQ(M(r), AppliedPreconditioner<Backend>(executor, method, B)(r)) << method;
    M.update(A.values);
    EXPECT_EQ(M(r), before) << method;
  }
}
} // namespace femgpu::linalg::test

#endif
