#ifndef femgpu_solve_generators_circuit_h
#define femgpu_solve_generators_circuit_h

#include "linalg/base/host_matrix.h"

#include <cstdint>

namespace femgpu::linalg
{
/**
 * The equations of a random circuit with n unknowns in modified nodal analysis (Ho, Ruehli and
 * Brennan, 1975): Kirchhoff's current law for the voltages of nodes, and the laws of voltage
 * sources with an inner resistance for their currents.
 *
 * Most rows have 2 to 6 entries, next to the diagonal and far away. Power rails connect a quarter
 * of the nodes, so that their rows and columns are long; many nodes read a clock, of which only the
 * column is long. Transistors and sources make pattern and values unsymmetric. Neighbours have
 * similar conductances, which range from 1e-6 to 1e3 over the circuit.
 *
 * Nonsingular: without the sources each row is diagonally dominant, some by only a few thousandths,
 * and eliminating the current of a source adds a positive conductance to its nodes. The rows of
 * sources are not diagonally dominant. The matrix is the same on every machine.
 *
 * @param n at least 10
 */
HostMatrix circuit_matrix(int n, std::uint64_t seed);
} // namespace femgpu::linalg

#endif
