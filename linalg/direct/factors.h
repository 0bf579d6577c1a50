#ifndef femgpu_linalg_direct_factors_h
#define femgpu_linalg_direct_factors_h

#include "linalg/base/host_matrix.h"
#include "linalg/execution/backends.h"
#include "linalg/memory/executor.h"

#include <cstddef>
#include <memory>
#include <string>

namespace femgpu::linalg
{
/// Properties of the factors of a matrix.
struct FactorsReport
{
  std::size_t n_nonzeros = 0; ///< entries of the factors; 0: unknown
  bool has_perturbed_pivots =
      false;                     ///< pivots near zero were replaced: A is singular, or nearly so
  bool has_old_analysis = false; ///< the analysis was made for other values
  bool is_reproducible = true;   ///< whether repeated factorisations and solves give the same bits
  std::string remarks;           ///< for reports; may be empty
};

/// The factors of a square matrix, computed by a direct method. Matrices and vectors are in host
/// memory.
class Factors
{
public:
  virtual ~Factors() = default;

  /**
   * Factorises @p A, whose arrays must remain valid until the next call. A singular A is not an
   * error: solve() reports it.
   * @param same_pattern A has the pattern of the previous matrix, whose analysis may be reused
   * @throws DeviceError if memory is exhausted or the device fails
   * @throws ParameterError if A has too many entries
   * @throws SolverError if the method fails for another reason
   */
  virtual void factorise(const HostCsr &A, bool same_pattern) = 0;

  /// Replaces @p v by A⁻¹v; returns false and leaves v unchanged if A is singular.
  virtual bool solve(double *v) = 0;

  /// Describes the factors of the last matrix.
  virtual FactorsReport report() const = 0;
};

/// Makes factors on a backend: by UMFPACK on one core of the host, or by cuDSS on a CUDA device.
/// @throws ParameterError if the program was built without UMFPACK and needs it
/// @throws DeviceError if cuDSS is needed and cannot be loaded
template <class Backend>
std::unique_ptr<Factors> make_factors_on(const ExecutorPtr &executor);
template <>
std::unique_ptr<Factors> make_factors_on<HostBackend>(const ExecutorPtr &executor);
template <>
std::unique_ptr<Factors> make_factors_on<CudaBackend>(const ExecutorPtr &executor);

/// Returns whether the program was built with UMFPACK.
bool has_umfpack();
} // namespace femgpu::linalg

#endif
