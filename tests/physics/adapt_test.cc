#include "linalg/base/error.h"
#include "physics/error_norms.h"
#include "physics/estimators.h"
#include "physics/mesh/periodicity.h"
#include "physics/parameter_fields.h"
#include "physics/pattern.h"
#include "physics/refinement.h"
#include "physics/residual.h"
#include "physics/solve.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/lac/vector.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

/**
 * @file
 * Tests estimators and refinement with problems whose error is known.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// The data of −∇·(k∇u) = s: u is given on the boundary, except that its flux is given on boundary
/// `neumann`.
struct Data
{
  std::string k, s, u, flux; ///< flux: k du/dn
  types::boundary_id neumann = numbers::invalid_boundary_id;
  std::vector<PeriodicSides> periodic = {};
};

template <int dim>
class Diffusion final : public ScalarProblem<dim>
{
public:
  explicit Diffusion(const Data &data, const std::set<types::boundary_id> &ids)
      : k("k", {data.k}), s("s", {data.s}), u("u", {data.u}),
        g("g", {data.flux.empty() ? "0" : data.flux}), neumann(data.neumann),
        periodic(data.periodic), dirichlet(ids)
  {
    dirichlet.erase(neumann);
    for (const auto id : ids_of(periodic))
      dirichlet.erase(id);
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    std::vector<DirichletCondition<dim>> conditions;
    for (const auto id : dirichlet)
      conditions.push_back({id, &u, ComponentMask()});
    return conditions;
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    return periodic;
  }
  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override
  {
    std::vector<double> of_points(at.size());
    k.evaluate(at, of_points.data());
    for (unsigned int d = 0; d < dim; ++d)
      for (unsigned int q = 0; q < at.size(); ++q) {
        sigma.value(d)[q] = of_points[q] * at.gradient(0, d)[q];
        sigma.gradient_derivative(d, 0, d)[q] = of_points[q];
      }
  }
  void source(const PointBatch<dim> &at, PointTerms &terms) const override
  {
    s.evaluate(at, terms.value(0));
  }
  bool has_boundary_flux(const types::boundary_id id) const override
  {
    return id == neumann;
  }
  void boundary_flux(const PointBatch<dim> &at, PointTerms &terms) const override
  {
    g.evaluate(at, terms.value(0));
  }
  const Field<dim> *exact_solution() const override
  {
    return &u;
  }

private:
  Field<dim> k, s, u, g;
  types::boundary_id neumann;
  std::vector<PeriodicSides> periodic;
  std::set<types::boundary_id> dirichlet;
};

MeshParameters &mesh_parameters()
{
  static MeshParameters parameters;
  return parameters;
}

SolverParameters &solver_parameters()
{
  static SolverParameters parameters;
  parameters.backend = "host";
  parameters.threads = 1;
  parameters.solver = "pipelined-cg";
  parameters.relative_tolerance = 1e-12;
  return parameters;
}

template <int dim>
Mesh<dim> mesh_of(const std::string &generator, const std::string &arguments,
                  const std::string &cells)
{
  MeshParameters &parameters = mesh_parameters();
  parameters.generator = generator;
  parameters.arguments = arguments;
  parameters.cells = cells;
  return make_mesh<dim>(parameters, MPI_COMM_WORLD);
}

/// A problem on a mesh that is refined stepwise.
template <int dim>
struct Trial
{
  Trial(const Data &data, Mesh<dim> coarse, const unsigned int degree,
        const unsigned int refinements)
      : mesh(std::move(coarse)), problem(data, mesh.regions.boundaries.ids),
        discretization(mesh, degree, 1), solver(problem, solver_parameters(), nonlinear(),
                                                no_branch(), linalg::SolverGroups(MPI_COMM_WORLD)),
        system(linalg::SolverGroups(MPI_COMM_WORLD))
  {
    make_periodic(mesh, problem.periodic_sides());
    refine_globally(mesh, refinements);
    discretization.distribute_dofs();
    u = discretization.make_vector();
  }

  static NonlinearParameters &nonlinear()
  {
    static NonlinearParameters parameters;
    return parameters;
  }
  static ContinuationParameters &no_branch()
  {
    static ContinuationParameters parameters;
    return parameters;
  }

  void solve()
  {
    discretization.make_constraints(problem);
    discretization.constraints().distribute(u);
    make_pattern(discretization, system);
    std::map<std::string, double> seconds;
    DiscreteSolution<dim> solution(problem, discretization, u);
    EXPECT_TRUE(solver.solve(solution, system, u, 0., seconds, {}).report.converged());
  }
  void refine()
  {
    refine_and_transfer(mesh, discretization, {&u});
  }
  double error() const
  {
    return compute_errors<dim>(problem, discretization, u, nullptr).H1;
  }
  ErrorEstimate estimate(const Estimator estimator)
  {
    return estimate_error<dim>(estimator, problem, discretization, u, indicators);
  }

  Mesh<dim> mesh;
  Diffusion<dim> problem;
  Discretization<dim> discretization;
  ProblemSolver<dim> solver;
  linalg::GroupSystem system;
  FeVector u;
  Vector<float> indicators; ///< from the last estimate
};

// u = sin(pi x) cos(pi y) with k = 1 + x y.
const std::string varying_source = "2*pi^2*(1 + x*y)*sin(pi*x)*cos(pi*y) "
                                   "- pi*y*cos(pi*x)*cos(pi*y) + pi*x*sin(pi*x)*sin(pi*y)";
// k du/dx is prescribed at x = 1, which has id 1.
const Data varying_2d = {"1 + x*y", varying_source, "sin(pi*x)*cos(pi*y)",
                         "(1 + y)*pi*cos(pi)*cos(pi*y)", 1};

/// Returns the ratio of the estimated to the true flux error for each of three refined meshes.
template <int dim>
std::vector<double> effectivities(Trial<dim> &run, const Estimator estimator)
{
  std::vector<double> result;
  for (unsigned int step = 0; step < 3; ++step) {
    if (step > 0) {
      flag_if(run.mesh, [](const auto & /* cell */) { return true; });
      run.refine();
    }
    run.solve();
    const ErrorEstimate estimate = run.estimate(estimator);
    double flux_error = 0.;
    compute_errors<dim>(run.problem, run.discretization, run.u, &flux_error);
    result.push_back(estimate.error / flux_error);
  }
  return result;
}

