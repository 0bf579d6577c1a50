#ifndef femgpu_physics_coarser_meshes_h
#define femgpu_physics_coarser_meshes_h

#include "linalg/base/unknowns.h"

#include <memory>
#include <vector>

namespace femgpu
{
/// The cells of a forest of quadtrees or octrees, or blocks of them, one tree after the other,
/// those of a tree in the order of its space-filling curve.
struct ForestCells
{
  int dimension;
  linalg::RawVector<unsigned char> levels; ///< of refinement, of each cell, or of a block's cells
  linalg::RawVector<int> nodes; ///< 2^dimension vertices each, in lexicographic order, or a block's
  /// Of blocks: which of a block's nodes the vertices of each of its cells are; empty: no blocks.
  std::vector<unsigned int> in_block;

  int n_vertices() const
  {
    return 1 << dimension;
  }
};

/// Unknowns that depend on others, x_i = Σ_k w_k x_k, or are given.
struct ConstrainedUnknowns
{
  std::vector<int> unknowns; ///< which these are, ascending
  std::vector<int> n_terms;  ///< of each
  std::vector<int> columns;  ///< of all terms
  std::vector<double> weights;
};

/**
 * The unknowns of linear elements on coarser and coarser meshes, whose functions are those that are
 * multilinear in each cell: in every step all families of cells become their parent, whatever the
 * neighbours do, and once more while less than a fifth of the nodes is gone. What is then a
 * midpoint of an edge, face or cell of a parent has the mean of its ends; so hanging nodes need no
 * care, nor need the coarser meshes be balanced. A node keeps all its unknowns or none; those that
 * are constrained stand alone, see describe_unknowns(). Works by all cores.
 * @param cells of all solver groups, as is @p constrained
 * @param given of the unknowns of a group, per_node of a vertex side by side
 * @param starts the first node of each group, whose nodes follow each other, and the number of
 *        nodes
 * @return what the @p group has of them: rows of its own nodes, which keep their owner; nullptr for
 *         all groups where nothing coarsens
 */
std::shared_ptr<const linalg::CoarserUnknowns>
unknowns_of_coarser_meshes(ForestCells cells, ConstrainedUnknowns constrained,
                           const linalg::Unknowns &given, const std::vector<int> &starts,
                           int group);
} // namespace femgpu

#endif
