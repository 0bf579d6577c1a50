#ifndef femgpu_benchmarks_speed_systems_h
#define femgpu_benchmarks_speed_systems_h

#include "benchmarks/speed/candidate.h"

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
/// A line of speed_bars.csv: the generator and the number of rows of a system.
struct TableSystem
{
  std::string family;    ///< p2d, e3d, fd3 or q1
  std::string generator; ///< argument of generate()
  int n = 0;
};

/// Returns all systems; sizes ascend within each family.
const std::vector<TableSystem> &table_systems();

/// Returns the systems of @p families (all if empty) with @p smallest to @p largest rows.
/// @throws ParameterError for an unknown family
std::vector<TableSystem> choose_systems(const std::vector<std::string> &families, int smallest,
                                        int largest);

/// Generates the system, with a right-hand side for which CG does not converge early.
/// @throws SolverError if its number of rows differs from the table
SpeedSystem make_system(const TableSystem &line);

/**
 * Returns the least number of bytes that an iteration of Jacobi-PCG moves if nothing stays on the
 * chip: the matrix once (CSR with 4-byte indices, or BSR if nodes have several unknowns), and 72
 * bytes of vectors per row, which two fused kernels read and write. BiCGStab needs twice as much.
 */
std::size_t floor_bytes(const HostMatrix &A);

/**
 * Returns the least number of bytes per iteration of GMRES with classical Gram-Schmidt, averaged
 * over a cycle: the matrix once; each basis vector twice, for the inner products and for the
 * update; and eight vectors for the product, for writing, normalising and multiplying the new basis
 * vector, and for the update of x at the end of the cycle.
 */
std::size_t gmres_floor_bytes(const HostMatrix &A);

/// Returns the diagonal entry of @p row, which must be stored.
double diagonal(const HostMatrix &A, int row);

/// The system D^-1/2 A D^-1/2 y = D^-1/2 b with x = D^-1/2 y, where D is the diagonal of A.
/// Conjugate gradients for this system are equivalent to Jacobi-PCG for A x = b.
struct ScaledSystem
{
  explicit ScaledSystem(const SpeedSystem &system);

  const HostMatrix &A;               ///< provides the pattern
  std::vector<double> inverse_roots; ///< D^-1/2
  std::vector<double> values, b;
};
} // namespace femgpu::linalg::benchmark

#endif
