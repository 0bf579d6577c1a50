#ifndef femgpu_physics_surfaces_h
#define femgpu_physics_surfaces_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/grid/manifold.h>

#include <memory>
#include <optional>

namespace femgpu
{
/**
 * A family of surfaces, one through each point. The level of a surface is the radius of concentric
 * circles, spheres or cylinders, the first semi-axis of similar ellipses, the distance of coaxial
 * cones of the same angle from the one with its apex at the center, or the position of parallel
 * planes along their normal. Ellipses are treated as circles, stretched along the second
 * semi-axis.
 */
template <int dim>
class SurfaceFamily
{
public:
  /// Returns concentric circles, spheres or cylinders.
  /// @param axis direction of the cylinders; zero for circles in 2D and for spheres
  static SurfaceFamily round(const dealii::Point<dim> &center, const dealii::Tensor<1, dim> &axis);
  /// Returns similar ellipses or elliptic cylinders.
  /// @param axis direction of the elliptic cylinders; zero in 2D
  /// @param first the vector of a semi-axis, normal to @p axis
  /// @param second the length of the other semi-axis
  static SurfaceFamily elliptic(const dealii::Point<dim> &center,
                                const dealii::Tensor<1, dim> &axis,
                                const dealii::Tensor<1, dim> &first, double second);
  /// Returns the cones about the axis of this family of cylinders that have the same apex angle as
  /// the cone through @p a and @p b. @pre @p a and @p b have different height()
  SurfaceFamily cones_through(const dealii::Point<dim> &a, const dealii::Point<dim> &b) const;
  static SurfaceFamily plane(const dealii::Tensor<1, dim> &normal);

  bool is_plane() const
  {
    return planes;
  }
  double level(const dealii::Point<dim> &p) const;
  /// Returns the gradient of level(), a unit vector except for ellipses.
  dealii::Tensor<1, dim> gradient(const dealii::Point<dim> &p) const
  {
    return normal(p, ratio);
  }
  /// Returns the point nearest to @p p on the surface of this @p level; for an ellipse, the point
  /// on the straight line from @p p to the center.
  dealii::Point<dim> project(const dealii::Point<dim> &p, double level) const
  {
    return p + (level - this->level(p)) * normal(p, 1. / ratio);
  }
  /// Returns the coordinate of @p p along the axis.
  double height(const dealii::Point<dim> &p) const
  {
    return (p - center) * direction;
  }
  /// Returns the distance from the center or axis; for ellipses, the first semi-axis of the ellipse
  /// through @p p.
  double radius(const dealii::Point<dim> &p) const
  {
    return stretch(from_center(p), ratio).norm();
  }
  /// Returns the point at fraction @p t of an arc from @p a to @p b. Angle, radius and height vary
  /// linearly with @p t.
  dealii::Point<dim> between(const dealii::Point<dim> &a, const dealii::Point<dim> &b,
                             double t) const;

  bool operator==(const SurfaceFamily &other) const;

private:
  dealii::Tensor<1, dim> from_center(const dealii::Point<dim> &p) const;
  dealii::Tensor<1, dim> stretch(const dealii::Tensor<1, dim> &r, double factor) const
  {
    return r + (factor - 1.) * (r * second) * second;
  }
  dealii::Tensor<1, dim> normal(const dealii::Point<dim> &p, double factor) const;

  bool planes = false;
  dealii::Point<dim> center;
  dealii::Tensor<1, dim> direction; ///< axis or normal, a unit vector
  dealii::Tensor<1, dim> second;    ///< direction of the second semi-axis, a unit vector; or zero
  double ratio = 1.;                ///< first / second semi-axis
  double cosine = 1., sine = 0.;    ///< cosine and sine of half a cone's apex angle
};

/// A manifold that places new points on the surface on which the given points lie. If there is a
/// second family of surfaces, new points lie on the curve in which the two surfaces through the
/// given points intersect, even where the surfaces are tangent.
template <int dim>
class SurfaceManifold final : public dealii::Manifold<dim>
{
public:
  /// @param surface a family other than planes
  SurfaceManifold(const SurfaceFamily<dim> &surface, const std::optional<SurfaceFamily<dim>> &other)
      : surface(surface), other(other)
  {}
  std::unique_ptr<dealii::Manifold<dim>> clone() const override
  {
    return std::make_unique<SurfaceManifold>(surface, other);
  }
  dealii::Point<dim> get_new_point(const dealii::ArrayView<const dealii::Point<dim>> &points,
                                   const dealii::ArrayView<const double> &weights) const override;

  const SurfaceFamily<dim> surface;
  const std::optional<SurfaceFamily<dim>> other; ///< the second surface at an edge in 3D
};
} // namespace femgpu

#endif
