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

/// A finite element function: its values at this rank's dofs and at ghost dofs.
using FeVector = dealii::LinearAlgebra::distributed::Vector<double>;

/// Section "Discretization".
class DiscretizationParameters : public dealii::ParameterAcceptor
{
public:
  DiscretizationParameters();

  std::string degree = "auto"; ///< "auto" or a number
};

/// Returns the degree of the elements on @p mesh according to @p parameters. "auto" selects the
/// order of the mesh's cells, but at most the highest degree that @p problem supports.
template <int dim>
unsigned int degree_of(const DiscretizationParameters &parameters, const Mesh<dim> &mesh,
                       const Problem<dim> &problem);

/// A finite element space on a mesh: element, mapping, quadratures, dofs, constraints.
template <int dim>
class Discretization
{
public:
  /**
   * @param mesh must outlive this object
   * @throws ParameterError unless @p degree is 1 to 4 (quadrilaterals and hexahedra, FE_Q) or 1 to
   * 2 (triangles and tetrahedra, FE_SimplexP)
   */
  Discretization(const Mesh<dim> &mesh, unsigned int degree, unsigned int n_components);

  /// Collective. Numbers the dofs of the current mesh.
  void distribute_dofs();

  /**
   * Collective. Makes the constraints of hanging nodes, periodic sides and the Dirichlet data of
   * @p problem. If Problem::fixes_mean(), the free dof that comes first along a fixed direction
   * is constrained to zero, too.
   */
  void make_constraints(const Problem<dim> &problem);

  /// Returns a vector of zeros for this rank's dofs and ghost dofs.
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
  /// Returns the element of the cells. If cells are in blocks (active_cell.h), dofs() uses another
  /// element, whose cells are the blocks.
  const dealii::FiniteElement<dim> &element() const
  {
    return *fe;
  }
  const dealii::Mapping<dim> &mapping() const
  {
    return *the_mapping;
  }
  /// Returns the degree of the mapping. If it is 1, sides are straight, and the vertices determine
  /// a cell's shape.
  unsigned int geometry_degree() const;
  const dealii::DoFHandler<dim> &dofs() const
  {
    return dof_handler;
  }
  /// Returns the blocks of cells; nullptr if the cells are deal.II's cells.
  const Blocks<dim> *blocks() const
  {
    return the_blocks.get();
  }
  /// Returns the id of a face of an active cell: its boundary id, or that of an inner side;
  /// internal_face_boundary_id if it has none.
  template <class Cell>
  dealii::types::boundary_id side_id(const Cell &cell, const unsigned int face) const
  {
    return cell->at_boundary(face) || !inner_sides
               ? cell->face(face)->boundary_id()
               : inner_sides->id(cell->active_cell_index(), face);
  }
  /// Returns the inner sides of the cells; nullptr if the mesh has none.
  const InnerSidesOfCells<dim> *inner_sides_of_cells() const
  {
    return inner_sides.get();
  }
  /// Returns the cells of this rank.
  ActiveCells<dim> owned_cells() const
  {
    return {dof_handler, the_blocks.get(), false, inner_sides.get()};
  }
  /// Returns the cells of this rank and the ghost cells.
  ActiveCells<dim> cells() const
  {
    return {dof_handler, the_blocks.get(), true, inner_sides.get()};
  }
  /// Collective. Returns the largest diameter of the mapped cells.
  double largest_diameter() const;
  /// Returns the number of cells of this rank.
  std::size_t n_owned_cells() const;
  /// Returns a number larger than any ActiveCell::active_cell_index().
  unsigned int n_cell_indices() const;
  const dealii::IndexSet &owned() const
  {
    return dof_handler.locally_owned_dofs();
  }
  const dealii::IndexSet &relevant() const
  {
    return relevant_dofs;
  }
  /// Returns the constraints of hanging nodes, periodic sides and Dirichlet data.
  const dealii::AffineConstraints<double> &constraints() const
  {
    return the_constraints;
  }
  /// Returns the values x_i − Σ_j w_ij x_j of the constrained dofs i, whose constraints have the
  /// weights w_ij, and 0 for free dofs; with ghost values. If x satisfies the constraints, these
  /// are their inhomogeneities. @param x with ghost values
  FeVector inhomogeneous_part(const FeVector &x) const;
  /// Replaces the inhomogeneities of constraints(). @param values with ghost values
  void set_inhomogeneities(const FeVector &values);
  /// Collective. Sets the constrained dofs of @p x so that it satisfies the constraints with other
  /// inhomogeneities, and updates the ghost values.
  void constrain(FeVector &x, const FeVector &inhomogeneities) const;
  /// Returns the constraints of hanging nodes and periodic sides only, which make functions
  /// conforming.
  const dealii::AffineConstraints<double> &conformity() const
  {
    return the_conformity;
  }
  /// Returns whether any dof, on any rank, depends on other dofs: at hanging nodes, periodic sides
  /// or oblique symmetry planes.
  bool has_linear_constraints() const
  {
    return is_linearly_constrained;
  }

