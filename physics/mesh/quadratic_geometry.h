#ifndef femgpu_physics_quadratic_geometry_h
#define femgpu_physics_quadratic_geometry_h

#include "physics/mesh/corners.h"

#include <deal.II/base/point.h>
#include <deal.II/fe/fe.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/grid/manifold.h>
#include <deal.II/grid/tria.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace femgpu
{
/// The midpoints of curved edges, and of curved faces with four corners, in a mesh of second order.
/// Any adjacent cell can look up a midpoint by the coordinates of the corners.
template <int dim>
class QuadraticGeometry
{
public:
  /// Adds the midpoint @p node of the edge or face with these corners, unless one is stored.
  /// @return whether @p node agrees with the stored midpoint
  bool add(const std::vector<dealii::Point<dim>> &corners, const dealii::Point<dim> &node);
  /// Returns the midpoint of the edge or face with these corners; nullptr if it is not curved.
  const dealii::Point<dim> *find(const std::vector<dealii::Point<dim>> &corners) const;

private:
  std::map<Corners<dim>, dealii::Point<dim>> nodes;
};

/// Returns the point with parameter @p t on the parabola through @p a (t = 0), @p middle (t = 1/2)
/// and @p b (t = 1).
template <int dim>
dealii::Point<dim> on_parabola(const dealii::Point<dim> &a, const dealii::Point<dim> &middle,
                               const dealii::Point<dim> &b, const double t)
{
  return dealii::Point<dim>((1. - t) * (1. - 2. * t) * a + 4. * t * (1. - t) * middle +
                            t * (2. * t - 1.) * b);
}

/// A manifold that places new points on the curved edges of a QuadraticGeometry, and elsewhere on
/// straight lines.
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

  const std::shared_ptr<QuadraticGeometry<dim>> geometry; ///< refinement adds midpoints
};

/// The mapping of degree 2 for triangles and tetrahedra. The midpoints of edges lie on the
/// manifolds of the edges.
template <int dim>
class CurvedSimplexMapping final : public dealii::MappingFE<dim>
{
public:
  CurvedSimplexMapping();
  std::unique_ptr<dealii::Mapping<dim>> clone() const override
  {
    return std::make_unique<CurvedSimplexMapping>();
  }
  /// Returns the vertices of @p cell and the midpoints of its edges.
  std::vector<dealii::Point<dim>> compute_mapping_support_points(
      const typename dealii::Triangulation<dim>::cell_iterator &cell) const override;
  /// Inverts the mapping by Newton's method, starting from the center of the cell. MappingFE in
  /// deal.II 9.4 starts from the first vertex and often fails in strongly curved coarse cells.
  dealii::Point<dim>
  transform_real_to_unit_cell(const typename dealii::Triangulation<dim>::cell_iterator &cell,
                              const dealii::Point<dim> &p) const override;
};

/**
 * The values of an element's shape functions halfway between any two nodes of a quadratic triangle
 * or tetrahedron. These nodes, numbered as in FE_SimplexP (vertices, then midpoints of edges), are
 * the vertices of the cell's children. Therefore the midpoints of the children's edges lie halfway
 * between two of the nodes.
 */
template <int dim>
class ShapesHalfway
{
public:
  explicit ShapesHalfway(const dealii::FiniteElement<dim> &element);

  static constexpr unsigned int n_nodes = (dim + 1) * (dim + 2) / 2;

  /// Returns the values of the shape functions halfway between nodes @p a and @p b, which may be
  /// equal.
  const std::vector<double> &between(const unsigned int a, const unsigned int b) const
  {
    return values[a * n_nodes + b];
  }

private:
  std::vector<std::vector<double>> values;
};

/**
 * Evaluates the midpoints of the children's edges on their curved parents, adds these midpoints to
 * the QuadraticManifold of @p mesh, and assigns the manifold to the edges. The shape of the body is
 * unchanged.
 * @param mesh a mesh of triangles or tetrahedra whose cells of level 0 are all refined once
 */
template <int dim>
void refine_quadratic_simplices(dealii::Triangulation<dim> &mesh);
} // namespace femgpu

#endif
