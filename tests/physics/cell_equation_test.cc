#include "physics/cell_equation.h"
#include "physics/refinement.h"
#include "tests/physics/physics_on_mesh.h"

#include <deal.II/distributed/tria_base.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * Tests the terms of each physics at points (PointTerms), their derivatives, and the cell equations
 * that consist of them.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

const char *const heat = "subsection Heat\n set Conductivity = 1 + x*u^2, 2 + exp(u)\n"
                         " set Source = 3*x - u^3\n set Reaction = u^4\n"
                         " set Reaction coefficient = 1 + y\n set Boundary reaction = 1: 2, 3*y\n"
                         " set Neumann = 1: 4*(2 - u); 3: sin(u)*x\n set Dirichlet = 0: 1\nend\n";
const char *const elasticity = "subsection Elasticity\n set Young's modulus = 1 + x\n"
                               " set Poisson's ratio = 0.3*y\n set 2D hypothesis = plane stress\n"
                               " set Thermal expansion = 0.1\n set Temperature rise = x*y\n"
                               " set Displacement = 0: 0, 0\n set Body force = x, 2*y\n"
                               " set Pressure = 1: 2; 3: x\nend\n";
const char *const poisson = "subsection Poisson\n set Coefficient = 2 + x*y, 1\n"
                            " set Right-hand side = 4 - (1 + x)*u\n set Dirichlet = 0: x\n"
                            " set Robin = 1: 2, 3*y\n set Neumann = 3: x\nend\n";

const char *const convection =
    "subsection Convection diffusion\n set Form = conservative\n set Diffusivity = 0.2 + x*y, 0.1\n"
    " set Velocity = 3 + x, x*y\n set Reaction = 1 + y\n set Source = 4 - (1 + x)*u\n"
    " set Dirichlet = 0: x\n set Robin = 1: 2, 3*y\n set Total flux = 3: x\nend\n";

/// Calls check(square) for each problem.
template <class Check>
void for_each_problem(const Check &check)
{
  for (const auto &[name, parameters] : {std::pair("heat", heat),
                                         {"elasticity", elasticity},
                                         {"poisson", poisson},
                                         {"convection_diffusion", convection}}) {
    SCOPED_TRACE(name);
    check(UnitSquare(name, parameters));
  }
}

/// Returns random values and gradients of u at @p points.
PointBatch<2> random_batch(const std::vector<Point<2>> &points,
                           const std::vector<Tensor<1, 2>> &normals, const unsigned int components)
{
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> number(0.2, 1.5);
  PointBatch<2> at;
  at.evaluation_points = &points;
  at.normals = &normals;
  at.u.reinit(components, at.size());
  at.gradients.reinit(2 * components, at.size());
  for (unsigned int q = 0; q < at.size(); ++q)
    for (unsigned int row = 0; row < 2 * components; ++row) {
      at.u[row / 2][q] = number(engine);
      at.gradients[row][q] = number(engine);
    }
  return at;
}

TEST(PointTerms, HaveTheDerivativesThatDifferencesTell)
{
  for_each_problem([](const UnitSquare &square) {
    const Problem<2> &problem = *square.problem;
    const unsigned int n = problem.n_components();
    const std::vector<Point<2>> points = {{0.1, 0.9}, {0.5, 0.3}, {0.8, 0.7}};
    const std::vector<Tensor<1, 2>> normals(3, Point<2>(0.6, 0.8));
    for (const types::boundary_id id : {1, 3}) {
      PointBatch<2> at = random_batch(points, normals, n);
      at.boundary = id;
      at.is_at_boundary = true;
      const auto compare = [&](const unsigned int n_rows, const auto &evaluate) {
        PointTerms exact, low, high;
        exact.reinit(n_rows, n, 2, 3);
        evaluate(exact);
        const double h = 1e-5;
        for (unsigned int k = 0; k < 3 * n; ++k) { // u, then its gradients
          double *const state = k < n ? at.u[k] : at.gradients[k - n];
          for (unsigned int q = 0; q < 3; ++q) {
            const double middle = state[q];
            low.reinit(n_rows, n, 2, 3);
            high.reinit(n_rows, n, 2, 3);
            state[q] = middle - h;
            evaluate(low);
            state[q] = middle + h;
            evaluate(high);
            state[q] = middle;
            for (unsigned int row = 0; row < n_rows; ++row) {
              const double difference = (high.value(row)[q] - low.value(row)[q]) / (2. * h);
              const double derivative =
                  k < n ? exact.u_derivative(row, k)[q]
                        : exact.gradient_derivative(row, (k - n) / 2, (k - n) % 2)[q];
              EXPECT_NEAR(derivative, difference, 1e-7) << "row " << row << ", by " << k;
            }
          }
        }
      };
      compare(2 * n, [&](PointTerms &t) { problem.flux(at, t); });
      compare(n, [&](PointTerms &t) { problem.source(at, t); });
      compare(n, [&](PointTerms &t) { problem.boundary_flux(at, t); });
    }
  });
}

