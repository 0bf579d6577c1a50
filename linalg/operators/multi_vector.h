#ifndef femgpu_linalg_operators_multi_vector_h
#define femgpu_linalg_operators_multi_vector_h

#include "linalg/memory/buffer.h"
#include "linalg/operators/ghost_exchange.h"
#include "linalg/operators/row_space.h"

#include <cstddef>
#include <memory>

namespace femgpu::linalg
{
/**
 * Several vectors of one row space in the memory of its executor. The values of a row are stored
 * next to each other, so that a product with a sparse matrix reads whole rows. stride() is the
 * number of columns, rounded up to an even number so that GPU threads can load pairs of values; an
 * additional column is zero.
 */
template <class T>
class MultiVector
{
public:
  MultiVector() = default;

  /// Makes @p n_columns zero vectors, with memory for ghosts.
  /// @throws DeviceError if memory is exhausted
  MultiVector(RowSpacePtr rows, int n_columns);

  const RowSpacePtr &space() const
  {
    return rows;
  }
  /// The number of owned rows.
  int n() const
  {
    return rows->n();
  }
  int n_columns() const
  {
    return columns;
  }
  /// The distance between rows in memory.
  int stride() const
  {
    return stride_of(columns);
  }
  static int stride_of(const int n_columns)
  {
    return n_columns + n_columns % 2;
  }
  /// The value of column c in row i is data()[i stride() + c]. Ghosts follow the owned rows.
  T *data()
  {
    return memory.data();
  }
  const T *data() const
  {
    return memory.data();
  }

  /// Changes the number of columns to at most the number at construction. The values become
  /// undefined.
  void reshape(int n_columns);

  /// Copies the owned rows from host memory: column c begins at host + c @p leading_dimension.
  void copy_columns_from_host(const T *host, std::size_t leading_dimension);
  /// Copies the owned rows to host memory: column c begins at host + c @p leading_dimension.
  void copy_columns_to_host(T *host, std::size_t leading_dimension) const;
  /// Copies the owned rows from host memory: row i begins at host + i n_columns().
  void copy_rows_from_host(const T *host);
  /// Copies the owned rows to host memory: row i begins at host + i n_columns().
  void copy_rows_to_host(T *host) const;

  /// Copies the owned rows of @p v to column @p c.
  void set_column(int c, const Buffer<T> &v);
  /// Copies the owned rows of column @p c to @p v.
  void get_column(int c, Buffer<T> &v) const;

  /// Copies the values of the ghosts of all columns from the ranks that own them, after all steps
  /// launched so far. Collective.
  void update_ghost_values();

private:
  /// Copies the owned rows from or to host memory, where the value of row i and column c is at
  /// i row_step + c column_step.
  void copy_from_host(const T *host, std::size_t row_step, std::size_t column_step);
  void copy_to_host(T *host, std::size_t row_step, std::size_t column_step) const;

  RowSpacePtr rows;
  int columns = 0;
  Buffer<T> memory;
  std::unique_ptr<PackedExchange> exchange; ///< made by the first update_ghost_values()
};
} // namespace femgpu::linalg

#endif
