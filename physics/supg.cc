#include "physics/supg.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

template <int dim>
std::vector<double> supg_tau(const PointBatch<dim> &at, const DirectionRows<dim> &b,
                             const DirectionRows<dim> &k, const std::vector<double> &c)
{
  std::vector<double> result(at.size());
  const double p = at.degree;
  for (unsigned int q = 0; q < at.size(); ++q) {
    double diffusion = 0.;                         // k/d²
    double largest_speed = 0., sum_of_speeds = 0.; // along the coordinates of the reference cell
    const auto add = [&](const Tensor<1, dim> &gradient) {
      double k_of_gradient = 0., speed = 0.;
      for (unsigned int a = 0; a < dim; ++a) {
        k_of_gradient += k[a][q] * gradient[a] * gradient[a];
        speed += b[a][q] * gradient[a];
      }
      diffusion = std::max(diffusion, k_of_gradient);
      largest_speed = std::max(largest_speed, std::abs(speed));
      sum_of_speeds += std::abs(speed);
    };
    Tensor<1, dim> of_last; // the gradient of the last barycentric coordinate of a simplex
    for (unsigned int i = 0; i < dim; ++i) {
      Tensor<1, dim> gradient;
      for (unsigned int a = 0; a < dim; ++a)
        gradient[a] = at.inverse_jacobian(i, a)[q];
      add(gradient);
      of_last -= gradient;
    }
    if (at.is_simplex)
      add(of_last);
    const double b_h = at.is_simplex ? sum_of_speeds / 2. : largest_speed; // |b|/h
    result[q] = b_h > 0. ? 1. / (4. * p * p * diffusion + 2. * p * b_h + c[q]) : 0.;
  }
  return result;
}

template std::vector<double> supg_tau<2>(const PointBatch<2> &, const DirectionRows<2> &,
                                         const DirectionRows<2> &, const std::vector<double> &);
template std::vector<double> supg_tau<3>(const PointBatch<3> &, const DirectionRows<3> &,
                                         const DirectionRows<3> &, const std::vector<double> &);
} // namespace femgpu
