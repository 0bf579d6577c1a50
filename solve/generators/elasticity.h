#ifndef femgpu_solve_generators_elasticity_h
#define femgpu_solve_generators_elasticity_h

#include "solve/generators/grid_matrix.h"

#include <vector>

namespace femgpu::linalg
{
/**
 * Returns the matrix of isotropic linear elasticity in the unit cube with linear elements. Each of
 * the @p N^3 cells is divided into Kuhn's 6 tetrahedra around its diagonal (1, 1, 1). The cube is
 * clamped at x = 0, where the unknowns are eliminated, and free elsewhere. The 3 N (N+1)^2 unknowns
 * are numbered node by node, and the nodes with x fastest. The matrix is symmetric positive
 * definite. Rows have up to 45 entries, including zeros, as in an assembled matrix.
 * @param E Young's modulus
 * @param nu Poisson's ratio, below 0.5
 * @param share the share of the nodes whose rows are made
 * @throws ParameterError if the matrix has more than RowStarts::max_entries entries
 */
HostMatrix elasticity_matrix(int N, double E, double nu, const RowShare &share = {});

/// Returns the right-hand side for the body force (0, 0, -1): the weight of the cube.
std::vector<double> elasticity_load(int N, const RowShare &share = {});
} // namespace femgpu::linalg

#endif
