#include "linalg/operators/linear_operator.h"

#include "linalg/operators/csr_matrix.h"
#include "tests/linalg/on_backend.h"

#include <memory>
#include <string>
#include <utility>

namespace femgpu::linalg::test
{
namespace
{
/// An operator that has a matrix but does not show its entries, as an operator of a user's code.
class HiddenMatrix final : public LinearOperator
{
public:
  HiddenMatrix(const ExecutorPtr &executor, const HostMatrix &A_, const bool knows_diagonal = true)
      : LinearOperator(std::make_shared<RowSpace>(executor, A_.n)), A(executor, A_.csr()),
        knows_diagonal(knows_diagonal)
  {}

  void apply(const Vector<double> &x, Vector<double> &y) const override
  {
    A.apply(x, y);
  }
  bool get_diagonal(Vector<double> &d) const override
  {
    return knows_diagonal && A.get_diagonal(d);
  }

private:
  CsrMatrix A;
  bool knows_diagonal;
};

class LinearOperators : public OnBackend
{
protected:
  Vector<double> vector_of(const std::vector<double> &v) const
  {
    Vector<double> result(std::make_shared<RowSpace>(executor, static_cast<int>(v.size())));
    result.assign(v.data());
    return result;
  }
};

TEST_P(LinearOperators, ApplyMultipliesByAMatrix)
{
  const HostMatrix A = random_dominant(2000, 7, 1);
  const std::vector<double> x = random_vector(2000, 2);
  const CsrMatrix matrix(executor, A.csr());
  const Vector<double> from = vector_of(x);
  Vector<double> to(matrix.range());
  matrix.apply(from, to);
  EXPECT_LE(relative_difference(to.rows_on_host(), multiply(A, x)), 10. * eps);
}

TEST_P(LinearOperators, VectorsHaveTheOperationsOfAVectorSpace)
{
  const std::vector<double> a = random_vector(10000, 1), b = random_vector(10000, 2);
  double ab = 0.;
  for (std::size_t i = 0; i < a.size(); ++i)
    ab += a[i] * b[i];
  Vector<double> x = vector_of(a);
  const Vector<double> y = vector_of(b);
  EXPECT_NEAR(dot(x, y), ab, 1e-12);
  EXPECT_EQ(dot(x, y), dot(x, y));
  EXPECT_NEAR(linalg::norm(x), norm(a), 1e-12);
  combine(2., x, -0.5, y);
  EXPECT_EQ(x.rows_on_host()[17], 2. * a[17] - 0.5 * b[17]);
  scale(x, 4.);
  EXPECT_EQ(x.rows_on_host()[17], 8. * a[17] - 2. * b[17]);
}

TEST_P(LinearOperators, SolverMultipliesInAnyFormatScalingAndOrder)
{
  const HostMatrix A = random_spd(3000, 9, 1);
  const std::vector<double> x = random_vector(3000, 2), expected = multiply(A, x);
  for (const std::string format : {"csr", "sell", "bsr", "coo"})
    for (const std::string scaling : {"none", "symmetric"})
      for (const std::string ordering : {"none", "rcm"}) {
        LinearSolverOptions options = method("cg", "jacobi");
        options.format = format;
        options.scaling = scaling;
        options.ordering = ordering;
        LinearSolver solver(executor, options);
        solver.set_matrix(A.csr(), false);
        std::vector<double> y(3000);
        solver.multiply(x.data(), y.data());
        EXPECT_LE(relative_difference(y, expected), 20. * eps)
            << format << ", " << scaling << ", " << ordering;
      }
}

TEST_P(LinearOperators, SolverAppliesItsPreconditioner)
{
  const HostMatrix A = laplacian_2d(40, 40);
  const std::vector<double> r = random_vector(1600, 1);
  std::vector<double> z(1600), z_scaled(1600);
  for (const std::string preconditioner : {"jacobi", "chebyshev", "multigrid", "ic"}) {
    LinearSolverOptions options = method("cg", preconditioner);
    LinearSolver solver(executor, options);
    solver.set_matrix(A.csr(), false);
    solver.precondition(r.data(), z.data());
    if (preconditioner == "jacobi") {
      EXPECT_EQ(z[7], 0.25 * r[7]);
    }
    options.scaling = "symmetric"; // changes nothing, because all diagonal entries are equal
    LinearSolver scaled(executor, options);
    scaled.set_matrix(A.csr(), false);
    scaled.precondition(r.data(), z_scaled.data());
    const double tolerance = preconditioner == "multigrid"   ? 1e-5 // stores floats
                             : preconditioner == "chebyshev" ? 1e-2 // estimates an eigenvalue
                                                             : 1e-10;
    EXPECT_LE(relative_difference(z, z_scaled), tolerance) << preconditioner;
  }
}

TEST_P(LinearOperators, SolversNeedOnlyProductsWithTheOperator)
{
  const HostMatrix A = laplacian_2d(30, 30);
  const std::vector<double> b = random_vector(900, 1);
  for (const std::string solver_name :
       {"cg", "pipelined-cg", "chronopoulos-gear-cg", "minres", "bicgstab", "pipelined-bicgstab",
        "bicgstab-l", "idr", "gmres", "pipelined-gmres", "ca-gmres", "richardson"})
    for (const std::string preconditioner : {"identity", "jacobi", "chebyshev"}) {
      LinearSolverOptions options = method(solver_name, preconditioner, 1e-8);
      options.control.max_iterations = solver_name == "richardson" ? 40 : 2000;
      LinearSolver stored(executor, options), hidden(executor, options);
      stored.set_matrix(A.csr(), false);
      hidden.set_operator(std::make_shared<HiddenMatrix>(executor, A));
      std::vector<double> x(900), y(900);
      const SolveReport expected = stored.solve(b.data(), x.data());
      const SolveReport report = hidden.solve(b.data(), y.data());
      EXPECT_EQ(report.outcome, expected.outcome)
          << solver_name << ", " << preconditioner << ": " << report.message;
      // Without the entries, Chebyshev's interval is not limited by Gershgorin's bound.
      EXPECT_NEAR(report.iterations, expected.iterations, 0.2 * expected.iterations + 1.)
          << solver_name << ", " << preconditioner;
      EXPECT_NEAR(residual_norm(A, b, y), report.true_residual, 1e-12 * norm(b));
      EXPECT_EQ(report.backward_error, -1.);
    }
}

TEST_P(LinearOperators, AMatrixCanFollowAnOperator)
{
  const HostMatrix A = laplacian_2d(30, 30);
  const std::vector<double> b = random_vector(900, 1);
  std::vector<double> x(900);
  LinearSolver solver(executor, method("cg", "jacobi", 1e-10));
  solver.set_operator(std::make_shared<HiddenMatrix>(executor, A));
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
  solver.set_matrix(A.csr(), true);
  x.assign(900, 0.);
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
  EXPECT_LE(residual_norm(A, b, x), 1.01e-10 * norm(b));
}

TEST_P(LinearOperators, APreconditionerCanBeGiven)
{
  const HostMatrix A = laplacian_2d(30, 30);
  const std::vector<double> b = random_vector(900, 1);
  HostMatrix half = A;
  half.columns.clear();
  half.values.clear();
  half.row_starts = {0};
  half.n = 0;
  for (int i = 0; i < A.n; ++i) {
    half.add(i, 0.25);
    half.end_row();
  }
  LinearSolver jacobi(executor, method("cg", "jacobi", 1e-10)),
      given(executor, method("cg", "identity", 1e-10));
  given.set_preconditioner(std::make_shared<HiddenMatrix>(executor, half), true);
  jacobi.set_matrix(A.csr(), false);
  given.set_matrix(A.csr(), false);
  std::vector<double> x(900), y(900);
  const SolveReport expected = jacobi.solve(b.data(), x.data());
  const SolveReport report = given.solve(b.data(), y.data());
  EXPECT_EQ(report.iterations, expected.iterations);
  EXPECT_TRUE(report.converged());
  EXPECT_EQ(report.method.preconditioner, "given");
  EXPECT_LE(relative_difference(x, y), 1e-9);
  EXPECT_THROW(given.set_preconditioner(std::make_shared<HiddenMatrix>(executor, half), false),
               ParameterError);
}

TEST_P(LinearOperators, MethodsThatNeedEntriesSaySo)
{
  const HostMatrix A = laplacian_1d(50);
  for (const std::string preconditioner : {"multigrid", "ilu", "block-jacobi", "auto"}) {
    LinearSolver solver(executor, method("bicgstab", preconditioner));
    try {
      solver.set_operator(std::make_shared<HiddenMatrix>(executor, A));
      FAIL() << preconditioner;
    }
    catch (const SolverError &error) {
      EXPECT_NE(std::string(error.what()).find("entries of this operator are not stored"),
                std::string::npos);
    }
  }
  LinearSolver jacobi(executor, method("cg", "jacobi"));
  EXPECT_THROW(jacobi.set_operator(std::make_shared<HiddenMatrix>(executor, A, false)),
               SolverError);
  LinearSolverOptions options = method("cg", "identity");
  options.format = "sell";
  EXPECT_THROW(
      LinearSolver(executor, options).set_operator(std::make_shared<HiddenMatrix>(executor, A)),
      ParameterError);
}

/// A CSR matrix in the memory of an executor.
struct ArraysOnDevice
{
  ArraysOnDevice(const ExecutorPtr &executor, const HostMatrix &A)
      : row_starts(executor, A.row_starts.data(), A.row_starts.size()),
        columns(executor, A.columns.data(), A.columns.size()),
        values(executor, A.values.data(), A.values.size())
  {}

