#include "physics/balance.h"
#include "physics/problem.h"
#include "physics/refinement.h"

#include "tests/physics/physics_on_mesh.h"

#include <deal.II/base/function.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>

/**
 * @file
 * Tests fluxes, forces and their balance on a unit square of 8 × 8 cells for functions whose
 * balance is known, whether or not they solve the problem.
 */
namespace
{
using namespace femgpu;
using namespace dealii;
using linalg::Outcome;

class PrescribedFunction : public Function<2>
{
public:
  explicit PrescribedFunction(std::function<double(const Point<2> &)> f, const unsigned int n = 1)
      : Function<2>(n), f(std::move(f))
  {}
  double value(const Point<2> &p, const unsigned int c) const override
  {
    return c == 0 ? f(p) : 0.;
  }

private:
  std::function<double(const Point<2> &)> f;
};

/// A problem on the unit square, and a function that is treated as its solution.
struct Case
{
  Case(const std::string &physics, const std::string &parameters,
       const std::function<double(const Point<2> &)> &f)
      : square(physics, parameters), discretization(refined(), 1, square.problem->n_components())
  {
    discretization.distribute_dofs();
    discretization.make_constraints(*square.problem);
    u = discretization.make_vector();
    set(f);
    solution = std::make_unique<DiscreteSolution<2>>(*square.problem, discretization, u);
  }

  const Mesh<2> &refined()
  {
    refine_globally(square.mesh, 3);
    return square.mesh;
  }
  void set(const std::function<double(const Point<2> &)> &f)
  {
    u.zero_out_ghost_values();
    VectorTools::interpolate(discretization.dofs(),
                             PrescribedFunction(f, square.problem->n_components()), u);
    discretization.constraints().distribute(u);
    u.update_ghost_values();
  }
  std::map<std::string, double> quantities()
  {
    std::map<std::string, double> result;
    for (const Quantity &quantity : square.problem->quantities(*solution))
      result[quantity.name] = quantity.value;
    return result;
  }
  const Balance &balance()
  {
    return solution->evaluation().balance;
  }
  /// Returns the report of a converged solve after require_balance() has examined it. Calls
  /// @p further in place of each additional solve that require_balance() requests.
  linalg::SolveReport balance_report(const std::function<void()> &further)
  {
    linalg::SolveReport report;
    report.outcome = Outcome::converged;
    report.target = 1.;
    report.method.solver = "cg";
    require_balance<2>(*square.problem, *solution, report, [&](const double factor) {
      EXPECT_LE(factor, 0.1);
      ++n_further;
      further();
      linalg::SolveReport rest = report;
      rest.target *= factor;
      return rest;
    });
    EXPECT_EQ(report.target, 1.);
    return report;
  }

