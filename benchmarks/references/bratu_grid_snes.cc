// Bratu's problem by finite differences and SNES of PETSc: A u = λ h² e^u on d^dim interior nodes
// of the unit square or cube, h = 1/(d+1), where A has 2 dim on its diagonal and -1 for the
// neighbours. cells=d; degree and refinements have no meaning. Otherwise as bratu_snes:
//
//   mpirun -n 2 bin/bratu_grid_snes dimension=3 cells=100 lambda=8
#include "snes.h"

#include <array>
#include <cmath>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace references
{
namespace
{
/// The nodes of the grid by rows of x, then y, then z.
class Grid
{
public:
  explicit Grid(const Options &options)
      : d(static_cast<PetscInt>(options.cells)), dim(static_cast<int>(options.dimension)),
        lambda_h2(options.lambda / std::pow(static_cast<double>(d + 1), 2))
  {
    n_nodes = dim == 2 ? d * d : d * d * d;
    check(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n_nodes, n_nodes, 2 * dim + 1,
                       nullptr, 2 * dim, nullptr, &A));
    check(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = first; row < last; ++row)
      fill_row(row);
    check(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    check(MatDuplicate(A, MAT_COPY_VALUES, &J));
    check(MatCreateVecs(A, &u, &R));
    check(VecDuplicate(u, &exponentials));
    check(VecSet(u, 0.));
  }
  Grid(const Grid &) = delete;
  Grid &operator=(const Grid &) = delete;
  ~Grid()
  {
    for (Vec *const vector : {&u, &R, &exponentials})
      VecDestroy(vector);
    MatDestroy(&A);
    MatDestroy(&J);
  }

  /// R = A u - λ h² e^u
  void residual(Vec at, Vec to)
  {
    check(VecCopy(at, exponentials));
    check(VecExp(exponentials));
    check(MatMult(A, at, to));
    check(VecAXPY(to, -lambda_h2, exponentials));
  }

  /// J = A - λ h² diag(e^u)
  void update_jacobian(Vec at)
  {
    check(VecCopy(at, exponentials));
    check(VecExp(exponentials));
    check(VecScale(exponentials, -lambda_h2));
    check(MatCopy(A, J, SAME_NONZERO_PATTERN));
    check(MatDiagonalSet(J, exponentials, ADD_VALUES));
  }

  /// On one rank.
  std::vector<NodalValue> values() const
  {
    const PetscScalar *entries = nullptr;
    check(VecGetArrayRead(u, &entries));
    std::vector<NodalValue> values;
    for (PetscInt row = first; row < last; ++row) {
      const auto node = node_of(row);
      NodalValue value = {0., 0., 0., entries[row - first]};
      for (int axis = 0; axis < dim; ++axis)
        value[axis] = static_cast<double>(node[axis] + 1) / static_cast<double>(d + 1);
      values.push_back(value);
    }
    check(VecRestoreArrayRead(u, &entries));
    return values;
  }

  Vec u = nullptr, R = nullptr;
  Mat J = nullptr;
  PetscInt n_nodes = 0;

private:
  std::array<PetscInt, 3> node_of(const PetscInt row) const
  {
    return {row % d, row / d % d, row / d / d};
  }

  void fill_row(const PetscInt row)
  {
    const auto node = node_of(row);
    std::array<PetscInt, 7> columns = {row};
    std::array<PetscScalar, 7> entries = {2. * dim};
    PetscInt n = 1, stride = 1;
    for (int axis = 0; axis < dim; ++axis, stride *= d)
      for (const PetscInt side : {-1, 1})
        if (node[axis] + side >= 0 && node[axis] + side < d) {
          columns[n] = row + side * stride;
          entries[n++] = -1.;
        }
    check(MatSetValues(A, 1, &row, n, columns.data(), entries.data(), INSERT_VALUES));
  }

  PetscInt d;
  int dim;
  double lambda_h2;
  Mat A = nullptr;
  Vec exponentials = nullptr;
  PetscInt first = 0, last = 0;
};

Report solve(const Options &options)
{
  PetscLogDouble begin = 0., now = 0.;
  check(PetscTime(&begin));
  Report report;
  Grid grid(options);
  check(PetscTime(&now));
  report.setup_seconds = now - begin;

  const auto timed = [&](const auto &work) {
    PetscLogDouble start = 0., stop = 0.;
    check(PetscTime(&start));
    work();
    check(PetscTime(&stop));
    report.assembly_seconds += stop - start;
  };
  NonlinearSystem system{grid.u, grid.R, grid.J, {}, {}};
  system.residual = [&](Vec at, Vec to) { timed([&] { grid.residual(at, to); }); };
  system.update_jacobian = [&](Vec at) { timed([&] { grid.update_jacobian(at); }); };
  solve_by_snes(system, options, report);

  report.dofs = static_cast<unsigned long>(grid.n_nodes);
  check(VecMax(grid.u, nullptr, &report.max_u));
  check(PetscTime(&now));
  report.total_seconds = now - begin;
  PetscMPIInt n_ranks = 1, rank = 0;
  MPI_Comm_size(PETSC_COMM_WORLD, &n_ranks);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  report.ranks = static_cast<unsigned int>(n_ranks);
  if (!options.write.empty() && n_ranks > 1)
    throw std::invalid_argument("write=FILE works on one rank only; leave mpirun out.");
  if (!options.write.empty())
    write_sorted(options.write, grid.values());
  report.program = "bratu_grid_snes";
  report.preconditioner = options.preconditioner;
  report.dimension = options.dimension;
  if (rank == 0)
    print(report);
  return report;
}
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  using namespace references;
  int status = 1;
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0)
    return status;
  try {
    status = exit_code(solve(parse(argc, argv, snes_preconditioners())));
  }
  catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
  }
  PetscFinalize();
  return status;
}
