// femgpu_expression_speed: nanoseconds a point for value and gradient of the exact solution of
// parameters/poisson_3d.prm on one core, by Field, over lists of points, and by muParser, which
// deal.II's FunctionParser has, with its gradient by differences.
#include "physics/base/expressions.h"

#include <deal.II/base/function_parser.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <ratio>
#include <string>
#include <vector>

namespace
{
using namespace dealii;

constexpr unsigned int dim = 3;
const std::string expression = "sin(pi*x)*cos(pi*y/2)*exp(-z)";

/// Nanoseconds a point, the least of several repeats; @p sum keeps the compiler from leaving it
/// out.
template <class Evaluate>
double measure(const std::size_t n_points, double &sum, const Evaluate &evaluate)
{
  double least = 1e300;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    sum += evaluate();
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - begin;
    least = std::min(least, elapsed.count() / static_cast<double>(n_points));
  }
  return least;
}
} // namespace

int main(int argc, char **argv)
{
  const Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> number(0., 1.);
  const femgpu::Field<dim> field("expression", {expression});
  FunctionParser<dim> parser(1);
  parser.initialize("x,y,z", expression, std::map<std::string, double>{{"pi", std::acos(-1.)}});
  double sum = 0., muparser = 0.;
  for (const unsigned int n_list :
       {8U, 27U, 64U, 512U}) { // of a cell of degree 1, 2, 3, many cells
    std::vector<Point<dim>> points(n_list);
    for (Point<dim> &p : points)
      p = Point<dim>(number(engine), number(engine), number(engine));
    const std::size_t n_lists = 200000 / n_list;
    std::vector<double> rows;
    const double by_lists = measure(n_lists * n_list, sum, [&] {
      for (std::size_t k = 0; k < n_lists; ++k) {
        field.value_and_gradient_rows(points, n_list, rows);
      }
      return rows[0] + rows[n_list];
    });
    if (muparser == 0.)
      muparser = measure(20000, sum, [&] {
        double result = 0.;
        for (std::size_t k = 0; k < 20000; ++k) {
          const Point<dim> &p = points[k % n_list];
          result += parser.value(p) + parser.gradient(p)[0];
        }
        return result;
      });
    std::printf("lists of %3u points: %6.1f ns a point; muParser %6.1f ns; %5.1f times as fast\n",
                n_list, by_lists, muparser, muparser / by_lists);
  }
  return std::isfinite(sum) ? 0 : 1;
}
