#ifndef femgpu_linalg_operators_vector_h
#define femgpu_linalg_operators_vector_h

#include "linalg/operators/row_space.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// A vector of a row space, in the memory of the space's executor: the n() rows that this rank
/// owns, followed by memory for ghosts.
template <class T>
class Vector : public Buffer<T>
{
public:
  /// Makes a vector without a space and without rows.
  Vector() = default;

  /// Allocates a vector with undefined values.
  /// @throws DeviceError if memory is exhausted
  explicit Vector(RowSpacePtr space)
      : Buffer<T>(space->executor(), space->n_with_ghosts()), rows(std::move(space))
  {}

  /// Makes a vector that refers to memory of the executor instead of owning memory.
  /// @param data space->n_with_ghosts() numbers, which must remain valid
  Vector(RowSpacePtr space, T *data)
      : Buffer<T>(space->executor(), data, space->n_with_ghosts(), MemoryLocation::source),
        rows(std::move(space))
  {}

  const RowSpacePtr &space() const
  {
    return rows;
  }
  /// The number of rows on this rank.
  int n() const
  {
    return rows ? rows->n() : 0;
  }

  /// Copies this rank's rows from n() numbers in host memory or in the executor's memory.
  void assign(const T *from)
  {
    this->copy_from_host(from, n_rows());
  }
  /// Copies this rank's rows to n() numbers in host memory or in the executor's memory.
  void copy_rows_to(T *to) const
  {
    this->copy_to_host(to, n_rows());
  }
  /// Returns this rank's rows in host memory.
  std::vector<T> rows_on_host() const
  {
    return this->to_host(n_rows());
  }
  Vector copy() const
  {
    Vector result(rows);
    result.copy_from(*this);
    return result;
  }

  /// Copies the values of the ghosts from the ranks that own them, after all steps launched so far.
  /// Ghosts are copies, so that this function does not change the vector.
  /// @return the values, with up-to-date ghosts
  T *update_ghost_values() const
  {
    T *const values = const_cast<T *>(this->data());
    rows->update_ghost_values(values);
    return values;
  }

private:
  std::size_t n_rows() const
  {
    return static_cast<std::size_t>(n());
  }

  RowSpacePtr rows;
};

/// Returns Σ x_i y_i over the rows of all ranks, and waits for the result. The order of additions
/// is fixed for a given space and device. Collective.
double dot(const Vector<double> &x, const Vector<double> &y);

/// Returns the Euclidean norm of @p x over the rows of all ranks, and waits for the result.
/// Collective.
double norm(const Vector<double> &x);

/// Computes x = a x + b y on this rank's rows.
void combine(double a, Vector<double> &x, double b, const Vector<double> &y);

/// Computes x = a x on this rank's rows.
void scale(Vector<double> &x, double a);
} // namespace femgpu::linalg

#endif
