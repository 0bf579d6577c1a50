#include "linalg/base/error.h"
#include "physics/constraints/row_reduction.h"
#include "physics/elasticity/elastic_materials.h"
#include "physics/elasticity/rigid_body_modes.h"
#include "physics/physics.h"
#include "physics/problem.h"
#include "physics/residual.h"

#include "tests/physics/physics_on_mesh.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_acceptor.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * Tests details of elasticity that complete runs do not isolate.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

using Modes = std::vector<std::string>;

template <int dim>
void hold(const Point<dim> &p, std::vector<SupportedDirection<dim>> &supports)
{
  for (unsigned int c = 0; c < dim; ++c)
    supports.push_back({p, Point<dim>::unit_vector(c)});
}

/// Returns Σ λ_i a_i ⊗ a_i with orthonormal a_i that are not aligned with the axes.
SymmetricTensor<2, 3> stress_of(const std::array<double, 3> &principal)
{
  const std::array<Tensor<1, 3>, 3> axes = {{Tensor<1, 3>({2. / 3., 1. / 3., 2. / 3.}),
                                             Tensor<1, 3>({-2. / 3., 2. / 3., 1. / 3.}),
                                             Tensor<1, 3>({-1. / 3., -2. / 3., 2. / 3.})}};
  SymmetricTensor<2, 3> stress;
  for (unsigned int i = 0; i < 3; ++i)
    stress += principal[i] * symmetrize(outer_product(axes[i], axes[i]));
  return stress;
}

TEST(PrincipalStresses, are_exact_where_some_are_equal_nearly_equal_or_small)
{
  using Stresses = std::array<double, 3>;
  const std::vector<Stresses> cases = {{{3., 2., 1.}},
                                       {{1., 1., 1.}},
                                       {{2., 1., 1.}},
                                       {{1., 0., 0.}},
                                       {{0., 0., -1.}},
                                       {{2., 1. + 1e-8, 1.}},
                                       {{1e6, 1., -1e6}},
                                       {{1., 1e-8, 1e-16}},
                                       {{0., 0., 0.}},
                                       {{1e8, 1e8, 1.}},
                                       {{1. + 2e-8, 1. + 1e-8, 1.}}};
  for (const Stresses &expected : cases) {
    const Stresses found = principal_stresses(stress_of(expected));
    const double eps = 8. * std::numeric_limits<double>::epsilon() *
                       std::max(std::abs(expected[0]), std::abs(expected[2]));
    for (unsigned int i = 0; i < 3; ++i)
      EXPECT_NEAR(found[i], expected[i], eps) << expected[0] << ' ' << expected[1];
  }
}

TEST(RigidBodyModes, of_a_free_body_are_all_named)
{
  EXPECT_EQ(free_rigid_body_modes<2>({}),
            (Modes{"translation in x", "translation in y", "rotation about the z axis"}));
  EXPECT_EQ(free_rigid_body_modes<3>({}),
            (Modes{"translation in x", "translation in y", "translation in z",
                   "rotation about the x axis", "rotation about the y axis",
                   "rotation about the z axis"}));
}

TEST(RigidBodyModes, are_none_where_three_points_are_held)
{
  std::vector<SupportedDirection<3>> supports;
  for (const Point<3> &p : {Point<3>(5, 1, 0), Point<3>(5, 2, 0), Point<3>(5, 1, 1e-3)})
    hold(p, supports);
  EXPECT_EQ(free_rigid_body_modes(supports), Modes{});
}

TEST(RigidBodyModes, slide_along_a_roller)
{
  EXPECT_EQ(free_rigid_body_modes<2>({{{0, 0}, Point<2>(1, 0)}, {{0, 1}, Point<2>(1, 0)}}),
            Modes{"translation in y"});
  const Tensor<1, 2> oblique = Point<2>(-0.6, 0.8);
  EXPECT_EQ(free_rigid_body_modes<2>({{{0, 0}, oblique}, {{4, 3}, oblique}}),
            Modes{"translation along (0.8, 0.6)"});
}

TEST(RigidBodyModes, turn_about_a_pin_and_an_axis)
{
  std::vector<SupportedDirection<2>> pin;
  hold(Point<2>(2, 1), pin);
  EXPECT_EQ(free_rigid_body_modes(pin),
            Modes{"rotation about the axis through (2, 1) in direction z"});
  std::vector<SupportedDirection<3>> hinge;
  hold(Point<3>(0, 0, 1), hinge);
  hold(Point<3>(1, 1, 1), hinge);
  EXPECT_EQ(free_rigid_body_modes(hinge),
            Modes{"rotation about the axis through (0, 0, 1) along (0.7071, 0.7071, 0)"});
}

TEST(RigidBodyModes, between_two_parallel_planes_are_those_of_the_plane)
{
  std::vector<SupportedDirection<3>> supports;
  for (const Point<3> &p : {Point<3>(0, 0, 0), Point<3>(1, 0, 0), Point<3>(0, 1, 0)})
    supports.push_back({p, Point<3>(0, 0, 1)});
  EXPECT_EQ(free_rigid_body_modes(supports),
            (Modes{"translation in x", "translation in y", "rotation about the z axis"}));
}

TEST(RowReduction, gives_the_echelon_form_and_the_rank)
{
  FullMatrix<double> A(3, 3);
  const double rows[3][3] = {{0., 2., 4.}, {1., 1., 1.}, {2., 4., 6.}};
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      A(i, j) = rows[i][j];
  EXPECT_EQ(row_reduce(A, 3, Pivots::by_columns, 1e-12), (std::vector<unsigned int>{0, 1}));
  const double expected[3][3] = {{1., 0., -1.}, {0., 1., 2.}, {0., 0., 0.}};
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      EXPECT_NEAR(A(i, j), expected[i][j], 1e-15);
}

