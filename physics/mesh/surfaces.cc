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
SurfaceFamily<dim> SurfaceFamily<dim>::elliptic(const Point<dim> &center,
                                                const Tensor<1, dim> &axis,
                                                const Tensor<1, dim> &first, const double second)
{
  SurfaceFamily family = round(center, axis);
  if constexpr (dim == 2)
    family.second = cross_product_2d(first);
  else
    family.second = cross_product_3d(axis, first);
  family.second /= family.second.norm();
  family.ratio = first.norm() / second;
  return family;
}

template <int dim>
SurfaceFamily<dim> SurfaceFamily<dim>::cones_through(const Point<dim> &a, const Point<dim> &b) const
{
  SurfaceFamily family = *this;
  const double high = height(b) - height(a), wide = radius(b) - radius(a);
  family.cosine = std::abs(high) / std::hypot(high, wide);
  family.sine = (high > 0. ? wide : -wide) / std::hypot(high, wide);
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
  return planes ? (p - Point<dim>()) * direction : cosine * radius(p) - sine * height(p);
}

/// Returns the unit normal of the surface through @p p in coordinates stretched along the second
/// semi-axis, in which ellipses are circles. Its component along this axis is scaled by @p factor.
template <int dim>
Tensor<1, dim> SurfaceFamily<dim>::normal(const Point<dim> &p, const double factor) const
{
  if (planes)
    return direction;
  const Tensor<1, dim> r = stretch(from_center(p), ratio);
  const double length = r.norm();
  const Tensor<1, dim> outward = length > 0. ? r / length : Tensor<1, dim>();
  return cosine * stretch(outward, factor) - sine * direction;
}

template <int dim>
Point<dim> SurfaceFamily<dim>::between(const Point<dim> &a, const Point<dim> &b,
                                       const double t) const
{
  const Point<dim> chord = a + t * (b - a);
  const double r_a = radius(a), r_b = radius(b);
  if (planes || !(r_a > 0.) || !(r_b > 0.))
    return chord;
  const Tensor<1, dim> r = stretch(from_center(a), ratio) / r_a;
  const Tensor<1, dim> s = stretch(from_center(b), ratio) / r_b;
  const Tensor<1, dim> across = s - (r * s) * r; // in the plane of the arc
  const double angle = std::atan2(across.norm(), r * s);
  if (!(across.norm() > 0.))
    return chord;
  const Point<dim> on_axis = chord - from_center(chord);
  return on_axis +
         ((1. - t) * r_a + t * r_b) *
             stretch(std::cos(t * angle) * r + std::sin(t * angle) / across.norm() * across,
                     1. / ratio);
}

template <int dim>
bool SurfaceFamily<dim>::operator==(const SurfaceFamily &other) const
{
  constexpr double rounding = 1e-8;
  return planes == other.planes && (planes || center.distance(other.center) == 0.) &&
         (direction - other.direction).norm() < rounding &&
         (second - other.second).norm() < rounding && std::abs(ratio - other.ratio) < rounding &&
         std::abs(sine - other.sine) < rounding;
}

/**
 * Computes a point on the first surface. If there is a second surface, projects the point to the
 * intersection curve by Newton's method with minimum step length. Let g and h be the unit normals
 * of both surfaces, c = g·h, and f and d the distances from the surfaces. The step is
 * -(f+d)/2 (g+h)/(1+c) - (f-d)/2 (g-h)/(1-c). A term is omitted if its denominator vanishes: the
 * surfaces are tangent there, and one distance determines the step.
 */
template <int dim>
Point<dim> SurfaceManifold<dim>::get_new_point(const ArrayView<const Point<dim>> &points,
                                               const ArrayView<const double> &weights) const
{
  constexpr unsigned int max_steps = 50;
  constexpr double parallel = 1e-6, rounding = 1e-14;
  Point<dim> p;
  if (points.size() == 2)
    p = surface.between(points[0], points[1], weights[1]);
  else {
    for (unsigned int i = 0; i < points.size(); ++i)
      p += weights[i] * points[i];
    p = surface.project(p, weighted_level(surface, points, weights));
  }
  if (!other)
    return p;
  const double level = weighted_level(surface, points, weights);
  const double other_level = weighted_level(*other, points, weights);
  const double size = points[0].distance(points[points.size() - 1]);
  for (unsigned int step = 0; step < max_steps; ++step) {
    Tensor<1, dim> g = surface.gradient(p), h = other->gradient(p);
    const double g_length = std::max(g.norm(), rounding), h_length = std::max(h.norm(), rounding);
    g /= g_length;
    h /= h_length;
    const double f = (surface.level(p) - level) / g_length;
    const double d = (other->level(p) - other_level) / h_length, c = g * h;
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
} // namespace femgpu
