#ifndef femgpu_linalg_device_system_h
#define femgpu_linalg_device_system_h

#include "linalg/base/timing.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/report.h"
#include "linalg/transformations/linear_system_transformation.h"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * A system on an executor, as everything needs it that goes from host memory to host memory: its
 * matrix in the format asked for, scaled and reordered on the way there, and solutions on the way
 * back. The pattern moves once, if wanted while values are still being assembled, and values
 * whenever they change. Counts bytes and seconds.
 */
class DeviceSystem
{
public:
  /// @param options say format, scaling and ordering, and which preconditioner A is for
  /// @param communicator of a part of the rows; nullptr: all are here. @throws ParameterError for
  /// unknown names, and for parts that are ordered
  DeviceSystem(ExecutorPtr executor, const LinearSolverOptions &options,
               CommunicatorPtr communicator = nullptr);
  DeviceSystem(const DeviceSystem &) = delete;
  DeviceSystem &operator=(const DeviceSystem &) = delete;

  /**
   * Begins to move a new pattern, by a thread of its own, which leaves the other cores to the
   * caller. Until set_matrix() the executor must not be used, and pattern and coordinates of @p A
   * must stay; its values are not read. What goes wrong is thrown by set_matrix(). Does nothing
   * where the pattern that moves depends on the values.
   */
  void begin_pattern(const HostCsr &A);

  /// Frees the matrix and drops a pattern that was begun; the next matrix moves with its pattern.
  void release();

  /// Whether a matrix is there whose pattern new values may have: a scaling that permutes rows by
  /// their values changes it.
  bool may_keep_pattern() const
  {
    return matrix_there != nullptr && !transformation.needs_values();
  }

  /**
   * Moves the values of @p A, and its pattern unless this was begun or is the one that is there, as
   * @p only_values says. On the host nothing moves, and A is read where it is as long as it is set:
   * it must stay until the next call or release(), its pattern until another one or release().
   * @throws SolverError if it cannot be scaled or does not fit the pattern; ParameterError if the
   * format cannot hold it, or the preconditioner count its entries; DeviceError without memory; on
   * all parts, if one of them has failed.
   */
  void set_matrix(const HostCsr &A, bool only_values);

  /// Runs the set-up of a method, and waits for it. If it fails on one part, all throw.
  template <class Setup>
  void set_up(const Setup &setup)
  {
    const Stopwatch watch;
    const std::size_t bytes_before = owner->bytes_to_host();
    rethrow_on_all_parts(communicator.get(), [&] {
      setup();
      owner->synchronize();
    });
    costs.setup_seconds += watch.elapsed();
    costs.setup_bytes_to_host += owner->bytes_to_host() - bytes_before;
  }

  /// Of the matrix as it was given, in host memory, with its ghosts; valid after set_matrix().
  const RowSpace &host_rows() const
  {
    return *given_rows;
  }
  /// @throws SolverError unless there is a matrix, which there is not after one that failed
  void require_matrix() const;

  /// In the format asked for; valid after set_matrix().
  const Matrix &matrix() const
  {
    return *matrix_there;
  }
  Buffer<double> make_vector() const
  {
    return matrix().domain()->make_vector();
  }

  void move_rhs(const double *b, Buffer<double> &to);
  void move_guess(const double *x, Buffer<double> &to);
  void move_solution(const Buffer<double> &from, double *x);

  /// Of this part, since the system was made.
  Communication communication() const
  {
    return communicator ? communicator->communication() : Communication();
  }

  /// Since the last call; bytes are those of all parts.
  SolveCosts take_costs();

  /// Adds these to @p report, whose sizes become those of all parts.
  void finish(SolveReport &report);

private:
  /// Of the matrix.
  struct Spaces
  {
    RowSpacePtr range, domain;
  };
  /// b̂ of b or x̂ of a guess x.
  using Transform = void (LinearSystemTransformation::*)(const double *, double *) const;

  void sum_over_parts(const std::vector<std::size_t *> &sizes) const;
  void move_vector(const double *v, Transform transform, Buffer<double> &to);
  void take_over(const HostCsr &A, bool only_values);
  void move_matrix(const HostCsr &A, bool only_values);
  Spaces spaces_of(const HostCsr &A) const;
  MemoryPlace place_of(const HostCsr &A) const;
  void move_pattern(const HostCsr &A, const Spaces &spaces);
  void finish_pattern();

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  LinearSystemTransformation transformation;
  std::string format, preconditioner;
  std::optional<Spaces> begun; ///< of the pattern that was begun last
  RowSpacePtr given_rows;
  std::unique_ptr<CsrMatrix> csr;
  std::unique_ptr<Matrix> matrix_there; // refers to csr
  SolveCosts costs;
  double pattern_seconds = 0.;
  std::future<void> under_way; // at the end: its destructor waits for the thread
};
} // namespace femgpu::linalg

#endif
