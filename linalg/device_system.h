#ifndef femgpu_linalg_device_system_h
#define femgpu_linalg_device_system_h

#include "linalg/base/timing.h"
#include "linalg/base/trace_range.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/operators/device_csr.h"
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
 * A linear system on an executor, for methods whose input and results are in the caller's memory:
 * in host memory, or in memory of the executor's device. The matrix is scaled, reordered and
 * converted to the chosen format; solutions are transformed back. The pattern is transferred once,
 * optionally while the caller assembles the values; the values are transferred whenever they
 * change. What is on the device stays there, unless the system is scaled or reordered, which
 * happens on the host. Measures the bytes and seconds of transfers and set-up.
 */
class DeviceSystem
{
public:
  /// @param options supplies the format, scaling, ordering and preconditioner
  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  /// @throws ParameterError for unknown names, and for transformations that need all rows on one
  /// rank
  DeviceSystem(ExecutorPtr executor, const LinearSolverOptions &options,
               CommunicatorPtr communicator = nullptr);
  DeviceSystem(const DeviceSystem &) = delete;
  DeviceSystem &operator=(const DeviceSystem &) = delete;

  /**
   * Starts to transfer a new pattern in a separate thread, which leaves the other cores to the
   * caller. Until set_matrix() the executor must not be used, and the pattern and coordinates of
   * @p A must remain valid; its values are not read. Errors are thrown by set_matrix(). If the
   * transformed pattern depends on the values, this function only frees the old matrix.
   */
  void begin_pattern(const HostCsr &A);

  /// Frees the matrix and discards a pending pattern transfer; the next matrix is transferred with
  /// its pattern.
  void release();

  /// Returns whether new values may reuse the pattern of the current matrix. They never do if the
  /// scaling permutes rows, because this permutation depends on the values.
  /// @param on_device whether the new values are in memory of the device; the current matrix must
  /// be in the same memory
  bool can_reuse_pattern(const bool on_device = false) const
  {
    return formatted_matrix != nullptr && csr != nullptr && is_from_device == on_device &&
           !transformation.needs_values();
  }

  /**
   * Transfers the values of @p A, and its pattern unless begin_pattern() has done so or
   * @p only_values says that it is unchanged. On the host nothing is copied, and A is read in
   * place: its values must remain valid until the next call or release(), and its pattern until a
   * call with another pattern or release().
   * @throws SolverError if A cannot be scaled or does not fit the pattern
   * @throws ParameterError if the format cannot hold A, or A has too many entries for the
   *   preconditioner
   * @throws DeviceError if memory is exhausted. If one rank fails, all ranks throw.
   */
  void set_matrix(const HostCsr &A, bool only_values);

  /// Sets a matrix that is in memory of the executor's device. Products read it in place: its
  /// values must remain valid until the next call or release(), and its pattern until a call with
  /// another pattern or release().
  /// @throws the exceptions of the other set_matrix()
  /// @throws DeviceError if the executor is the host
  void set_matrix(const DeviceCsr &A, bool only_values);

  /// Sets a matrix whose entries are not stored.
  /// @param A acts on vectors of this executor
  /// @throws ParameterError if the system would have to be scaled, reordered or converted
  void set_operator(std::shared_ptr<const LinearOperator> A);

  /// Runs @p setup, which sets up a method, waits until its work has completed, and adds the time
  /// and the copied bytes to the costs. If it fails on one rank, all ranks throw.
  template <class Setup>
  void set_up(const Setup &setup)
  {
    const TraceRange range("set-up");
    const Stopwatch watch;
    const std::size_t bytes_before = owner->bytes_to_host();
    rethrow_on_all_ranks(communicator.get(), [&] {
      setup();
      owner->synchronize();
    });
    costs.setup_seconds += watch.elapsed();
    costs.setup_bytes_to_host += owner->bytes_to_host() - bytes_before;
  }

