#include "linalg/execution/backends.h"
#include "linalg/execution/host/executor.h"
#include "linalg/preconditioners/entry_properties.h"
#include "linalg/sparse/galerkin_product.h"
#include "linalg/sparse/sum.h"
#include "linalg/sparse/symmetry.h"
#include "tests/linalg/on_backend.h"
#include "tests/linalg/sparse_entries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

/**
 * @file
 * Tests the algebra of sparse matrices against a reference implementation, which stores each row in
 * a map and sums in the same order.
 */
namespace femgpu::linalg::test
{
namespace
{
class SparseTest : public OnBackend
{
protected:
  CsrMatrix make(const Entries &A) const
  {
    return to_device(executor, A);
  }
};

const Entries small = {4, {{{0, 1.}, {2, 2.}}, {}, {{1, -3.}, {2, 4.}, {3, 5.}}}}; // 3 x 4

/// The shape of an n x m matrix whose rows have about `mean` and at most `longest` entries.
struct Shape
{
  int n, m, mean, longest;
};
const Shape shapes[] = {{0, 0, 1, 1},    {0, 7, 1, 1},     {7, 0, 1, 1},        {1, 1, 1, 1},
                        {31, 33, 3, 20}, {33, 31, 3, 20},  {32, 32, 4, 32},     {1, 1000, 90, 90},
                        {1000, 1, 1, 1}, {257, 90, 5, 90}, {1300, 1700, 6, 900}};

TEST_P(SparseTest, TransposesAMatrixByHand)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const auto At = transposed<Backend>(make(small)).matrix();
    EXPECT_EQ(to_host(*At), (Entries{3, {{{0, 1.}}, {{2, -3.}}, {{0, 2.}, {2, 4.}}, {{2, 5.}}}}));
  });
}

/// Checks sorting of keys with only 97 different values, so that many are equal.
template <class Backend, class Key>
void check_sorting(const ExecutorPtr &executor, const int n, const Key n_keys)
{
  std::vector<Key> keys;
  for (int k = 0; k < n; ++k)
    keys.push_back(
        static_cast<Key>(static_cast<unsigned long long>(n_keys) / 97 * (31ULL * k % 97)));
  std::vector<int> expected(keys.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](const int k, const int l) { return keys[k] < keys[l]; });
  const Buffer<Key> input(executor, keys.data(), keys.size());
  Buffer<Key> sorted(executor, keys.size());
  Buffer<int> order(executor, keys.size());
  sort_by_key<Backend>(executor, input.data(), n, n_keys, sorted.data(), order.data());
  EXPECT_EQ(order.to_host(), expected);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(sorted.to_host(), keys);
}

TEST_P(SparseTest, SortsKeysAndKeepsTheOrderOfEqualOnes)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const int n : {0, 1, 31, 32, 33, 1000, 100007}) {
      SCOPED_TRACE(n);
      for (const int n_keys : {97, 2048, 2049, 2147483647})
        check_sorting<Backend>(executor, n, n_keys);
      for (const long long n_keys : {97LL, 1LL << 32, (1LL << 40) + 1, (1LL << 62) - 1})
        check_sorting<Backend>(executor, n, n_keys);
    }
  });
}

TEST_P(SparseTest, TransposesAllShapesAndTakesOverNewValues)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const Shape &shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.n) + " x " + std::to_string(shape.m));
      const Entries A = random_entries(shape.n, shape.m, shape.mean, shape.longest, 1);
      DerivedMatrix<Backend> At = transposed<Backend>(make(A));
      EXPECT_EQ(to_host(*At.matrix()), transpose(A));
      At.update(make(with_new_values(A)));
      EXPECT_EQ(to_host(*At.matrix()), transpose(with_new_values(A)));
    }
  });
}

