#ifndef femgpu_linalg_transformations_matching_h
#define femgpu_linalg_transformations_matching_h

#include "linalg/transformations/scaling.h"

#include <vector>

namespace femgpu::linalg
{
/// A perfect matching of rows and columns with the largest product of |matched entries|, and the
/// dual solution of that assignment problem: log|a_ij| + u_i + v_j <= 0, with equality for matched
/// entries.
struct Matching
{
  std::vector<int> rows; ///< the row matched to each column
  std::vector<double> u; ///< of rows
  std::vector<double> v; ///< of columns
};

/**
 * Finds the matching by shortest augmenting paths over the costs max_k log|a_ik| - log|a_ij| (Duff
 * and Koster, SIAM J. Matrix Anal. Appl. 22(4), 2001, §4; job 5 of MC64), after a cheap assignment
 * by dual bounds. Stored zeros do not count as entries. One thread; typically O(n_nonzeros log n).
 * @throws SolverError naming a row, from 0, that has an entry that is not finite or that no
 * matching covers: the matrix is then structurally singular
 */
Matching maximum_product_matching(const HostCsr &A);

/**
 * Scales and permutes rows by that matching: diagonal entries of Q R A C are 1, and no other entry
 * is larger in magnitude. Makes A unsymmetric.
 * @throws SolverError as maximum_product_matching(), and if a factor is beyond the range of double
 */
Scaling matching_scaling(const HostCsr &A, const RowSpace &rows);
} // namespace femgpu::linalg

#endif
