#ifndef femgpu_physics_cell_constraints_h
#define femgpu_physics_cell_constraints_h

#include "linalg/dealii/group_system.h"

#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <utility>
#include <vector>

namespace femgpu
{
/// The terms of one cell, by local dof.
struct CellTerms
{
  CellTerms(const unsigned int n, const bool has_weights)
      : dofs(n), K(n, n), f(n), w(has_weights ? n : 0)
  {}

  std::vector<dealii::types::global_dof_index> dofs; ///< global number of each
  dealii::FullMatrix<double> K;
  dealii::Vector<double> f;
  dealii::Vector<double> w; ///< weights of a reaction; empty for linear problems
};

/**
 * Adds the terms of one cell to the system, with constrained dofs eliminated: with u = C û + g on
 * the cell, Cᵀ K C goes to the matrix, Cᵀ (f − K g) to the right-hand side and Cᵀ w to the weights.
 * One object serves one thread and keeps its memory.
 */
class CellConstraints
{
public:
  using Index = dealii::types::global_dof_index;

  explicit CellConstraints(const dealii::AffineConstraints<double> &constraints)
      : constraints(constraints)
  {}

  void add(const CellTerms &cell, linalg::GroupSystem &system);

private:
  /// Local dof i has the weight `weight` in the target-th dof that the cell's terms go to.
  struct Share
  {
    unsigned int dof, target;
    double weight;
  };

  /// Quicker: no dof of the cell is constrained.
  void add_free_cell(const CellTerms &cell, linalg::GroupSystem &system);
  void resolve(const std::vector<Index> &dofs);
  void condense(const CellTerms &cell);

  const dealii::AffineConstraints<double> &constraints;

  std::vector<std::pair<Index, unsigned int>> order; ///< global and local dof, ascending
  std::vector<std::pair<Index, Share>> unsorted;     ///< global dof and share
  std::vector<Index> targets;                        ///< ascending
  std::vector<Share> shares;
  std::vector<double> inhomogeneities;      ///< g by local dof
  std::vector<double> matrix, rhs, weights; ///< condensed, by target
};
} // namespace femgpu

#endif
