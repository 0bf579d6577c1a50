#ifndef femgpu_physics_surfaces_h
#define femgpu_physics_surfaces_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/grid/manifold.h>

#include <memory>
#include <vector>

namespace femgpu
{
/**
 * A family of surfaces, one through each point: concentric circles, spheres or cylinders, which are
 * told from each other by their radius, or parallel planes, by their place along the normal.
 */
template <int dim>
class SurfaceFamily
{
public:
  /// @param axis zero for circles in 2D and spheres; else the direction of cylinders
  static SurfaceFamily round(const dealii::Point<dim> &center, const dealii::Tensor<1, dim> &axis);
  static SurfaceFamily plane(const dealii::Tensor<1, dim> &normal);

  bool is_plane() const
  {
    return planes;
  }
  /// The radius, or the place along the normal, of the surface through @p p.
  double level(const dealii::Point<dim> &p) const;
  /// Of length 1, the gradient of level(); zero at the center or axis.
  dealii::Tensor<1, dim> gradient(const dealii::Point<dim> &p) const;
  /// The nearest point on the surface @p level.
  dealii::Point<dim> project(const dealii::Point<dim> &p, double level) const
  {
    return p + (level - this->level(p)) * gradient(p);
  }
  /// The point that is @p t of the way from @p a to @p b: on arcs of the same angle for the same
  /// part of @p t.
  dealii::Point<dim> between(const dealii::Point<dim> &a, const dealii::Point<dim> &b,
                             double t) const;

  bool operator==(const SurfaceFamily &other) const;

private:
  dealii::Tensor<1, dim> from_center(const dealii::Point<dim> &p) const;

  bool planes = false;
  dealii::Point<dim> center;
  dealii::Tensor<1, dim> direction; ///< axis or normal, of length 1
};

/// New nodes on the surface of the old ones.
template <int dim>
class SurfaceManifold final : public dealii::Manifold<dim>
{
public:
  explicit SurfaceManifold(const SurfaceFamily<dim> &surface) : surface(surface)
  {}
  std::unique_ptr<dealii::Manifold<dim>> clone() const override
  {
    return std::make_unique<SurfaceManifold>(surface);
  }
  dealii::Point<dim> get_new_point(const dealii::ArrayView<const dealii::Point<dim>> &points,
                                   const dealii::ArrayView<const double> &weights) const override;

  const SurfaceFamily<dim> surface;
};

/// New nodes on the curve in which two surfaces meet, also if they touch along it.
template <int dim>
class CurveManifold final : public dealii::Manifold<dim>
{
public:
  /// @param first is no plane
  CurveManifold(const SurfaceFamily<dim> &first, const SurfaceFamily<dim> &second)
      : first(first), second(second)
  {}
  std::unique_ptr<dealii::Manifold<dim>> clone() const override
  {
    return std::make_unique<CurveManifold>(first, second);
  }
  dealii::Point<dim> get_new_point(const dealii::ArrayView<const dealii::Point<dim>> &points,
                                   const dealii::ArrayView<const double> &weights) const override;

  const SurfaceFamily<dim> first, second;
};
} // namespace femgpu

#endif
