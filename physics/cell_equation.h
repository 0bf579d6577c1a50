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
 * Computes the contributions of cells, one after the other, to the equations of their dofs, before
 * constraints are eliminated. If a cell is a translation of the previous one and has the same
 * coefficients, its matrix is reused.
 */
template <int dim>
class CellEquation
{
public:
  CellEquation(const Problem<dim> &problem, const Discretization<dim> &discretization);

  /**
   * Linearises the residual at @p u, r(v) = f − K v, and stores K, f and the weights of a reaction
   * in @p terms.
   * @param u the function, with ghost values; nullptr for 0; irrelevant for linear problems
   * @param has_matrix whether to compute K; if not, @p u must be nullptr
   */
  void linearize(const ActiveCell<dim> &cell, const FeVector *u, CellTerms &terms,
                 bool has_matrix = true);

  /**
   * Sets terms.f to the residual r(u) without the reaction, and terms.w to the weights of the
   * reaction.
   * @param u the function, with ghost values
   * @return the energy uᵀK u/2 − fᵀu of the cell; without meaning if the equation is nonlinear
   */
  double evaluate(const ActiveCell<dim> &cell, const FeVector &u, CellTerms &terms);

  /// Returns the Gauss points of the cell, with the solution there. @pre evaluate() was called
  CellPoints<dim> &inside()
  {
    return in_cell;
  }
  /// Returns σ at the Gauss points of the cell, with the flux of a stabilisation. @pre evaluate()
  /// was called
  const PointTerms &flux() const
  {
    return sigma;
  }
  /// Returns u at the dofs of the cell. @pre evaluate() was called
  const dealii::Vector<double> &u_of_cell() const
  {
    return u_cell;
  }
  /// Returns the contributions of source, boundary flux and loads of curves and point sets to each
  /// dof of the cell. A CellObserver may add loads. @pre evaluate() was called
  dealii::Vector<double> &loads()
  {
    return cell_loads;
  }
  /// Returns the part of loads() that is the storage term. @pre evaluate() was called
  const dealii::Vector<double> &storage_loads() const
  {
    return cell_storage;
  }
  /// Returns K u of the cell, without a lumped storage term. K contains the parts of flux and
  /// source that are linear in u and ∇u, with coefficients evaluated at u, but no boundary terms.
  /// @pre evaluate() was called
  const dealii::Vector<double> &internal_forces();
  /// Returns the net contribution to loads() of boundary fluxes that depend on u, such as
  /// ∫ a (g − u) φ of a Robin condition σ·n = a (g − u). @pre evaluate() was called
  const dealii::Vector<double> &exchange() const
  {
    return cell_exchange;
  }

  /// Returns Σ_c ∫ c (u_c − w_c)/τ over the cells evaluated so far: the rate at which the body
  /// stores heat in a step in time; 0 without a Storage term.
  double storage_rate() const
  {
    return stored;
  }

  /// The flow into the body through one boundary.
  struct BoundaryFlow
  {
    double integral = 0.; ///< ∫ g of a scalar problem
    /// The weights of a nodal reaction by dof, before constraints are eliminated.
    std::map<dealii::types::global_dof_index, double> weights;
  };
  /// Returns, by boundary id, the flows through the faces of the cells evaluated so far.
  const std::map<dealii::types::boundary_id, BoundaryFlow> &boundary_flows() const
  {
    return flows;
  }

private:
  void reinit(const ActiveCell<dim> &cell, const FeVector *u, CellTerms &terms);
  void set_solution(const FeVector *u, CellPoints<dim> &points) const;
  void add_storage(const ActiveCell<dim> &cell, const FeVector *u, const Storage &storage);
  void update_matrix();
  template <class Use>
  void for_each_boundary_term(const ActiveCell<dim> &cell, const FeVector *u, const Use &use);
  void add_weights(const ActiveCell<dim> &cell, CellTerms &terms, bool accumulates_flows);

  const Problem<dim> &problem;
  const Discretization<dim> &discretization;
  unsigned int n_components;
  bool is_stabilized;
  CellPoints<dim> in_cell, on_face;
  std::optional<CellPoints<dim>> cell_nodes, face_nodes; ///< only for problems with a reaction
  std::optional<CellPoints<dim>> lumping_points;         ///< only for a lumped storage term
  PointTerms sigma, s, g;
  PointTerms linear_sigma, linear_s; ///< workspace
  PointTerms capacity;               ///< c of the storage term; workspace
  /// The source of the storage term; empty without one. It is a part of s unless it is lumped.
  PointTerms rate;
  PointRows w; ///< w of the storage term; workspace
  double stored = 0.;
  std::vector<double> c;         ///< coefficient of the reaction; workspace
  dealii::Vector<double> w_face; ///< workspace

  PointTerms cached_sigma, cached_s, cached_rate; ///< of the cell whose matrix is cached_K
  bool has_cached_K = false;
  dealii::FullMatrix<double> cached_K;
  dealii::Vector<double> u_cell, w_cell, cell_loads, cell_storage, cell_exchange, stiffness_forces;
  std::map<unsigned int, dealii::Vector<double>> loads_by_cell; ///< see curve_and_point_loads()
  std::map<dealii::types::boundary_id, BoundaryFlow> flows;
};
} // namespace femgpu

#endif
