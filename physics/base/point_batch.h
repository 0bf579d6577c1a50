#ifndef femgpu_physics_base_point_batch_h
#define femgpu_physics_base_point_batch_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/types.h>

#include <algorithm>
#include <vector>

namespace femgpu
{
/// Rows of numbers, with one column for each point of a batch. Rows that were not written count as
/// zero.
class PointRows
{
public:
  /// Resizes the table and sets all rows to zero.
  void reinit(const unsigned int n_rows, const unsigned int n_points)
  {
    n = n_points;
    written_rows.clear();
    is_written.assign(n_rows, false);
    numbers.resize(std::size_t(n_rows) * n_points);
  }
  /// Returns a row for writing.
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
  /// Returns a row for reading. @pre the row is one of written()
  const double *operator[](const unsigned int row) const
  {
    return numbers.data() + std::size_t(row) * n;
  }
  /// Returns the indices of the written rows, in the order of writing.
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

/// The points of a cell or of a face, with the solution there.
template <int dim>
struct PointBatch
{
  const std::vector<dealii::Point<dim>> *evaluation_points = nullptr;
  const std::vector<dealii::Tensor<1, dim>> *normals = nullptr; ///< outward unit normals on a face
  dealii::types::material_id material = 0;
  /// The id of a boundary face or inner side; internal_face_boundary_id for cells and other faces.
  dealii::types::boundary_id boundary = dealii::numbers::internal_face_boundary_id;
  /// Whether the points are on a face of the boundary, not in a cell or on an inner side.
  bool is_at_boundary = false;
  const double *inverse_jacobians = nullptr; ///< row b dim + a: ∂ξ_b/∂x_a
  bool is_simplex = false;                   ///< whether the cell is a triangle or tetrahedron
  unsigned int degree = 1;                   ///< degree of the shape functions
  PointRows u;                               ///< row c: component u_c of the solution
  PointRows gradients;                       ///< row dim c + d: ∂_d u_c
  PointRows second_derivatives;              ///< row dim c + d: ∂_d² u_c; often not available

  unsigned int size() const
  {
    return static_cast<unsigned int>(evaluation_points->size());
  }
  const std::vector<dealii::Point<dim>> &points() const
  {
    return *evaluation_points;
  }
  bool is_on_side() const
  {
    return boundary != dealii::numbers::internal_face_boundary_id;
  }
  const double *gradient(const unsigned int c, const unsigned int d) const
  {
    return gradients[dim * c + d];
  }
  bool has_second_derivatives() const
  {
    return !second_derivatives.written().empty();
  }
  const double *second_derivative(const unsigned int c, const unsigned int d) const
  {
    return second_derivatives[dim * c + d];
  }
  /// Returns ∂ξ_b/∂x_a at all points.
  const double *inverse_jacobian(const unsigned int b, const unsigned int a) const
  {
    return inverse_jacobians + std::size_t(b * dim + a) * size();
  }
};

/**
 * A function of the solution at the points of a batch, with its derivatives. A flux has dim rows
 * for each component of the solution: row dim c + d is σ_cd, the flux of component c in
 * direction d. A source has one row for each component.
 */
class PointTerms
{
public:
  /// Resizes all terms and sets them to zero.
  /// @param n_rows number of rows of the function: 1 or dim for each component
  /// @param dim the space dimension
  void reinit(const unsigned int n_rows, const unsigned int components, const unsigned int dim,
              const unsigned int n_points)
  {
    n_components = components;
    n_directions = dim;
    values.reinit(n_rows, n_points);
    derivatives.reinit(n_rows * components, n_points);
    gradient_derivatives.reinit(n_rows * components * dim, n_points);
    second_derivatives.reinit(n_rows * components * dim, n_points);
  }

  double *value(const unsigned int row)
  {
    return values[row];
  }
  /// Returns the derivative of @p row with respect to component @p c of the solution.
  double *u_derivative(const unsigned int row, const unsigned int c)
  {
    return derivatives[row * n_components + c];
  }
  /// Returns the derivative of @p row with respect to ∂_d u_c.
  double *gradient_derivative(const unsigned int row, const unsigned int c, const unsigned int d)
  {
    return gradient_derivatives[(row * n_components + c) * n_directions + d];
  }
  /// Returns the derivative of @p row with respect to ∂_d² u_c. @pre the row is of the flux of
  /// Problem::stabilize()
  double *second_derivative(const unsigned int row, const unsigned int c, const unsigned int d)
  {
    return second_derivatives[(row * n_components + c) * n_directions + d];
  }

  unsigned int n_components = 0, n_directions = 0;
  PointRows values;
  PointRows derivatives;          ///< row r n_components + c: ∂(row r)/∂u_c
  PointRows gradient_derivatives; ///< row (r n_components + c) dim + d: ∂(row r)/∂(∂_d u_c)
  PointRows second_derivatives;   ///< row (r n_components + c) dim + d: ∂(row r)/∂(∂_d² u_c)
};
} // namespace femgpu

#endif
