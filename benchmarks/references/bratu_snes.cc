// Bratu's problem with finite elements by SNES of PETSc: Newton's method with backtracking and
// exact Jacobians, conjugate gradients with a preconditioner of PETSc or hypre. See reference.h for
// the command line; words from the first one with '-' on are options of PETSc:
//
//   mpirun -n 2 bin/bratu_snes dimension=3 degree=2 cells=3 refinements=3 lambda=8 -snes_monitor
#include "finite_elements.h"
#include "snes.h"

#include <deal.II/lac/petsc_sparse_matrix.h>
#include <deal.II/lac/petsc_vector.h>

#include <exception>
#include <iostream>

namespace references
{
namespace
{
struct Petsc
{
  using Vector = PETScWrappers::MPI::Vector;
  using Matrix = PETScWrappers::MPI::SparseMatrix;
};

template <int dim>
Report solve(const Options &options)
{
  using Vector = Petsc::Vector;
  const Timer total;
  Report report;
  FiniteElements<dim, Petsc> problem(options);
  Vector u, R, at, residual;
  for (Vector *const vector : {&u, &R, &at, &residual})
    problem.reinit(*vector);
  report.setup_seconds = total.wall_time();

  NonlinearSystem system{u, R, problem.jacobian().petsc_matrix(), {}, {}};
  system.residual = [&](Vec from, Vec to) {
    check(VecCopy(from, at));
    problem.residual(at, residual);
    check(VecCopy(residual, to));
  };
  system.update_jacobian = [&](Vec from) {
    check(VecCopy(from, at));
    problem.update_jacobian(at);
  };
  solve_by_snes(system, options, report);

  report.assembly_seconds = problem.assembly_seconds();
  report.dofs = problem.n_dofs();
  report.max_u = problem.max(u);
  report.total_seconds = total.wall_time();
  if (!options.write.empty())
    problem.write(options.write, u);
  return report;
}
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  using namespace references;
  try {
    const dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
    const Options options = parse(argc, argv, snes_preconditioners());
    Report report = options.dimension == 2 ? solve<2>(options) : solve<3>(options);
    report.program = "bratu_snes";
    report.preconditioner = options.preconditioner;
    report.dimension = options.dimension;
    report.degree = options.degree;
    report.ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
    if (dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
      print(report);
    return exit_code(report);
  }
  catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
