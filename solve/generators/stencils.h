#ifndef femgpu_solve_generators_stencils_h
#define femgpu_solve_generators_stencils_h

#include "solve/generators/grid_matrix.h"

#include <vector>

/**
 * @file
 * Finite differences on a grid of interior points with spacing 1 (that is, multiplied by h²) and
 * Dirichlet values on the whole boundary. Rows have no entries for boundary points.
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

/// Makes the matrix with the same @p stencil at every point of @p grid, or of a share of it;
/// offsets may be in any order.
HostMatrix stencil_matrix(const Grid &grid, Stencil stencil, const RowShare &share = {});

/// Returns the stencil of -Σ a_d ∂²u/∂x_d² with the one to three coefficients @p a: 3, 5 or 7
/// points.
Stencil cross_stencil(const std::vector<double> &a);

/// Returns a stencil with -1 for all neighbours, including those across edges and corners, and the
/// number of neighbours at the point itself: 9 points in 2D (three times the stencil of bilinear
/// elements), 27 in 3D.
Stencil box_stencil(int dimension);

/// Returns the stencil of linear elements on squares that are halved along (1, 1): the 5-point
/// stencil, and zeros for the 2 neighbours along the hypotenuses, as in an assembled matrix.
Stencil triangle_stencil();

/// Returns a stencil on a line, with -1/d² for the neighbours at distances d up to @p width, and
/// 1.01 times the sum of their magnitudes at the point itself.
Stencil band_stencil(int width);

/// Returns the stencil of -Δu + w·∇u with upwind differences and a wind @p w of one to three
/// components: 3, 5 or 7 points, an M-matrix for any w.
Stencil upwind_stencil(const std::vector<double> &w);
} // namespace femgpu::linalg

#endif
