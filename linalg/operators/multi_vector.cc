#include "linalg/operators/multi_vector.h"

#include "linalg/steps/steps.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
template <class T>
MultiVector<T>::MultiVector(RowSpacePtr rows, const int n_columns)
    : rows(std::move(rows)), columns(n_columns),
      memory(this->rows->executor(),
             this->rows->n_with_ghosts() * static_cast<std::size_t>(stride_of(n_columns)))
{
  memory.fill_zero();
}

template <class T>
void MultiVector<T>::reshape(const int n_columns)
{
  if (n_columns != columns)
    exchange = nullptr;
  columns = n_columns;
}

template <class T>
void MultiVector<T>::copy_from_host(const T *const host, const std::size_t row_step,
                                    const std::size_t column_step)
{
  const auto n_rows = static_cast<std::size_t>(n()), width = static_cast<std::size_t>(stride());
  std::vector<T> values(n_rows * width);
  for (std::size_t i = 0; i < n_rows; ++i)
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      values[i * width + c] = host[i * row_step + c * column_step];
  memory.copy_from_host(values.data(), values.size());
}

template <class T>
void MultiVector<T>::copy_to_host(T *const host, const std::size_t row_step,
                                  const std::size_t column_step) const
{
  const auto n_rows = static_cast<std::size_t>(n()), width = static_cast<std::size_t>(stride());
  const std::vector<T> values = memory.to_host(n_rows * width);
  for (std::size_t i = 0; i < n_rows; ++i)
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      host[i * row_step + c * column_step] = values[i * width + c];
}

template <class T>
void MultiVector<T>::copy_columns_from_host(const T *const host,
                                            const std::size_t leading_dimension)
{
  copy_from_host(host, 1, leading_dimension);
}

template <class T>
void MultiVector<T>::copy_columns_to_host(T *const host, const std::size_t leading_dimension) const
{
  copy_to_host(host, 1, leading_dimension);
}

template <class T>
void MultiVector<T>::copy_rows_from_host(const T *const host)
{
  copy_from_host(host, static_cast<std::size_t>(columns), 1);
}

template <class T>
void MultiVector<T>::copy_rows_to_host(T *const host) const
{
  copy_to_host(host, static_cast<std::size_t>(columns), 1);
}

template <class T>
void MultiVector<T>::set_column(const int c, const Buffer<T> &v)
{
  rows->executor()->run_steps(
      [&](StepRunner &runner) { runner.copy_strided(v.data(), 1, n(), data() + c, stride()); });
}

template <class T>
void MultiVector<T>::get_column(const int c, Buffer<T> &v) const
{
  rows->executor()->run_steps(
      [&](StepRunner &runner) { runner.copy_strided(data() + c, stride(), n(), v.data(), 1); });
}

template <class T>
void MultiVector<T>::update_ghost_values()
{
  const GhostPlan *const plan = rows->ghost_plan();
  if (plan == nullptr)
    return;
  if (!exchange)
    exchange = std::make_unique<PackedExchange>(*rows->communicator(), rows->executor(), n(), *plan,
                                                stride());
  rows->executor()->run_steps(
      [&](StepRunner &runner) { exchange->update_ghost_values(runner, data()); });
}

template class MultiVector<double>;
} // namespace femgpu::linalg
