#ifndef femgpu_physics_coarser_meshes_h
#define femgpu_physics_coarser_meshes_h

#include "linalg/base/unknowns.h"

#include <memory>
#include <vector>

namespace femgpu
{
/// The cells of a forest of quadtrees or octrees, or its blocks of cells (active_cell.h), tree by
/// tree, in the order of each tree's space-filling curve.
struct ForestCells
{
  int dimension;
  linalg::RawVector<unsigned char> levels; ///< level of each cell, or of the cells of each block
  /// The nodes of each cell (its 2^dimension vertices) or of each block, in lexicographic order.
  linalg::RawVector<int> nodes;
  /// For blocks: indices, among a block's nodes, of the vertices of each of its cells. Empty
  /// without blocks.
  std::vector<unsigned int> in_block;

  int n_vertices() const
  {
    return 1 << dimension;
  }
};

/// Unknowns that depend on others, x_i = Σ_k w_k x_k, or have a prescribed value.
struct ConstrainedUnknowns
{
  std::vector<int> unknowns;   ///< the constrained unknowns, ascending
  std::vector<int> n_terms;    ///< number of terms of each constrained unknown
  std::vector<int> columns;    ///< the unknowns k of all terms
  std::vector<double> weights; ///< w_k of all terms
};

/**
 * Makes the unknowns of linear elements on a sequence of coarser meshes, with functions that are
 * multilinear in each cell. Each step merges all families of 2^dimension sibling cells,
 * independently of neighbouring cells, and repeats this while less than a fifth of the nodes has
 * been removed. A node that becomes the midpoint of an edge, face or cell of a parent gets the mean
 * of the values at the corners of that edge, face or cell. Therefore hanging nodes need no special
 * treatment, and coarser meshes need not be balanced. A node keeps all of its unknowns or none.
 * Constrained unknowns are decoupled, see describe_unknowns(). Uses all cores.
 * @param cells the cells of all solver groups (linalg::SolverGroups)
 * @param constrained the constrained unknowns of all solver groups
 * @param fine_unknowns data on the unknowns of @p group; the per_node unknowns of a vertex are
 * consecutive
 * @param starts the first node of each group, then the number of all nodes; the nodes of a group
 * are consecutive
 * @param group number of the solver group
 * @return the coarser unknowns of @p group, at the nodes of the group that remain; nullptr for
 * every group if merging cells removes too few nodes
 */
std::shared_ptr<const linalg::CoarserUnknowns>
unknowns_of_coarser_meshes(ForestCells cells, ConstrainedUnknowns constrained,
                           const linalg::Unknowns &fine_unknowns, const std::vector<int> &starts,
                           int group);
} // namespace femgpu

#endif