  DeviceCsr csr() const
  {
    return {static_cast<int>(row_starts.size()) - 1, columns.size(), row_starts.data(),
            columns.data(), values.data()};
  }

  Buffer<int> row_starts, columns;
  Buffer<double> values;
};

TEST_P(LinearOperators, InvalidArraysOfADeviceAreFound)
{
  HostMatrix A = laplacian_2d(20, 20);
  EXPECT_NO_THROW(check_csr(*executor, ArraysOnDevice(executor, A).csr()));
  std::swap(A.columns[500], A.columns[501]);
  EXPECT_THROW(check_csr(*executor, ArraysOnDevice(executor, A).csr()), InputError);
  std::swap(A.columns[500], A.columns[501]);
  A.columns.back() = 400;
  EXPECT_THROW(check_csr(*executor, ArraysOnDevice(executor, A).csr()), InputError);
  A.columns.back() = 399;
  A.row_starts.back() -= 1;
  EXPECT_THROW(check_csr(*executor, ArraysOnDevice(executor, A).csr()), InputError);
}

INSTANTIATE_TEST_SUITE_P(Backends, LinearOperators, testing::Values("host", "cuda"));

TEST(DeviceArrays, NeedADevice)
{
  const ExecutorPtr executor = make_executor("host");
  const HostMatrix A = laplacian_1d(5);
  LinearSolver solver(executor, method("cg", "jacobi"));
  EXPECT_THROW(solver.set_matrix(ArraysOnDevice(executor, A).csr(), false), DeviceError);
}

class DeviceArraysOnCuda : public OnCuda
{};

TEST_F(DeviceArraysOnCuda, GiveTheResultsOfArraysOnTheHost)
{
  const HostMatrix A = laplacian_3d(30, 31, 32);
  const std::vector<double> b = random_vector(A.n, 1);
  const auto n = static_cast<std::size_t>(A.n);
  const ArraysOnDevice arrays(executor, A);
  for (const std::string preconditioner : {"jacobi", "multigrid"})
    for (const std::string scaling : {"none", "symmetric"})
      for (const std::string ordering : {"none", "rcm"}) {
        LinearSolverOptions options = method("cg", preconditioner, 1e-10);
        options.scaling = scaling;
        options.ordering = ordering;
        LinearSolver on_host(executor, options), on_device(executor, options);
        on_host.set_matrix(A.csr(), false);
        on_device.set_matrix(arrays.csr(), false);
        std::vector<double> x(n);
        const SolveReport expected = on_host.solve(b.data(), x.data());
        const Buffer<double> rhs(executor, b.data(), n);
        Buffer<double> solution(executor, n);
        solution.fill_zero();
        const SolveReport report = on_device.solve(rhs.data(), solution.data());
        EXPECT_EQ(report.iterations, expected.iterations);
        EXPECT_EQ(solution.to_host(), x) << preconditioner << ", " << scaling << ", " << ordering;
        if (scaling == "none" && ordering == "none") {
          EXPECT_EQ(report.costs.transfer.bytes, 0U);
        }
        const Buffer<double> product(executor, n);
        std::vector<double> product_on_host(n);
        on_host.multiply(x.data(), product_on_host.data());
        on_device.multiply(solution.data(), const_cast<double *>(product.data()));
        EXPECT_EQ(product.to_host(), product_on_host);
      }
}

TEST_F(DeviceArraysOnCuda, NewValuesDoNotPassThroughTheHost)
{
  HostMatrix A = laplacian_3d(40, 40, 40);
  const std::vector<double> b = random_vector(A.n, 1);
  const auto n = static_cast<std::size_t>(A.n);
  ArraysOnDevice arrays(executor, A);
  LinearSolver solver(executor, method("cg", "multigrid", 1e-10));
  solver.set_matrix(arrays.csr(), false);
  const Buffer<double> rhs(executor, b.data(), n);
  Buffer<double> x(executor, n);
  x.fill_zero();
  solver.solve(rhs.data(), x.data());
  for (double &value : A.values)
    value *= 2.;
  arrays.values.copy_from_host(A.values.data());
  const std::size_t before = executor->bytes_to_host();
  solver.set_matrix(arrays.csr(), true);
  x.fill_zero();
  const SolveReport report = solver.solve(rhs.data(), x.data());
  EXPECT_TRUE(report.converged());
  EXPECT_EQ(report.costs.transfer.bytes, 0U);
  EXPECT_LE(executor->bytes_to_host() - before, n); // a vector would have 8 n bytes
  EXPECT_LE(residual_norm(A, b, x.to_host()), 1.1e-10 * norm(b));
}

TEST_F(DeviceArraysOnCuda, AClaimedPatternIsNotReusedFromOtherMemory)
{
  const HostMatrix A = laplacian_2d(30, 30);
  const ArraysOnDevice arrays(executor, A);
  const std::vector<double> b = random_vector(900, 1);
  LinearSolver solver(executor, method("cg", "jacobi", 1e-10));
  const auto solves = [&] {
    std::vector<double> x(900);
    return solver.solve(b.data(), x.data()).converged() &&
           residual_norm(A, b, x) <= 1.01e-10 * norm(b);
  };
  solver.set_matrix(arrays.csr(), false);
  solver.set_matrix(A.csr(), true);
  EXPECT_TRUE(solves());
  solver.set_matrix(arrays.csr(), true);
  EXPECT_TRUE(solves());
}

TEST_F(DeviceArraysOnCuda, RightHandSidesOfAnySizeAreSolved)
{
  const HostMatrix A = laplacian_2d(30, 30);
  const ArraysOnDevice arrays(executor, A);
  LinearSolver solver(executor, method("cg", "jacobi", 1e-10));
  solver.set_matrix(arrays.csr(), false);
  for (const double factor : {1e-300, 1e-170, 1., 1e170, 1e300, 0.}) {
    std::vector<double> b = random_vector(900, 1);
    for (double &b_i : b)
      b_i *= factor;
    const Buffer<double> rhs(executor, b.data(), 900);
    Buffer<double> x(executor, 900);
    x.fill_zero();
    EXPECT_TRUE(solver.solve(rhs.data(), x.data()).converged()) << factor;
  }
}
} // namespace
} // namespace femgpu::linalg::test
