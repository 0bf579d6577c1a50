#include "linalg/matrices/cusparse.h"

#include "benchmarks/sparse/candidate.h"
#include "linalg/execution/cuda/executor.h"
#include "linalg/sparse/derived_matrix.h"

namespace femgpu::linalg::benchmark
{
namespace
{
constexpr cusparseOperation_t no_transpose = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr cusparseSpGEMMAlg_t algorithm = CUSPARSE_SPGEMM_DEFAULT;

/// Owns cuSPARSE's descriptor of a matrix.
class Descriptor
{
public:
  explicit Descriptor(const CsrMatrix &A)
  {
    const CsrView<double> view = A.csr_view();
    create(A.n(), A.n_columns(), static_cast<std::int64_t>(A.n_nonzeros()),
           const_cast<int *>(view.row_starts.low), const_cast<int *>(view.columns),
           const_cast<double *>(view.values));
  }
  /// Describes a square or rectangular matrix whose entries are allocated later.
  Descriptor(const int n, const int n_columns, int *row_starts)
  {
    create(n, n_columns, 0, row_starts, nullptr, nullptr);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor()
  {
    cusparseDestroySpMat(matrix);
  }

  cusparseSpMatDescr_t matrix = nullptr;

private:
  void create(const int n, const int n_columns, const std::int64_t n_entries, int *row_starts,
              int *columns, double *values)
  {
    FEMGPU_CUSPARSE(cusparseCreateCsr(&matrix, n, n_columns, n_entries, row_starts, columns, values,
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  }
};

/// The base class of ReusedProduct and RecomputedProduct. It has the descriptors and the result.
class CusparseProduct : public Candidate
{
public:
  CusparseProduct(const CsrMatrix &A, const CsrMatrix &B)
      : owner(A.executor()), handle(cusparse_handle(*A.executor())), n_columns(B.n_columns()), A(A),
        B(B), row_starts(owner, static_cast<std::size_t>(A.n()) + 1),
        C(A.n(), B.n_columns(), row_starts.data())
  {
    FEMGPU_CUSPARSE(cusparseSpGEMM_createDescr(&work));
  }
  CusparseProduct(const CusparseProduct &) = delete;
  CusparseProduct &operator=(const CusparseProduct &) = delete;
  ~CusparseProduct() override
  {
    cusparseSpGEMM_destroyDescr(work);
  }
  const CsrMatrix &result() const override
  {
    return *product;
  }

protected:
  /// Allocates the entries of C. The row starts move to the result, but their addresses stay valid.
  void allocate()
  {
    std::int64_t n = 0, columns_of_C = 0, n_entries = 0;
    FEMGPU_CUSPARSE(cusparseSpMatGetSize(C.matrix, &n, &columns_of_C, &n_entries));
    Buffer<int> columns(owner, static_cast<std::size_t>(n_entries));
    Buffer<double> values(owner, static_cast<std::size_t>(n_entries));
    FEMGPU_CUSPARSE(
        cusparseCsrSetPointers(C.matrix, row_starts.data(), columns.data(), values.data()));
    product = std::make_unique<CsrMatrix>(owner, n_columns, std::move(row_starts),
                                          std::move(columns), std::move(values));
  }

  ExecutorPtr owner;
  cusparseHandle_t handle;
  int n_columns;
  Descriptor A, B;
  Buffer<int> row_starts;
  Descriptor C;
  cusparseSpGEMMDescr_t work = nullptr;
  std::unique_ptr<CsrMatrix> product;
  const double one = 1., zero = 0.;
};

/// A product whose pattern is reused for new values (SpGEMMreuse).
class ReusedProduct final : public CusparseProduct
{
public:
  ReusedProduct(const CsrMatrix &A_, const CsrMatrix &B_) : CusparseProduct(A_, B_)
  {
    std::size_t sizes[5] = {};
    FEMGPU_CUSPARSE(cusparseSpGEMMreuse_workEstimation(handle, no_transpose, no_transpose, A.matrix,
                                                       B.matrix, C.matrix, algorithm, work,
                                                       &sizes[0], nullptr));
    Buffer<char> first(owner, sizes[0]);
    FEMGPU_CUSPARSE(cusparseSpGEMMreuse_workEstimation(handle, no_transpose, no_transpose, A.matrix,
                                                       B.matrix, C.matrix, algorithm, work,
                                                       &sizes[0], first.data()));
    count(sizes);
    Buffer<char> second(owner, sizes[1]), third(owner, sizes[2]);
    fourth = Buffer<char>(owner, sizes[3]);
    count(sizes, second.data(), third.data(), fourth.data());
    first = Buffer<char>();
    second = Buffer<char>();
    allocate();
    FEMGPU_CUSPARSE(cusparseSpGEMMreuse_copy(handle, no_transpose, no_transpose, A.matrix, B.matrix,
                                             C.matrix, algorithm, work, &sizes[4], nullptr));
    fifth = Buffer<char>(owner, sizes[4]);
    FEMGPU_CUSPARSE(cusparseSpGEMMreuse_copy(handle, no_transpose, no_transpose, A.matrix, B.matrix,
                                             C.matrix, algorithm, work, &sizes[4], fifth.data()));
    refresh();
  }
  void refresh() override
  {
    FEMGPU_CUSPARSE(cusparseSpGEMMreuse_compute(handle, no_transpose, no_transpose, &one, A.matrix,
                                                B.matrix, &zero, C.matrix, CUDA_R_64F, algorithm,
                                                work));
  }

private:
  void count(std::size_t (&sizes)[5], void *second = nullptr, void *third = nullptr,
             void *fourth_ = nullptr)
  {
    FEMGPU_CUSPARSE(cusparseSpGEMMreuse_nnz(handle, no_transpose, no_transpose, A.matrix, B.matrix,
                                            C.matrix, algorithm, work, &sizes[1], second, &sizes[2],
                                            third, &sizes[3], fourth_));
  }

  Buffer<char> fourth, fifth; // workspaces that refresh() needs
};

/// A product that is recomputed as a whole for new values (SpGEMM).
class RecomputedProduct final : public CusparseProduct
{
public:
  RecomputedProduct(const CsrMatrix &A_, const CsrMatrix &B_) : CusparseProduct(A_, B_)
  {
    std::size_t sizes[2] = {};
    estimate(sizes[0], nullptr);
    Buffer<char> first(owner, sizes[0]);
    estimate(sizes[0], first.data());
    compute(sizes[1], nullptr);
    Buffer<char> second(owner, sizes[1]);
    compute(sizes[1], second.data());
    allocate();
    FEMGPU_CUSPARSE(cusparseSpGEMM_copy(handle, no_transpose, no_transpose, &one, A.matrix,
                                        B.matrix, &zero, C.matrix, CUDA_R_64F, algorithm, work));
    owner->synchronize(); // before the workspaces are freed
  }
  void refresh() override
  {}

private:
  void estimate(std::size_t &size, void *memory)
  {
    FEMGPU_CUSPARSE(cusparseSpGEMM_workEstimation(handle, no_transpose, no_transpose, &one,
                                                  A.matrix, B.matrix, &zero, C.matrix, CUDA_R_64F,
                                                  algorithm, work, &size, memory));
  }
  void compute(std::size_t &size, void *memory)
  {
    FEMGPU_CUSPARSE(cusparseSpGEMM_compute(handle, no_transpose, no_transpose, &one, A.matrix,
                                           B.matrix, &zero, C.matrix, CUDA_R_64F, algorithm, work,
                                           &size, memory));
  }
};

/// A transpose that is recomputed for new values.
class CusparseTranspose final : public Candidate
{
public:
  explicit CusparseTranspose(const CsrMatrix &A) : A(A)
  {
    CusparseTranspose::refresh();
  }
  void refresh() override
  {
    const CsrView<double> view = A.csr_view();
    const auto n_entries = static_cast<int>(A.n_nonzeros());
    Buffer<int> row_starts(A.executor(), static_cast<std::size_t>(A.n_columns()) + 1);
    Buffer<int> columns(A.executor(), A.n_nonzeros());
    Buffer<double> values(A.executor(), A.n_nonzeros());
    std::size_t size = 0;
    FEMGPU_CUSPARSE(cusparseCsr2cscEx2_bufferSize(
        cusparse_handle(*A.executor()), A.n(), A.n_columns(), n_entries, view.values,
        view.row_starts.low, view.columns, values.data(), row_starts.data(), columns.data(),
        CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1,
        &size));
    Buffer<char> memory(A.executor(), size);
    FEMGPU_CUSPARSE(cusparseCsr2cscEx2(cusparse_handle(*A.executor()), A.n(), A.n_columns(),
                                       n_entries, view.values, view.row_starts.low, view.columns,
                                       values.data(), row_starts.data(), columns.data(), CUDA_R_64F,
                                       CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                       CUSPARSE_CSR2CSC_ALG1, memory.data()));
    transposed = std::make_unique<CsrMatrix>(A.executor(), A.n(), std::move(row_starts),
                                             std::move(columns), std::move(values));
  }
  const CsrMatrix &result() const override
  {
    return *transposed;
  }

private:
  const CsrMatrix &A;
  std::unique_ptr<CsrMatrix> transposed;
};

/// Computes Pᵀ (A P), including the transpose of P.
template <class OneProduct>
class CusparseCoarse final : public Candidate
{
public:
  CusparseCoarse(const CsrMatrix &A, const CsrMatrix &P)
      : P_transposed(P), AP(A, P), coarse(P_transposed.result(), AP.result())
  {}
  void refresh() override
  {
    AP.refresh(); // P has not changed
    coarse.refresh();
  }
  const CsrMatrix &result() const override
  {
    return coarse.result();
  }

private:
  CusparseTranspose P_transposed;
  OneProduct AP, coarse;
};

template <class OneProduct>
std::unique_ptr<Candidate> make_product(const Operation operation, const Factors &factors)
{
  switch (operation) {
  case Operation::square:
    return std::make_unique<OneProduct>(factors.A, factors.A);
  case Operation::interpolated:
    return std::make_unique<OneProduct>(factors.A, factors.P);
  default:
    return std::make_unique<CusparseCoarse<OneProduct>>(factors.A, factors.P);
  }
}
} // namespace

std::unique_ptr<Candidate> make_cusparse(const Operation operation, const Factors &factors,
                                         const bool reuses_pattern)
{
  if (factors.A.executor()->backend() != BackendKind::cuda)
    return nullptr;
  if (operation == Operation::transpose) {
    if (reuses_pattern)
      return nullptr;
    return std::make_unique<CusparseTranspose>(factors.A);
  }
  return reuses_pattern ? make_product<ReusedProduct>(operation, factors)
                        : make_product<RecomputedProduct>(operation, factors);
}
} // namespace femgpu::linalg::benchmark
