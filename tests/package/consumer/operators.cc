// Uses vectors and operators: a product with a matrix, and a system whose matrix is not stored, the
// second difference on a line, which the program itself multiplies.

#include <femgpu/femgpu.hpp>

#include <cmath>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

using namespace femgpu::linalg;

namespace
{
/// The matrix tridiag(-1, 2, -1) on the host.
class SecondDifference final : public LinearOperator
{
public:
  using LinearOperator::LinearOperator;

  void apply(const Vector<double> &x, Vector<double> &y) const override
  {
    for (int i = 0; i < n(); ++i)
      y.data()[i] =
          2. * x.data()[i] - (i > 0 ? x.data()[i - 1] : 0.) - (i + 1 < n() ? x.data()[i + 1] : 0.);
  }

  bool get_diagonal(Vector<double> &d) const override // for the preconditioners that need it
  {
    d.assign(std::vector<double>(static_cast<std::size_t>(n()), 2.).data());
    return true;
  }
};

/// Computes y = A x for a diagonal matrix A of the numbers @p a.
std::vector<double> multiply(const std::vector<double> &a, const std::vector<double> &numbers)
{
  HostMatrix rows;
  for (std::size_t i = 0; i < a.size(); ++i) {
    rows.add(static_cast<int>(i), a[i]);
    rows.end_row();
  }
  const CsrMatrix A(make_executor("auto"), rows.csr()); // copied to the GPU if there is one
  Vector<double> x(A.domain()), y(A.range());
  x.assign(numbers.data());
  A.apply(x, y);
  return y.rows_on_host();
}
} // namespace

int main()
{
  const std::vector<double> product = multiply({1., 2., 3.}, {4., 5., 6.});
  std::cout << "product " << product[2] << std::endl;

  constexpr int n = 500;
  const ExecutorPtr executor = make_executor("host");
  const auto A = std::make_shared<SecondDifference>(std::make_shared<RowSpace>(executor, n));
  LinearSolverOptions options;
  options.solver = "cg";
  LinearSolver solver(executor, options);
  solver.set_operator(A);
  const std::vector<double> b(n, 1.);
  std::vector<double> x(n, 0.);
  const SolveReport report = solver.solve(b.data(), x.data());
  std::cout << "iterations " << report.iterations << "\nmaximum " << x[n / 2] << std::endl;
  return report.converged() ? 0 : 3;
}
