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
 * A family of surfaces, one through each point, which are told from each other by their level:
 * concentric circles, spheres or cylinders by their radius, similar ellipses by their first
 * semi-axis, coaxial cones of one angle by their distance, parallel planes by their place along the
 * normal. Ellipses are round where lengths along the second semi-axis are stretched.
 */
template <int dim>
class SurfaceFamily
{
public:
  /// @param axis zero for circles in 2D and spheres; else the direction of cylinders
  static SurfaceFamily round(const dealii::Point<dim> &center, const dealii::Tensor<1, dim> &axis);
  /// @param axis zero in 2D; else the direction of elliptic cylinders
  /// @param first a semi-axis, which is normal to the axis
  /// @param second length of the other semi-axis
  static SurfaceFamily elliptic(const dealii::Point<dim> &center,
                                const dealii::Tensor<1, dim> &axis,
                                const dealii::Tensor<1, dim> &first, double second);
  /// The cones about the axis of this family of cylinders that are parallel to that through @p a
  /// and @p b, which differ along the axis.
  SurfaceFamily cones_through(const dealii::Point<dim> &a, const dealii::Point<dim> &b) const;
  static SurfaceFamily plane(const dealii::Tensor<1, dim> &normal);

  bool is_plane() const
  {
    return planes;
  }
  double level(const dealii::Point<dim> &p) const;
  /// Of level(); of length 1 but for ellipses.
  dealii::Tensor<1, dim> gradient(const dealii::Point<dim> &p) const
  {
    return normal(p, ratio);
  }
  /// The nearest point on the surface @p level; on an ellipse that in the direction of the center.
  dealii::Point<dim> project(const dealii::Point<dim> &p, double level) const
  {
    return p + (level - this->level(p)) * normal(p, 1. / ratio);
  }
  /// The place of @p p along the axis.
  double height(const dealii::Point<dim> &p) const
  {
    return (p - center) * direction;
  }
  /// The distance from the center or axis; of an ellipse its first semi-axis.
  double radius(const dealii::Point<dim> &p) const
  {
    return stretch(from_center(p), ratio).norm();
  }
  /// The point that is @p t of the way from @p a to @p b: on arcs of the same angle for the same
  /// part of @p t.
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
  dealii::Tensor<1, dim> direction; ///< axis or normal, of length 1
  dealii::Tensor<1, dim> second;    ///< direction of the second semi-axis, of length 1; or zero
  double ratio = 1.;                ///< of the first semi-axis to the second
  double cosine = 1., sine = 0.;    ///< of half the angle of a cone
};

/// New nodes on the surface of the old ones, or on the curve in which it meets another one, also if
/// they touch along it.
template <int dim>
class SurfaceManifold final : public dealii::Manifold<dim>
{
public:
  /// @param surface is no plane
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
  const std::optional<SurfaceFamily<dim>> other; ///< of edges in 3D
};
} // namespace femgpu

#endif
