#ifndef femgpu_linalg_preconditioners_multigrid_near_null_h
#define femgpu_linalg_preconditioners_multigrid_near_null_h

#include "linalg/operators/csr_matrix.h"

#include <string>

namespace femgpu::linalg
{
/// Vectors v with A v ≈ 0 away from the boundary, which coarser levels must have.
struct NearNullVectors
{
  static constexpr int most = 16;

  int count = 0;
  Buffer<double> values; ///< n x count, row by row
};

/**
 * For the first level of nodes: with @p kind `constants` one for each unknown of a node, with
 * `rigid-body` the 3 or 6 motions of a body in 2D or 3D, translations first, with `auto` these
 * where the places of the unknowns are known and a node has as many as there are dimensions. Rows
 * with nothing but their diagonal, as those of Dirichlet values, have 0. Of a scaled system, x = D
 * x̂, they are D⁻¹ v.
 * @param unknowns of the rows of A
 * @param block unknowns of a node
 * @throws ParameterError for rigid-body motions of a matrix that does not know its places
 */
template <class Backend>
NearNullVectors near_null_vectors(const CsrMatrix &A, const Unknowns &unknowns, int block,
                                  const std::string &kind);
} // namespace femgpu::linalg

#endif
