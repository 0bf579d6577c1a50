// Solves the equations of linear elasticity with deal.II on one process: a plate with hanging
// nodes, clamped on all sides, under its own weight.
//
//   elasticity MODES [NUMBERING [DEGREE]]
//
// MODES: rigid-body, constants or none; NUMBERING: default, component-wise or support-points

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_renumbering.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>
#include <femgpu/dealii.h>

#include <iostream>
#include <string>
#include <vector>

using namespace dealii;

namespace
{
void run(const std::string &modes, const std::string &numbering, const unsigned int degree)
{
  Triangulation<2> triangulation;
  GridGenerator::hyper_cube(triangulation, 5., 6.);
  triangulation.refine_global(degree == 1 ? 5 : 3);
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->center().distance(Point<2>(5.5, 5.5)) < 0.2)
      cell->set_refine_flag();
  triangulation.execute_coarsening_and_refinement();
  const FESystem<2> fe(FE_Q<2>(degree), 2);
  DoFHandler<2> dof_handler(triangulation);
  dof_handler.distribute_dofs(fe);
  if (numbering == "component-wise")
    DoFRenumbering::component_wise(dof_handler);
  else if (numbering == "support-points")
    DoFRenumbering::support_point_wise(dof_handler);
  AffineConstraints<double> constraints;
  DoFTools::make_hanging_node_constraints(dof_handler, constraints);
  DoFTools::make_zero_boundary_constraints(dof_handler, constraints);
  constraints.close();

  DynamicSparsityPattern dynamic_pattern(dof_handler.n_dofs());
  DoFTools::make_sparsity_pattern(dof_handler, dynamic_pattern, constraints, false);
  SparsityPattern pattern;
  pattern.copy_from(dynamic_pattern);
  SparseMatrix<double> matrix(pattern);
  Vector<double> solution(dof_handler.n_dofs()), rhs(dof_handler.n_dofs());

  FEValues<2> values(fe, QGauss<2>(degree + 1),
                     update_values | update_gradients | update_JxW_values);
  const FEValuesExtractors::Vector displacements(0);
  const unsigned int n = fe.n_dofs_per_cell();
  FullMatrix<double> cell_matrix(n, n);
  Vector<double> cell_rhs(n);
  std::vector<types::global_dof_index> dofs(n);
  constexpr double lambda = 1., mu = 1.;
  for (const auto &cell : dof_handler.active_cell_iterators()) {
    values.reinit(cell);
    cell_matrix = 0.;
    cell_rhs = 0.;
    for (const unsigned int q : values.quadrature_point_indices())
      for (unsigned int i = 0; i < n; ++i) {
        const auto strain_i = values[displacements].symmetric_gradient(i, q);
        cell_rhs(i) -= values[displacements].value(i, q)[1] * values.JxW(q);
        for (unsigned int j = 0; j < n; ++j)
          cell_matrix(i, j) +=
              (lambda * values[displacements].divergence(i, q) *
                   values[displacements].divergence(j, q) +
               2. * mu * (strain_i * values[displacements].symmetric_gradient(j, q))) *
              values.JxW(q);
      }
    cell->get_dof_indices(dofs);
    constraints.distribute_local_to_global(cell_matrix, cell_rhs, dofs, matrix, rhs);
  }

  femgpu::PreconditionMG::AdditionalData data;
  if (modes == "rigid-body")
    data.constant_modes_values = femgpu::rigid_body_modes(MappingQ1<2>(), dof_handler);
  else if (modes == "constants")
    DoFTools::extract_constant_modes(dof_handler, ComponentMask(), data.constant_modes);
  SolverControl control(1000, 1e-10 * rhs.l2_norm());
  femgpu::SolverCG solver(control);
  femgpu::PreconditionMG preconditioner;
  preconditioner.initialize(matrix, data);
  solver.solve(matrix, solution, rhs, preconditioner);
  constraints.distribute(solution);
  std::cout << "iterations " << control.last_step() << "\nresidual " << control.last_value()
            << "\nmaximum " << solution.linfty_norm() << std::endl;
}
} // namespace

int main(const int argc, char **argv)
{
  try {
    run(argc > 1 ? argv[1] : "rigid-body", argc > 2 ? argv[2] : "default",
        argc > 3 ? std::stoi(argv[3]) : 1);
  }
  catch (const femgpu::Error &error) {
    std::cerr << error.what() << std::endl;
    return static_cast<int>(error.code());
  }
}
