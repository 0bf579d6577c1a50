// Solves -div grad u + u^3 = 100 in the unit square, u = 0 on its boundary, by Newton's method. All
// Jacobians have the same pattern, so that only their values are transferred to the solver.

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

class ReactionProblem
{
public:
  ReactionProblem() : fe(1), dof_handler(triangulation)
  {
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(6);
    dof_handler.distribute_dofs(fe);
    DoFTools::make_zero_boundary_constraints(dof_handler, constraints);
    constraints.close();
    DynamicSparsityPattern dynamic_pattern(dof_handler.n_dofs());
    DoFTools::make_sparsity_pattern(dof_handler, dynamic_pattern, constraints);
    pattern.copy_from(dynamic_pattern);
    matrix.reinit(pattern);
    for (Vector<double> *v : {&solution, &step, &residual})
      v->reinit(dof_handler.n_dofs());
  }

  void run()
  {
    for (int k = 0; k < 20; ++k) {
      assemble();
      std::cout << "newton " << k << " residual " << residual.l2_norm();
      if (residual.l2_norm() < 1e-10) {
        std::cout << std::endl;
        break;
      }
      solve();
    }
    std::cout << "maximum " << solution.linfty_norm() << "\npatterns "
              << preconditioner.n_patterns() << std::endl;
  }

private:
  /// Assembles the Jacobian and the residual 100 - u^3 + div grad u.
  void assemble()
  {
    matrix = 0.;
    residual = 0.;
    FEValues<2> values(fe, QGauss<2>(3), update_values | update_gradients | update_JxW_values);
    const unsigned int n = fe.n_dofs_per_cell(), n_points = values.n_quadrature_points;
    FullMatrix<double> cell_matrix(n, n);
    Vector<double> cell_residual(n);
    std::vector<double> u(n_points);
    std::vector<Tensor<1, 2>> grad_u(n_points);
    std::vector<types::global_dof_index> dofs(n);
    for (const auto &cell : dof_handler.active_cell_iterators()) {
      values.reinit(cell);
      values.get_function_values(solution, u);
      values.get_function_gradients(solution, grad_u);
      cell_matrix = 0.;
      cell_residual = 0.;
      for (unsigned int q = 0; q < n_points; ++q)
        for (unsigned int i = 0; i < n; ++i) {
          cell_residual(i) += ((100. - u[q] * u[q] * u[q]) * values.shape_value(i, q) -
                               grad_u[q] * values.shape_grad(i, q)) *
                              values.JxW(q);
          for (unsigned int j = 0; j < n; ++j)
            cell_matrix(i, j) +=
                (values.shape_grad(i, q) * values.shape_grad(j, q) +
                 3. * u[q] * u[q] * values.shape_value(i, q) * values.shape_value(j, q)) *
                values.JxW(q);
        }
      cell->get_dof_indices(dofs);
      constraints.distribute_local_to_global(cell_matrix, cell_residual, dofs, matrix, residual);
    }
  }

  void solve()
  {
    ReductionControl control(1000, 0., 1e-8);
    femgpu::SolverCG solver(control);
    preconditioner.initialize(matrix); // after the first step, updates the preconditioner
    step = 0.;
    solver.solve(matrix, step, residual, preconditioner);
    constraints.distribute(step);
    solution += step;
    std::cout << " iterations " << control.last_step() << std::endl;
  }

  Triangulation<2> triangulation;
  FE_Q<2> fe;
  DoFHandler<2> dof_handler;
  AffineConstraints<double> constraints;
  SparsityPattern pattern;
  SparseMatrix<double> matrix;
  Vector<double> solution, step, residual;
  femgpu::PreconditionMG preconditioner; // keeps its data between Newton steps
};

int main()
{
  ReactionProblem().run();
}
