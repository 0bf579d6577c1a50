#ifndef femgpu_linalg_transformations_matching_h
#define femgpu_linalg_transformations_matching_h

#include "linalg/transformations/scaling.h"

#include <vector>

namespace femgpu::linalg
{
/// A perfect matching of rows and columns with the largest product of |matched entries|, and the
/// solution of the dual of this assignment problem: log|a_ij| + u_i + v_j <= 0, with equality for
/// matched entries.
struct Matching
{
  std::vector<int> rows; ///< the row matched to each column
  std::vector<double> u; ///< dual variables of the rows
  std::vector<double> v; ///< dual variables of the columns
};

/**
 * Finds a Matching by shortest augmenting paths for the costs max_k log|a_ik| - log|a_ij| (Duff and
 * Koster, SIAM J. Matrix Anal. Appl. 22(4), 2001, §4; job 5 of MC64), after it has found initial
 * dual variables, and matched most rows without a search. Stored zeros do not count as entries.
 * Uses one thread, and typically takes O(n_nonzeros log n) operations.
 * @throws SolverError naming a row (counted from 0) if the row has an entry that is not finite, or
 * if no matching covers it because A is structurally singular
 */
Matching maximum_product_matching(const HostCsr &A);

/**
 * Returns the scalings R (rows) and C (columns) and the row permutation Q from
 * maximum_product_matching(): the diagonal entries of Q R A C are 1, and no other entry is larger
 * in magnitude. Q R A C is unsymmetric even if A is symmetric.
 * @throws the exceptions of maximum_product_matching(), and SolverError if a scaling factor is
 * beyond the range of double
 */
Scaling matching_scaling(const HostCsr &A, const RowSpace &rows);
} // namespace femgpu::linalg

#endif
