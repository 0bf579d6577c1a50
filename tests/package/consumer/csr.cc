// Solves a system whose matrix is given by CSR arrays: the five-point discretisation of Poisson's
// equation on 100 x 100 points.

#include <femgpu/linalg/execution/make_executor.h>
#include <femgpu/linalg/linear_solver.h>

#include <iostream>
#include <vector>

using namespace femgpu::linalg;

int main()
{
  constexpr int side = 100, n = side * side;
  std::vector<int> row_starts = {0}, columns;
  std::vector<double> values;
  const auto add = [&](const int column, const double value) {
    columns.push_back(column);
    values.push_back(value);
  };
  for (int i = 0; i < n; ++i) { // columns in ascending order
    if (i >= side)
      add(i - side, -1.);
    if (i % side > 0)
      add(i - 1, -1.);
    add(i, 4.);
    if (i % side < side - 1)
      add(i + 1, -1.);
    if (i + side < n)
      add(i + side, -1.);
    row_starts.push_back(static_cast<int>(columns.size()));
  }
  const std::vector<double> b(n, 1.);
  std::vector<double> x(n, 0.); // the initial guess

  try {
    HostCsr A;
    A.n = n;
    A.n_nonzeros = columns.size();
    A.row_starts = {row_starts.data(), n, A.n_nonzeros};
    A.columns = columns.data();
    A.values = values.data();
    LinearSolverOptions options;
    options.solver = "cg";
    options.preconditioner = "jacobi";
    options.control.relative_tolerance = 1e-10;
    LinearSolver solver(make_executor("auto"), options);
    solver.set_matrix(A, /* same pattern */ false);
    const SolveReport report = solver.solve(b.data(), x.data());
    std::cout.precision(17);
    std::cout << report.message << "\nbackend " << report.method.backend << "\niterations "
              << report.iterations << "\nresidual " << report.true_residual << std::endl;
    return report.converged() ? 0 : 3;
  }
  catch (const femgpu::Error &error) {
    std::cerr << error.what() << std::endl;
    return static_cast<int>(error.code());
  }
}