void expect_constant(const std::vector<double> &effectivities, const double min_effectivity,
                     const double largest)
{
  for (const double effectivity : effectivities) {
    EXPECT_GT(effectivity, min_effectivity);
    EXPECT_LT(effectivity, largest);
  }
  EXPECT_NEAR(effectivities[2] / effectivities[1], 1., 0.06);
}

TEST(Estimators, ResidualIsEffectiveForAllDegreesAndCells)
{
  for (const std::string cells : {"hypercube", "simplex"})
    for (unsigned int degree = 1; degree <= (cells == "simplex" ? 2 : 4); ++degree) {
      SCOPED_TRACE(cells + " of degree " + std::to_string(degree));
      Trial<2> run(varying_2d, mesh_of<2>("hyper_cube", "0 : 1 : true", cells), degree,
                   cells == "simplex" ? 1 : 2);
      expect_constant(effectivities(run, Estimator::residual), 1., 12.);
    }
}

TEST(Estimators, ResidualIsEffectiveIn3D)
{
  const Data data = {"1", "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)", "sin(pi*x)*sin(pi*y)*sin(pi*z)",
                     "", numbers::invalid_boundary_id};
  Trial<3> hexahedra(data, mesh_of<3>("hyper_cube", "0 : 1 : false", "hypercube"), 1, 1);
  expect_constant(effectivities(hexahedra, Estimator::residual), 1., 12.);
}

TEST(Estimators, KellyIsEffectiveForOddDegrees)
{
  for (const unsigned int degree : {1U, 3U}) {
    Trial<2> run(varying_2d, mesh_of<2>("hyper_cube", "0 : 1 : true", "hypercube"), degree, 2);
    expect_constant(effectivities(run, Estimator::kelly), 0.1, 3.);
  }
}

TEST(Estimators, AreZeroForSolutionsOfTheSpace)
{
  const Data quadratic = {"2", "-4", "x^2 + x*y", "2*(2 + y)", 1};
  for (const std::string cells : {"hypercube", "simplex"}) {
    Trial<2> run(quadratic, mesh_of<2>("hyper_cube", "0 : 1 : true", cells), 2,
                 cells == "simplex" ? 0 : 2);
    run.solve();
    const ErrorEstimate estimate = run.estimate(Estimator::residual);
    EXPECT_LT(estimate.error, 1e-9 * estimate.size) << cells;
    EXPECT_LT(run.estimate(Estimator::kelly).error, 1e-9 * estimate.size) << cells;
  }
}

