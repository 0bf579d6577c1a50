#ifndef femgpu_physics_cell_equation_h
#define femgpu_physics_cell_equation_h

#include "physics/cell_points.h"
#include "physics/constraints/cell_constraints.h"
#include "physics/problem.h"

#include <map>
#include <optional>
#include <vector>

namespace femgpu
{
/**
 * The equation of a problem on cells, one after the other: what it adds to the equations of their
 * dofs, without constraints. Cells that are the one before, moved, with the same coefficients, keep
 * its matrix.
 */
template <int dim>
class CellEquation
{
public:
  CellEquation(const Problem<dim> &problem, const Discretization<dim> &discretization);

  /**
   * K and f of the equation r(v) = f − K v linearised at @p u, and the weights of a reaction.
   * @param u with ghost values; nullptr for 0. Those of a linear problem do not depend on it.
   */
  void linearize(const ActiveCell<dim> &cell, const FeVector *u, CellTerms &terms);

  /**
   * @p terms.f gets r(u), and its weights those of a reaction, whose part is not in r.
   * @param u with ghost values
   * @return uᵀK u/2 − fᵀu of the cell, for a linear equation
   */
  double evaluate(const ActiveCell<dim> &cell, const FeVector &u, CellTerms &terms);

  /// After evaluate(): the Gauss points of the cell, with the solution there.
  CellPoints<dim> &inside()
  {
    return in_cell;
  }
  /// After evaluate(): σ at these points.
  const PointTerms &flux() const
  {
    return sigma;
  }
  /// After evaluate(): u at the dofs of the cell.
  const dealii::Vector<double> &u_of_cell() const
  {
    return u_cell;
  }
  /// After evaluate(): what source, boundary flux and loads of lower parts bring to each dof of the
  /// cell. An observer may add loads of its own.
  dealii::Vector<double> &loads()
  {
    return of_loads;
  }
  /// After evaluate(): K u of the cell, with what flux and source have that is linear in u and ∇u
  /// at this u, and without boundary terms.
  const dealii::Vector<double> &internal_forces();
  /// After evaluate(): the part of loads() that boundary fluxes which depend on u bring, net: of a
  /// Robin condition ∫ a (g − u) φ.
  const dealii::Vector<double> &exchange() const
  {
    return of_exchange;
  }

  /// The inflow into the body through one part of the boundary.
  struct BoundaryFlow
  {
    double integral = 0.; ///< ∫ g of a scalar problem
    /// Weights of a nodal reaction by dof, before constraints.
    std::map<dealii::types::global_dof_index, double> weights;
  };
  /// The flows through the faces of all cells of this rank that have been evaluated.
  const std::map<dealii::types::boundary_id, BoundaryFlow> &boundary_flows() const
  {
    return flows;
  }

private:
  void reinit(const ActiveCell<dim> &cell, const FeVector *u, CellTerms &terms);
  void set_solution(const FeVector *u, CellPoints<dim> &points) const;
  template <class Use>
  void for_each_boundary_term(const ActiveCell<dim> &cell, const FeVector *u, const Use &use);
  void add_weights(const ActiveCell<dim> &cell, CellTerms &terms, bool gathers_flows);

  const Problem<dim> &problem;
  unsigned int n_components;
  CellPoints<dim> in_cell, on_face;
  std::optional<CellPoints<dim>> cell_nodes, face_nodes; ///< only for problems with a reaction
  PointTerms sigma, s, g;
  PointTerms linear_sigma, linear_s; ///< workspace
  std::vector<double> c;             ///< of the reaction; workspace
  dealii::Vector<double> w_face;     ///< workspace

  PointTerms kept_sigma, kept_s; ///< those of kept_K
  dealii::FullMatrix<double> kept_K;
  dealii::Vector<double> u_cell, of_loads, of_exchange, of_stiffness;
  std::map<unsigned int, dealii::Vector<double>> lower_loads; ///< by active cell index
  std::map<dealii::types::boundary_id, BoundaryFlow> flows;
};
} // namespace femgpu

#endif
