#ifndef femgpu_physics_cell_terms_h
#define femgpu_physics_cell_terms_h

#include "physics/constraints/cell_constraints.h"
#include "physics/problem.h"

#include <deal.II/fe/fe_values.h>

#include <memory>

/**
 * @file
 * What a problem says of one cell, without constraints.
 */
namespace femgpu
{
/// Another object for another thread: deal.II does not copy these.
template <class Values>
Values copy_of(const Values &values)
{
  return Values(values.get_mapping(), values.get_fe(), values.get_quadrature(),
                values.get_update_flags());
}

/// Quadrature at the nodes of cells and faces.
template <int dim>
struct NodalQuadrature
{
  const dealii::UpdateFlags flags =
      dealii::update_values | dealii::update_quadrature_points | dealii::update_JxW_values;

  explicit NodalQuadrature(const Discretization<dim> &discretization)
      : cell(discretization.mapping(), discretization.element(), discretization.nodal_quadrature(),
             flags),
        face(discretization.mapping(), discretization.element(),
             discretization.nodal_face_quadrature(), flags)
  {}
  NodalQuadrature(const NodalQuadrature &other)
      : cell(copy_of(other.cell)), face(copy_of(other.face))
  {}

  dealii::FEValues<dim> cell;
  dealii::FEFaceValues<dim> face;
};

/// What a thread computes a cell's terms with.
template <int dim>
struct CellScratch
{
  CellScratch(const Problem<dim> &problem, const Discretization<dim> &discretization)
      : fe(discretization.mapping(), discretization.element(), discretization.cell_quadrature(),
           dealii::update_values | dealii::update_gradients | dealii::update_quadrature_points |
               dealii::update_JxW_values),
        face(discretization.mapping(), discretization.element(), discretization.face_quadrature(),
             dealii::update_values | dealii::update_quadrature_points | dealii::update_JxW_values |
                 dealii::update_normal_vectors)
  {
    if (problem.nonlinearity())
      nodal = std::make_unique<NodalQuadrature<dim>>(discretization);
  }
  CellScratch(const CellScratch &other)
      : fe(copy_of(other.fe)), face(copy_of(other.face)),
        nodal(other.nodal ? std::make_unique<NodalQuadrature<dim>>(*other.nodal) : nullptr)
  {}

  dealii::FEValues<dim> fe;
  dealii::FEFaceValues<dim> face;
  std::unique_ptr<NodalQuadrature<dim>> nodal; ///< only for nonlinear problems
};

template <int dim>
using ActiveCell = typename dealii::DoFHandler<dim>::active_cell_iterator;

template <int dim>
void compute_face_terms(const Problem<dim> &problem, const ActiveCell<dim> &cell,
                        const unsigned int face, CellScratch<dim> &scratch, CellTerms &terms)
{
  const auto id = cell->face(face)->boundary_id();
  if (problem.has_face_terms(id)) {
    scratch.face.reinit(cell, face);
    problem.add_face_terms(scratch.face, id, terms.K, terms.f);
  }
  if (problem.has_face_weights(id)) {
    scratch.nodal->face.reinit(cell, face);
    problem.add_face_weights(scratch.nodal->face, id, terms.w);
  }
}

/// @p terms gets those of @p cell, with its faces at the boundary.
template <int dim>
void compute_cell_terms(const Problem<dim> &problem, const ActiveCell<dim> &cell,
                        CellScratch<dim> &scratch, CellTerms &terms)
{
  cell->get_dof_indices(terms.dofs);
  terms.K = 0.;
  terms.f = 0.;
  scratch.fe.reinit(cell);
  problem.add_cell_terms(scratch.fe, terms.K, terms.f);
  if (scratch.nodal) {
    terms.w = 0.;
    scratch.nodal->cell.reinit(cell);
    problem.add_cell_weights(scratch.nodal->cell, terms.w);
  }
  if (cell->at_boundary())
    for (const auto face : cell->face_indices())
      if (cell->face(face)->at_boundary())
        compute_face_terms(problem, cell, face, scratch, terms);
}
} // namespace femgpu

#endif
