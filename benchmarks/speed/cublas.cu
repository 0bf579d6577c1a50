#include "benchmarks/speed/candidate.h"
#include "linalg/base/error.h"
#include "linalg/execution/cuda/graph.h"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/matrices/cusparse.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"

#include <cublas_v2.h>

#include <cmath>

namespace femgpu::linalg::benchmark
{
namespace
{
void check_cublas(const cublasStatus_t status, const char *call)
{
  if (status != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(std::string("cuBLAS says '") + cublasGetStatusString(status) + "' of " +
                      call + ". Check the free memory of the device.");
}

#define FEMGPU_CUBLAS(call) check_cublas((call), #call)

/// Computes y = A x by cuSPARSE, with the arrays of one of femgpu's formats.
class CusparseProduct
{
public:
  /// Wraps the arrays of @p A.
  /// @param csr_algorithm algorithm for CSR: the default or the bitwise reproducible one
  CusparseProduct(const CsrMatrix &A, const std::string &format,
                  const cusparseSpMVAlg_t csr_algorithm, double *x_, double *y_)
      : layout(make_format(format, A)), csr_algorithm(csr_algorithm),
        handle(cusparse_handle(*A.executor()))
  {
    std::visit([&](const auto &view) { describe(view); }, layout->view());
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&x, A.n(), x_, CUDA_R_64F));
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&y, A.n(), y_, CUDA_R_64F));
    std::size_t size = 0;
    FEMGPU_CUSPARSE(cusparseSpMV_bufferSize(handle, no_transpose, &one, matrix, x, &zero, y,
                                            CUDA_R_64F, algorithm, &size));
    workspace = Buffer<char>(A.executor(), std::max<std::size_t>(size, 1));
    FEMGPU_CUSPARSE(cusparseSpMV_preprocess(handle, no_transpose, &one, matrix, x, &zero, y,
                                            CUDA_R_64F, algorithm, workspace.data()));
  }
  ~CusparseProduct()
  {
    cusparseDestroyDnVec(y);
    cusparseDestroyDnVec(x);
    cusparseDestroySpMat(matrix);
  }
  CusparseProduct(const CusparseProduct &) = delete;
  CusparseProduct &operator=(const CusparseProduct &) = delete;

  void multiply()
  {
    FEMGPU_CUSPARSE(cusparseSpMV(handle, no_transpose, &one, matrix, x, &zero, y, CUDA_R_64F,
                                 algorithm, workspace.data()));
  }