TEST_P(SparseTest, AddsMatricesByHand)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const Entries other = {4, {{{0, 1.}, {1, 1.}, {3, 1.}}, {{2, 7.}}, {}}};
    Sum<Backend> sum(2., make(small), -2., make(other));
    EXPECT_EQ(to_host(*sum.matrix()), (Entries{4,
                                               {{{0, 0.}, {1, -2.}, {2, 4.}, {3, -2.}},
                                                {{2, -14.}},
                                                {{1, -6.}, {2, 8.}, {3, 10.}}}}));
    sum.update(0., make(small), 1., make(other));
    EXPECT_EQ(values_of(*sum.matrix()), (std::vector<double>{1, 1, 0, 1, 7, 0, 0, 0}));
  });
}

TEST_P(SparseTest, AddsAllShapes)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const Shape &shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.n) + " x " + std::to_string(shape.m));
      const Entries A = random_entries(shape.n, shape.m, shape.mean, shape.longest, 2);
      const Entries B = random_entries(shape.n, shape.m, shape.mean, shape.longest, 3);
      Entries expected = A;
      for (int i = 0; i < A.n(); ++i) {
        for (auto &[column, value] : expected.rows[i])
          value *= 2.;
        for (const auto &[column, value] : B.rows[i])
          expected.rows[i][column] += 0.5 * value;
      }
      const Sum<Backend> sum(2., make(A), 0.5, make(B)); // these factors cause no rounding
      EXPECT_EQ(to_host(*sum.matrix()), expected);
    }
  });
}

TEST_P(SparseTest, MultipliesMatricesByHand)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const Entries B = {2, {{{1, 2.}}, {{0, 1.}}, {{0, 3.}, {1, -1.}}, {}}};
    const Product<Backend> C(make(small), make(B));
    EXPECT_EQ(to_host(*C.matrix()), (Entries{2, {{{0, 6.}, {1, 0.}}, {}, {{0, 9.}, {1, -4.}}}}));
  });
}

TEST_P(SparseTest, MultipliesAllShapesAndTakesOverNewValues)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const Shape &shape : shapes)
      for (const int width : {1, 33, 65, 96, 97, 1100}) {
        SCOPED_TRACE(std::to_string(shape.n) + " x " + std::to_string(shape.m) + " x " +
                     std::to_string(width));
        const Entries A = random_entries(shape.n, shape.m, shape.mean, shape.longest, 4);
        const Entries B = random_entries(shape.m, width, 4, std::min(700, width), 5);
        const Entries new_A = with_new_values(A), new_B = with_new_values(B);
        Product<Backend> C(make(A), make(B));
        expect_near(to_host(*C.matrix()), multiply(A, B), multiply(magnitudes(A), magnitudes(B)));
        const std::vector<double> values = values_of(*C.matrix());
        C.update(make(new_A), make(new_B));
        expect_near(to_host(*C.matrix()), multiply(new_A, new_B),
                    multiply(magnitudes(new_A), magnitudes(new_B)));
        C.update(make(A), make(B));
        EXPECT_EQ(values_of(*C.matrix()), values);
      }
  });
}

TEST_P(SparseTest, RepeatsAProductBitByBit)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    // The rows need all kinds of workspaces: a few entries, some hundreds, and dense rows.
    const CsrMatrix A = make(random_entries(6000, 6000, 9, 4500, 6));
    const Product<Backend> C(A, A), again(A, A);
    EXPECT_EQ(again.matrix()->host_columns(), C.matrix()->host_columns());
    EXPECT_EQ(values_of(*again.matrix()), values_of(*C.matrix()));
  });
}

/// Returns a matrix with a full block for each entry of @p A, as for nodes with several unknowns.
Entries of_blocks(const Entries &A, const int n_rows, const int n_columns)
{
  Entries result{A.n_columns * n_columns,
                 std::vector<std::map<int, double>>(static_cast<std::size_t>(A.n() * n_rows))};
  for (int i = 0; i < result.n(); ++i)
    for (const auto &[j, value] : A.rows[i / n_rows])
      for (int c = 0; c < n_columns; ++c)
        result.rows[i][j * n_columns + c] = value + 0.1 * (i % n_rows) - 0.3 * c;
  return result;
}

