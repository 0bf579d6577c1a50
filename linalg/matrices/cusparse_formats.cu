#include "linalg/base/error.h"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/matrices/cusparse.h"
#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
namespace
{
template <class T>
T *writable(const T *pointer) // cuSPARSE takes read-only operands without const
{
  return const_cast<T *>(pointer);
}

/// Multiplies by cusparseSpMV(), with a matrix in the layout of one of our formats.
template <class Value>
class CusparseFormat final : public Format<Value>
{
public:
  CusparseFormat(const CsrMatrix &A, std::unique_ptr<Matrix> layout_, std::string name)
      : Format<Value>(A), layout(std::move(layout_)), name(std::move(name)),
        Av(A.executor(), static_cast<std::size_t>(A.n()))
  {
    if (A.range()->communicator() != nullptr)
      throw ParameterError(
          "The format '" + this->name +
          "' does not support a matrix that is distributed over several subdomains. Use csr.");
    if (A.n() == 0 || A.n_nonzeros() == 0) { // cuSPARSE rejects an empty matrix
      Av.fill_zero();
      return;
    }
    if (layout->n_stored() > static_cast<std::size_t>(max_indices))
      throw ParameterError(
          "The format '" + this->name + "' would store " + std::to_string(layout->n_stored()) +
          " entries, more than its limit of " + std::to_string(max_indices) + ". Use csr.");
    std::visit([&](const auto &view) { describe_matrix(view); }, layout->view());
    // The vectors' pointers are set before each product.
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&x, A.n(), Av.data(), CUDA_R_64F));
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&y, A.n(), Av.data(), CUDA_R_64F));
    std::size_t size = 0;
    const cusparseHandle_t handle = cusparse_handle(*A.executor());
    FEMGPU_CUSPARSE(cusparseSpMV_bufferSize(handle, no_transpose, &one, matrix, x, &zero, y,
                                            CUDA_R_64F, algorithm, &size));
    workspace = Buffer<char>(A.executor(), std::max<std::size_t>(size, 1));
    FEMGPU_CUSPARSE(cusparseSpMV_preprocess(handle, no_transpose, &one, matrix, x, &zero, y,
                                            CUDA_R_64F, algorithm, workspace.data()));
  }

  std::size_t n_stored() const override
  {
    return layout->n_stored();
  }
  std::size_t bytes() const override // including a write and a read of Av
  {
    return layout->bytes() + 2 * Av.bytes();
  }
  std::string description() const override
  {
    return this->describe(name);
  }
  Matrix::View view() const override
  {
    return StoredView{this->n(), Av.data()};
  }
  const double *prepare(StepRunner &runner, double *v) const override
  {
    if (matrix == nullptr)
      return v;
    FEMGPU_CUSPARSE(cusparseDnVecSetValues(x, writable(v)));
    const auto &on = static_cast<Runner<CudaBackend> &>(runner);
    FEMGPU_CUSPARSE(cusparseSpMV(cusparse_handle(on.executor(), on.stream()), no_transpose, &one,
                                 matrix, x, &zero, y, CUDA_R_64F, algorithm, workspace.data()));
    return v;
  }
  void update() override
  {
    layout->update();
  }

private:
  static constexpr cusparseOperation_t no_transpose = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cudaDataType value_type = std::is_same_v<Value, float> ? CUDA_R_32F : CUDA_R_64F;
  static constexpr double one = 1., zero = 0.;

  template <class View> // CSR, or BSR whose blocks are single entries
  void describe_csr(const View &A)
  {
    algorithm = CUSPARSE_SPMV_CSR_ALG2; // bitwise reproducible
    FEMGPU_CUSPARSE(cusparseCreateCsr(&matrix, A.n, A.n, static_cast<std::int64_t>(n_stored()),
                                      writable(RowStarts(A.row_starts).low), writable(A.columns),
                                      writable(A.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_BASE_ZERO, value_type));
  }
  void describe_matrix(const CsrView<Value> &A)
  {
    describe_csr(A);
  }
  void describe_matrix(const SellView<Value> &A)
  {
    algorithm = CUSPARSE_SPMV_SELL_ALG1;
    FEMGPU_CUSPARSE(cusparseCreateSlicedEll(
        &matrix, A.n, A.n, static_cast<std::int64_t>(this->n_nonzeros()),
        static_cast<std::int64_t>(n_stored()), std::int64_t{1} << A.log_slice,
        writable(A.slice_starts.low), writable(A.columns), writable(A.values), CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type));
  }
  void describe_matrix(const BsrView<Value> &A)
  {
    const std::int64_t b = A.block_size;
    if (b == 1) { // cuSPARSE crashes on such blocks
      describe_csr(A);
      return;
    }
    FEMGPU_CUSPARSE(cusparseCreateBsr(
        &matrix, A.n / b, A.n / b, static_cast<std::int64_t>(n_stored()) / (b * b), b, b,
        writable(A.row_starts), writable(A.columns), writable(A.values), CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type, CUSPARSE_ORDER_ROW));
  }
  template <class Other>
  void describe_matrix(const Other & /* view */)
  {
    throw DeviceError("cuSPARSE has no layout for " + layout->format() + ".");
  }

  std::unique_ptr<Matrix> layout;
  std::string name;
  mutable Buffer<double> Av; // a matrix is used by one solver at a time
  mutable Buffer<char> workspace;
  cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  CusparseOwner<cusparseSpMatDescr_t> matrix;
  CusparseOwner<cusparseDnVecDescr_t> x, y;
};

std::string max_padding(Method &method)
{
  return " max-padding=" + std::to_string(method.number("max-padding", 3., 1., 1e6));
}

/// Makes a format whose products are computed by cuSPARSE.
/// @param layout the format whose arrays cuSPARSE reads, with its options
std::unique_ptr<Matrix> make_cusparse(const CsrMatrix &A, Method &method, const std::string &layout)
{
  return FormatScalars::choose(method, [&](const auto scalar) -> std::unique_ptr<Matrix> {
    using Value = typename decltype(scalar)::Type;
    std::unique_ptr<Matrix> arrays = make_format(layout + " values=" + scalar_name<Value>, A);
    const std::string name = method.name() + " (" + arrays->format() + ")";
    return std::make_unique<CusparseFormat<Value>>(A, std::move(arrays), name);
  });
}
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class CusparseCsrStorage, CudaBackend>(Method &method,
                                                                       const CsrMatrix &A)
{
  return make_cusparse(A, method, "csr threads=1");
}

template <>
std::unique_ptr<Matrix> make_on<class CusparseSellStorage, CudaBackend>(Method &method,
                                                                        const CsrMatrix &A)
{
  // cuSPARSE does not support sorted rows, and window=1 turns off sorting.
  const std::string slice = std::to_string(method.integer("slice", 32, 1, 1024));
  return make_cusparse(A, method, "sell window=1 slice=" + slice + max_padding(method));
}

template <>
std::unique_ptr<Matrix> make_on<class CusparseBsrStorage, CudaBackend>(Method &method,
                                                                       const CsrMatrix &A)
{
  const std::string block = std::to_string(block_option(method, A));
  return make_cusparse(A, method, "bsr block=" + block + max_padding(method));
}
} // namespace femgpu::linalg
