// Solves Poisson's equation, -div grad u = 1 in the unit square with u = 0 on its boundary, with
// deal.II on one process.

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>
#include <femgpu/dealii.h>

#include <iostream>
#include <vector>

using namespace dealii;

int main()
{
  Triangulation<2> triangulation;
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(6);
  const FE_Q<2> fe(1);
  DoFHandler<2> dof_handler(triangulation);
  dof_handler.distribute_dofs(fe);
  AffineConstraints<double> constraints;
  DoFTools::make_zero_boundary_constraints(dof_handler, constraints);
  constraints.close();

  DynamicSparsityPattern dynamic_pattern(dof_handler.n_dofs());
  DoFTools::make_sparsity_pattern(dof_handler, dynamic_pattern, constraints);
  SparsityPattern pattern;
  pattern.copy_from(dynamic_pattern);
  SparseMatrix<double> matrix(pattern);
  Vector<double> solution(dof_handler.n_dofs()), rhs(dof_handler.n_dofs());

  FEValues<2> values(fe, QGauss<2>(2), update_values | update_gradients | update_JxW_values);
  const unsigned int n = fe.n_dofs_per_cell();
  FullMatrix<double> cell_matrix(n, n);
  Vector<double> cell_rhs(n);
  std::vector<types::global_dof_index> dofs(n);
  for (const auto &cell : dof_handler.active_cell_iterators()) {
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

  SolverControl control(1000, 1e-10 * rhs.l2_norm());
  femgpu::SolverCG solver(control);
  femgpu::PreconditionMG preconditioner;
  preconditioner.initialize(matrix);
  solver.solve(matrix, solution, rhs, preconditioner);
  constraints.distribute(solution);
  std::cout << "iterations " << control.last_step() << "\nresidual " << control.last_value()
            << "\nmaximum " << solution.linfty_norm() << std::endl;
}
