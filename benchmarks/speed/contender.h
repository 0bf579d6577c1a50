#ifndef femgpu_benchmarks_speed_contender_h
#define femgpu_benchmarks_speed_contender_h

#include "linalg/operators/csr_matrix.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * What is measured: programs that solve the same systems, side by side.
 */
namespace femgpu::linalg::benchmark
{
/// A system A x = b in host memory.
struct SpeedSystem
{
  std::string family; ///< short name, as "p2d"
  HostMatrix A;
  std::vector<double> b;
};

/// The power of the diagonal D of A in the norm ‖D^-k r‖ / ‖D^-k b‖ that a program tells.
enum class ResidualNorm
{
  euclidean,     ///< k = 0
  scaled,        ///< k = 1/2: that of the system D^-1/2 A D^-1/2
  preconditioned ///< k = 1
};

/// What a program says of its solve.
struct Claim
{
  int iterations = 0;
  double relative_residual = 0.; ///< in its ResidualNorm
};

/// One program with a system in its own format, and all that can be made before a solve.
class Contender
{
public:
  virtual ~Contender() = default;

  /// What it chose itself, as its format; empty if there is nothing to say.
  virtual std::string remarks() const
  {
    return "";
  }
  /// Makes x = 0 the initial guess, and waits for that; it is not timed.
  virtual void reset() = 0;
  /// Solves in so many iterations, whatever the residual is, and waits for the end; it is timed.
  virtual Claim solve(int iterations) = 0;
  /// x, after solve().
  virtual std::vector<double> solution() const = 0;
};

/// A contender before its turn. It is made late, because not all would have memory side by side.
struct Entrant
{
  std::string program, variant, solver, preconditioner;
  ResidualNorm norm = ResidualNorm::euclidean;
  std::function<std::unique_ptr<Contender>()> make;
};
using Entrants = std::vector<Entrant>;

/// What can be measured: "cg", "bicgstab", "gmres".
std::vector<std::string> methods();
/// The one of them that a solver is a form of.
std::string method_of(const std::string &solver);

/// What all forms of GMRES here begin again after: every solve has whole cycles.
constexpr int gmres_restart = 30;

/**
 * femgpu's pipelined forms of @p methods, conjugate gradients and BiCGStab with Jacobi and GMRES
 * without a preconditioner, in each of @p formats, their loops run in each of @p executions (see
 * execution_of()). @p A and @p b must outlive them. None of a method that femgpu does not have.
 */
void add_femgpu(Entrants &entrants, const CsrMatrix &A, const std::vector<double> &b,
                const std::vector<std::string> &methods, const std::vector<std::string> &formats,
                const std::vector<std::string> &executions);

/**
 * Classical Jacobi-PCG from cuSPARSE's products and cuBLAS, in every layout that fits: launched
 * plainly and as CUDA graphs. None where femgpu has no CUDA backend, or A lives on the host.
 */
void add_cublas(Entrants &entrants, const CsrMatrix &A, const std::vector<double> &b);

/**
 * ViennaCL's pipelined forms of @p methods, which take no preconditioner. CG and BiCGStab get the
 * system that its diagonal has scaled on both sides: CG is Jacobi-PCG then. GMRES gets it as it is.
 * None where ViennaCL was not found.
 */
void add_viennacl(Entrants &entrants, const Executor &executor, const SpeedSystem &system,
                  const std::vector<std::string> &methods);
} // namespace femgpu::linalg::benchmark

#endif
