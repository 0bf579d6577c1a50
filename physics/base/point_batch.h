#ifndef femgpu_physics_base_point_batch_h
#define femgpu_physics_base_point_batch_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/types.h>

#include <algorithm>
#include <vector>

namespace femgpu
{
/// Rows of numbers, one for each point of a batch. Those that nobody wrote are zero.
class PointRows
{
public:
  /// All rows are zero afterwards.
  void reinit(const unsigned int n_rows, const unsigned int n_points)
  {
    n = n_points;
    written_rows.clear();
    is_written.assign(n_rows, false);
    numbers.resize(std::size_t(n_rows) * n_points);
  }
  /// For writing.
  double *operator[](const unsigned int row)
  {
    double *const begin = numbers.data() + std::size_t(row) * n;
    if (!is_written[row]) {
      is_written[row] = true;
      written_rows.push_back(row);
      std::fill_n(begin, n, 0.);
    }
    return begin;
  }
  /// @pre the row is one of written()
  const double *operator[](const unsigned int row) const
  {
    return numbers.data() + std::size_t(row) * n;
  }
  /// The rows that were written, in this order.
  const std::vector<unsigned int> &written() const
  {
    return written_rows;
  }
  bool is_zero(const unsigned int row) const
  {
    const double *const begin = numbers.data() + std::size_t(row) * n;
    return !is_written[row] || std::all_of(begin, begin + n, [](double x) { return x == 0.; });
  }
  bool are_equal(const unsigned int row, const unsigned int other) const
  {
    return std::equal((*this)[row], (*this)[row] + n, (*this)[other]);
  }
  friend bool operator==(const PointRows &a, const PointRows &b)
  {
    return a.n == b.n && a.written_rows == b.written_rows &&
           std::all_of(a.written_rows.begin(), a.written_rows.end(), [&](const unsigned int row) {
             return std::equal(a[row], a[row] + a.n, b[row]);
           });
  }

private:
  unsigned int n = 0;
  std::vector<unsigned int> written_rows;
  std::vector<bool> is_written;
  std::vector<double> numbers;
};

/// Points of a cell, or of a face of it at the boundary, and the solution there.
template <int dim>
struct PointBatch
{
  const std::vector<dealii::Point<dim>> *places = nullptr;
  const std::vector<dealii::Tensor<1, dim>> *normals = nullptr; ///< outer ones, of a face
  dealii::types::material_id material = 0;
  /// Of a face.
  dealii::types::boundary_id boundary = dealii::numbers::internal_face_boundary_id;
  PointRows u;         ///< row c: u_c
  PointRows gradients; ///< row dim c + d: ∂_d u_c

  unsigned int size() const
  {
    return static_cast<unsigned int>(places->size());
  }
  const std::vector<dealii::Point<dim>> &points() const
  {
    return *places;
  }
  bool is_on_boundary() const
  {
    return boundary != dealii::numbers::internal_face_boundary_id;
  }
  const double *gradient(const unsigned int c, const unsigned int d) const
  {
    return gradients[dim * c + d];
  }
};

/**
 * A function of the solution at the points of a batch, with its derivatives: a flux, which has
 * dim numbers for each component of the solution, row dim c + d being σ_cd; or a source, which has
 * one for each.
 */
class PointTerms
{
public:
  /// @param dim of space. All is zero afterwards.
  void reinit(const unsigned int n_rows, const unsigned int components, const unsigned int dim,
              const unsigned int n_points)
  {
    n_components = components;
    n_directions = dim;
    values.reinit(n_rows, n_points);
    derivatives.reinit(n_rows * components, n_points);
    gradient_derivatives.reinit(n_rows * components * dim, n_points);
  }

  double *value(const unsigned int row)
  {
    return values[row];
  }
  /// Of the row, by component @p c of the solution.
  double *by_u(const unsigned int row, const unsigned int c)
  {
    return derivatives[row * n_components + c];
  }
  /// Of the row, by ∂_d u_c.
  double *by_gradient(const unsigned int row, const unsigned int c, const unsigned int d)
  {
    return gradient_derivatives[(row * n_components + c) * n_directions + d];
  }

  unsigned int n_components = 0, n_directions = 0;
  PointRows values;
  PointRows derivatives;          ///< row r n_components + c
  PointRows gradient_derivatives; ///< row (r n_components + c) dim + d
};
} // namespace femgpu

#endif
