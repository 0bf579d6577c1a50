#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/base/indices.h"
#include "linalg/base/trace_range.h"
#include "linalg/direct/cudss_library.h"
#include "linalg/direct/factors.h"
#include "linalg/execution/backends.h"
#include "linalg/execution/cuda/executor.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/sparse/symmetry.h"
#include "linalg/transformations/linear_system_transformation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
/// Allocates the device memory of cuDSS on an executor, which respects the memory limit and counts
/// the bytes. cuDSS calls it from C, so that exceptions are stored.
class CudssMemory
{
public:
  explicit CudssMemory(const CudaExecutor &executor) : executor(executor)
  {}

  cudss::MemoryHandler handler()
  {
    return {this,
            [](void *const context, void **const pointer, const std::size_t bytes,
               const cudaStream_t stream) {
              return static_cast<CudssMemory *>(context)->allocate(pointer, bytes, stream);
            },
            [](void *const context, void *const pointer, std::size_t /* bytes */,
               const cudaStream_t stream) {
              return static_cast<CudssMemory *>(context)->deallocate(pointer, stream);
            },
            "femgpu"};
  }

  /// Throws the exception of the last failed allocation, if any.
  void rethrow()
  {
    if (const std::exception_ptr thrown = std::exchange(error, nullptr))
      std::rethrow_exception(thrown);
  }

private:
  int allocate(void **const pointer, const std::size_t bytes, const cudaStream_t stream)
  {
    try {
      *pointer = executor.allocate(bytes);
      if (stream != executor.stream()) // allocations are ordered on the executor's stream
        executor.synchronize();
      sizes[*pointer] = bytes;
      return 0;
    }
    catch (...) {
      error = std::current_exception();
      return 1;
    }
  }

  int deallocate(void *const pointer, const cudaStream_t stream)
  {
    const auto size = sizes.find(pointer);
    if (size == sizes.end())
      return pointer == nullptr ? 0 : 1;
    if (stream != executor.stream())
      cudaStreamSynchronize(stream);
    executor.deallocate(pointer, size->second);
    sizes.erase(size);
    return 0;
  }

  const CudaExecutor &executor;
  std::unordered_map<void *, std::size_t> sizes;
  std::exception_ptr error;
};

std::string name_of(const int status)
{
  constexpr const char *names[] = {
      "success",       "not initialized",  "allocation failed", "invalid value",
      "not supported", "execution failed", "internal error",    "iterative refinement failed"};
  const bool is_known = status >= 0 && status <= cudss::refinement_failed;
  return (is_known ? names[status] : "unknown status") +
         (" (status " + std::to_string(status) + ")");
}

bool has_positive_diagonal(const HostCsr &A)
{
  for (int i = 0; i < A.n; ++i) {
    const RowEntries<double> row = A.entries(i);
    const int *const end = row.columns + row.length;
    const int *const diagonal = std::lower_bound(row.columns, end, i);
    if (diagonal == end || *diagonal != i || !(row.values[diagonal - row.columns] > 0.))
      return false;
  }
  return true;
}

/**
 * Factors of a matrix on a CUDA device, computed by cuDSS: Cholesky factors if the matrix is
 * symmetric with a positive diagonal and proves to be positive definite, otherwise LU factors.
 *
 * cuDSS does not exchange pivots between supernodes, and replaces those that are small relative to
 * 1. The matrix is therefore scaled before: symmetrically for Cholesky factors, and for LU factors
 * with the permutation of the rows that brings large entries to the diagonal. New values reuse this
 * permutation and the analysis of the pattern.
 */
class CudssFactors final : public Factors
{
public:
  explicit CudssFactors(const ExecutorPtr &owner)
      : library(CudssLibrary::get()), owner(owner),
        executor(static_cast<const CudaExecutor &>(*owner)), memory(executor),
        handle(nullptr, {library.destroy}), config(nullptr, {library.config_destroy}),
        data(nullptr, {library.data_destroy, nullptr}), A(nullptr, {library.matrix_destroy}),
        x(nullptr, {library.matrix_destroy}), b(nullptr, {library.matrix_destroy})
  {
    executor.make_current();
    cudss::Handle new_handle = nullptr;
    const int status = library.create(&new_handle);
    handle.reset(new_handle);
    check(status, "initialisation");
    check(library.set_stream(handle.get(), executor.stream()), "initialisation");
    const cudss::MemoryHandler handler = memory.handler();
    check(library.set_memory_handler(handle.get(), &handler), "initialisation");
  }
  ~CudssFactors() override
  {
    cudaStreamSynchronize(executor.stream()); // cuDSS may still use what is freed
  }
  CudssFactors(const CudssFactors &) = delete;
  CudssFactors &operator=(const CudssFactors &) = delete;

  void factorise(const HostCsr &given, const bool same_pattern) override
  {
    executor.make_current();
    original = given;
    const bool reuses_analysis = same_pattern && is_factorised;
    is_factorised = false;
    has_old_analysis = reuses_analysis && refactorise();
    if (original.n == 0 || has_old_analysis)
      return;
    if (!(has_positive_diagonal(original) && factorise_as(cudss::positive_definite)))
      factorise_as(cudss::general);
  }

