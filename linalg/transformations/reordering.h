#ifndef femgpu_linalg_transformations_reordering_h
#define femgpu_linalg_transformations_reordering_h

#include "linalg/partitions/partition.h"

#include <string>
#include <vector>

/**
 * @file
 * Orderings of unknowns on the host. An order has n elements: order[i] is the row of A that becomes
 * row i of P A Pᵀ. An empty order is the identity.
 */
namespace femgpu::linalg
{
/**
 * Returns the reverse Cuthill-McKee order (Cuthill and McKee, ACM 1969; George 1971) of the pattern
 * of A + Aᵀ, with which P A Pᵀ has a small bandwidth. The order of each connected component starts
 * from a pseudo-peripheral node; the components follow one another. Depends on the pattern only.
 * Uses one thread and temporarily 28 bytes per entry.
 */
std::vector<int> reverse_cuthill_mckee(const HostCsr &A);

/// The ordering within a part in ordering_by_parts().
enum class LocalOrdering
{
  none, ///< the original order
  rcm   ///< reverse Cuthill-McKee of each part
};

/**
 * Orders unknowns by the parts of make_partition(), so that most entries are within the diagonal
 * blocks of parts. Unknowns of a node stay together. Reads no values.
 * @param kind as in make_partition()
 * @param n_parts number of parts; 0: parts of about 8192 rows
 * @param within the ordering within each part
 * @throws the exceptions of make_partition()
 */
Partition ordering_by_parts(const std::string &kind, const HostCsr &A, int n_parts,
                            LocalOrdering within);

/// Returns whether @p order keeps groups of @p node_size consecutive unknowns together.
bool preserves_node_blocks(const std::vector<int> &order, int node_size);

/// The pattern of P A Qᵀ with permutations P and Q, and the origin of its values.
struct PermutedPattern
{
  std::vector<int> row_starts = {0}; ///< n + 1 numbers
  std::vector<int> columns;          ///< ascending in each row
  std::vector<int> entries;          ///< entry k of P A Qᵀ is entry entries[k] of A
};

/// Returns a pattern whose row i is row rows[i] of @p A, and whose column j is column columns[j].
/// @throws SolverError if @p rows or @p columns is not a permutation
PermutedPattern permute_pattern(const HostCsr &A, const std::vector<int> &rows,
                                const std::vector<int> &columns);

/// Returns the pattern of P A Pᵀ, where P is the permutation by @p order.
inline PermutedPattern permute_pattern(const HostCsr &A, const std::vector<int> &order)
{
  return permute_pattern(A, order, order);
}

/// Sets permuted[i] to v[order[i]]. This computes P v, or, with PermutedPattern::entries as @p
/// order, the values of P A Qᵀ from those of A. @p permuted and v do not overlap.
void permute(const std::vector<int> &order, const double *v, double *permuted);

/// Sets v[order[i]] to permuted[i], which computes v from P v. The vectors have n elements and do
/// not overlap.
void unpermute(const std::vector<int> &order, const double *permuted, double *v);
} // namespace femgpu::linalg

#endif
