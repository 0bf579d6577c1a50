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
 * A family of surfaces, one through each point, distinguished by their level: concentric circles,
 * spheres or cylinders by their radius, similar ellipses by their first semi-axis, coaxial cones of
 * the same angle by their distance, parallel planes by their position along the normal. Stretching
 * along the second semi-axis turns ellipses into circles.
 */
template <int dim>
class SurfaceFamily
{
public:
  /// @param axis zero for circles in 2D and for spheres; else the direction of the cylinders
  static SurfaceFamily round(const dealii::Point<dim> &center, const dealii::Tensor<1, dim> &axis);
  /// @param axis zero in 2D; else the direction of the elliptic cylinders
  /// @param first a semi-axis, normal to the axis
  /// @param second the length of the other semi-axis
  static SurfaceFamily elliptic(const dealii::Point<dim> &center,
                                const dealii::Tensor<1, dim> &axis,
                                const dealii::Tensor<1, dim> &first, double second);
  /// Returns the coaxial cones parallel to the cone through @p a and @p b, about the axis of this
  /// family of cylinders. @pre @p a and @p b differ along the axis
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
  /// Returns the nearest point on the surface @p level; for an ellipse, the point in the direction
  /// of the center.
  dealii::Point<dim> project(const dealii::Point<dim> &p, double level) const
  {
    return p + (level - this->level(p)) * normal(p, 1. / ratio);
  }
  /// Returns the coordinate of @p p along the axis.
  double height(const dealii::Point<dim> &p) const
  {
    return (p - center) * direction;
  }
  /// Returns the distance from the center or axis; for an ellipse, the first semi-axis through
  /// @p p.
  double radius(const dealii::Point<dim> &p) const
  {
    return stretch(from_center(p), ratio).norm();
  }
  /// Returns the point at fraction @p t of the way from @p a to @p b, on an arc with angles
  /// proportional to @p t.
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
  double cosine = 1., sine = 0.;    ///< of half the apex angle of a cone
};

/// A manifold with new points on the surface of the old points. If there is a second surface, they
/// lie on the intersection curve, even where the surfaces touch tangentially along it.
template <int dim>
class SurfaceManifold final : public dealii::Manifold<dim>
{
public:
  /// @param surface must not be a plane
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