/// The elastic problem given by @p lines on the unit square.
struct Square : UnitSquare
{
  explicit Square(const std::string &lines)
      : UnitSquare("elasticity", "subsection Elasticity\n" + lines + "end\n")
  {}
};

TEST(ElasticFlux, is_the_stress_with_its_thermal_part)
{
  const Square square("set Lame's lambda = 2\nset Lame's mu = 3\nset Thermal expansion = 0.1\n"
                      "set Temperature rise = x\nset Body force = 5*x, y\n");
  const std::vector<Point<2>> points = {Point<2>(0.5, 0.25)};
  PointBatch<2> at;
  at.evaluation_points = &points;
  at.gradients.reinit(4, 1);
  const double gradients[4] = {1., 2., 4., 8.};
  for (unsigned int row = 0; row < 4; ++row)
    at.gradients[row][0] = gradients[row];
  PointTerms sigma, s;
  sigma.reinit(4, 2, 2, 1);
  s.reinit(2, 2, 2, 1);
  square.problem->flux(at, sigma);
  const double thermal = (3 * 2. + 2 * 3.) * 0.1 * 0.5;
  EXPECT_NEAR(sigma.value(0)[0], 2. * 9. + 2. * 3. * 1. - thermal, 1e-14);
  EXPECT_NEAR(sigma.value(1)[0], 3. * 6., 1e-14);
  EXPECT_NEAR(sigma.value(2)[0], 3. * 6., 1e-14);
  EXPECT_NEAR(sigma.value(3)[0], 2. * 9. + 2. * 3. * 8. - thermal, 1e-14);
  square.problem->source(at, s);
  EXPECT_NEAR(s.value(0)[0], 2.5, 1e-14);
  EXPECT_NEAR(s.value(1)[0], 0.25, 1e-14);
}

TEST(ElasticFlux, at_the_boundary_is_traction_and_pressure)
{
  const Square square("set Young's modulus = 1\nset Poisson's ratio = 0.3\n"
                      "set Displacement = 0: free, 0\nset Symmetry planes = 2\n"
                      "set Traction = 0: 1, 2; 2: 3, 4\nset Pressure = 1: 10; 2: 5\n");
  const auto flux_at = [&](const types::boundary_id id, const Point<2> &n) {
    const std::vector<Point<2>> points(1);
    const std::vector<Tensor<1, 2>> normals = {n};
    PointBatch<2> at;
    at.evaluation_points = &points;
    at.normals = &normals;
    at.boundary = id;
    PointTerms g;
    g.reinit(2, 2, 2, 1);
    square.problem->boundary_flux(at, g);
    return Point<2>(g.value(0)[0], g.value(1)[0]);
  };
  EXPECT_LT(flux_at(0, Point<2>(-1, 0)).distance(Point<2>(1, 2)), 1e-13);
  EXPECT_LT(flux_at(1, Point<2>(1, 0)).distance(Point<2>(-10, 0)), 1e-13);
  EXPECT_LT(flux_at(2, Point<2>(0, -1)).distance(Point<2>(3, 9)), 1e-13);
  EXPECT_FALSE(square.problem->has_boundary_flux(3));
}

/// The displacement (x y, x² − y).
struct QuadraticDisplacement final : Function<2>
{
  QuadraticDisplacement() : Function<2>(2)
  {}
  double value(const Point<2> &p, const unsigned int c) const override
  {
    return c == 0 ? p[0] * p[1] : p[0] * p[0] - p[1];
  }
};

TEST(Reactions, are_minus_the_residual_at_the_nodes_that_are_held)
{
  Square square("set Young's modulus = 1 + x\nset Poisson's ratio = 0.3\n"
                "set Displacement = 0: 0, free; 2: 0, 0\n"
                "set Traction = 1: 1, 2\nset Pressure = 3: 3\nset Reactions = true\n"
                "set Thermal expansion = 1\nset Temperature rise = y\n");
  refine_globally(square.mesh, 3);
  Discretization<2> discretization(square.mesh, 1, 2);
  discretization.distribute_dofs();
  discretization.make_constraints(*square.problem);
  FeVector u = discretization.make_vector();
  VectorTools::interpolate(discretization.dofs(), QuadraticDisplacement(), u);
  u.update_ghost_values();
  DiscreteSolution<2> solution(*square.problem, discretization, u);
  const FeVector &residual = solution.evaluation().residual;
  // Side 0 is held in x only, so the reaction in y at the corner belongs to side 2.
  std::map<std::string, double> expected;
  const auto sum_at = [&](const types::boundary_id id, const unsigned int c) {
    ComponentMask mask(2, false);
    mask.set(c, true);
    double sum = 0.;
    for (const auto dof : DoFTools::extract_boundary_dofs(discretization.dofs(), mask, {id}))
      if (discretization.owned().is_element(dof))
        sum -= residual(dof);
    return Utilities::MPI::sum(sum, MPI_COMM_WORLD);
  };
  expected["reaction x of 0"] = sum_at(0, 0);
  expected["reaction y of 0"] = 0.;
  expected["reaction y of 2"] = sum_at(2, 1);
  expected["load x"] = 1.;
  expected["load y"] = 2. - 3.;
  for (const Quantity &quantity : square.problem->quantities(solution))
    if (const auto value = expected.find(quantity.name); value != expected.end()) {
      EXPECT_NEAR(quantity.value, value->second, 1e-12) << quantity.name;
      expected.erase(value);
    }
  EXPECT_TRUE(expected.empty());
}
} // namespace