  bool solve(double *const v) override
  {
    executor.make_current();
    if (original.n == 0)
      return true;
    if (!is_factorised)
      return false;
    std::vector<double> solved = solve_once(v);
    const auto is_finite = [](const double v_i) { return std::isfinite(v_i); };
    if (type == cudss::positive_definite && !std::all_of(solved.begin(), solved.end(), is_finite) &&
        std::all_of(v, v + original.n, is_finite)) { // A is indefinite, and cuDSS did not notice
      if (!factorise_as(cudss::general))
        return false;
      solved = solve_once(v);
    }
    std::copy(solved.begin(), solved.end(), v);
    return true;
  }

  FactorsReport report() const override
  {
    const bool is_cholesky = type == cudss::positive_definite;
    return {n_nonzeros, n_perturbed > 0 || refinement_has_failed, has_old_analysis,
            is_deterministic,
            std::string(is_cholesky ? "Cholesky" : "LU") + " factors by cuDSS " + library.version +
                (is_deterministic ? "" : ", which may change the last bits from solve to solve")};
  }

private:
  template <class Destroy>
  struct Deleter
  {
    Destroy *destroy;

    template <class Object>
    void operator()(Object *const object) const
    {
      destroy(object);
    }
  };
  struct DataDeleter
  {
    cudss::DataDestroy *destroy;
    cudss::Handle handle;

    void operator()(const cudss::Data data) const
    {
      destroy(handle, data);
    }
  };
  template <class Pointer, class ItsDeleter>
  using Owner = std::unique_ptr<std::remove_pointer_t<Pointer>, ItsDeleter>;
  using DataOwner = Owner<cudss::Data, DataDeleter>;
  using MatrixOwner = Owner<cudss::Matrix, Deleter<cudss::MatrixDestroy>>;

  /// Throws DeviceError unless @p status is a success.
  void check(const int status, const char *const phase)
  {
    if (status == cudss::success)
      return;
    memory.rethrow();
    if (status == cudss::allocation_failed) {
      const MemoryInfo info = executor.memory();
      throw DeviceError("cuDSS does not have enough memory for the factors of " +
                        std::to_string(original.n) + " rows with " +
                        std::to_string(original.n_nonzeros) + " entries: " + executor.name() +
                        " has " + gigabytes(static_cast<double>(info.free)) + " of " +
                        gigabytes(static_cast<double>(info.total)) +
                        " free. Use an iterative solver, fewer unknowns, or backend host.");
    }
    throw DeviceError("cuDSS " + library.version + " on " + executor.name() + ": the " + phase +
                      " failed: " + name_of(status) + ". Use an iterative solver or backend host.");
  }

  void set(const cudss::Setting setting, const int value)
  {
    check(library.config_set(config.get(), setting, &value, sizeof(value)), "configuration");
  }

  /// Returns a result of the last phase, after waiting for it.
  template <class T>
  T result(const cudss::Result which)
  {
    T value{};
    std::size_t written = 0;
    check(library.data_get(handle.get(), data.get(), which, &value, sizeof(value), &written),
          "query");
    return value;
  }

  int execute(const cudss::Phase phase)
  {
    return library.execute(handle.get(), phase, config.get(), data.get(), A.get(), x.get(),
                           b.get());
  }

  /// Frees the factors and the matrix.
  void free_factors()
  {
    data.reset();
    A.reset();
    x.reset();
    b.reset();
    matrix.reset();
    rhs = {};
    solution = {};
  }

  /// Factorises the original matrix from the beginning. Returns false if it is singular or, for
  /// Cholesky factors, not symmetric positive definite.
  bool factorise_as(const cudss::MatrixType new_type)
  {
    free_factors();
    type = new_type;
    is_factorised = false;
    if (original.n_nonzeros > static_cast<std::size_t>(max_indices))
      throw ParameterError("Solver 'direct' supports at most " + std::to_string(max_indices) +
                               " entries on a GPU, but the matrix has " +
                               std::to_string(original.n_nonzeros) +
                               ". Use an iterative solver or fewer unknowns.",
                           "solver");
    transformation = LinearSystemTransformation(
        type == cudss::positive_definite ? "symmetric" : "matching", "none");
    HostCsr scaled;
    try {
      scaled = transformation.setup(original);
    }
    catch (const SolverError &) {
      if (!std::all_of(original.values, original.values + original.n_nonzeros,
                       [](const double a) { return std::isfinite(a); }))
        throw;
      return false; // a row has only zeros, or no permutation makes all diagonal entries nonzero
    }
    matrix = std::make_unique<CsrMatrix>(owner, scaled);
    if (type == cudss::positive_definite && !equals_transpose<CudaBackend>(*matrix))
      return false;
    analyse();
    return compute_values(cudss::factorisation);
  }