/// A smooth positive function.
class Smooth final : public Function<2>
{
public:
  explicit Smooth(const unsigned int n) : Function<2>(n)
  {}
  double value(const Point<2> &p, const unsigned int c) const override
  {
    return 1. + std::sin(p[0] + 2. * c) * p[1] * 0.5;
  }
};

TEST(CellEquation, LinearisedHasTheResidualAndTheEnergyOfTheEvaluatedOne)
{
  for_each_problem([](const UnitSquare &square) {
    const Problem<2> &problem = *square.problem;
    Mesh<2> mesh = make_mesh<2>(square.mesh_parameters, MPI_COMM_WORLD);
    refine_globally(mesh, 2);
    for (const unsigned int degree : {1, 2}) {
      Discretization<2> discretization(mesh, degree, problem.n_components());
      discretization.distribute_dofs();
      discretization.make_constraints(problem);
      FeVector u = discretization.make_vector();
      VectorTools::interpolate(discretization.mapping(), discretization.dofs(),
                               Smooth(problem.n_components()), u);
      u.update_ghost_values();
      const unsigned int n = discretization.element().n_dofs_per_cell();
      CellEquation<2> equation(problem, discretization), evaluated(problem, discretization);
      CellTerms terms(n, problem.nonlinearity().has_value()), expected(terms);
      Vector<double> u_cell(n), r(n);
      for (const auto &cell : discretization.owned_cells()) {
        CellEquation<2> fresh(problem, discretization); // has cached no matrix of another cell
        fresh.linearize(cell, &u, expected);
        equation.linearize(cell, &u, terms);
        cell->get_dof_values(u, u_cell);
        expected.K.residual(r, u_cell, expected.f);
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            EXPECT_NEAR(terms.K(i, j), expected.K(i, j), 1e-13);
        const double energy = 0.5 * expected.K.matrix_norm_square(u_cell) - expected.f * u_cell;
        const double evaluated_energy = evaluated.evaluate(cell, u, terms);
        for (unsigned int i = 0; i < n; ++i)
          EXPECT_NEAR(r(i), terms.f(i), 1e-13);
        if (!problem.traits().has_nonlinear_terms) {
          EXPECT_NEAR(energy, evaluated_energy, 1e-13);
        }
      }
    }
  });
}

class LinearCellEquation : public testing::TestWithParam<const char *>
{};

TEST_P(LinearCellEquation, IsTheSameAtAnyState)
{
  const std::string name = GetParam();
  const UnitSquare square(name, name == "elasticity" ? elasticity : convection);
  const unsigned int n_components = square.problem->n_components();
  const bool is_symmetric = square.problem->traits().has_symmetric_matrix;
  Mesh<2> mesh = make_mesh<2>(square.mesh_parameters, MPI_COMM_WORLD);
  refine_globally(mesh, 1);
  Discretization<2> discretization(mesh, 2, n_components);
  discretization.distribute_dofs();
  discretization.make_constraints(*square.problem);
  FeVector u = discretization.make_vector();
  VectorTools::interpolate(discretization.mapping(), discretization.dofs(), Smooth(n_components),
                           u);
  u.update_ghost_values();
  CellEquation<2> equation(*square.problem, discretization);
  CellTerms at_zero(discretization.element().n_dofs_per_cell(), false), at_u(at_zero);
  for (const auto &cell : discretization.owned_cells()) {
    equation.linearize(cell, nullptr, at_zero);
    equation.linearize(cell, &u, at_u);
    for (unsigned int i = 0; i < at_u.f.size(); ++i) {
      EXPECT_NEAR(at_zero.f(i), at_u.f(i), 1e-12);
      for (unsigned int j = 0; j < at_u.f.size(); ++j) {
        EXPECT_NEAR(at_zero.K(i, j), at_u.K(i, j), 1e-13);
        if (is_symmetric) {
          EXPECT_EQ(at_u.K(i, j), at_u.K(j, i));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Physics, LinearCellEquation,
                         testing::Values("elasticity", "convection_diffusion"));
} // namespace
