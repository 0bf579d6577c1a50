#ifndef femgpu_physics_discretization_h
#define femgpu_physics_discretization_h

#include "physics/active_cell.h"
#include "physics/mesh/mesh.h"

#include <deal.II/base/index_set.h>
#include <deal.II/base/parameter_acceptor.h>
#include <deal.II/base/quadrature.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace femgpu
{
template <int dim>
class Problem;

/// A finite element function: the dofs of this rank and their ghosts.
using FeVector = dealii::LinearAlgebra::distributed::Vector<double>;

/// Section "Discretization".
class DiscretizationParameters : public dealii::ParameterAcceptor
{
public:
  DiscretizationParameters();

  std::string degree = "auto"; ///< or a number
};

/// The degree of the elements that @p parameters ask for on @p mesh. With auto it is the order of
/// the mesh's cells, or the highest degree that @p problem supports on them.
template <int dim>
unsigned int degree_of(const DiscretizationParameters &parameters, const Mesh<dim> &mesh,
                       const Problem<dim> &problem);

/// Finite element space on a mesh: element, mapping, quadratures, dofs, constraints.
template <int dim>
class Discretization
{
public:
  /**
   * @param mesh outlives this object
   * @throws ParameterError for a degree that the cells do not have: FE_Q 1 to 4, FE_SimplexP 1
   * or 2.
   */
  Discretization(const Mesh<dim> &mesh, unsigned int degree, unsigned int n_components);

  /// Collective. Numbers the dofs of the mesh as it is now.
  void distribute_dofs();

  /**
   * Collective. Constraints of hanging nodes, periodic sides and the Dirichlet data of @p problem;
   * if it fixes the mean, those of the one dof of lowest place that is free, too: it is zero.
   */
  void make_constraints(const Problem<dim> &problem);

  /// A vector of zeros.
  FeVector make_vector() const;

  const Mesh<dim> &mesh() const
  {
    return *the_mesh;
  }
  MPI_Comm communicator() const;
  unsigned int degree() const
  {
    return fe->degree;
  }
  /// Of the cells; the dof handler has that of blocks, if cells are in blocks.
  const dealii::FiniteElement<dim> &element() const
  {
    return *fe;
  }
  const dealii::Mapping<dim> &mapping() const
  {
    return *the_mapping;
  }
  /// Of the mapping; 1: the vertices of cells say all of their shape, the sides being straight.
  unsigned int geometry_degree() const;
  const dealii::DoFHandler<dim> &dofs() const
  {
    return dof_handler;
  }
  /// nullptr if the cells are deal.II's
  const Blocks<dim> *blocks() const
  {
    return the_blocks.get();
  }
  /// The cells of this rank.
  ActiveCells<dim> owned_cells() const
  {
    return {dof_handler, the_blocks.get(), false};
  }
  /// Those, and cells of other ranks beside them.
  ActiveCells<dim> cells() const
  {
    return {dof_handler, the_blocks.get(), true};
  }
  /// Collective. Of the cells, by the mapping.
  double largest_diameter() const;
  /// More than the largest ActiveCell::active_cell_index().
  unsigned int n_cell_indices() const;
  const dealii::IndexSet &owned() const
  {
    return dof_handler.locally_owned_dofs();
  }
  const dealii::IndexSet &relevant() const
  {
    return relevant_dofs;
  }
  /// Of hanging nodes and periodic sides, and the values of the Dirichlet data.
  const dealii::AffineConstraints<double> &constraints() const
  {
    return the_constraints;
  }
  /// Of hanging nodes and periodic sides alone: what makes the functions of the space continuous.
  const dealii::AffineConstraints<double> &conformity() const
  {
    return the_conformity;
  }
  /// Do dofs of any rank depend on others, at hanging nodes, periodic sides or oblique symmetry
  /// planes?
  bool has_linear_constraints() const
  {
    return is_linearly_constrained;
  }

  /// Collective. Refuses curved cells that are inverted, at Gauss points and vertices; see
  /// check_curved_cells().
  void check_cells() const;

  /// Gauss points, exact for polynomials of degree 2 degree() + 2 @p more - 1 at least.
  dealii::Quadrature<dim> cell_quadrature(unsigned int more = 1) const;
  dealii::Quadrature<dim - 1> face_quadrature() const;
  /// The nodes of the element with the integrals of their shape functions: for tensor-product
  /// elements the Gauss-Lobatto rule. The weights of quadratic simplices are not positive.
  dealii::Quadrature<dim> nodal_quadrature() const;
  /// The same on a face.
  dealii::Quadrature<dim - 1> nodal_face_quadrature() const;

private:
  const Mesh<dim> *the_mesh;
  std::unique_ptr<dealii::FiniteElement<dim>> fe;
  std::unique_ptr<Blocks<dim>> the_blocks; ///< if cells are in blocks
  std::unique_ptr<dealii::Mapping<dim>> the_mapping;
  dealii::DoFHandler<dim> dof_handler;
  dealii::IndexSet relevant_dofs;
  dealii::AffineConstraints<double> the_constraints, the_conformity;
  bool is_linearly_constrained = false;
};

/// Calls f(dof, place) for the dofs that this rank owns; for some of them several times.
template <int dim, class Function>
void for_each_owned_node(const Discretization<dim> &discretization, const Function &f)
{
  using namespace dealii;
  const auto &element = discretization.dofs().get_fe();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.get_unit_support_points()), update_quadrature_points);
  std::vector<types::global_dof_index> dofs(element.n_dofs_per_cell());
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    nodes.reinit(cell);
    cell->get_dof_indices(dofs);
    for (unsigned int i = 0; i < dofs.size(); ++i)
      if (discretization.owned().is_element(dofs[i]))
        f(dofs[i], nodes.quadrature_point(i));
  }
}

