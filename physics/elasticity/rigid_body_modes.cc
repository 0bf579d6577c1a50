#include "physics/elasticity/rigid_body_modes.h"

#include "physics/constraints/row_reduction.h"

#include <deal.II/lac/lapack_full_matrix.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
// A motion is free if it moves the supports by less than this fraction of their extent.
constexpr double tolerance = 1e-6;

using Vector3 = Tensor<1, 3>;

template <int dim>
Vector3 to_3d(const Tensor<1, dim> &v)
{
  Vector3 result;
  for (unsigned int a = 0; a < dim; ++a)
    result[a] = v[a];
  return result;
}

/// The centre and size of the supports. In coordinates with this origin and unit of length, the
/// conditions are of order one.
template <int dim>
struct Frame
{
  explicit Frame(const std::vector<SupportedDirection<dim>> &supports)
  {
    for (const auto &support : supports)
      centre += to_3d(support.point) / static_cast<double>(supports.size());
    for (const auto &support : supports)
      length = std::max(length, (to_3d(support.point) - centre).norm());
    if (length == 0.)
      length = 1.;
  }

  Vector3 centre;
  double length = 0.;
};

/// Returns MᵀM/n for the conditions M (ω, t) = 0 of the n supports. In 2D, ω_x = ω_y = t_z = 0 are
/// further conditions.
template <int dim>
LAPACKFullMatrix<double> normal_equations(const std::vector<SupportedDirection<dim>> &supports,
                                          const Frame<dim> &frame)
{
  LAPACKFullMatrix<double> sum(6, 6);
  for (const auto &support : supports) {
    const Vector3 d = to_3d(support.direction);
    const Vector3 x = (to_3d(support.point) - frame.centre) / frame.length;
    const Vector3 moment = cross_product_3d(x, d); // d·(ω × x) = ω·(x × d)
    const std::array<double, 6> row = {moment[0], moment[1], moment[2], d[0], d[1], d[2]};
    for (unsigned int i = 0; i < 6; ++i)
      for (unsigned int j = 0; j < 6; ++j)
        sum(i, j) += row[i] * row[j] / static_cast<double>(supports.size());
  }
  if (dim == 2)
    for (const unsigned int i : {0, 1, 5})
      sum(i, i) += 1.;
  return sum;
}

/// Returns three entries of a row of a matrix, starting at column @p first.
template <class Matrix>
Vector3 row_segment(const Matrix &matrix, const unsigned int row, const unsigned int first)
{
  Vector3 result;
  for (unsigned int a = 0; a < 3; ++a)
    result[a] = matrix(row, first + a);
  return result;
}

/// Returns a basis of the motions u = t + ω × x that the supports permit, with one row (ω, t) for
/// each motion, chosen to contain many zeros. x is relative to the origin, in frame lengths.
template <int dim>
FullMatrix<double> free_motions(const std::vector<SupportedDirection<dim>> &supports,
                                const Frame<dim> &frame)
{
  LAPACKFullMatrix<double> conditions = normal_equations(supports, frame);
  conditions.compute_svd();
  std::vector<unsigned int> free;
  for (unsigned int k = 0; k < 6; ++k)
    if (conditions.singular_value(k) <= tolerance * tolerance)
      free.push_back(k);
  FullMatrix<double> motions(static_cast<unsigned int>(free.size()), 6);
  for (unsigned int k = 0; k < motions.m(); ++k) {
    const Vector3 omega = row_segment(conditions.get_svd_vt(), free[k], 0);
    Vector3 t = row_segment(conditions.get_svd_vt(), free[k], 3);
    t -= cross_product_3d(omega, frame.centre / frame.length); // now x is relative to the origin
    for (unsigned int a = 0; a < 3; ++a) {
      motions(k, a) = omega[a];
      motions(k, 3 + a) = t[a];
    }
  }
  row_reduce(motions, 6, Pivots::by_columns, tolerance);
  return motions;
}

template <int dim>
std::string coordinates(const Vector3 &v)
{
  std::ostringstream text;
  text.precision(4);
  for (unsigned int a = 0; a < dim; ++a)
    text << (a > 0 ? ", " : "(") << (std::abs(v[a]) < tolerance * v.norm() ? 0. : v[a]);
  return text.str() + ")";
}

/// Returns "x", "y" or "z" if @p v is parallel to that axis; empty otherwise.
std::string axis_of(const Vector3 &v)
{
  for (unsigned int a = 0; a < 3; ++a)
    if (std::abs(v[a]) > (1. - tolerance) * v.norm())
      return std::string(1, "xyz"[a]);
  return "";
}

template <int dim>
std::string describe_motion(const Vector3 &omega, const Vector3 &t, const double length)
{
  if (omega.norm() <= tolerance) {
    const std::string axis = axis_of(t);
    return axis.empty() ? "translation along " + coordinates<dim>(t / t.norm())
                        : "translation in " + axis;
  }
  // u at the point of the axis nearest to the origin is parallel to the axis.
  const double square = omega.norm_square();
  const Vector3 point = cross_product_3d(omega, t) / square;
  const double pitch = (omega * t) / square;
  const std::string axis = axis_of(omega);
  std::string text = "rotation about the ";
  if (point.norm() > tolerance * 100.)
    text += "axis through " + coordinates<dim>(point * length) +
            (axis.empty() ? " along " + coordinates<3>(omega / std::sqrt(square))
                          : " in direction " + axis);
  else
    text += axis.empty()
                ? "axis through the origin along " + coordinates<3>(omega / std::sqrt(square))
                : axis + " axis";
  if (std::abs(pitch) > tolerance * 100.) {
    std::ostringstream screw;
    screw.precision(4);
    screw << ", with a translation of " << pitch * length << " along it per radian";
    text += screw.str();
  }
  return text;
}
} // namespace

template <int dim>
std::vector<std::string> free_rigid_body_modes(const std::vector<SupportedDirection<dim>> &supports)
{
  const Frame<dim> frame(supports);
  std::vector<std::string> modes;
  const FullMatrix<double> motions = free_motions(supports, frame);
  for (unsigned int k = 0; k < motions.m(); ++k)
    modes.push_back(
        describe_motion<dim>(row_segment(motions, k, 0), row_segment(motions, k, 3), frame.length));
  // translations first
  std::stable_partition(modes.begin(), modes.end(),
                        [](const std::string &mode) { return mode.front() == 't'; });
  return modes;
}

template std::vector<std::string>
free_rigid_body_modes(const std::vector<SupportedDirection<2>> &supports);
template std::vector<std::string>
free_rigid_body_modes(const std::vector<SupportedDirection<3>> &supports);
} // namespace femgpu
