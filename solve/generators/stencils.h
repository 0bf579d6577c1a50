#ifndef femgpu_solve_generators_stencils_h
#define femgpu_solve_generators_stencils_h

#include "solve/generators/grid_matrix.h"

#include <vector>

/**
 * @file
 * Differences on a grid of inner points with spacing 1 (that is, multiplied by h²) and Dirichlet
 * values all around: a row lacks the neighbours that are on the boundary.
 */
namespace femgpu::linalg
{
/// A coefficient for the neighbour at an offset.
struct StencilEntry
{
  GridOffset offset;
  double value = 0.;
};
using Stencil = std::vector<StencilEntry>;

/// The same @p stencil, its offsets in any order, for every point of @p grid, or of a share of it.
HostMatrix stencil_matrix(const Grid &grid, Stencil stencil, const RowShare &share = {});

/// -Σ a_d ∂²u/∂x_d² with the one to three coefficients @p a: 3, 5 or 7 points.
Stencil cross_stencil(const std::vector<double> &a);

/// -1 for all neighbours, also those over edges and corners, their number at the point itself: 9
/// points in 2 dimensions (three times bilinear elements), 27 in 3.
Stencil box_stencil(int dimension);

/// Linear triangles that halve squares along (1, 1): the 5 points, and zeros for the 2 neighbours
/// over the hypotenuses, because assembled matrices have those entries.
Stencil triangle_stencil();

/// On a line, -1/d² for the neighbours at the distances d up to @p width, and 1.01 times what they
/// sum up to at the point itself.
Stencil band_stencil(int width);

/// -Δu + w·∇u with upwind differences and a wind @p w of one to three components: 3, 5 or 7 points,
/// an M-matrix for any w.
Stencil upwind_stencil(const std::vector<double> &w);
} // namespace femgpu::linalg

#endif