/// Returns the last indicators of all ranks. Their keys are the rounded cell centres, shifted along
/// x by @p shift with period 1.
template <int dim>
std::map<std::array<long, 3>, float> indicators_by_point(const Trial<dim> &run, const double shift)
{
  std::vector<std::pair<std::array<long, 3>, float>> mine;
  for (const auto &cell : run.mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned()) {
      Point<dim> point = cell->center();
      point[0] = std::fmod(point[0] + shift, 1.);
      std::array<long, 3> key = {};
      for (unsigned int d = 0; d < dim; ++d)
        key[d] = std::lround(1e6 * point[d]);
      mine.emplace_back(key, run.indicators(cell->active_cell_index()));
    }
  std::map<std::array<long, 3>, float> all;
  for (const auto &of_rank : Utilities::MPI::all_gather(MPI_COMM_WORLD, mine))
    all.insert(of_rank.begin(), of_rank.end());
  return all;
}

/// Returns data for u = g(x) y (1 - y), where g has a peak at @p x0 and period 1.
Data peak_at(const std::string &x0)
{
  const std::string t = "2*pi*(x - " + x0 + ")", g = "exp(4*(cos(" + t + ") - 1))";
  return {"1",
          "(2 - 4*pi^2*(16*sin(" + t + ")^2 - 4*cos(" + t + "))*y*(1 - y))*" + g,
          g + "*y*(1 - y)",
          "",
          numbers::invalid_boundary_id,
          {{0, 1, 0}}};
}

/// Refines the cells with 0 < x - @p begin < @p width.
template <int dim>
void refine_strip(Trial<dim> &run, const double begin, const double width)
{
  for (const auto &cell : run.mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && cell->center()[0] > begin && cell->center()[0] < begin + width)
      cell->set_refine_flag();
  run.refine();
}

/// Checks that a peak on periodic sides has the indicators of a peak inside the domain, also where
/// cells at these sides have different sizes.
template <int dim>
void expect_no_sides(const unsigned int degree, const unsigned int refinements)
{
  Trial<dim> cut(peak_at("0.02"), mesh_of<dim>("hyper_cube", "0 : 1 : true", "hypercube"), degree,
                 refinements);
  Trial<dim> uncut(peak_at("0.52"), mesh_of<dim>("hyper_cube", "0 : 1 : true", "hypercube"), degree,
                   refinements);
  for (const double width : {0., 0.25, 0.125}) {
    SCOPED_TRACE(width);
    if (width > 0.) {
      refine_strip(cut, 0., width);
      refine_strip(uncut, 0.5, width);
    }
    cut.solve();
    uncut.solve();
    for (const Estimator estimator : {Estimator::residual, Estimator::kelly}) {
      const ErrorEstimate of_cut = cut.estimate(estimator), of_uncut = uncut.estimate(estimator);
      EXPECT_NEAR(of_cut.error, of_uncut.error, 1e-6 * of_uncut.error);
      const auto left = indicators_by_point(cut, 0.5), right = indicators_by_point(uncut, 0.);
      ASSERT_EQ(left.size(), right.size());
      for (const auto &[point, indicator] : right) {
        ASSERT_EQ(left.count(point), 1U);
        EXPECT_NEAR(left.at(point), indicator, 1e-5 * of_uncut.error);
      }
    }
  }
}

TEST(Estimators, TakePeriodicSidesForFacesBetweenCells)
{
  expect_no_sides<2>(1, 3);
  expect_no_sides<2>(2, 3);
}

TEST(Estimators, TakePeriodicSidesForFacesBetweenCellsIn3D)
{
  expect_no_sides<3>(1, 2);
}

/// The r^(2/3) singularity of an L-shape, see parameters/poisson_lshape_adaptive.prm.
const std::string singular = "(x^2 + y^2)^(1/3)*cos(2/3*atan2(x - y, -x - y))";

/// Returns the s for which the H1 error falls like dofs^-s over the last cycles.
double rate_on_l_shape(const RefinementRule &rule, const std::size_t largest)
{
  const Data data = {"1", "0", singular, "", numbers::invalid_boundary_id};
  Trial<2> run(data, mesh_of<2>("hyper_L", "-1 : 1 : false", "hypercube"), 1, 1);
  std::vector<std::array<double, 2>> points;
  while (run.discretization.dofs().n_dofs() < largest) {
    run.solve();
    points.push_back({std::log(run.discretization.dofs().n_dofs()), -std::log(run.error())});
    run.estimate(Estimator::residual);
    flag_by_indicators(run.mesh, run.indicators, rule);
    run.refine();
  }
  // `first` is the first point with at least an eighth of the last number of dofs.
  const std::array<double, 2> &last = points.back(),
                              &first =
                                  *std::find_if(points.begin(), points.end(), [&](const auto &p) {
                                    return p[0] >= last[0] - std::log(8.);
                                  });
  return (last[1] - first[1]) / (last[0] - first[0]);
}

