#ifndef femgpu_benchmarks_references_reference_h
#define femgpu_benchmarks_references_reference_h

#include <array>
#include <string>
#include <vector>

/**
 * @file
 * What the reference programs share: command line and report. They solve −Δu = λ e^u on the unit
 * square or cube, u = 0 on the boundary, with other people's nonlinear and linear solvers, and use
 * nothing of femgpu.
 */
namespace references
{
/// The command line: KEY=VALUE words; words that begin with '-' are left to PETSc.
struct Options
{
  unsigned int dimension = 2;
  unsigned int degree = 1; ///< of FE_Q
  unsigned int cells = 1;  ///< per direction, before refinement
  unsigned int refinements = 6;
  double lambda = 6.;
  double tolerance = 1e-11;       ///< of the residual, relative to that of u = 0
  double linear_tolerance = 1e-6; ///< of a Newton step; 0 leaves it to the nonlinear solver
  std::string preconditioner;     ///< as the program names them; the first is the default
  std::string write;              ///< file of "x y z u" lines; none if empty
};

/**
 * @param preconditioners that the program has
 * @throws std::invalid_argument naming the word, and what would be right
 */
Options parse(int argc, char **argv, const std::vector<std::string> &preconditioners);

/// What a run did. Norms are Euclidean, seconds wall time.
struct Report
{
  std::string program, preconditioner, reason;
  unsigned int dimension = 0, degree = 0, ranks = 1;
  unsigned long dofs = 0;
  unsigned int newton_iterations = 0, linear_iterations = 0;
  double max_u = 0.;
  double initial_residual = 0., residual = 0.; ///< ‖R(0)‖ and ‖R(u)‖, recomputed at the end
  bool converged = false;

  double setup_seconds = 0.;          ///< mesh, unknowns, pattern
  double assembly_seconds = 0.;       ///< residuals and Jacobians
  double preconditioner_seconds = 0.; ///< its setup
  double linear_seconds = 0.;         ///< linear solves, without setups
  double nonlinear_seconds = 0.;      ///< the whole nonlinear solve
  double total_seconds = 0.;
};

/// The report as one JSON object on standard output.
void print(const Report &report);

/// A node with its value: x, y, z, u.
using NodalValue = std::array<double, 4>;

/// Writes @p values sorted by x, then y, then z, so that texts can be compared line by line.
void write_sorted(const std::string &file, std::vector<NodalValue> values);

/// 0 if @p report has converged, 3 otherwise: as femgpu.
int exit_code(const Report &report);
} // namespace references

#endif
