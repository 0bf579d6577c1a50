#include "physics/assembler.h"

#include "physics/cell_constraints.h"
#include "physics/cell_coupling.h"

#include <deal.II/base/work_stream.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/grid/filtered_iterator.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparsity_tools.h>

#include <algorithm>
#include <memory>

namespace femgpu
{
using namespace dealii;

namespace
{
/// The rows that cells of this rank may write: also those that its hanging nodes depend on.
template <int dim>
IndexSet written_rows(const Discretization<dim> &discretization)
{
  std::vector<types::global_dof_index> masters;
  for (const auto &line : discretization.constraints().get_lines())
    for (const auto &entry : line.entries)
      masters.push_back(entry.first);
  std::sort(masters.begin(), masters.end());
  IndexSet rows = discretization.relevant();
  rows.add_indices(masters.begin(), masters.end());
  rows.compress();
  return rows;
}

template <int dim>
void make_pattern_with_hanging_nodes(const Discretization<dim> &discretization,
                                     linalg::NodeSystem &system)
{
  const IndexSet rows = written_rows(discretization);
  const IndexSet &owned = discretization.owned();
  DynamicSparsityPattern pattern(rows);
  DoFTools::make_sparsity_pattern(discretization.dofs(), pattern, discretization.constraints(),
                                  /* keep constrained dofs */ false);
  SparsityTools::distribute_sparsity_pattern(pattern, owned, discretization.communicator(), rows);
  std::vector<unsigned int> lengths;
  for (const auto row : owned)
    lengths.push_back(pattern.row_length(row));
  const auto first = owned.n_elements() > 0 ? owned.nth_index_in_set(0) : 0;
  system.reinit(lengths, [&](const std::size_t row, int *columns) {
    // end(row) searches for the next row that has entries: too slow to ask for each entry
    auto entry = pattern.begin(first + row);
    for (unsigned int k = 0; k < lengths[row]; ++k, ++entry)
      columns[k] = static_cast<int>(entry->column());
  });
}
} // namespace

template <int dim>
void make_pattern(const Discretization<dim> &discretization, linalg::NodeSystem &system)
{
  // deal.II numbers the components of a node one after the other up to degree 2: from 3 on a line
  // has several nodes, and all of one component come before the next.
  const auto &element = discretization.element();
  system.set_unknowns_per_node(element.degree <= 2 ? element.n_components() : 0);
  if (discretization.mesh().triangulation->has_hanging_nodes()) {
    make_pattern_with_hanging_nodes(discretization, system);
    return;
  }
  CellCoupling<dim> coupling(discretization);
  system.reinit(coupling.row_lengths(),
                [&](const std::size_t row, int *columns) { coupling.fill_row(row, columns); });
}

namespace
{
/// What a thread computes a cell's terms with.
template <int dim>
struct Scratch
{
  Scratch(const Problem<dim> &problem, const Discretization<dim> &discretization)
      : fe(discretization.mapping(), discretization.element(), discretization.cell_quadrature(),
           update_values | update_gradients | update_quadrature_points | update_JxW_values),
        face(discretization.mapping(), discretization.element(), discretization.face_quadrature(),
             update_values | update_quadrature_points | update_JxW_values | update_normal_vectors),
        u(discretization.element().n_dofs_per_cell(), 0.)
  {
    if (problem.uses_nodal_quadrature())
      nodal = std::make_unique<FEValues<dim>>(
          discretization.mapping(), discretization.element(), discretization.nodal_quadrature(),
          update_values | update_quadrature_points | update_JxW_values);
  }

  Scratch(const Scratch &other)
      : fe(other.fe.get_mapping(), other.fe.get_fe(), other.fe.get_quadrature(),
           other.fe.get_update_flags()),
        face(other.face.get_mapping(), other.face.get_fe(), other.face.get_quadrature(),
             other.face.get_update_flags()),
        u(other.u)
  {
    if (other.nodal)
      nodal = std::make_unique<FEValues<dim>>(other.nodal->get_mapping(), other.nodal->get_fe(),
                                              other.nodal->get_quadrature(),
                                              other.nodal->get_update_flags());
  }

  FEValues<dim> fe;
  FEFaceValues<dim> face;
  std::unique_ptr<FEValues<dim>> nodal;
  std::vector<double> u;
};

/// The terms of one cell, on their way to the system.
struct CellTerms
{
  FullMatrix<double> K;
  Vector<double> f;
  std::vector<types::global_dof_index> dofs;
};

template <int dim>
using Cell = typename DoFHandler<dim>::active_cell_iterator;

template <int dim>
void compute_cell(const Problem<dim> &problem, const FeVector *u, const bool with_matrix,
                  const Cell<dim> &cell, Scratch<dim> &scratch, CellTerms &terms)
{
  cell->get_dof_indices(terms.dofs);
  if (u != nullptr)
    for (unsigned int i = 0; i < terms.dofs.size(); ++i)
      scratch.u[i] = (*u)(terms.dofs[i]);
  terms.K = 0.;
  terms.f = 0.;
  scratch.fe.reinit(cell);
  if (scratch.nodal)
    scratch.nodal->reinit(cell);
  FullMatrix<double> *const K = with_matrix ? &terms.K : nullptr;
  problem.add_cell_terms({scratch.fe, scratch.nodal.get(), scratch.u}, K, terms.f);
  if (!cell->at_boundary())
    return;
  for (const auto face : cell->face_indices())
    if (cell->face(face)->at_boundary() &&
        problem.has_face_terms(cell->face(face)->boundary_id())) {
      scratch.face.reinit(cell, face);
      problem.add_face_terms(scratch.face, cell->face(face)->boundary_id(), scratch.u, K, terms.f);
    }
}
} // namespace

template <int dim>
void assemble(const Problem<dim> &problem, const Discretization<dim> &discretization,
              const AffineConstraints<double> &constraints, const FeVector *u, const Assembly what,
              linalg::NodeSystem &system)
{
  const bool with_matrix = what == Assembly::matrix_and_rhs;
  const auto n = discretization.element().n_dofs_per_cell();
  Scratch<dim> scratch(problem, discretization);
  CellTerms terms{FullMatrix<double>(n, n), Vector<double>(n),
                  std::vector<types::global_dof_index>(n)};
  CellConstraints eliminated(constraints);

  system.set_zero(!with_matrix);
  const auto worker = [&](const Cell<dim> &cell, Scratch<dim> &s, CellTerms &t) {
    compute_cell(problem, u, with_matrix, cell, s, t);
  };
  // Called for one cell at a time, in the order of the cells.
  const auto copier = [&](const CellTerms &t) {
    eliminated.add(t.dofs, with_matrix ? &t.K : nullptr, t.f, system);
  };
  const auto cells = filter_iterators(discretization.dofs().active_cell_iterators(),
                                      IteratorFilters::LocallyOwnedCell());
  WorkStream::run(cells, worker, copier, scratch, terms);
  system.compress();
}

template void make_pattern<2>(const Discretization<2> &, linalg::NodeSystem &);
template void make_pattern<3>(const Discretization<3> &, linalg::NodeSystem &);
template void assemble<2>(const Problem<2> &, const Discretization<2> &,
                          const AffineConstraints<double> &, const FeVector *, Assembly,
                          linalg::NodeSystem &);
template void assemble<3>(const Problem<3> &, const Discretization<3> &,
                          const AffineConstraints<double> &, const FeVector *, Assembly,
                          linalg::NodeSystem &);
} // namespace femgpu
