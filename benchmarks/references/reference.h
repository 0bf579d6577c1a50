#ifndef femgpu_benchmarks_references_reference_h
#define femgpu_benchmarks_references_reference_h

#include <array>
#include <string>
#include <vector>

/**
 * @file
 * The command line and the report of the reference programs. They solve −Δu = λ e^u on the unit
 * square or cube, u = 0 on the boundary, with nonlinear and linear solvers of other libraries, and
 * share no code with femgpu.
 */
namespace references
{
/// The command line: arguments KEY=VALUE; arguments that begin with '-' are passed to PETSc.
struct Options
{
  unsigned int dimension = 2;
  unsigned int degree = 1; ///< degree of FE_Q
  unsigned int cells = 1;  ///< cells per direction before refinement
  unsigned int refinements = 6;
  double lambda = 6.;
  double tolerance = 1e-11;       ///< tolerance of ‖R(u)‖ / ‖R(0)‖
  double linear_tolerance = 1e-6; ///< tolerance of linear solves; 0: the nonlinear solver decides
  std::string preconditioner;     ///< a name that the program offers; the first is the default
  std::string write;              ///< file for lines "x y z u"; empty: no file
};

/**
 * Parses the command line.
 * @param preconditioners names of the preconditioners of this program
 * @throws std::invalid_argument with the invalid argument and the valid ones
 */
Options parse(int argc, char **argv, const std::vector<std::string> &preconditioners);

/// The result of a run. Norms are Euclidean; seconds are wall time.
struct Report
{
  std::string program, preconditioner, reason;
  unsigned int dimension = 0, degree = 0, ranks = 1;
  unsigned long dofs = 0;
  unsigned int newton_iterations = 0, linear_iterations = 0;
  double max_u = 0.;
  double initial_residual = 0., residual = 0.; ///< ‖R(0)‖ and ‖R(u)‖, recomputed at the end
  bool converged = false;

  double setup_seconds = 0.;          ///< time for mesh, unknowns and pattern
  double assembly_seconds = 0.;       ///< time for residuals and Jacobians
  double preconditioner_seconds = 0.; ///< time for the set-up of the preconditioner
  double linear_seconds = 0.;         ///< time for linear solves, without set-up
  double nonlinear_seconds = 0.;      ///< time for the whole nonlinear solve
  double total_seconds = 0.;
};

/// Prints the report as one JSON object on standard output.
void print(const Report &report);

/// A node and its value: x, y, z, u.
using NodalValue = std::array<double, 4>;

/// Writes @p values sorted by x, then y, then z, so that files can be compared line by line.
void write_sorted(const std::string &file, std::vector<NodalValue> values);

/// Returns 0 if @p report has converged and 3 otherwise, like femgpu.
int exit_code(const Report &report);
} // namespace references

#endif