TEST_P(SparseTest, MultipliesMatricesOfNodes)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const auto &[n, width, mean, block, middle, columns] :
         {std::array{7, 9, 2, 2, 2, 3}, std::array{300, 200, 4, 3, 3, 6},
          std::array{40, 30, 9, 6, 3, 1}, std::array{700, 3000, 25, 3, 1, 1}}) {
      SCOPED_TRACE(std::to_string(n) + " nodes of " + std::to_string(block));
      Entries A = of_blocks(random_entries(n, n, mean, n / 3, 12), block, middle);
      const Entries B = of_blocks(random_entries(n, width, mean, 60, 13), middle, columns);
      A.rows[1].clear(); // unlike the other rows of its node
      const Product<Backend> C(make(A), make(B));
      expect_near(to_host(*C.matrix()), multiply(A, B), multiply(magnitudes(A), magnitudes(B)));
    }
  });
}

/// Returns a matrix with up to three entries per row and some empty rows.
Entries interpolation(const int n)
{
  Entries P{(n + 1) / 2, std::vector<std::map<int, double>>(n)};
  for (int i = 0; i < n; ++i)
    if (i % 11 != 5)
      for (int j = std::max(0, i / 2 - 1); j <= std::min(i / 2 + 1, P.n_columns - 1); ++j)
        P.rows[i][j] = 1. / (1. + std::abs(i - 2. * j));
  return P;
}

TEST_P(SparseTest, MakesCoarseMatricesAgainWithNewValues)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const int n : {0, 1, 31, 32, 33, 1000}) {
      SCOPED_TRACE(n);
      const Entries A = random_entries(n, n, 7, n / 2, 7), P = interpolation(n);
      const auto check = [&](const Entries &coarse, const Entries &A_, const Entries &P_) {
        const Entries sizes = magnitudes(P_);
        expect_near(coarse, multiply(transpose(P_), multiply(A_, P_)),
                    multiply(transpose(sizes), multiply(magnitudes(A_), sizes)));
      };
      GalerkinProduct<Backend> coarse(make(A), make(P));
      check(to_host(*coarse.matrix()), A, P);
      EXPECT_EQ(to_host(*coarse.restriction()), transpose(P));
      const Entries new_A = with_new_values(A), new_P = with_new_values(P);
      coarse.update(make(new_A), make(new_P));
      check(to_host(*coarse.matrix()), new_A, new_P);
    }
  });
}

/// Returns A + Aᵀ for a random A.
Entries symmetric_entries(const int n)
{
  Entries A = random_entries(n, n, 6, n / 3, 8);
  const Entries At = transpose(A);
  for (int i = 0; i < n; ++i)
    for (const auto &[j, value] : At.rows[i])
      A.rows[i][j] += value;
  return A;
}

TEST_P(SparseTest, MakesCoarseMatricesOfNodes)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const Entries A = of_blocks(symmetric_entries(150), 3, 3);
    const Entries P = of_blocks(interpolation(150), 3, 6), sizes = magnitudes(P);
    const GalerkinProduct<Backend> coarse(make(A), make(P));
    expect_near(to_host(*coarse.matrix()), multiply(transpose(P), multiply(A, P)),
                multiply(transpose(sizes), multiply(magnitudes(A), sizes)));
  });
}

TEST_P(SparseTest, MakesCoarseMatricesThatAreSymmetricToTheLastBit)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const Entries A = symmetric_entries(1000), P = interpolation(1000);
    const GalerkinProduct<Backend> coarse(make(A), make(P), ProductKind::symmetric);
    const Entries result = to_host(*coarse.matrix());
    EXPECT_EQ(result, transpose(result));
    expect_near(result, multiply(transpose(P), multiply(A, P)),
                multiply(transpose(P), multiply(magnitudes(A), P)));
    const std::string text = text_of<SolverError>([&] {
      Product<Backend>(make({2, {{{0, 1.}, {1, 1.}}, {{1, 1.}}}}),
                       make({2, {{{0, 1.}}, {{1, 1.}}}}), ProductKind::symmetric);
    });
    EXPECT_NE(text.find("declared symmetric"), std::string::npos) << text;
  });
}

