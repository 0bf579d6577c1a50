#ifndef femgpu_physics_shape_table_h
#define femgpu_physics_shape_table_h

#include <deal.II/base/point.h>
#include <deal.II/fe/fe.h>

#include <vector>

namespace femgpu
{
/// The shape functions of a scalar element and their derivatives with respect to reference
/// coordinates ξ, tabulated at points.
template <int dim>
struct ShapeTable
{
  static constexpr unsigned int n_second = dim * (dim + 1) / 2; ///< number of ∂²/∂ξ_j∂ξ_k, j <= k

  ShapeTable(const dealii::FiniteElement<dim> &element,
             const std::vector<dealii::Point<dim>> &points, bool has_second_derivatives);

  unsigned int n_nodes, n_points;
  unsigned int row_length; ///< padded(number of rows per point times n_points)
  unsigned int n_columns;  ///< padded(n_nodes)
  /// Row m: φ_m at all points, then ∂φ_m/∂ξ_0 at all points, and so on; then, if there are second
  /// derivatives, ∂²φ_m/∂ξ_j∂ξ_k for j <= k.
  std::vector<double> rows_by_node;
  std::vector<double> rows_by_point; ///< the transpose of rows_by_node
  bool has_constant_gradients;
};

/**
 * The coefficients M of ∂²φ/∂x_a² = Σ_t M_at R_t, where R_t are the first and second derivatives of
 * φ with respect to reference coordinates, in the order of ShapeTable.
 */
template <int dim>
class SecondDerivatives
{
public:
  static constexpr unsigned int n_terms = dim + ShapeTable<dim>::n_second;

  /**
   * Computes the coefficients at n points.
   * @param inverses inverse Jacobians; row b dim + a: ∂ξ_b/∂x_a
   * @param mapping the derivatives of x_a: n values of derivative t start at
   * mapping + a * stride + t * n
   */
  void reinit(std::size_t n, const std::vector<double> &inverses, const double *mapping,
              std::size_t stride);

  /// Adds Σ_t M_at R_t at all points to @p values. The n values of R_t start at reference + t * n.
  void add_values(unsigned int a, const double *reference, double *values) const;
  /// Adds M_at c at all points to the coefficient of each R_t, whose n values start at
  /// reference + t * n.
  void add_coefficients(unsigned int a, const std::vector<double> &c, double *reference) const;

private:
  std::size_t n = 0;
  std::vector<double> M;
};
} // namespace femgpu

#endif
