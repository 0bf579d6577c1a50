#include "physics/mesh/surfaces.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
double weighted_level(const SurfaceFamily<dim> &surface, const ArrayView<const Point<dim>> &points,
                      const ArrayView<const double> &weights)
{
  double level = 0.;
  for (unsigned int i = 0; i < points.size(); ++i)
    level += weights[i] * surface.level(points[i]);
  return level;
}
} // namespace

template <int dim>
SurfaceFamily<dim> SurfaceFamily<dim>::round(const Point<dim> &center, const Tensor<1, dim> &axis)
{
  SurfaceFamily family;
  family.center = center;
  if (axis.norm() > 0.)
    family.direction = axis / axis.norm();
  return family;
}

template <int dim>
SurfaceFamily<dim> SurfaceFamily<dim>::plane(const Tensor<1, dim> &normal)
{
  SurfaceFamily family;
  family.planes = true;
  family.direction = normal / normal.norm();
  return family;
}

template <int dim>
Tensor<1, dim> SurfaceFamily<dim>::from_center(const Point<dim> &p) const
{
  const Tensor<1, dim> r = p - center;
  return r - (r * direction) * direction;
}

template <int dim>
double SurfaceFamily<dim>::level(const Point<dim> &p) const
{
  return planes ? (p - Point<dim>()) * direction : from_center(p).norm();
}

template <int dim>
Tensor<1, dim> SurfaceFamily<dim>::gradient(const Point<dim> &p) const
{
  if (planes)
    return direction;
  const Tensor<1, dim> r = from_center(p);
  const double length = r.norm();
  return length > 0. ? r / length : Tensor<1, dim>();
}

template <int dim>
Point<dim> SurfaceFamily<dim>::between(const Point<dim> &a, const Point<dim> &b,
                                       const double t) const
{
  const Tensor<1, dim> r = gradient(a), s = gradient(b);
  const double radius = (1. - t) * level(a) + t * level(b);
  const Point<dim> chord = a + t * (b - a);
  const Tensor<1, dim> across = s - (r * s) * r; // in the plane of the arc
  const double angle = std::atan2(across.norm(), r * s);
  if (planes || !(across.norm() > 0.))
    return chord;
  const Point<dim> on_axis = chord - from_center(chord);
  return on_axis +
         radius * (std::cos(t * angle) * r + std::sin(t * angle) / across.norm() * across);
}

template <int dim>
bool SurfaceFamily<dim>::operator==(const SurfaceFamily &other) const
{
  constexpr double rounding = 1e-8;
  return planes == other.planes && (planes || center.distance(other.center) == 0.) &&
         (direction - other.direction).norm() < rounding;
}

template <int dim>
Point<dim> SurfaceManifold<dim>::get_new_point(const ArrayView<const Point<dim>> &points,
                                               const ArrayView<const double> &weights) const
{
  if (points.size() == 2)
    return surface.between(points[0], points[1], weights[1]);
  Point<dim> mean;
  for (unsigned int i = 0; i < points.size(); ++i)
    mean += weights[i] * points[i];
  return surface.project(mean, weighted_level(surface, points, weights));
}

/**
 * From the point on the first surface, Newton's steps of least length: with gradients g and h of
 * length 1 and cosine c between them, and the distances f and d from the surfaces, the step is
 * -(f+d)/2 (g+h)/(1+c) - (f-d)/2 (g-h)/(1-c), without the part in whose direction both surfaces
 * are parallel: there they touch, and one distance says all.
 */
template <int dim>
Point<dim> CurveManifold<dim>::get_new_point(const ArrayView<const Point<dim>> &points,
                                             const ArrayView<const double> &weights) const
{
  constexpr unsigned int most_steps = 50;
  constexpr double parallel = 1e-6, rounding = 1e-14;
  const double first_level = weighted_level(first, points, weights);
  const double second_level = weighted_level(second, points, weights);
  Point<dim> p = SurfaceManifold<dim>(first).get_new_point(points, weights);
  const double size = points[0].distance(points[points.size() - 1]);
  for (unsigned int step = 0; step < most_steps; ++step) {
    const Tensor<1, dim> g = first.gradient(p), h = second.gradient(p);
    const double f = first.level(p) - first_level, d = second.level(p) - second_level, c = g * h;
    if (std::max(std::abs(f), std::abs(d)) <= rounding * size)
      break;
    if (1. + c > parallel)
      p -= (f + d) / 2. / (1. + c) * (g + h);
    if (1. - c > parallel)
      p -= (f - d) / 2. / (1. - c) * (g - h);
  }
  return p;
}

template class SurfaceFamily<2>;
template class SurfaceFamily<3>;
template class SurfaceManifold<2>;
template class SurfaceManifold<3>;
template class CurveManifold<2>;
template class CurveManifold<3>;
} // namespace femgpu
