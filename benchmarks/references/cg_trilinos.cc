// Jacobi-PCG of Trilinos (AztecOO) through deal.II's wrappers:
//
//   mpirun -n 16 bin/cg_trilinos --csv trilinos.csv
#include "cg.h"

#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>

namespace references
{
namespace
{
using namespace dealii;

class Trilinos final : public Candidate
{
public:
  explicit Trilinos(const SpeedSystem &system)
  {
    const IndexSet rows = local_rows(system);
    A.reinit(rows, pattern_of(system, rows), MPI_COMM_WORLD);
    fill(A, system, rows);
    b.reinit(rows, MPI_COMM_WORLD);
    x.reinit(rows, MPI_COMM_WORLD);
    fill_with_b(b, system, rows);
    b_norm = b.l2_norm();
    M.initialize(A);
  }

  void reset() override
  {
    x = 0.;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ReportedResult solve(const int iterations) override
  {
    IterationNumberControl control(iterations, 0., false, false);
    TrilinosWrappers::SolverCG cg(control);
    cg.solve(A, x, b, M);
    return {static_cast<int>(control.last_step()), control.last_value() / b_norm};
  }
  std::vector<double> solution() const override
  {
    const Vector<double> all(x);
    return {all.begin(), all.end()};
  }

private:
  TrilinosWrappers::SparseMatrix A;
  TrilinosWrappers::PreconditionJacobi M;
  TrilinosWrappers::MPI::Vector b, x;
  double b_norm = 0.;
};
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  using namespace references;
  return run(argc, argv,
             {"Trilinos AztecOO", /* threads */ false,
              femgpu::linalg::benchmark::ResidualNorm::euclidean,
              [](const SpeedSystem &system) { return std::make_unique<Trilinos>(system); }});
}