/**
 * Calls f(cell, face, dofs, on_face) for each face, of cells that this rank has, on the parts
 * @p ids of the boundary: with the dofs of the cell and the local numbers of those on the face.
 * FiniteElement::has_support_on_face() of deal.II 9.4 says yes to all dofs of FE_SimplexP.
 */
template <int dim, class F>
void for_each_boundary_face(const Discretization<dim> &discretization,
                            const std::set<dealii::types::boundary_id> &ids, const F &f)
{
  const dealii::FiniteElement<dim> &element = discretization.dofs().get_fe();
  std::vector<dealii::types::global_dof_index> dofs(element.n_dofs_per_cell()), face_dofs;
  std::vector<unsigned int> on_face;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (cell->is_artificial() || !cell->at_boundary())
      continue;
    for (const unsigned int face : cell->face_indices()) {
      if (!cell->face(face)->at_boundary() || ids.count(cell->face(face)->boundary_id()) == 0)
        continue;
      cell->get_dof_indices(dofs);
      face_dofs.resize(element.n_dofs_per_face(face));
      cell->face(face)->get_dof_indices(face_dofs, cell->active_fe_index());
      on_face.clear();
      for (unsigned int i = 0; i < dofs.size(); ++i)
        if (std::find(face_dofs.begin(), face_dofs.end(), dofs[i]) != face_dofs.end())
          on_face.push_back(i);
      f(cell, face, dofs, on_face);
    }
  }
}

/// The dofs to which cells of this rank may add: also those that its dependent ones depend on.
template <int dim>
dealii::IndexSet written_by_cells(const Discretization<dim> &discretization,
                                  const dealii::AffineConstraints<double> &constraints)
{
  std::vector<dealii::types::global_dof_index> masters;
  for (const auto &line : constraints.get_lines())
    for (const auto &entry : line.entries)
      masters.push_back(entry.first);
  std::sort(masters.begin(), masters.end());
  dealii::IndexSet written = discretization.relevant();
  written.add_indices(masters.begin(), masters.end());
  written.compress();
  return written;
}

/// Zeros for all dofs that cells of this rank add to, masters of hanging nodes too: before the sum
/// over the ranks by compress().
template <int dim>
FeVector vector_for_sums(const Discretization<dim> &discretization)
{
  return FeVector(discretization.owned(),
                  written_by_cells(discretization, discretization.conformity()),
                  discretization.communicator());
}
} // namespace femgpu

#endif
