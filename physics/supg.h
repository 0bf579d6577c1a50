#ifndef femgpu_physics_supg_h
#define femgpu_physics_supg_h

#include "physics/base/point_batch.h"

#include <array>
#include <vector>

namespace femgpu
{
/// Values at points: one row for each direction.
template <int dim>
using DirectionRows = std::array<std::vector<double>, dim>;

/**
 * Returns τ of SUPG at the points @p at, with 1/τ = 4 p² k/d² + 2 p |b|/h + c (Codina 2000) and the
 * degree p. h is the length of the longest chord of the cell along b, and d the smallest thickness
 * of the cell; if k depends on the direction, 4 k/d² is the largest value over the directions of
 * the cell. τ is 0 where b is 0.
 * @param b the velocity
 * @param k the diffusivity in each direction
 * @param c the reaction coefficient
 */
template <int dim>
std::vector<double> supg_tau(const PointBatch<dim> &at, const DirectionRows<dim> &b,
                             const DirectionRows<dim> &k, const std::vector<double> &c);
} // namespace femgpu

#endif