  /// Collective. Checks that cells are not inverted, see check_curved_cells(). Returns a warning,
  /// or an empty string.
  std::string check_cells() const;

  /// Returns a Gauss rule that is exact for polynomials of degree 2n − 1 at least, with
  /// n = degree() + @p extra_points, but n <= 4 on triangles and tetrahedra.
  dealii::Quadrature<dim> cell_quadrature(unsigned int extra_points = 1) const;
  dealii::Quadrature<dim - 1> face_quadrature() const;
  /// Returns the nodes of the element, weighted by the integrals of their shape functions: for
  /// tensor-product elements the Gauss-Lobatto rule. Quadratic simplices have weights that are not
  /// positive.
  dealii::Quadrature<dim> nodal_quadrature() const;
  /// Returns the nodes on a face, weighted by the integrals of their shape functions over the face.
  dealii::Quadrature<dim - 1> nodal_face_quadrature() const;

private:
  const Mesh<dim> *the_mesh;
  std::unique_ptr<dealii::FiniteElement<dim>> fe;
  std::unique_ptr<Blocks<dim>> the_blocks;             ///< nullptr if cells are not in blocks
  std::unique_ptr<InnerSidesOfCells<dim>> inner_sides; ///< nullptr if the mesh has none
  std::unique_ptr<dealii::Mapping<dim>> the_mapping;
  dealii::DoFHandler<dim> dof_handler;
  dealii::IndexSet relevant_dofs;
  dealii::AffineConstraints<double> the_constraints, the_conformity;
  bool is_linearly_constrained = false;
};

/// Calls f(dof, point) for each dof that this rank owns, with the point of its node; repeatedly for
/// a dof that several cells share.
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
 * Calls f(cell, face, dofs, on_face) for each face with one of the @p ids, at the boundary or
 * inside the body, of owned and ghost cells: `dofs` are the dofs of the cell, and `on_face` are the
 * indices in `dofs` of the dofs on the face. Inner sides are faces of both cells. Does not use
 * FiniteElement::has_support_on_face(), which in deal.II 9.4 returns true for all dofs of
 * FE_SimplexP.
 */
template <int dim, class F>
void for_each_face_with_id(const Discretization<dim> &discretization,
                           const std::set<dealii::types::boundary_id> &ids, const F &f)
{
  const dealii::FiniteElement<dim> &element = discretization.dofs().get_fe();
  std::vector<dealii::types::global_dof_index> dofs(element.n_dofs_per_cell()), face_dofs;
  std::vector<unsigned int> on_face;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (cell->is_artificial() ||
        (!cell->at_boundary() && discretization.inner_sides_of_cells() == nullptr))
      continue;
    for (const unsigned int face : cell->face_indices()) {
      if (ids.count(discretization.side_id(cell, face)) == 0)
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

/// Returns the dofs that this rank owns on the faces with one of the @p ids.
template <int dim>
dealii::IndexSet owned_dofs_on(const Discretization<dim> &discretization,
                               const std::set<dealii::types::boundary_id> &ids)
{
  std::vector<dealii::types::global_dof_index> found;
  for_each_face_with_id(
      discretization, ids,
      [&](const auto & /* cell */, unsigned int /* face */, const auto &dofs, const auto &on_face) {
        for (const unsigned int i : on_face)
          if (discretization.owned().is_element(dofs[i]))
            found.push_back(dofs[i]);
      });
  std::sort(found.begin(), found.end());
  dealii::IndexSet result(discretization.dofs().n_dofs());
  result.add_indices(found.begin(), found.end());
  return result;
}

/// Returns the dofs to which cells of this rank may contribute in an assembly, including the dofs
/// on which constrained dofs depend.
template <int dim>
dealii::IndexSet dofs_written_by_cells(const Discretization<dim> &discretization,
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

/// Returns a zero vector for all dofs to which cells of this rank contribute, including the dofs on
/// which hanging nodes depend. After the assembly, compress() sums the contributions of all ranks.
template <int dim>
FeVector make_assembly_vector(const Discretization<dim> &discretization)
{
  return FeVector(discretization.owned(),
                  dofs_written_by_cells(discretization, discretization.conformity()),
                  discretization.communicator());
}
} // namespace femgpu

#endif
