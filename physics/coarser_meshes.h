#ifndef femgpu_physics_coarser_meshes_h
#define femgpu_physics_coarser_meshes_h

#include "linalg/base/unknowns.h"

#include <memory>
#include <vector>

namespace femgpu
{
/// The cells of a forest of quadtrees or octrees, or blocks of cells, tree by tree, in the order of
/// each tree's space-filling curve.
struct ForestCells
{
  int dimension;
  linalg::RawVector<unsigned char> levels; ///< of each cell, or of the cells of a block
  linalg::RawVector<int> nodes; ///< 2^dimension vertices of each cell, lexicographic; or of a block
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
  std::vector<int> unknowns; ///< the constrained unknowns, ascending
  std::vector<int> n_terms;  ///< number of terms of each
  std::vector<int> columns;  ///< columns of all terms
  std::vector<double> weights;
};

/**
 * Makes the unknowns of linear elements on a sequence of coarser meshes, with functions that are
 * multilinear in each cell. Each step merges all families of cells, independently of the
 * neighbours, and again while less than a fifth of the nodes has been removed. A node that becomes
 * the midpoint of an edge, face or cell of a parent gets the mean of that object's corners.
 * Therefore hanging nodes need no special treatment, and coarser meshes need not be balanced. A
 * node keeps all of its unknowns or none. Constrained unknowns are decoupled, see
 * describe_unknowns(). Uses all cores.
 * @param cells of all solver groups, like @p constrained
 * @param fine_unknowns of the unknowns of a group, with the per_node unknowns of a vertex
 * consecutive
 * @param starts the first node of each group, whose nodes are consecutive, and the number of nodes
 * @return the part of @p group: the rows of its own nodes, which keep their owner; nullptr for all
 * groups if nothing can be coarsened
 */
std::shared_ptr<const linalg::CoarserUnknowns>
unknowns_of_coarser_meshes(ForestCells cells, ConstrainedUnknowns constrained,
                           const linalg::Unknowns &fine_unknowns, const std::vector<int> &starts,
                           int group);
} // namespace femgpu

#endif
