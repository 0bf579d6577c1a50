#ifndef femgpu_benchmarks_speed_systems_h
#define femgpu_benchmarks_speed_systems_h

#include "benchmarks/speed/contender.h"

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
/// A line of the table of speed_bars.csv: what makes the system, and its order.
struct TableSystem
{
  std::string family;    ///< p2d, e3d, fd3 or q1
  std::string generator; ///< as generate() takes it
  int n = 0;
};

/// All of them; sizes ascend in each family.
const std::vector<TableSystem> &table_systems();

/// Those of @p families (all if empty) with @p smallest to @p largest rows. @throws
/// ParameterError for a family that does not exist.
std::vector<TableSystem> choose_systems(const std::vector<std::string> &families, int smallest,
                                        int largest);

/// Generates it, with a right-hand side that CG does not solve early. @throws SolverError if it is
/// not of the order that the table says.
SpeedSystem make_system(const TableSystem &line);

/**
 * Bytes that an iteration of Jacobi-PCG cannot do without where nothing stays on the chip: the
 * matrix once (CSR with 4-byte indices, or BSR where nodes have several unknowns), and 72 a row,
 * which is what two fused kernels read and write of vectors. BiCGStab needs twice as much.
 */
std::size_t floor_bytes(const HostMatrix &A);

/**
 * The same for GMRES with classical Gram-Schmidt, the mean over a cycle: the matrix once; each of
 * the vectors that are there twice, for the products and for their sum; and eight times a vector
 * for the product, the new vector as it is written, normalised and multiplied with the residual,
 * and the update of x at the end of the cycle.
 */
std::size_t gmres_floor_bytes(const HostMatrix &A);

/// A_ii, which must be stored.
double diagonal(const HostMatrix &A, int row);

/// D^-1/2 A D^-1/2 and D^-1/2 b, where D is the diagonal of A: conjugate gradients without a
/// preconditioner do there what those with Jacobi do for A x = b. x = D^-1/2 times the solution.
struct ScaledSystem
{
  explicit ScaledSystem(const SpeedSystem &system);

  const HostMatrix &A;               ///< whose pattern it has
  std::vector<double> inverse_roots; ///< D^-1/2
  std::vector<double> values, b;
};
} // namespace femgpu::linalg::benchmark

#endif
