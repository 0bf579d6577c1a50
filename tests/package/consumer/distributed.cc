// Solves Poisson's equation, -div grad u = 1 in the unit square with u = 0 on its boundary, on an
// adaptively refined mesh that deal.II and Trilinos distribute over MPI ranks.

#include <deal.II/base/conditional_ostream.h>
#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/sparsity_tools.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>
#include <femgpu/dealii.h>

#include <iostream>
#include <vector>

using namespace dealii;

int main(int argc, char **argv)
{
  const Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const MPI_Comm ranks = MPI_COMM_WORLD;
  const ConditionalOStream out(std::cout, Utilities::MPI::this_mpi_process(ranks) == 0);

  parallel::distributed::Triangulation<2> triangulation(ranks);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(5);
  const FE_Q<2> fe(2);
  DoFHandler<2> dof_handler(triangulation);
  femgpu::PreconditionMG preconditioner;
  for (int cycle = 0; cycle < 2; ++cycle) {
    if (cycle > 0) {
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned() && cell->center()[0] < 0.3)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
    }
    dof_handler.distribute_dofs(fe);
    const IndexSet owned = dof_handler.locally_owned_dofs();
    const IndexSet relevant = DoFTools::extract_locally_relevant_dofs(dof_handler);
    AffineConstraints<double> constraints(relevant);
    DoFTools::make_hanging_node_constraints(dof_handler, constraints);
    DoFTools::make_zero_boundary_constraints(dof_handler, constraints);
    constraints.close();

    DynamicSparsityPattern pattern(relevant);
    DoFTools::make_sparsity_pattern(dof_handler, pattern, constraints, false);
    SparsityTools::distribute_sparsity_pattern(pattern, owned, ranks, relevant);
    TrilinosWrappers::SparseMatrix matrix;
    matrix.reinit(owned, owned, pattern, ranks);
    TrilinosWrappers::MPI::Vector solution(owned, ranks), rhs(owned, ranks);

    FEValues<2> values(fe, QGauss<2>(3), update_values | update_gradients | update_JxW_values);
    const unsigned int n = fe.n_dofs_per_cell();
    FullMatrix<double> cell_matrix(n, n);
    Vector<double> cell_rhs(n);
    std::vector<types::global_dof_index> dofs(n);
    for (const auto &cell : dof_handler.active_cell_iterators()) {
      if (!cell->is_locally_owned())
        continue;
      values.reinit(cell);
      cell_matrix = 0.;
      cell_rhs = 0.;
      for (const unsigned int q : values.quadrature_point_indices())
        for (unsigned int i = 0; i < n; ++i) {
          cell_rhs(i) += values.shape_value(i, q) * values.JxW(q);
          for (unsigned int j = 0; j < n; ++j)
            cell_matrix(i, j) += values.shape_grad(i, q) * values.shape_grad(j, q) * values.JxW(q);
        }
      cell->get_dof_indices(dofs);
      constraints.distribute_local_to_global(cell_matrix, cell_rhs, dofs, matrix, rhs);
    }
    matrix.compress(VectorOperation::add);
    rhs.compress(VectorOperation::add);

    SolverControl control(1000, 1e-10 * rhs.l2_norm());
    femgpu::SolverCG solver(control);
    preconditioner.initialize(matrix);
    solver.solve(matrix, solution, rhs, preconditioner);
    constraints.distribute(solution);
    out << "dofs " << dof_handler.n_dofs() << " iterations " << control.last_step()
        << " communicator " << solver.report().method.communicator << "\nresidual "
        << control.last_value() << "\nmaximum " << solution.linfty_norm() << std::endl;
  }
}
