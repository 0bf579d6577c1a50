#ifndef femgpu_solve_command_line_h
#define femgpu_solve_command_line_h

#include "linalg/solvers/report.h"

#include <optional>
#include <string>

namespace femgpu
{
/// The parsed command line of femgpu-solve. Strings without a default are empty if not given.
struct SolveCommand
{
  std::string help; ///< help text to print instead of running; empty if not requested
  bool list = false;
  bool version = false;
  bool quiet = false;

  std::string matrix_file;   ///< either this or `generator` is set
  std::string generator;     ///< "poisson2d-p1:256"
  std::string rhs_file;      ///< option -b; right-hand side of the unscaled system
  std::string rhs;           ///< for the scaled system: ones, row-sums or random:SEED
  std::string x0_file;       ///< initial guess; empty: 0
  std::optional<int> copies; ///< number of systems in a batch: this one and varied copies

  std::string nonlinear; ///< nonlinear term of the system, e.g. "bratu lambda=6"; empty: none
  std::string nonlinear_method = "newton"; ///< name and options of the nonlinear method

  std::string solver, preconditioner, scaling; ///< empty: femgpu-solve chooses by the matrix
  std::string format;                          ///< empty: femgpu-solve chooses by the row lengths
  std::string ordering = "none";
  std::string backend = "auto";
  std::string communicator = "auto"; ///< name of the communicator between several ranks
  unsigned int threads = 0;          ///< 0: all cores
  std::size_t device_memory = 0;     ///< bytes for the solver; 0: all available memory

  double relative_tolerance = 1e-8;
  double absolute_tolerance = 0.;
  std::string relative_to = "rhs"; ///< "rhs" or "initial"
  /// Relative energy error at which to stop; empty: the residual decides.
  std::optional<double> energy_tolerance;
  std::optional<int> max_iterations; ///< 20000 if not given
  std::string execution = "auto";    ///< "auto", "graph" or "resident"
  int repeat = 1;
  std::optional<int> fixed_iterations;

  std::string json, history, solution; ///< output files; json may be "-" for standard output

  /// Returns the name of the system: the file or the generator's text.
  const std::string &system() const
  {
    return matrix_file.empty() ? generator : matrix_file;
  }
  linalg::SolveControl control() const;
};

/// Parses and checks the command line. @throws ParameterError with the argument and a correction
SolveCommand parse_solve_command(int argc, const char *const *argv);
} // namespace femgpu

#endif