  /// Returns the matrix whose residual decides whether a solution is accurate: before scaling, in
  /// host memory; if the system is not scaled, on the executor, in the order of matrix(). nullptr
  /// if the entries are not stored. Valid after set_matrix().
  const CsrMatrix *judged_matrix() const
  {
    return is_scaled() ? host_matrix.get() : csr.get();
  }
  /// Returns whether judged_matrix() is not the matrix that is solved with.
  bool is_scaled() const
  {
    return changes_system;
  }
  /// Checks that there is a matrix; there is none after set_matrix() has failed.
  /// @throws SolverError if there is none
  void require_matrix() const;

  /// The matrix in the chosen format; valid after set_matrix().
  const Matrix &matrix() const
  {
    return *formatted_matrix;
  }
  Vector<double> make_vector() const
  {
    return Vector<double>(matrix().domain());
  }

  // The pointers of these functions refer to n numbers in host memory or in memory of the device.
  void transfer_rhs(const double *b, Buffer<double> &to);
  void transfer_guess(const double *x, Buffer<double> &to);
  void transfer_solution(const Buffer<double> &from, double *x);
  /// Undoes transfer_rhs().
  void transfer_rhs_back(const Buffer<double> &from, double *b);

  /// Returns a copy of n numbers as a vector for judged_matrix(), if the system is scaled.
  Vector<double> copy_for_judgement(const double *v) const;
  /// Copies a vector of judged_matrix(), if the system is scaled, to n numbers.
  void copy_judged(const Vector<double> &v, double *to) const;

  /// The communication of this rank since construction.
  Communication communication() const
  {
    return communicator ? communicator->communication() : Communication();
  }

  /// Returns the costs since the last call; bytes are summed over all ranks.
  SolveCosts collect_costs();

  /// Adds the result of collect_costs() to @p report, and sums the report's sizes over all ranks.
  void complete_report(SolveReport &report);

private:
  /// The row spaces of a matrix A: `range` contains A x, and `domain` contains x.
  struct Spaces
  {
    RowSpacePtr range, domain;
  };
  /// A function that transforms b to b̂, or x to x̂, or that undoes this.
  using Transform = void (LinearSystemTransformation::*)(const double *, double *) const;

  void sum_over_ranks(const std::vector<std::size_t *> &sizes) const;
  void transfer_vector(const double *v, Transform transform, Buffer<double> &to);
  void transfer_back(const Buffer<double> &from, Transform restore, double *v);
  void set_arrays(const HostCsr &A, bool only_values, MemoryLocation location);
  void transfer_matrix(const HostCsr &A, bool only_values, MemoryLocation location);
  Spaces spaces_of(const HostCsr &A) const;
  MemoryLocation location_of(const HostCsr &A) const;
  void transfer_pattern(const HostCsr &A, const Spaces &spaces, MemoryLocation location);
  void copy_to_host(const DeviceCsr &A, bool only_values);
  void finish_pattern_transfer();

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  LinearSystemTransformation transformation;
  std::string format, preconditioner;
  std::optional<Spaces>
      pending_spaces;            ///< row spaces of the pattern that begin_pattern() transfers
  bool changes_system, is_plain; ///< is_plain: neither scaled nor reordered
  bool is_from_device = false;   ///< the caller's matrix is in memory of the device
  HostMatrix host_copy;          ///< of a matrix on a device that must be transformed on the host
  RowSpacePtr original_rows;     ///< of the original matrix in host memory, with ghosts
  std::unique_ptr<CsrMatrix> host_matrix; ///< the original matrix if the system is scaled
  std::unique_ptr<CsrMatrix> csr;
  std::unique_ptr<Matrix> formatted_matrix; // refers to csr
  SolveCosts costs;
  double pattern_seconds = 0.;
  std::future<void> pending_transfer; // last member: its destructor waits for the thread
};
} // namespace femgpu::linalg

#endif
