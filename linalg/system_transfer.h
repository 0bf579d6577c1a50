#ifndef femgpu_linalg_system_transfer_h
#define femgpu_linalg_system_transfer_h

#include "linalg/linear_solver_options.h"
#include "linalg/matrices/csr_matrix.h"
#include "linalg/solvers/report.h"
#include "linalg/transformations/linear_system_transformation.h"

#include <future>
#include <memory>

namespace femgpu::linalg
{
/**
 * Moves a system from host memory to an executor, scaled and reordered on the way, and solutions
 * back: the pattern of the matrix once, if wanted while its values are still being assembled, and
 * values whenever they change. Counts bytes and seconds.
 */
class SystemTransfer
{
public:
  /// @param options say scaling and ordering. @throws ParameterError for unknown names
  SystemTransfer(ExecutorPtr executor, const LinearSolverOptions &options);
  SystemTransfer(const SystemTransfer &) = delete;
  SystemTransfer &operator=(const SystemTransfer &) = delete;

  /**
   * Begins to move a new pattern, by a thread of its own, which leaves the other cores to the
   * caller. Until move_matrix() the executor must not be used, and pattern and coordinates of @p A
   * must stay; its values are not read. What goes wrong is thrown by move_matrix().
   */
  void begin_pattern(const HostCsr &A);

  /**
   * Moves the values of @p A, and its pattern unless this was begun or is the @p same_pattern as
   * before. @throws SolverError if it cannot be scaled or does not fit the pattern; DeviceError
   * without memory.
   */
  void move_matrix(const HostCsr &A, bool same_pattern);

  /// Valid after move_matrix().
  const CsrMatrix &matrix() const
  {
    return *csr;
  }

  void move_rhs(const double *b, Buffer<double> &to);
  void move_guess(const double *x, Buffer<double> &to);
  void move_solution(const Buffer<double> &from, double *x);

  /// What has been moved since the last call.
  Transfer take_counts();

private:
  /// b̂ of b or x̂ of a guess x.
  using Transform = void (LinearSystemTransformation::*)(const double *, double *) const;

  void move_vector(const double *v, Transform transform, Buffer<double> &to);
  void move_pattern(const HostCsr &A);
  void finish_pattern();

  ExecutorPtr owner;
  LinearSystemTransformation transformation;
  std::unique_ptr<CsrMatrix> csr;
  Transfer moved;
  double pattern_seconds = 0.;
  std::future<void> under_way; // at the end: its destructor waits for the thread
};
} // namespace femgpu::linalg

#endif