// Complete runs test the same rate for Kelly's estimator.
TEST(Estimators, ResidualGivesTheOptimalRateOnAnLShape)
{
  EXPECT_NEAR(rate_on_l_shape({RefinementRule::Fraction::of_cells, 0.2, 0.02}, 40000), 0.5, 0.04);
  EXPECT_NEAR(rate_on_l_shape({RefinementRule::Fraction::of_error, 0.6, 0.02}, 40000), 0.5, 0.04);
}

TEST(Refinement, FixedFractionTakesTheFewestCellsWithThePartOfTheError)
{
  Mesh<2> mesh = mesh_of<2>("hyper_cube", "0 : 1 : false", "hypercube");
  refine_globally(mesh, 4);
  Vector<float> indicators(mesh.triangulation->n_active_cells());
  double all = 0., refined = 0., min_refined = 1e9, max_unrefined = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    indicators(cell->active_cell_index()) =
        static_cast<float>(std::exp(-3. * cell->center().distance(Point<2>(0.3, 0.1))));
  flag_by_indicators(mesh, indicators, {RefinementRule::Fraction::of_error, 0.7, 0.});
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned()) {
      const double eta = indicators(cell->active_cell_index());
      all += eta * eta;
      if (cell->refine_flag_set()) {
        refined += eta * eta;
        min_refined = std::min(min_refined, eta);
      }
      else
        max_unrefined = std::max(max_unrefined, eta);
    }
  const auto sum = [](const double x) { return Utilities::MPI::sum(x, MPI_COMM_WORLD); };
  EXPECT_NEAR(std::sqrt(sum(refined) / sum(all)), 0.7, 0.03);
  EXPECT_GE(Utilities::MPI::min(min_refined, MPI_COMM_WORLD),
            Utilities::MPI::max(max_unrefined, MPI_COMM_WORLD) * 0.999);
}

TEST(Refinement, RoundingOfIndicatorsDecidesNothing)
{
  Mesh<2> mesh = mesh_of<2>("hyper_cube", "0 : 1 : false", "hypercube");
  refine_globally(mesh, 3);
  Vector<float> indicators(mesh.triangulation->n_active_cells());
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    indicators(cell->active_cell_index()) = // two values up to rounding
        (cell->center()[0] < 0.5 ? 0.7F : 0.3F) *
        (1.F + 2e-7F * static_cast<float>(cell->active_cell_index() % 3));
  flag_by_indicators(mesh, indicators, {RefinementRule::Fraction::of_cells, 0.4, 0.});
  unsigned int n_flagged = 0;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && cell->refine_flag_set())
      ++n_flagged;
  n_flagged = Utilities::MPI::sum(n_flagged, MPI_COMM_WORLD);
  EXPECT_TRUE(n_flagged == 32 || n_flagged == 0) << n_flagged;
}

TEST(Refinement, FollowsExpressionsOfPosition)
{
  Mesh<2> mesh = mesh_of<2>("hyper_cube", "0 : 1 : false", "hypercube");
  const std::string where = "2*(x < 0.5 && y < 0.5)";
  refine_initially(mesh, 2, where);
  // 12 of the 16 cells remain, except those next to the corner that the 2:1 rule refines; 4 become
  // 64.
  double area = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && cell->level() == 4) {
      area += cell->measure();
      EXPECT_TRUE(cell->center()[0] < 0.5 && cell->center()[1] < 0.5);
    }
  EXPECT_NEAR(Utilities::MPI::sum(area, MPI_COMM_WORLD), 0.25, 1e-12);

  const Field<2> size("size", {"if(x > 0.5, 0.1, 10)"});
  for (unsigned int step = 0; step < 3; ++step) {
    flag_if(mesh, [&](const auto &cell) { return cell->diameter() > size.value(cell->center()); });
    mesh.triangulation->execute_coarsening_and_refinement();
  }
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && cell->center()[0] > 0.5) {
      EXPECT_LE(cell->diameter(), 0.1);
    }
  flag_if(mesh, [](const auto &cell) { return cell->center()[0] < 0.25; });
  EXPECT_TRUE(limit_level(mesh, 10));
  EXPECT_FALSE(limit_level(mesh, 2));

  Mesh<2> triangles = mesh_of<2>("hyper_cube", "0 : 1 : false", "simplex");
  EXPECT_THROW(refine_initially(triangles, 0, where), ParameterError);
  EXPECT_THROW(refine_initially(mesh, 0, "x <"), ParameterError);
}
} // namespace
