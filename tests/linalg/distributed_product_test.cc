#include "linalg/execution/host/executor.h"
#include "tests/linalg/on_backend.h"

#include "linalg/execution/this_backend.h"
#include "linalg/sparse/galerkin_product.h"
#include "solve/generators/registry.h"

#include <algorithm>

namespace femgpu::linalg::test
{
namespace
{
/// Returns a prolongation whose row i has columns i/3 and i/3 + 1 modulo n/3, which cross the
/// borders of subdomains.
HostMatrix wide_prolongation(const int n)
{
  HostMatrix P;
  const std::vector<double> numbers = random_vector(2 * n, 5);
  const int n_coarse = n / 3;
  for (int i = 0; i < n; ++i) {
    const int j = i / 3 % n_coarse, k = (j + 1) % n_coarse;
    const std::size_t number = 2 * static_cast<std::size_t>(i);
    P.add(std::min(j, k), numbers[number]);
    P.add(std::max(j, k), numbers[number + 1]);
    P.end_row();
  }
  return P;
}

/// Checks PᵀAP on ranks, after an update, for a matrix with 300 rows.
void expect_product_of_all_rows(const HostMatrix &A, const HostMatrix &P, const ProductKind kind)
{
  const int n_coarse = 100;
  const ExecutorPtr host = std::make_shared<HostExecutor>(1);
  const CsrMatrix all_A(host, A.csr());
  const CsrMatrix all_P(host, n_coarse, Buffer<int>(host, P.row_starts.data(), 301),
                        Buffer<int>(host, P.columns.data(), P.columns.size()),
                        Buffer<double>(host, P.values.data(), P.values.size()));
  const GalerkinProduct<HostBackend> expected(all_A, all_P);
  const std::vector<int> starts = {0, 60, 60, 150, 300}, coarse_starts = {0, 20, 30, 50, 100};
  const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
  std::vector<std::vector<double>> found(matrices.size());
  run_on_ranks(static_cast<int>(matrices.size()), [&](const int p, const auto &communicator) {
    const auto rank = static_cast<std::size_t>(p);
    const ExecutorPtr executor = std::make_shared<HostExecutor>(1);
    const auto range = std::make_shared<RowSpace>(executor, matrices[rank].rows.n, communicator);
    const CsrMatrix own_A(range, std::make_shared<RowSpace>(*range, matrices[rank].ghosts),
                          matrices[rank].rows.csr());
    const RowSpace coarse(*range, coarse_starts[rank + 1] - coarse_starts[rank]);
    std::vector<long long> columns;
    for (int k = P.row_starts[starts[rank]]; k < P.row_starts[starts[rank + 1]]; ++k)
      columns.push_back(P.columns[k]);
    const auto domain = std::make_shared<RowSpace>(coarse, columns);
    HostMatrix own_P;
    for (int i = starts[rank]; i < starts[rank + 1]; ++i) {
      std::vector<std::pair<int, double>> row;
      for (int k = P.row_starts[i]; k < P.row_starts[i + 1]; ++k)
        row.emplace_back(domain->local_index(P.columns[k]), P.values[k]);
      std::sort(row.begin(), row.end());
      for (const auto &[column, value] : row)
        own_P.add(column, value);
      own_P.end_row();
    }
    const CsrMatrix rows_of_P(range, domain,
                              HostCsr{own_P.n, own_P.columns.size(), own_P.row_starts.data(),
                                      own_P.columns.data(), own_P.values.data()});
    GalerkinProduct<HostBackend> product(own_A, rows_of_P, kind);
    product.update(own_A, rows_of_P);
    const CsrMatrix &C = *product.matrix();
    found[rank].assign(static_cast<std::size_t>(C.n()) * n_coarse, 0.);
    const CsrView<double> view = C.csr_view();
    for (int i = 0; i < C.n(); ++i)
      for (std::size_t k = view.row_starts[i]; k < view.row_starts[i + 1]; ++k)
        found[rank][static_cast<std::size_t>(i) * n_coarse +
                    static_cast<std::size_t>(C.domain()->global_number(view.columns[k]))] +=
            view.values[k];
  });
  const CsrView<double> view = expected.matrix()->csr_view();
  for (std::size_t p = 0; p < matrices.size(); ++p)
    for (int i = coarse_starts[p]; i < coarse_starts[p + 1]; ++i) {
      std::vector<double> row(static_cast<std::size_t>(n_coarse));
      for (std::size_t k = view.row_starts[i]; k < view.row_starts[i + 1]; ++k)
        row[static_cast<std::size_t>(view.columns[k])] = view.values[k];
      for (int j = 0; j < n_coarse; ++j)
        EXPECT_NEAR(found[p][static_cast<std::size_t>(i - coarse_starts[p]) * n_coarse +
                             static_cast<std::size_t>(j)],
                    row[static_cast<std::size_t>(j)], 1e-12)
            << i << ", " << j;
    }
}

TEST(PartsOfProducts, AreTheProductOfAllRows)
{
  expect_product_of_all_rows(generate("circuit:300").A, wide_prolongation(300),
                             ProductKind::general);
}

TEST(PartsOfProducts, AreTheSymmetricProductOfAllRows)
{
  expect_product_of_all_rows(generate("poisson2d-5pt:6x50").A, wide_prolongation(300),
                             ProductKind::symmetric);
}
} // namespace
} // namespace femgpu::linalg::test
