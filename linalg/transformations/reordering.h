#ifndef femgpu_linalg_transformations_reordering_h
#define femgpu_linalg_transformations_reordering_h

#include "linalg/partitions/partition.h"

#include <string>
#include <vector>

/**
 * @file
 * Orders of unknowns on the host. An order has n elements: order[i] is the row of A that becomes
 * row i of P A Pᵀ. An empty one keeps all as it is.
 */
namespace femgpu::linalg
{
/**
 * The order of Cuthill and McKee (ACM 1969), reversed (George 1971), of the pattern of A + Aᵀ: a
 * small bandwidth. Each connected component starts from a node that is nearly as far from another
 * as is possible; components follow each other. Depends on the pattern only; needs 28 bytes an
 * entry while it runs, on one thread.
 */
std::vector<int> reverse_cuthill_mckee(const HostCsr &A);

/// What ordering_by_parts() does within a part.
enum class OrderWithin
{
  none, ///< unknowns as they come
  rcm   ///< reverse Cuthill-McKee of the part alone
};

/**
 * Unknowns sorted by the parts of make_partition(), so that most entries stay within the diagonal
 * blocks of parts. Unknowns of a node stay together. Reads no values.
 * @param n_parts 0: as many as have 8192 rows each
 * @throws as make_partition()
 */
Partition ordering_by_parts(const std::string &kind, const HostCsr &A, int n_parts,
                            OrderWithin within);

/// Does @p order keep each @p node_size unknowns that are numbered side by side so?
bool keeps_nodes(const std::vector<int> &order, int node_size);

/// The pattern of P A Qᵀ with permutations P and Q, and where its values come from.
struct PermutedPattern
{
  std::vector<int> row_starts = {0}; ///< n+1
  std::vector<int> columns;          ///< ascending in each row
  std::vector<int> entries;          ///< entry k of P A Qᵀ is entry entries[k] of A
};

/// Takes row i from row rows[i] of @p A, and column j from column columns[j]. @throws SolverError
/// if one of them is no permutation
PermutedPattern permute_pattern(const HostCsr &A, const std::vector<int> &rows,
                                const std::vector<int> &columns);

/// P A Pᵀ
inline PermutedPattern permute_pattern(const HostCsr &A, const std::vector<int> &order)
{
  return permute_pattern(A, order, order);
}

/// P v: element i is v[order[i]], and the values of P A Qᵀ by the entries of its pattern. @p
/// permuted is other memory.
void permute(const std::vector<int> &order, const double *v, double *permuted);

/// v from P v. The vectors have n elements and do not overlap.
void unpermute(const std::vector<int> &order, const double *permuted, double *v);
} // namespace femgpu::linalg

#endif
