#include "linalg/matrices/rounded_format.h"

#include "linalg/base/error.h"

namespace femgpu::linalg
{
namespace
{
CsrView<float> rounded(const CsrView<double> &A, const float *values)
{
  return {A.n, A.lanes, A.row_starts, A.columns, values};
}
EllView<float> rounded(const EllView<double> &A, const float *values)
{
  return {A.n, A.lanes, A.stride, A.row_lengths, A.columns, values, A.cache_resident};
}
SellView<float> rounded(const SellView<double> &A, const float *values)
{
  return {A.n,       A.log_slice, A.slice_starts,  A.order,
          A.columns, values,      A.short_columns, A.cache_resident};
}
BsrView<float> rounded(const BsrView<double> &A, const float *values)
{
  return {A.n, A.lanes, A.block_size, A.row_starts, A.columns, values};
}
BlockSellView<float> rounded(const BlockSellView<double> &A, const float *values)
{
  return {A.n,     A.block_size, A.log_slice, A.slice_starts,
          A.order, A.columns,    values,      A.cache_resident};
}

template <class View, class Value, class = void>
constexpr bool has_values = false;
template <class View, class Value>
constexpr bool has_values<View, Value, std::void_t<decltype(std::decay_t<View>::values)>> =
    std::is_same_v<decltype(std::decay_t<View>::values), const Value *>;

/// Returns the values of a matrix view if their type is double, else nullptr.
const double *values_of(const Matrix::View &view)
{
  return std::visit(
      [](const auto &A) -> const double * {
        if constexpr (has_values<decltype(A), double>)
          return A.values;
        else
          return nullptr;
      },
      view);
}
} // namespace

template <class Backend>
RoundedFormat<Backend>::RoundedFormat(const Matrix &A)
    : Format<float>(A.csr()), original(std::holds_alternative<StoredView>(A.view()) ? A.csr() : A)
{
  if (values_of(original.view()) == nullptr && original.n_stored() > 0)
    throw ParameterError(
        "A matrix with float values cannot be rounded again. Use a format with double values.");
  values = Buffer<float>(original.executor(), original.n_stored());
  update();
}

template <class Backend>
std::size_t RoundedFormat<Backend>::bytes() const
{
  const bool reads_padding = !std::holds_alternative<EllView<double>>(original.view());
  return original.bytes() -
         (reads_padding ? n_stored() : n_nonzeros()) * (sizeof(double) - sizeof(float));
}

template <class Backend>
std::string RoundedFormat<Backend>::description() const
{
  return original.description() + describe_values<float>();
}

template <class Backend>
Matrix::View RoundedFormat<Backend>::view() const
{
  return std::visit(
      [&](const auto &A) -> Matrix::View {
        if constexpr (has_values<decltype(A), double>)
          return rounded(A, values.data());
        else
          return A; // the constructor rejects these formats
      },
      original.view());
}

template <class Backend>
void RoundedFormat<Backend>::update()
{
  convert<Backend>(*executor(), values_of(original.view()), values.data(), n_stored());
}

template class RoundedFormat<ThisBackend>;
} // namespace femgpu::linalg
