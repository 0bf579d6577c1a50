#include "physics/base/fields.h"
#include "physics/extrema.h"
#include "physics/refinement.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/mpi.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * Compares extrema of polynomials with dense samples, and extrema of finite element functions with
 * known values of functions in the space.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// Returns the binomial coefficient n over k.
double binomial(const unsigned int n, const unsigned int k)
{
  return k == 0 ? 1. : binomial(n - 1, k - 1) * n / k;
}

/// Returns the values of all components at x by the definition of the Bernstein polynomials.
std::vector<double> value_at(const std::vector<double> &coefficients, const unsigned int n,
                             const unsigned int p, const unsigned int n_components,
                             const std::array<double, 3> &x)
{
  const std::size_t size = coefficients.size() / n_components;
  std::vector<double> values(n_components, 0.);
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    double product = coefficients[i];
    for (std::size_t a = 0, rest = i % size; a < n; ++a, rest /= p + 1) {
      const auto k = static_cast<unsigned int>(rest % (p + 1));
      product *= binomial(p, k) * std::pow(x[a], k) * std::pow(1. - x[a], p - k);
    }
    values[i / size] += product;
  }
  return values;
}

/// Returns the largest value of the objective on a grid.
double sampled(const std::vector<double> &coefficients, const unsigned int n, const unsigned int p,
               const unsigned int n_components, const Objective &objective)
{
  const unsigned int n_points = n == 3 ? 7 : 20;
  double largest = -1e300;
  std::array<double, 3> x{};
  for (unsigned int i = 0; i <= n_points; ++i)
    for (unsigned int j = 0; j <= (n > 1 ? n_points : 0); ++j)
      for (unsigned int k = 0; k <= (n > 2 ? n_points : 0); ++k) {
        x = {double(i) / n_points, double(j) / n_points, double(k) / n_points};
        const auto u = value_at(coefficients, n, p, n_components, x);
        largest = std::max(largest, objective.value(u.data(), n_components));
      }
  return largest;
}

TEST(PolynomialMaximum, IsAttainedAndNoSampleIsLarger)
{
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-1., 1.);
  for (unsigned int n = 1; n <= 3; ++n)
    for (unsigned int p = 1; p <= 4; ++p)
      for (const unsigned int n_components : {1U, n})
        for (unsigned int trial = 0; trial < (n == 3 ? 1 : 5); ++trial) {
          std::vector<double> b(n_components *
                                static_cast<std::size_t>(std::lround(std::pow(p + 1, n))));
          for (double &x : b)
            x = number(random);
          PolynomialMaximum maximum(n, p, n_components);
          for (const Objective &objective :
               {Objective{0, 1.}, Objective{0, -1.}, Objective{Objective::length, 1.},
                Objective{Objective::length, -1.}}) {
            const auto found = maximum.find(b, objective, -1e300, 1e-12);
            ASSERT_TRUE(found);
            const auto u = value_at(b, n, p, n_components, found->at);
            EXPECT_NEAR(objective.value(u.data(), n_components), found->value, 1e-9);
            EXPECT_GE(found->value, sampled(b, n, p, n_components, objective) - 1e-9)
                << n << " coordinates, degree " << p << ", " << n_components << " components";
          }
        }
}

TEST(PolynomialMaximum, IsNothingBelowWhatIsKnown)
{
  PolynomialMaximum maximum(1, 2, 1);
  const std::vector<double> b = {0., 1., 0.}; // 2x(1 - x)
  EXPECT_NEAR(maximum.find(b, {0, 1.}, 0., 1e-12)->value, 0.5, 1e-15);
  EXPECT_NEAR(maximum.find(b, {0, 1.}, 0., 1e-12)->at[0], 0.5, 1e-14);
  EXPECT_FALSE(maximum.find(b, {0, 1.}, 0.5, 1e-12));
  EXPECT_FALSE(maximum.find(b, {0, -1.}, 0., 1e-12));
}