Entries selected_entries(const Entries &A, const std::vector<int> &rows,
                         const std::vector<int> &columns)
{
  Entries result{static_cast<int>(columns.size()), std::vector<std::map<int, double>>(rows.size())};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (const auto found = A.rows[rows[r]].find(columns[c]); found != A.rows[rows[r]].end())
        result.rows[r][static_cast<int>(c)] = found->second;
  return result;
}

TEST_P(SparseTest, TakesRowsAndColumns)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const Shape &shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.n) + " x " + std::to_string(shape.m));
      const Entries A = random_entries(shape.n, shape.m, shape.mean, shape.longest, 9);
      std::vector<int> rows, columns;
      for (int i = shape.n - 1; i >= 0; i -= 2) // rows in descending order
        rows.push_back(i);
      if (shape.n > 0)
        rows.push_back(shape.n / 2); // this row may be a duplicate
      for (int j = 0; j < shape.m; j += 1 + j % 3)
        columns.push_back(j);
      DerivedMatrix<Backend> chosen =
          submatrix<Backend>(make(A), Buffer<int>(executor, rows.data(), rows.size()),
                             Buffer<int>(executor, columns.data(), columns.size()));
      EXPECT_EQ(to_host(*chosen.matrix()), selected_entries(A, rows, columns));
      chosen.update(make(with_new_values(A)));
      EXPECT_EQ(to_host(*chosen.matrix()), selected_entries(with_new_values(A), rows, columns));
    }
  });
}

TEST_P(SparseTest, TakesTriangles)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    for (const Shape &shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.n) + " x " + std::to_string(shape.m));
      const Entries A = random_entries(shape.n, shape.m, shape.mean, shape.longest, 10);
      Entries triangles[4];
      for (Entries &entries : triangles)
        entries = {A.n_columns, std::vector<std::map<int, double>>(A.n())};
      for (int i = 0; i < A.n(); ++i)
        for (const auto &[j, value] : A.rows[i]) {
          if (j <= i)
            triangles[0].rows[i][j] = value;
          if (j < i)
            triangles[1].rows[i][j] = value;
          if (j >= i)
            triangles[2].rows[i][j] = value;
          if (j > i)
            triangles[3].rows[i][j] = value;
        }
      const CsrMatrix matrix = make(A);
      EXPECT_EQ(to_host(*triangle<Backend>(matrix, TrianglePart::lower).matrix()), triangles[0]);
      EXPECT_EQ(to_host(*triangle<Backend>(matrix, TrianglePart::strictly_lower).matrix()),
                triangles[1]);
      EXPECT_EQ(to_host(*triangle<Backend>(matrix, TrianglePart::upper).matrix()), triangles[2]);
      EXPECT_EQ(to_host(*triangle<Backend>(matrix, TrianglePart::strictly_upper).matrix()),
                triangles[3]);
    }
  });
}

TEST_P(SparseTest, TellsTheContrastOfTheDiagonal)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const auto contrast = [&](const std::vector<std::map<int, double>> &rows) {
      return diagonal_contrast<Backend>(make(Entries{static_cast<int>(rows.size()), rows}));
    };
    const double tiny = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(contrast({}), 1.);
    EXPECT_EQ(contrast({{{0, 3.}, {1, 1.}}, {{0, 1.}, {1, -3.}}}), 1.);
    EXPECT_EQ(contrast({{{0, 3.}, {1, 1.}}, {{0, 1.}, {1, -1e-3}}}), 2048.);
    EXPECT_EQ(contrast({{{0, 3.}, {1, 1.}}, {{0, 1.}, {1, 1e9}}, {{2, 1e30}}, {{0, 1.}}}),
              std::exp2(28));
    EXPECT_EQ(contrast({{{0, 1.}, {1, 1.}}, {{0, 1.}, {1, tiny}}}), std::exp2(1074));
  });
}

