#ifndef femgpu_linalg_transformations_scaling_h
#define femgpu_linalg_transformations_scaling_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/row_space.h"

#include <vector>

/**
 * @file
 * Scaling on the host, Â = R A C with diagonal R and C: Â x̂ = b̂ with b̂ = R b and x = C x̂.
 * Results are bitwise independent of the number of threads. Making a scaling is collective over all
 * ranks; @p rows is the row space of A in host memory, with ghosts. The functions that scale
 * vectors and values do not permute rows; vectors have n elements, and the scaled and the original
 * vector may be the same.
 */
namespace femgpu::linalg
{
/// The diagonals of R and C, both empty if nothing is scaled, and a permutation of rows.
struct Scaling
{
  std::vector<double> left;  ///< diagonal of R, n numbers
  std::vector<double> right; ///< diagonal of C, n numbers, followed by ghosts if A is distributed
  std::vector<int> rows;     ///< row i of Â is row rows[i] of R A C; empty: no permutation

  bool is_none() const
  {
    return left.empty();
  }
};

/**
 * Returns R = C = D^(-1/2) with D = diag(‖A e_i‖₂): Â is symmetric, and positive definite, if A is.
 * @throws SolverError naming a row or column (counted from 0) if this row or column has an entry
 * that is not finite, only zeros, or a norm beyond the range of double
 */
Scaling symmetric_scaling(const HostCsr &A, const RowSpace &rows);

/**
 * Returns the scaling `balance`: R = diag(1 / ‖row i of A‖₂), then C = diag(1 / ‖column i of R
 * A‖₂). Â is unsymmetric in general. Source: Yamazaki, Anzt, Tomov, Hoemmen, Dongarra, IPDPS 2014.
 * @throws the exceptions of symmetric_scaling()
 */
Scaling balancing(const HostCsr &A, const RowSpace &rows);

/// Computes the n_nonzeros values of R A C; @p scaled may be the values of A.
void scale_values(const HostCsr &A, const Scaling &scaling, double *scaled);

/// Computes b̂ = R b.
void scale_rhs(const Scaling &scaling, const double *b, double *scaled);

/// Computes b = R⁻¹ b̂.
void unscale_rhs(const Scaling &scaling, const double *scaled, double *b);

/// Computes x̂ = C⁻¹ x.
void scale_guess(const Scaling &scaling, const double *x, double *scaled);

/// Computes x = C x̂.
void unscale_solution(const Scaling &scaling, const double *scaled, double *x);
} // namespace femgpu::linalg

#endif