TEST(PolynomialMaximum, OfARidgeIsFoundInFewBoxesAtItsFirstPoint)
{
  // 2x(1 - x), independent of y.
  PolynomialMaximum maximum(2, 2, 1);
  const auto found = maximum.find({0., 1., 0., 0., 1., 0., 0., 1., 0.}, {0, 1.}, 0., 1e-12);
  EXPECT_NEAR(found->value, 0.5, 1e-15);
  EXPECT_NEAR(found->at[0], 0.5, 1e-12);
  EXPECT_EQ(found->at[1], 0.);
}

/// A function on the unit square or cube that belongs to the finite element space of
/// the given degree.
template <int dim>
struct Function
{
  Function(const std::string &cells, const unsigned int degree, const std::string &expression,
           const unsigned int refinements = 1)
      : mesh(make(cells)), discretization(mesh, degree, 1)
  {
    refine_globally(mesh, refinements);
    discretization.distribute_dofs();
    discretization.make_constraints(problem);
    u = discretization.make_vector();
    const Field<dim> field("Test/Function", {expression});
    VectorTools::interpolate(discretization.mapping(), discretization.dofs(), field, u);
    u.update_ghost_values();
  }
  static Mesh<dim> make(const std::string &cells)
  {
    static MeshParameters parameters;
    parameters.cells = cells;
    parameters.arguments = "0 : 1 : true";
    return make_mesh<dim>(parameters, MPI_COMM_WORLD);
  }

  Mesh<dim> mesh;
  ScalarProblem<dim> problem;
  Discretization<dim> discretization;
  FeVector u;
};

TEST(Extrema, AreThoseOfThePolynomialsNotOfTheNodes)
{
  for (const std::string cells : {"hypercube", "simplex"}) {
    SCOPED_TRACE(cells);
    const Function<2> hill(cells, 2, "1 - (x - 0.3)^2 - 2*(y - 0.7)^2 - (x - 0.3)*(y - 0.7)");
    const auto [smallest, largest] = extrema(hill.discretization, hill.u);
    EXPECT_NEAR(largest, 1., 1e-14);
    EXPECT_NEAR(smallest, 1. - 0.09 - 0.98 - 0.21, 1e-14); // at (0, 0)
    const Function<3> valley(cells, 2, "(x - 0.3)^2 + 2*(y - 0.7)^2 + (z - 0.6)^2 - 3");
    EXPECT_NEAR(extrema(valley.discretization, valley.u).first, -3., 1e-14);
    EXPECT_NEAR(extrema(valley.discretization, valley.u).second, -3. + 0.49 + 0.98 + 0.36, 1e-14);
  }
  // (x - 0.3)(x - 0.9)(x - 0.2) has its local maximum and minimum at (1.4 ± sqrt(0.43)) / 3.
  const Function<2> cubic("hypercube", 3, "(x - 0.3)*(x - 0.9)*(x - 0.2)*y", 0);
  const auto p = [](const double x) { return (x - 0.3) * (x - 0.9) * (x - 0.2); };
  const auto [smallest, largest] = extrema(cubic.discretization, cubic.u);
  EXPECT_NEAR(smallest, std::min(p(0.), p((1.4 + std::sqrt(0.43)) / 3.)), 1e-14);
  EXPECT_NEAR(largest, std::max(p(1.), p((1.4 - std::sqrt(0.43)) / 3.)), 1e-14);
}

TEST(Extrema, OfConstantsAreExact)
{
  for (unsigned int degree = 1; degree <= 4; ++degree) {
    const Function<2> constant("hypercube", degree, "0.1");
    EXPECT_EQ(extrema(constant.discretization, constant.u), std::make_pair(0.1, 0.1));
    const Function<2> zero("hypercube", degree, "0");
    EXPECT_FALSE(std::signbit(extrema(zero.discretization, zero.u).first));
  }
}
} // namespace
