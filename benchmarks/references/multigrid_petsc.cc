// Solves a system of femgpu-solve --generate to a true relative residual of 1e-8, by conjugate
// gradients with PETSc's multigrid (GAMG) or hypre's (BoomerAMG):
//
//   mpirun -n 2 bin/multigrid_petsc elasticity3d-p1:32 gamg
//   mpirun -n 2 bin/multigrid_petsc poisson3d-7pt:100 hypre
//
// Arguments after the name of the preconditioner are options of PETSc, for example
// -pc_hypre_boomeramg_strong_threshold 0.5. Prints one line of CSV:
// system, preconditioner, rows, iterations, seconds of the set-up and of the solve, and the true
// residual.
#include "solve/generators/registry.h"

#include <petscksp.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace references
{
namespace
{
using femgpu::linalg::ModelProblem;

void check(const PetscErrorCode error)
{
  if (error != 0)
    throw std::runtime_error("A call of PETSc has failed with the error code " +
                             std::to_string(error) + "; its own message is above.");
}

/// The contiguous range of rows of a rank, which consists of whole nodes.
struct Rows
{
  PetscInt first, last;

  Rows(const PetscInt n, const PetscInt block)
  {
    PetscMPIInt rank = 0, n_ranks = 1;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &n_ranks);
    const PetscInt nodes = n / block;
    first = static_cast<PetscInt>(static_cast<long long>(nodes) * rank / n_ranks) * block;
    last = static_cast<PetscInt>(static_cast<long long>(nodes) * (rank + 1) / n_ranks) * block;
  }
};

Vec make_vector(const std::vector<double> &numbers, const Rows &rows, const PetscInt block)
{
  Vec v = nullptr;
  check(VecCreateMPI(PETSC_COMM_WORLD, rows.last - rows.first, PETSC_DETERMINE, &v));
  check(VecSetBlockSize(v, block));
  double *values = nullptr;
  check(VecGetArrayWrite(v, &values));
  std::copy(numbers.begin() + rows.first, numbers.begin() + rows.last, values);
  check(VecRestoreArrayWrite(v, &values));
  return v;
}

/// Builds the distributed matrix. If the coordinates of the nodes are known, the rigid body modes
/// become its near null space.
Mat make_matrix(const femgpu::linalg::HostMatrix &A, const Rows &rows, const PetscInt block)
{
  const std::size_t begin = A.row_starts[rows.first], end = A.row_starts[rows.last];
  std::vector<PetscInt> starts;
  for (PetscInt i = rows.first; i <= rows.last; ++i)
    starts.push_back(A.row_starts[i] - static_cast<PetscInt>(begin));
  const std::vector<PetscInt> columns(A.columns.begin() + begin, A.columns.begin() + end);
  const PetscInt n_local = rows.last - rows.first;
  Mat matrix = nullptr;
  check(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, n_local, n_local, A.n, A.n, starts.data(),
                                  columns.data(), A.values.data() + begin, &matrix));
  check(MatSetBlockSize(matrix, block));
  check(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
  const femgpu::linalg::Unknowns &known = *A.unknowns;
  if (block == 1 || known.dimension != block)
    return matrix;
  std::vector<double> node_coordinates; // one per node; A has one per unknown
  for (std::ptrdiff_t i = 0; i < A.n; i += block)
    node_coordinates.insert(node_coordinates.end(), known.coordinates.begin() + i * block,
                            known.coordinates.begin() + (i + 1) * block);
  Vec coordinates = make_vector(node_coordinates, rows, block);
  MatNullSpace motions = nullptr;
  check(MatNullSpaceCreateRigidBody(coordinates, &motions));
  check(MatSetNearNullSpace(matrix, motions));
  check(MatNullSpaceDestroy(&motions));
  check(VecDestroy(&coordinates));
  return matrix;
}

KSP make_solver(Mat A, const std::string &preconditioner)
{
  KSP ksp = nullptr;
  check(KSPCreate(PETSC_COMM_WORLD, &ksp));
  check(KSPSetOperators(ksp, A, A));
  check(KSPSetType(ksp, KSPCG));
  check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  check(KSPSetTolerances(ksp, 1e-8, 0., PETSC_DEFAULT, 1000));
  PC pc = nullptr;
  check(KSPGetPC(ksp, &pc));
  check(PCSetType(pc, preconditioner.c_str()));
  if (preconditioner == PCHYPRE)
    check(PCHYPRESetType(pc, "boomeramg"));
  check(KSPSetFromOptions(ksp));
  return ksp;
}

template <class Function>
double seconds_of(const Function &function)
{
  check(MPI_Barrier(PETSC_COMM_WORLD));
  const double begin = MPI_Wtime();
  function();
  check(MPI_Barrier(PETSC_COMM_WORLD));
  return MPI_Wtime() - begin;
}

void solve(const std::string &system, const std::string &preconditioner)
{
  const ModelProblem problem = femgpu::linalg::generate(system);
  const PetscInt block = std::max(1, problem.A.unknowns->per_node);
  const Rows rows(problem.A.n, block);
  Mat A = make_matrix(problem.A, rows, block);
  Vec b = make_vector(problem.b, rows, block), x = nullptr, r = nullptr;
  check(VecDuplicate(b, &x));
  check(VecDuplicate(b, &r));
  KSP ksp = make_solver(A, preconditioner);
  const double setup = seconds_of([&] { check(KSPSetUp(ksp)); });
  const double solve = seconds_of([&] { check(KSPSolve(ksp, b, x)); });

  PetscInt iterations = 0;
  check(KSPGetIterationNumber(ksp, &iterations));
  double norm_of_r = 0., norm_of_b = 0.;
  check(MatMult(A, x, r));
  check(VecAYPX(r, -1., b));
  check(VecNorm(r, NORM_2, &norm_of_r));
  check(VecNorm(b, NORM_2, &norm_of_b));
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0)
    std::cout << system << ',' << preconditioner << ',' << problem.A.n << ',' << iterations << ','
              << setup << ',' << solve << ',' << norm_of_r / norm_of_b << std::endl;
  check(KSPDestroy(&ksp));
  check(MatDestroy(&A));
  for (Vec *v : {&b, &x, &r})
    check(VecDestroy(v));
}
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  if (argc < 3) {
    std::cerr << "Usage: " << argv[0] << " GENERATOR:SIZE gamg|hypre [PETSC-OPTION …]\n";
    return 1;
  }
  const std::string system = argv[1], preconditioner = argv[2];
  try {
    references::check(PetscInitialize(&argc, &argv, nullptr, nullptr));
    references::solve(system, preconditioner);
    references::check(PetscFinalize());
    return 0;
  }
  catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
