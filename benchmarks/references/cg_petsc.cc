// Jacobi-PCG of PETSc through deal.II's wrappers:
//
//   mpirun -n 16 bin/cg_petsc --csv petsc.csv
#include "cg.h"

#include <deal.II/lac/petsc_precondition.h>
#include <deal.II/lac/petsc_solver.h>
#include <deal.II/lac/petsc_sparse_matrix.h>
#include <deal.II/lac/petsc_vector.h>
#include <deal.II/lac/vector.h>

namespace references
{
namespace
{
using namespace dealii;

class Petsc final : public Candidate
{
public:
  explicit Petsc(const SpeedSystem &system)
  {
    const IndexSet rows = local_rows(system);
    A.reinit(rows, rows, pattern_of(system, rows), MPI_COMM_WORLD);
    fill(A, system, rows);
    b.reinit(rows, MPI_COMM_WORLD);
    x.reinit(rows, MPI_COMM_WORLD);
    fill_with_b(b, system, rows);
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
    PETScWrappers::SolverCG cg(control, MPI_COMM_WORLD);
    cg.solve(A, x, b, M);
    return {static_cast<int>(control.last_step()), control.last_value() / control.initial_value()};
  }
  std::vector<double> solution() const override
  {
    const Vector<double> all(x);
    return {all.begin(), all.end()};
  }

private:
  PETScWrappers::MPI::SparseMatrix A;
  PETScWrappers::PreconditionJacobi M;
  PETScWrappers::MPI::Vector b, x;
};
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  using namespace references;
  // PETSc monitors the preconditioned residual.
  return run(argc, argv,
             {"PETSc", /* threads */ false, femgpu::linalg::benchmark::ResidualNorm::preconditioned,
              [](const SpeedSystem &system) { return std::make_unique<Petsc>(system); }});
}