  void analyse()
  {
    const TraceRange range("analysis");
    const auto n = static_cast<std::int64_t>(original.n);
    const CsrView<double> view = matrix->csr_view();
    rhs = Buffer<double>(owner, static_cast<std::size_t>(n));
    solution = Buffer<double>(owner, static_cast<std::size_t>(n));
    const auto make = [&](MatrixOwner &owned, const auto &create) {
      cudss::Matrix created = nullptr;
      check(create(&created), "set-up");
      owned.reset(created);
    };
    make(A, [&](cudss::Matrix *const created) {
      return library.create_csr(created, n, n, static_cast<std::int64_t>(matrix->n_nonzeros()),
                                view.row_starts.low, nullptr, view.columns, view.values, CUDA_R_32I,
                                CUDA_R_32I, CUDA_R_64F, type, cudss::full_view, cudss::zero_based);
    });
    make(x, [&](cudss::Matrix *const created) {
      return library.create_dense(created, n, 1, n, solution.data(), CUDA_R_64F,
                                  cudss::columns_in_order);
    });
    make(b, [&](cudss::Matrix *const created) {
      return library.create_dense(created, n, 1, n, rhs.data(), CUDA_R_64F,
                                  cudss::columns_in_order);
    });
    is_deterministic = true;
    int status = analyse_once();
    if (status == cudss::not_supported) {
      is_deterministic = false;
      status = analyse_once();
    }
    check(status, "analysis");
  }

  /// Analyses the pattern with new settings. Returns the status.
  int analyse_once()
  {
    data.reset();
    cudss::Config new_config = nullptr;
    check(library.config_create(&new_config), "configuration");
    config.reset(new_config);
    set(cudss::matching_algorithm, cudss::no_matching); // the transformation has done it
    set(cudss::refinement_steps, 2);                    // as UMFPACK does
    if (is_deterministic) {
      const int yes = 1;
      const int status =
          library.config_set(config.get(), cudss::deterministic_mode, &yes, sizeof(yes));
      if (status != cudss::success)
        return status;
    }
    cudss::Data new_data = nullptr;
    check(library.data_create(handle.get(), &new_data), "set-up");
    data = DataOwner(new_data, {library.data_destroy, handle.get()});
    const int status = execute(cudss::analysis);
    executor.synchronize();
    return status;
  }

  /// Factorises new values of the last matrix. Returns false if the analysis must be repeated.
  bool refactorise()
  {
    const int n_perturbed_before = n_perturbed;
    const bool is_cholesky = type == cudss::positive_definite;
    if (is_cholesky && !has_positive_diagonal(original))
      return false;
    try {
      matrix->update_values(transformation.update(original).values);
    }
    catch (const SolverError &) { // factorise_as() decides whether the matrix is singular
      return false;
    }
    return (!is_cholesky || equals_transpose<CudaBackend>(*matrix)) &&
           compute_values(cudss::refactorisation) && n_perturbed <= n_perturbed_before;
  }

  /// Computes the values of the factors. Returns whether they exist; Cholesky factors must not have
  /// perturbed pivots.
  bool compute_values(const cudss::Phase phase)
  {
    const TraceRange range("factorisation");
    refinement_has_failed = false;
    const int status = execute(phase);
    const bool may_be_singular = status == cudss::success || status == cudss::execution_failed;
    is_factorised = false;
    if (may_be_singular && result<int>(cudss::info) != 0)
      return false;
    check(status, "factorisation");
    n_perturbed = result<int>(cudss::perturbed_pivots);
    n_nonzeros = static_cast<std::size_t>(result<std::int64_t>(cudss::factor_nonzeros));
    is_factorised = type == cudss::general || n_perturbed == 0;
    return is_factorised;
  }

  /// Returns A⁻¹v.
  std::vector<double> solve_once(const double *const v)
  {
    const TraceRange range("substitution");
    std::vector<double> result(static_cast<std::size_t>(original.n));
    transformation.transform_rhs(v, result.data());
    rhs.copy_from_host(result.data());
    const int status = execute(cudss::solution);
    refinement_has_failed = status == cudss::refinement_failed; // the caller checks the residual
    if (!refinement_has_failed)
      check(status, "solution");
    const std::vector<double> scaled = solution.to_host();
    transformation.restore_solution(scaled.data(), result.data());
    return result;
  }

  const CudssLibrary &library;
  ExecutorPtr owner;
  const CudaExecutor &executor;
  CudssMemory memory;
  HostCsr original;
  LinearSystemTransformation transformation{"none", "none"};
  std::unique_ptr<CsrMatrix> matrix; ///< the scaled matrix
  Buffer<double> rhs, solution;
  cudss::MatrixType type = cudss::general;
  bool is_factorised = false, has_old_analysis = false, is_deterministic = true,
       refinement_has_failed = false;
  int n_perturbed = 0;
  std::size_t n_nonzeros = 0;
  // Destroyed in the reverse order: the handle and its memory last.
  Owner<cudss::Handle, Deleter<cudss::Destroy>> handle;
  Owner<cudss::Config, Deleter<cudss::ConfigDestroy>> config;
  DataOwner data;
  MatrixOwner A, x, b;
};
} // namespace

template <>
std::unique_ptr<Factors> make_factors_on<CudaBackend>(const ExecutorPtr &executor)
{
  return std::make_unique<CudssFactors>(executor);
}
} // namespace femgpu::linalg
