// Jacobi-PCG of deal.II with deal.II's own multithreaded matrices and vectors:
//
//   bin/cg_dealii --csv dealii.csv
#include "cg.h"

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

namespace references
{
namespace
{
using namespace dealii;

class DealII final : public Candidate
{
public:
  explicit DealII(const SpeedSystem &system)
      : b(system.b.begin(), system.b.end()), x(system.A.n), b_norm(b.l2_norm())
  {
    const IndexSet rows = complete_index_set(system.A.n);
    pattern.copy_from(pattern_of(system, rows));
    A.reinit(pattern);
    for_rows(system, rows, [&](const unsigned int row, const auto &columns, const auto &values) {
      A.set(row, columns, values);
    });
    M.initialize(A, 1.);
  }

  void reset() override
  {
    x = 0.;
  }
  ReportedResult solve(const int iterations) override
  {
    IterationNumberControl control(iterations, 0., false, false);
    SolverCG<Vector<double>> cg(control);
    cg.solve(A, x, b, M);
    return {static_cast<int>(control.last_step()), control.last_value() / b_norm};
  }
  std::vector<double> solution() const override
  {
    return {x.begin(), x.end()};
  }

private:
  SparsityPattern pattern;
  SparseMatrix<double> A;
  PreconditionJacobi<SparseMatrix<double>> M;
  Vector<double> b, x;
  double b_norm;
};
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  using namespace references;
  return run(argc, argv,
             {"deal.II SolverCG", /* threads */ true,
              femgpu::linalg::benchmark::ResidualNorm::euclidean,
              [](const SpeedSystem &system) { return std::make_unique<DealII>(system); }});
}
