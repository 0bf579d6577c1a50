#ifndef femgpu_solve_generators_circuit_h
#define femgpu_solve_generators_circuit_h

#include "linalg/base/host_matrix.h"

#include <cstdint>

namespace femgpu::linalg
{
/**
 * The equations of a random circuit with n unknowns, as modified nodal analysis writes them (Ho,
 * Ruehli and Brennan, 1975): Kirchhoff's current law for the voltages of nodes, and the laws of
 * voltage sources with an inner resistance for their currents.
 *
 * Most rows have 2 to 6 entries, next to the diagonal and far away. Power rails join a quarter of
 * the nodes, so their rows and columns are long; a clock is read by many nodes and has a long
 * column alone. Transistors and sources make pattern and values unsymmetric. Neighbours have
 * similar conductances, which range from 1e-6 to 1e3 over the circuit.
 *
 * Nonsingular: without the sources each row is dominated by its diagonal, some by a few thousandths
 * only, and eliminating the current of a source adds a positive conductance to its nodes. The rows
 * of sources themselves are not dominated. The same matrix on every machine.
 *
 * @param n at least 10
 */
HostMatrix circuit_matrix(int n, std::uint64_t seed);
} // namespace femgpu::linalg

#endif