TEST_P(SparseTest, CountsEntriesWithTheSignOfTheDiagonal)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const auto share = [&](const std::vector<std::map<int, double>> &rows) {
      return same_sign_fraction<Backend>(make(Entries{static_cast<int>(rows.size()), rows}));
    };
    EXPECT_EQ(share({}), 0.);
    EXPECT_EQ(share({{{0, 3.}}, {{1, 2.}}}), 0.);
    EXPECT_EQ(share({{{0, 3.}, {1, -1.}}, {{0, -1.}, {1, 3.}}}), 0.);
    EXPECT_EQ(share({{{0, 3.}, {1, 1.}}, {{0, 1.}, {1, -3.}}}), 0.5);
    EXPECT_EQ(share({{{0, 3.}, {1, 0.}, {2, 1.}}, {{0, 0.}, {1, 3.}}, {{0, 1.}, {2, 3.}}}), 1.);
  });
}

TEST_P(SparseTest, SaysWhichSizesDoNotFit)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const CsrMatrix A = make(small), B = make(transpose(small));
    const auto expect_in = [](const std::string &words, const std::string &text) {
      EXPECT_NE(text.find(words), std::string::npos) << text;
    };
    expect_in("a 3 x 4 matrix with 5 entries and a 3 x 4 matrix with 5 entries",
              text_of<SolverError>([&] { Product<Backend>(A, A); }));
    expect_in("a 4 x 3 matrix with 5 entries",
              text_of<SolverError>([&] { Sum<Backend>(1., A, 1., B); }));
    const CsrMatrix other = make(random_entries(3, 4, 1, 1, 2));
    expect_in("with 5 entries and cannot be updated with the values of a 3 x 4 matrix with",
              text_of<SolverError>([&] { transposed<Backend>(A).update(other); }));
    const auto choose = [&](const std::vector<int> &rows, const std::vector<int> &columns) {
      return text_of<SolverError>([&] {
        submatrix<Backend>(A, Buffer<int>(executor, rows.data(), rows.size()),
                           Buffer<int>(executor, columns.data(), columns.size()));
      });
    };
    expect_in("Index 1 of the rows chosen from a 3 x 4 matrix with 5 entries is 3;",
              choose({2, 3}, {0}));
    expect_in("Index 2 of the columns", choose({2}, {0, 2, 1}));
  });
}

TEST_P(SparseTest, RefusesMoreEntriesThanIndicesCount)
{
  on_backend(executor->backend(), [&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    // A column times a row: every row of the product equals the single row of the second factor.
    const int n = 50000;
    Entries column{1, std::vector<std::map<int, double>>(n, {{0, 1.}})};
    const std::string text =
        text_of<SolverError>([&] { Product<Backend>(make(column), make(transpose(column))); });
    EXPECT_NE(text.find("would have 2500000000 entries, more than the limit of 2146435071"),
              std::string::npos)
        << text;
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, SparseTest, backends(), backend_name);

TEST(HostSparse, ProductsDoNotDependOnTheNumberOfThreads)
{
  const Entries A = random_entries(20000, 20000, 3, 300, 11), P = interpolation(20000);
  std::vector<std::vector<double>> values;
  std::vector<std::vector<int>> columns;
  for (const unsigned int threads : {1U, 2U, 5U}) {
    const auto executor = std::make_shared<HostExecutor>(threads);
    const GalerkinProduct<HostBackend> product(to_device(executor, A), to_device(executor, P));
    values.push_back(values_of(*product.matrix()));
    columns.push_back(product.matrix()->host_columns());
    EXPECT_EQ(values.back(), values.front());
    EXPECT_EQ(columns.back(), columns.front());
  }
}
} // namespace
} // namespace femgpu::linalg::test
