#ifndef femgpu_linalg_preconditioners_multigrid_near_null_h
#define femgpu_linalg_preconditioners_multigrid_near_null_h

#include "linalg/operators/csr_matrix.h"

#include <string>

namespace femgpu::linalg
{
/// Vectors v with A v ≈ 0 away from the boundary. Coarser levels must represent these vectors.
struct NearNullVectors
{
  static constexpr int max_vectors = 16;

  int count = 0;
  Buffer<double> values; ///< n x count, row by row
};

/**
 * Returns the near-null vectors of the first aggregated level, as @p kind specifies: `constants`
 * gives one vector for each unknown of a node; `rigid-body` gives the 3 or 6 motions of a body in
 * 2D or 3D, translations first; `auto` gives the vectors of Unknowns::near_null if there are any,
 * else these motions if coordinates are known and a node has as many unknowns as there are
 * dimensions, else constants. The vectors are 0 in rows with only a diagonal entry, such as rows of
 * Dirichlet values. For a scaled system, x = D x̂, the result is D⁻¹ v.
 * @param unknowns the unknowns of the rows of A
 * @param block number of unknowns of a node
 * @throws ParameterError if Unknowns have more than max_vectors near-null vectors, or if @p kind is
 * `rigid-body` and the matrix has no coordinates, or nodes do not have one unknown for each
 * dimension
 */
template <class Backend>
NearNullVectors near_null_vectors(const CsrMatrix &A, const Unknowns &unknowns, int block,
                                  const std::string &kind);
} // namespace femgpu::linalg

#endif