  UnitSquare square;
  Discretization<2> discretization;
  FeVector u;
  std::unique_ptr<DiscreteSolution<2>> solution;
  int n_further = 0;
};

std::string poisson(const std::string &data)
{
  return "subsection Poisson\n" + data + "\nend\n";
}
const std::string held_at_both_sides =
    poisson("set Right-hand side = 0\nset Dirichlet = 0: 0; 1: 1");

TEST(Balance, of_an_exact_solution_holds)
{
  Case linear("poisson", held_at_both_sides, [](const auto &p) { return p[0]; });
  const auto quantities = linear.quantities();
  EXPECT_NEAR(quantities.at("flux through 0"), 1., 1e-13);
  EXPECT_NEAR(quantities.at("flux through 1"), -1., 1e-13);
  EXPECT_NEAR(quantities.at("energy"), 0.5, 1e-13);
  EXPECT_NEAR(linear.balance().magnitude, 2., 1e-12);
  EXPECT_LT(quantities.at("balance defect"), 1e-13);
  EXPECT_EQ(linear.balance_report([] {}).outcome, Outcome::converged);
  EXPECT_EQ(linear.n_further, 0);
}

TEST(Balance, of_a_function_that_no_iteration_has_moved_does_not_hold)
{
  Case zero("poisson", held_at_both_sides, [](const auto &) { return 0.; });
  EXPECT_NEAR(zero.quantities().at("flux through 0"), 0., 1e-13);
  EXPECT_NEAR(zero.quantities().at("flux through 1"), -8., 1e-12);
  EXPECT_NEAR(zero.quantities().at("balance defect"), 1., 1e-13);
  const linalg::SolveReport report = zero.balance_report([] {});
  EXPECT_EQ(to_string(report.outcome), "not_balanced");
  EXPECT_EQ(zero.n_further, 3);
  EXPECT_NE(report.message.find("is 8, the defect of their balance is 8, and"), std::string::npos)
      << report.message;
}

TEST(Balance, is_reached_by_a_further_solve)
{
  Case later("poisson", held_at_both_sides, [](const auto &) { return 0.; });
  const auto solve = [&] { later.set([](const auto &p) { return p[0]; }); };
  EXPECT_EQ(later.balance_report(solve).outcome, Outcome::converged);
  EXPECT_EQ(later.n_further, 1);
  EXPECT_LT(later.balance().relative_defect(), 1e-13);
}

TEST(Balance, of_a_body_without_fluxes_is_rounding)
{
  Case constant("poisson", poisson("set Right-hand side = 0\nset Dirichlet = 0: 300"),
                [](const auto &p) { return 300. * (1. + 1e-15 * p[0]); });
  EXPECT_GT(constant.balance().magnitude, 0.);
  const linalg::SolveReport report = constant.balance_report([] {});
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding");
  EXPECT_EQ(constant.n_further, 0);
  EXPECT_NE(report.message.find("Rounding accounts"), std::string::npos) << report.message;
}

TEST(Balance, that_rounding_spoils_is_told)
{
  Case stiff("poisson",
             poisson("set Coefficient = if(x > 0.5, 1e14, 1)\nset Right-hand side = 0\n"
                     "set Dirichlet = 0: 0; 1: 1"),
             [](const auto &p) { return p[0] < 0.5 ? 2. * p[0] : 1. - 1e-15 * (1. - p[0]); });
  const linalg::SolveReport report = stiff.balance_report([] {});
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding");
  EXPECT_NE(report.message.find("Rounding accounts"), std::string::npos) << report.message;
}

// Contributions of an oscillating function may cancel in the sum.
TEST(Balance, is_asked_for_at_each_node)
{
  Case rough("poisson", held_at_both_sides, [](const auto &p) {
    const auto node = static_cast<int>(std::lround(8. * p[0]) + std::lround(8. * p[1]));
    return p[0] + (node % 2 == 0 ? 0.01 : -0.01) * p[0] * (1. - p[0]);
  });
  EXPECT_LT(rough.balance().relative_defect(), 1e-2);
  EXPECT_GT(rough.balance().relative_residual(), 0.1);
  EXPECT_EQ(to_string(rough.balance_report([] {}).outcome), "not_balanced");
}

// The exchange is 1e10 in both directions; only the difference enters the domain.
TEST(Balance, is_seen_through_a_large_coefficient_of_exchange)
{
  const std::string exchange =
      poisson("set Right-hand side = 0\nset Dirichlet = 0: 0\nset Robin = 1: 1e10, 1e10");
  Case exact("poisson", exchange, [](const auto &p) { return p[0] / (1. + 1e-10); });
  EXPECT_NEAR(exact.quantities().at("flux through 1"), -1., 1e-5);
  EXPECT_NEAR(exact.quantities().at("flux through 0"), 1., 1e-9);
  EXPECT_LT(exact.balance().relative_defect(), 1e-5);
  Case zero("poisson", exchange, [](const auto &) { return 0.; });
  EXPECT_NEAR(zero.balance().relative_defect(), 1., 1e-12);
  Case wrong("poisson", exchange, [](const auto &p) { return 0.99 * p[0]; });
  EXPECT_GT(wrong.balance().relative_defect(), 0.9);
}

TEST(Balance, of_convection_alone_is_that_of_heat_in_and_out)
{
  const std::string fin = "subsection Heat\nset Conductivity = 200\n"
                          "set Neumann = 0: 100; 1: 50*(25 - u)\nend\n";
  Case exact("heat", fin, [](const auto &p) { return 27. + 0.5 * (1. - p[0]); });
  EXPECT_NEAR(exact.quantities().at("flux through 0"), -100., 1e-10);
  EXPECT_NEAR(exact.quantities().at("flux through 1"), 100., 1e-10);
  EXPECT_LT(exact.quantities().at("balance defect"), 1e-13);
  Case warmer("heat", fin, [](const auto &p) { return 28. + 0.5 * (1. - p[0]); });
  EXPECT_NEAR(warmer.quantities().at("flux through 1"), 150., 1e-10);
  EXPECT_NEAR(warmer.quantities().at("balance defect"), 50. / 250., 1e-12);
  EXPECT_EQ(to_string(warmer.balance_report([] {}).outcome), "not_balanced");
}

// φ = u² by nodal quadrature; u = 2 - x radiates 1 at x = 1, where g = 0.
TEST(Balance, knows_what_a_nonlinear_reaction_takes_on_a_side)
{
  Case radiation("heat",
                 "subsection Heat\nset Conductivity = 1\nset Neumann = 0: 1\n"
                 "set Reaction = u^2\nset Boundary reaction = 1: 1, 0\nend\n",
                 [](const auto &p) { return 2. - p[0]; });
  ASSERT_TRUE(radiation.square.problem->nonlinearity());
  EXPECT_NEAR(radiation.quantities().at("flux through 0"), -1., 1e-13);
  EXPECT_NEAR(radiation.quantities().at("flux through 1"), 1., 1e-13);
  EXPECT_LT(radiation.quantities().at("balance defect"), 1e-13);
}

TEST(Balance, of_given_fluxes_alone_is_that_of_the_data)
{
  Case fluxes("poisson", poisson("set Right-hand side = 0\nset Neumann = 0: -1; 1: 1.001"),
              [](const auto &p) { return p[0] - 0.5; });
  EXPECT_NEAR(fluxes.quantities().at("flux through 0"), 1., 1e-13);
  EXPECT_NEAR(fluxes.quantities().at("flux through 1"), -1.001, 1e-13);
  EXPECT_NEAR(fluxes.quantities().at("balance defect"), 0.001 / 2.001, 1e-12);
}

std::string elasticity(const std::string &data)
{
  return "subsection Elasticity\nset Young's modulus = 1\nset Poisson's ratio = 0\n" + data +
         "\nend\n";
}

TEST(Balance, of_a_solid_is_that_of_its_forces)
{
  const std::string bar =
      elasticity("set Displacement = 0: 0, free\nset Symmetry planes = 2\nset Traction = 1: 3, 0");
  Case exact("elasticity", bar, [](const auto &p) { return 3. * p[0]; });
  EXPECT_LT(exact.quantities().at("balance defect"), 1e-13);
  EXPECT_NEAR(exact.balance().magnitude, 6., 1e-12);
  Case half("elasticity", bar, [](const auto &p) { return 1.5 * p[0]; });
  EXPECT_NEAR(half.balance().defect, 1.5, 1e-12);
  EXPECT_NEAR(half.quantities().at("balance defect"), 1.5 / 4.5, 1e-12);
  EXPECT_EQ(to_string(half.balance_report([] {}).outcome), "not_balanced");
}

TEST(Balance, of_a_solid_counts_thermal_loads)
{
  Case warm("elasticity",
            elasticity("set Displacement = 0, 1, 2, 3: 0, 0\nset Thermal expansion = 1\n"
                       "set Temperature rise = 1"),
            [](const auto &) { return 0.; });
  EXPECT_LT(warm.balance().defect, 1e-13);
  EXPECT_GT(warm.balance().magnitude, 4.);
}
} // namespace
