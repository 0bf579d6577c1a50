#ifndef femgpu_benchmarks_speed_candidate_h
#define femgpu_benchmarks_speed_candidate_h

#include "linalg/operators/csr_matrix.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * The measured programs, which all solve the same systems.
 */
namespace femgpu::linalg::benchmark
{
/// A system A x = b in host memory.
struct SpeedSystem
{
  std::string family; ///< short name, such as "p2d"
  HostMatrix A;
  std::vector<double> b;
};

/// The power k of the diagonal D of A in the norm ‖D^-k r‖ / ‖D^-k b‖ that a program reports.
enum class ResidualNorm
{
  euclidean,     ///< k = 0
  scaled,        ///< k = 1/2: the norm for the system D^-1/2 A D^-1/2
  preconditioned ///< k = 1
};

/// The result that a program reports for its solve.
struct ReportedResult
{
  int iterations = 0;
  double relative_residual = 0.; ///< in the program's ResidualNorm
};

/// A program to be measured, with the system in its own format and with all preparations made that
/// do not belong to a solve.
class Candidate
{
public:
  virtual ~Candidate() = default;

  /// Returns the program's own choices, such as the format; may be empty.
  virtual std::string remarks() const
  {
    return "";
  }
  /// Sets the initial guess x = 0 and synchronises; not timed.
  virtual void reset() = 0;
  /// Runs @p iterations iterations regardless of the residual and synchronises; timed.
  virtual ReportedResult solve(int iterations) = 0;
  /// Returns x after solve().
  virtual std::vector<double> solution() const = 0;
};

/// The description of a candidate. make() creates the candidate when its turn comes, because not
/// all candidates fit into memory at once.
struct CandidateSpec
{
  std::string program, variant, solver, preconditioner;
  ResidualNorm norm = ResidualNorm::euclidean;
  std::function<std::unique_ptr<Candidate>()> make;
};
using CandidateSpecs = std::vector<CandidateSpec>;

/// Returns the measurable methods: "cg", "bicgstab", "gmres".
std::vector<std::string> methods();
/// Returns the method of which @p solver is a variant.
std::string method_of(const std::string &solver);

/// The restart length of all variants of GMRES; a solve consists of whole cycles.
constexpr int gmres_restart = 30;

/**
 * Adds femgpu's pipelined variants of @p methods for each of @p formats and @p executions ("auto",
 * "graph", "resident"). Conjugate gradients and BiCGStab use Jacobi, GMRES uses no preconditioner.
 * @p A and @p b must outlive the candidates. Skips methods that femgpu does not have.
 */
void add_femgpu(CandidateSpecs &specs, const CsrMatrix &A, const std::vector<double> &b,
                const std::vector<std::string> &methods, const std::vector<std::string> &formats,
                const std::vector<std::string> &executions);

/**
 * Adds classical Jacobi-PCG built from cuSPARSE's products and cuBLAS, for every format that suits
 * @p A, with plain launches and with CUDA graphs. Adds nothing if femgpu was built without CUDA or
 * @p A is on the host.
 */
void add_cublas(CandidateSpecs &specs, const CsrMatrix &A, const std::vector<double> &b);

/**
 * Adds ViennaCL's pipelined variants of @p methods, which support no preconditioner. CG and
 * BiCGStab solve the system scaled symmetrically by its diagonal, which makes CG equivalent to
 * Jacobi-PCG. GMRES solves the original system. Adds nothing if ViennaCL was not found.
 */
void add_viennacl(CandidateSpecs &specs, const Executor &executor, const SpeedSystem &system,
                  const std::vector<std::string> &methods);
} // namespace femgpu::linalg::benchmark

#endif
