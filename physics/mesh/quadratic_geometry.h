#ifndef femgpu_physics_quadratic_geometry_h
#define femgpu_physics_quadratic_geometry_h

#include <deal.II/base/point.h>
#include <deal.II/fe/fe.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/grid/manifold.h>
#include <deal.II/grid/tria.h>

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace femgpu
{
/// The nodes in the middle of the edges, and faces of four corners, that a mesh of second order
/// curves: each is found by the places of the corners, from whichever cell.
template <int dim>
class QuadraticGeometry
{
public:
  /// @return false if there is another node between these corners already
  bool add(const std::vector<dealii::Point<dim>> &corners, const dealii::Point<dim> &node);
  /// nullptr if nothing curves what has these corners
  const dealii::Point<dim> *find(const std::vector<dealii::Point<dim>> &corners) const;

private:
  /// In ascending order, padded.
  using Corners = std::array<std::array<double, dim>, 4>;
  static Corners key(const std::vector<dealii::Point<dim>> &corners);

  std::map<Corners, dealii::Point<dim>> nodes;
};

/// The point at @p t of the parabola from @p a at 0 through @p middle at 1/2 to @p b at 1.
template <int dim>
dealii::Point<dim> on_parabola(const dealii::Point<dim> &a, const dealii::Point<dim> &middle,
                               const dealii::Point<dim> &b, const double t)
{
  return dealii::Point<dim>((1. - t) * (1. - 2. * t) * a + 4. * t * (1. - t) * middle +
                            t * (2. * t - 1.) * b);
}

/// New points on the edges of a QuadraticGeometry, and between other points on straight lines.
template <int dim>
class QuadraticManifold final : public dealii::Manifold<dim>
{
public:
  explicit QuadraticManifold(std::shared_ptr<QuadraticGeometry<dim>> geometry)
      : geometry(std::move(geometry))
  {}
  std::unique_ptr<dealii::Manifold<dim>> clone() const override
  {
    return std::make_unique<QuadraticManifold>(geometry);
  }
  dealii::Point<dim> get_new_point(const dealii::ArrayView<const dealii::Point<dim>> &points,
                                   const dealii::ArrayView<const double> &weights) const override;

  const std::shared_ptr<QuadraticGeometry<dim>> geometry; ///< grows with refine_quadratic_simplices
};

/// Triangles and tetrahedra of degree 2 whose nodes in the middle of edges lie on the manifolds of
/// these.
template <int dim>
class CurvedSimplexMapping final : public dealii::MappingFE<dim>
{
public:
  CurvedSimplexMapping();
  std::unique_ptr<dealii::Mapping<dim>> clone() const override
  {
    return std::make_unique<CurvedSimplexMapping>();
  }
  /// The vertices of @p cell and the middles of its edges.
  std::vector<dealii::Point<dim>> compute_mapping_support_points(
      const typename dealii::Triangulation<dim>::cell_iterator &cell) const override;
  /// By Newton's method from the middle of the cell; that of MappingFE in deal.II 9.4, from the
  /// first vertex, often fails in cells as curved as those of coarse meshes.
  dealii::Point<dim>
  transform_real_to_unit_cell(const typename dealii::Triangulation<dim>::cell_iterator &cell,
                              const dealii::Point<dim> &p) const override;
};

/**
 * The vertices of the children of a triangle or tetrahedron are its nodes of degree 2, numbered as
 * those of FE_SimplexP: its vertices, then the middles of its edges. The middles of the children's
 * edges lie halfway between two of them. These are the shape functions of an element of the parent
 * at all such points, evaluated once.
 */
template <int dim>
class ShapesHalfway
{
public:
  explicit ShapesHalfway(const dealii::FiniteElement<dim> &element);

  static constexpr unsigned int n_nodes = (dim + 1) * (dim + 2) / 2;

  /// The values between the nodes @p a and @p b, which may be the same.
  const std::vector<double> &between(const unsigned int a, const unsigned int b) const
  {
    return values[a * n_nodes + b];
  }

private:
  std::vector<std::vector<double>> values;
};

/**
 * Gives the edges of the children of triangles or tetrahedra with a QuadraticManifold their nodes
 * in the middle, where their parent has them, and that manifold: the body stays the same.
 * @param mesh of level 0, and 1 all over
 */
template <int dim>
void refine_quadratic_simplices(dealii::Triangulation<dim> &mesh);
} // namespace femgpu

#endif
