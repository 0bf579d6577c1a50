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
/// The matrix K, right-hand side f and weights w of one cell, by local dof.
struct CellTerms
{
  CellTerms(const unsigned int n, const bool has_weights)
      : dofs(n), K(n, n), f(n), w(has_weights ? n : 0)
  {}

  std::vector<dealii::types::global_dof_index> dofs; ///< global dof number of each local dof
  dealii::FullMatrix<double> K;
  dealii::Vector<double> f;
  dealii::Vector<double> w; ///< weights of a nonlinear reaction term; empty for linear problems
};

/**
 * Adds the terms of cells to the system and eliminates constrained dofs. If the constraints on a
 * cell are u = C û + g with the unconstrained dofs û, Cᵀ K C is added to the matrix, Cᵀ (f − K g)
 * to the right-hand side and Cᵀ w to the weights. Rows of constrained dofs get only a diagonal
 * entry. Each thread needs its own object, which reuses its buffers.
 */
class CellConstraints
{
public:
  using Index = dealii::types::global_dof_index;

  explicit CellConstraints(const dealii::AffineConstraints<double> &constraints)
      : constraints(constraints)
  {}

  void add(const CellTerms &cell, linalg::GroupSystem &system);
  /// Adds to the right-hand side only.
  void add_rhs(const CellTerms &cell, linalg::GroupSystem &system);

private:
  /// A contribution of local dof `dof` to the target-th dof of `targets`, with factor `weight`.
  struct Share
  {
    unsigned int dof, target;
    double weight;
  };

  /// Adds the terms of a cell without constrained dofs, faster than the general case.
  void add_free_cell(const CellTerms &cell, linalg::GroupSystem &system);
  void resolve(const std::vector<Index> &dofs);
  double reduced_load(const CellTerms &cell, unsigned int row) const;
  void condense(const CellTerms &cell);

  const dealii::AffineConstraints<double> &constraints;

  std::vector<std::pair<Index, unsigned int>> order; ///< pairs of global and local dof, ascending
  std::vector<std::pair<Index, Share>> unsorted;     ///< pairs of global dof and share
  std::vector<Index> targets;                        ///< global numbers of the dofs û, ascending
  std::vector<Share> shares;
  std::vector<double> inhomogeneities;      ///< g by local dof
  std::vector<double> matrix, rhs, weights; ///< CᵀKC, Cᵀ(f − K g) and Cᵀw, by target
};
} // namespace femgpu

#endif