private:
  static constexpr cusparseOperation_t no_transpose = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr double one = 1., zero = 0.;

  template <class T>
  static T *writable(const T *pointer) // cuSPARSE's descriptors of read-only data are not const
  {
    return const_cast<T *>(pointer);
  }

  std::int64_t n_stored() const
  {
    return static_cast<std::int64_t>(layout->n_stored());
  }
  void describe(const CsrView<double> &A)
  {
    algorithm = csr_algorithm;
    FEMGPU_CUSPARSE(cusparseCreateCsr(&matrix, A.n, A.n, n_stored(), writable(A.row_starts.low),
                                      writable(A.columns), writable(A.values), CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  }
  void describe(const SellView<double> &A)
  {
    FEMGPU_CUSPARSE(cusparseCreateSlicedEll(
        &matrix, A.n, A.n, static_cast<std::int64_t>(layout->n_nonzeros()), n_stored(),
        std::int64_t{1} << A.log_slice, writable(A.slice_starts.low), writable(A.columns),
        writable(A.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
        CUDA_R_64F));
  }
  void describe(const BsrView<double> &A)
  {
    const std::int64_t b = A.block_size;
    FEMGPU_CUSPARSE(cusparseCreateBsr(&matrix, A.n / b, A.n / b, n_stored() / (b * b), b, b,
                                      writable(A.row_starts), writable(A.columns),
                                      writable(A.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  }
  template <class Other>
  void describe(const Other & /* view */)
  {
    throw ParameterError("cuSPARSE has no layout for " + layout->format() + ".");
  }

  std::unique_ptr<Matrix> layout;
  cusparseSpMVAlg_t csr_algorithm, algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  cusparseHandle_t handle;
  Buffer<char> workspace;
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
};

/// The scalars that cuBLAS reads and writes on the device.
struct Scalars
{
  double rz, next_rz, pq, alpha, minus_alpha, beta, rr;
};

/// Computes α = (r, z) / (p, q).
struct StepLength
{
  Scalars *s;
  FEMGPU_HD
  void operator()(int /* i */) const
  {
    s->alpha = s->rz / s->pq;
    s->minus_alpha = -s->alpha;
  }
};

/// Computes β = (r', z') / (r, z).
struct Conjugation
{
  Scalars *s;
  FEMGPU_HD
  void operator()(int /* i */) const
  {
    s->beta = s->next_rz / s->rz;
    s->rz = s->next_rz;
  }
};

/// Computes z = M⁻¹r.
struct ApplyJacobi
{
  DiagonalView m;
  const double *r;
  double *z;
  FEMGPU_HD
  void operator()(const int i) const
  {
    z[i] = m(i) * r[i];
  }
};

/// Computes p = z + β p in one pass, which cuBLAS does not offer.
struct UpdateDirection
{
  const Scalars *s;
  const double *z;
  double *p;
  FEMGPU_HD
  void operator()(const int i) const
  {
    p[i] = z[i] + s->beta * p[i];
  }
};

/// How the kernels of a solve are launched.
enum class Launch
{
  plainly,
  as_graph
};

/**
 * Classical Jacobi-PCG (Shewchuk), as a careful user of cuBLAS and cuSPARSE writes it. Scalars stay
 * on the device; the host reads only ‖r‖, every 30 iterations. M⁻¹ and the update of p are each a
 * kernel of one pass. An iteration takes 9 to 12 kernels; optionally, 30 iterations form one graph.
 */
class CublasCG final : public Candidate
{
public:
  CublasCG(const CsrMatrix &A, const std::vector<double> &host_b, const std::string &format,
           const cusparseSpMVAlg_t algorithm, const Launch launch)
      : executor(static_cast<const CudaExecutor &>(*A.executor())), n(A.n()),
        M(make_preconditioner("jacobi", BackendKind::cuda)),
        b(A.executor(), host_b.data(), host_b.size()), x(A.executor(), host_b.size()),
        r(A.executor(), host_b.size()), z(A.executor(), host_b.size()),
        p(A.executor(), host_b.size()), q(A.executor(), host_b.size()), scalars(A.executor(), 1),
        workspace(A.executor(), workspace_bytes), runner(executor),
        product(A, format, algorithm, p.data(), q.data())
  {
    M->setup(A);
    for (const double b_i : host_b)
      bb += b_i * b_i;
    FEMGPU_CUBLAS(cublasCreate(&blas));
    FEMGPU_CUBLAS(cublasSetStream(blas, executor.stream()));
    // cuBLAS must not allocate its default workspace while a graph is captured.
    FEMGPU_CUBLAS(cublasSetWorkspace(blas, workspace.data(), workspace.bytes()));
    FEMGPU_CUBLAS(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
    if (launch == Launch::as_graph)
      capture();
    executor.synchronize();
  }
  ~CublasCG() override
  {
    cublasDestroy(blas);
  }
  CublasCG(const CublasCG &) = delete;
  CublasCG &operator=(const CublasCG &) = delete;

  void reset() final
  {
    x.fill_zero();
    executor.synchronize();
  }
  ReportedResult solve(const int iterations) override
  {
    begin();
    int done = 0;
    double rr = 0.;
    for (; done < iterations; done += chunk) {
      if (graph.executable != nullptr)
        FEMGPU_CUDA(cudaGraphLaunch(graph.executable, executor.stream()));
      else
        iterate();
      executor.copy_to_host(&rr, &scalars.data()->rr, sizeof(double));
    }
    return {done, std::sqrt(rr / bb)};
  }
  std::vector<double> solution() const override
  {
    return x.to_host();
  }

private:
  static constexpr int chunk = 30;
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20; // NVIDIA's recommendation

  DiagonalView inverse() const
  {
    return std::get<DiagonalView>(M->action());
  }
  void dot(const Buffer<double> &u, const Buffer<double> &v, double *result)
  {
    FEMGPU_CUBLAS(cublasDdot(blas, n, u.data(), 1, v.data(), 1, result));
  }
  void axpy(const double *factor, const Buffer<double> &u, Buffer<double> &v)
  {
    FEMGPU_CUBLAS(cublasDaxpy(blas, n, factor, u.data(), 1, v.data(), 1));
  }

  /// Computes r = b, z = M⁻¹r, p = z.
  void begin()
  {
    r.copy_from(b);
    runner.run(rows(n, ApplyJacobi{inverse(), r.data(), z.data()}));
    dot(r, z, &scalars.data()->rz);
    p.copy_from(z);
  }

  void iterate()
  {
    Scalars *const s = scalars.data();
    for (int k = 0; k < chunk; ++k) {
      product.multiply();
      dot(p, q, &s->pq);
      runner.run(rows(1, StepLength{s}));
      axpy(&s->alpha, p, x);
      axpy(&s->minus_alpha, q, r);
      runner.run(rows(n, ApplyJacobi{inverse(), r.data(), z.data()}));
      dot(r, z, &s->next_rz);
      runner.run(rows(1, Conjugation{s}));
      runner.run(rows(n, UpdateDirection{s, z.data(), p.data()}));
    }
    dot(r, r, &s->rr);
  }

  void capture()
  {
    reset();
    begin();
    iterate(); // loads the kernels of the libraries before the graph is captured
    executor.synchronize();
    graph = cuda::Graph::make_empty();
    cuda::StreamCapture capture(executor.stream(), graph.graph);
    iterate();
    capture.end();
    FEMGPU_CUDA(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
  }

  const CudaExecutor &executor;
  int n;
  std::unique_ptr<Preconditioner> M;
  Buffer<double> b, x, r, z, p, q;
  Buffer<Scalars> scalars;
  Buffer<char> workspace;
  Runner<CudaBackend> runner;
  CusparseProduct product;
  cublasHandle_t blas = nullptr;
  double bb = 0.;
  cuda::Graph graph;
};
} // namespace

void add_cublas(CandidateSpecs &specs, const CsrMatrix &A, const std::vector<double> &b)
{
  if (A.executor()->backend() != BackendKind::cuda)
    return;
  struct Layout
  {
    const char *name, *format;
    cusparseSpMVAlg_t algorithm;
  };
  std::vector<Layout> layouts = {{"CSR", "csr threads=1", CUSPARSE_SPMV_CSR_ALG1},
                                 {"CSR (ALG2)", "csr threads=1", CUSPARSE_SPMV_CSR_ALG2},
                                 {"sliced ELL", "sell window=1 slice=32", CUSPARSE_SPMV_SELL_ALG1}};
  if (A.unknowns()->per_node > 1)
    layouts.push_back({"BSR", "bsr", CUSPARSE_SPMV_ALG_DEFAULT});
  for (const auto &[name, format, algorithm] : layouts)
    for (const Launch launch : {Launch::plainly, Launch::as_graph})
      specs.push_back({"cuSPARSE+cuBLAS",
                       name + std::string(launch == Launch::as_graph ? ", graph" : ""), "cg",
                       "jacobi", ResidualNorm::euclidean,
                       [&A, &b, format = format, algorithm = algorithm, launch] {
                         return std::make_unique<CublasCG>(A, b, format, algorithm, launch);
                       }});
}
} // namespace femgpu::linalg::benchmark
