#ifndef femgpu_solve_generators_circuit_h
#define femgpu_solve_generators_circuit_h

#include "linalg/base/host_matrix.h"

#include <cstdint>

namespace femgpu::linalg
{
/**
 * Returns the matrix of a random circuit with n unknowns in modified nodal analysis (Ho, Ruehli and
 * Brennan, 1975). The unknowns are the voltages of nodes and the currents of voltage sources; the
 * equations are Kirchhoff's current law at each node and the law of each source, which has an inner
 * resistance.
 *
 * Most rows have 2 to 6 entries, next to the diagonal and far away. Power rails connect a quarter
 * of the nodes, so that the rows and columns of the rails are long. Many nodes depend on the
 * voltage of a clock, so that its column is long. Transistors and sources make pattern and values
 * unsymmetric. Neighbours have similar conductances, which range from 1e-6 to 1e3 over the circuit.
 *
 * The matrix is nonsingular: without the sources, each row is diagonally dominant, some by only a
 * few thousandths, and eliminating the current of a source adds a positive conductance between its
 * nodes. The rows of sources are not diagonally dominant. The matrix is the same on every machine.
 *
 * @param n number of unknowns, at least 10
 */
HostMatrix circuit_matrix(int n, std::uint64_t seed);
} // namespace femgpu::linalg

#endif
