#include "linalg/base/error.h"
#include "physics/base/fields.h"
#include "physics/measurements/measurements.h"
#include "physics/measurements/point_search.h"
#include "physics/refinement.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

/**
 * @file
 * Tests measurements of functions that belong to the finite element space.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// A problem that is not solved, because its solution is given.
template <int dim>
class PrescribedProblem final : public ScalarProblem<dim>
{
public:
  /// Declares `flux`, −2 ∇u, and `jump`, which depends on the material.
  std::vector<DerivedField> derived_fields() const override
  {
    return {{"flux", 1}, {"jump", 0}};
  }
  void evaluate_derived_fields(const PointBatch<dim> &at, PointRows &numbers) const override
  {
    for (unsigned int q = 0; q < at.size(); ++q) {
      for (unsigned int d = 0; d < dim; ++d)
        numbers[d][q] = -2. * at.gradient(0, d)[q];
      numbers[dim][q] = 1. + 2. * at.material;
    }
  }
  /// Returns 2u.
  std::vector<NodalField> nodal_fields(DiscreteSolution<dim> &solution) const override
  {
    NodalField twice{"twice", solution.u()};
    twice.values *= 2.;
    twice.values.update_ghost_values();
    return {twice};
  }
};

struct Case
{
  std::string cells;
  unsigned int degree;
  unsigned int adaptive_steps;
};

/// The function x + 2y (+ 3z) on a mesh of the unit square or cube with a boundary id for each
/// side.
template <int dim>
struct Fixture
{
  explicit Fixture(const Case &c) : mesh(make(c)), discretization(mesh, c.degree, 1)
  {
    refine_globally(mesh, c.cells == "simplex" ? 1 : 2);
    discretization.distribute_dofs();
    for (unsigned int step = 0; step < c.adaptive_steps; ++step) {
      Vector<float> indicators(mesh.triangulation->n_active_cells());
      for (const auto &cell : mesh.triangulation->active_cell_iterators())
        indicators(cell->active_cell_index()) =
            static_cast<float>(1. / (0.01 + cell->center().norm()));
      flag_by_indicators(mesh, indicators, {RefinementRule::Fraction::of_cells, 0.2, 0.});
      refine_and_transfer(mesh, discretization, {});
    }
    for (const auto &cell : mesh.triangulation->active_cell_iterators())
      cell->set_material_id(cell->center()[0] < 0.5 ? 0 : 1);
    discretization.make_constraints(problem);
    u = discretization.make_vector();
    const Field<dim> linear("Test/Linear", {dim == 2 ? "x + 2*y" : "x + 2*y + 3*z"});
    VectorTools::interpolate(discretization.mapping(), discretization.dofs(), linear, u);
    u.update_ghost_values();
  }

  static Mesh<dim> make(const Case &c)
  {
    static MeshParameters parameters;
    parameters.cells = c.cells;
    parameters.arguments = "0 : 1 : true";
    return make_mesh<dim>(parameters, MPI_COMM_WORLD);
  }
  static MeasurementParameters &blank()
  {
    static MeasurementParameters parameters;
    parameters.points = parameters.point_fields = parameters.lines = parameters.integrals =
        parameters.averages = parameters.extrema = "";
    return parameters;
  }

  MeasuredValues measure(const MeasurementParameters &parameters)
  {
    Measurements<dim> measurements(parameters, discretization, problem);
    DiscreteSolution<dim> solution(problem, discretization, u);
    measurements.check(solution);
    return measurements.measure(solution);
  }
  std::string error_of(const MeasurementParameters &parameters)
  {
    try {
      measure(parameters);
    }
    catch (const ParameterError &error) {
      return error.what();
    }
    return "";
  }

  Mesh<dim> mesh;
  Discretization<dim> discretization;
  PrescribedProblem<dim> problem;
  FeVector u;
};

double value_of(const MeasuredValues &measured, const std::string &name)
{
  for (const Quantity &quantity : measured.quantities)
    if (quantity.name == name)
      return quantity.value;
  ADD_FAILURE() << "no quantity " << name;
  return std::nan("");
}

void expect_values(const MeasuredValues &measured,
                   const std::vector<std::pair<std::string, double>> &expected)
{
  for (const auto &[name, value] : expected)
    EXPECT_NEAR(value_of(measured, name), value, 1e-12) << name;
}

const std::vector<Case> cases = {{"hypercube", 1, 0}, {"hypercube", 2, 0}, {"hypercube", 3, 0},
                                 {"hypercube", 1, 3}, {"hypercube", 2, 2}, {"simplex", 1, 0},
                                 {"simplex", 2, 0}};

TEST(Measurements, OfALinearFunctionIn2DAreExact)
{
  for (const Case &c : cases) {
    SCOPED_TRACE(c.cells + std::to_string(c.degree) + "+" + std::to_string(c.adaptive_steps));
    Fixture<2> fixture(c);
    MeasurementParameters &parameters = fixture.blank();
    parameters.points = "inside: 0.3, 0.7; vertex: 0.5, 0.5; corner: 1, 1";
    parameters.point_fields = "u, flux_y, flux_magnitude, jump, twice, grad_u_x";
    parameters.lines = "l: 0, 0.25 -> 1, 0.75 : 11";
    parameters.integrals = "area: 1 over all; length: 1 over boundary; mass: u over material 0; "
                           "outflow: flux.n over boundary 1, 3; right: u over boundary 1";
    parameters.averages = "mean: u over all; top: twice over boundary 3";
    parameters.extrema = "u; u over boundary 0; jump; grad_u.n over boundary 2";
    const MeasuredValues measured = fixture.measure(parameters);
    expect_values(measured, {{"inside u", 1.7},
                             {"vertex u", 1.5},
                             {"corner u", 3.},
                             {"inside flux_y", -4.},
                             {"inside flux_magnitude", std::sqrt(20.)},
                             {"vertex jump", 2.}, // the mean of 1 and 3
                             {"inside jump", 1.},
                             {"corner twice", 6.},
                             {"inside grad_u_x", 1.},
                             {"area", 1.},
                             {"length", 4.},
                             {"mass", 0.625},
                             {"outflow", -6.},
                             {"right", 2.},
                             {"mean", 1.5},
                             {"top", 5.},
                             {"min u", 0.},
                             {"min u at x", 0.},
                             {"min u at y", 0.},
                             {"max u", 3.},
                             {"max u at x", 1.},
                             {"max u at y", 1.},
                             {"max u over boundary 0", 2.},
                             {"max u over boundary 0 at y", 1.},
                             {"min jump", 1.}, // at many nodes; the lowest counts
                             {"min jump at x", 0.},
                             {"max jump at x", 0.5},
                             {"max jump at y", 0.},
                             {"max grad_u.n over boundary 2", -2.}});
    ASSERT_EQ(measured.lines.size(), 1U);
    ASSERT_EQ(measured.lines[0].rows.size(), 11U);
    EXPECT_EQ(measured.lines[0].columns[0], "distance");
    EXPECT_EQ(measured.lines[0].columns[3], "u");
    for (const auto &row : measured.lines[0].rows) {
      EXPECT_NEAR(row[3], row[1] + 2. * row[2], 1e-12);
      EXPECT_NEAR(row[0], std::hypot(row[1], row[2] - 0.25), 1e-12);
    }
    ASSERT_EQ(measured.points.rows.size(), 3U);
    EXPECT_EQ(measured.points.labels[0], "inside");
    EXPECT_NEAR(measured.points.rows[0][2], 1.7, 1e-12);
  }
}

TEST(Measurements, OfALinearFunctionIn3DAreExact)
{
  for (const Case &c : {cases[0], cases[1], cases[3], cases[5], cases[6]}) {
    SCOPED_TRACE(c.cells + std::to_string(c.degree) + "+" + std::to_string(c.adaptive_steps));
    Fixture<3> fixture(c.adaptive_steps > 0 ? Case{c.cells, c.degree, 1} : c);
    MeasurementParameters &parameters = fixture.blank();
    parameters.points = "inside: 0.3, 0.7, 0.1; middle: 0.5, 0.5, 0.5";
    parameters.integrals = "volume: 1 over all; area: 1 over boundary; outflow: flux.n over "
                           "boundary 4, 5; heat: flux.n over boundary 1";
    parameters.averages = "mean: u over all";
    parameters.extrema = "u; u over boundary 4";
    const MeasuredValues measured = fixture.measure(parameters);
    expect_values(measured, {{"inside u", 2.},
                             {"middle u", 3.},
                             {"volume", 1.},
                             {"area", 6.},
                             {"outflow", 0.},
                             {"heat", -2.},
                             {"mean", 3.},
                             {"max u", 6.},
                             {"max u at x", 1.},
                             {"max u at y", 1.},
                             {"max u at z", 1.},
                             {"max u over boundary 4", 3.},
                             {"max u over boundary 4 at z", 0.}});
  }
}

TEST(Measurements, ExtremaOfAParabolaAreBetweenTheNodes)
{
  for (const Case &c : {cases[1], cases[2], cases[4], cases[6]}) {
    SCOPED_TRACE(c.cells + std::to_string(c.degree) + "+" + std::to_string(c.adaptive_steps));
    Fixture<2> fixture(c);
    const Field<2> parabola("Test/Parabola", {"1 - (x - 0.3)^2 - 2*(y - 0.7)^2"});
    VectorTools::interpolate(fixture.discretization.mapping(), fixture.discretization.dofs(),
                             parabola, fixture.u);
    fixture.u.update_ghost_values();
    MeasurementParameters &parameters = fixture.blank();
    parameters.extrema = "u; u over boundary 1; twice; u over material 0";
    expect_values(fixture.measure(parameters), {{"max u", 1.},
                                                {"max u at x", 0.3},
                                                {"max u at y", 0.7},
                                                {"min u", 1. - 0.49 - 0.98},
                                                {"min u at x", 1.},
                                                {"min u at y", 0.},
                                                {"max u over boundary 1", 1. - 0.49},
                                                {"max u over boundary 1 at x", 1.},
                                                {"max u over boundary 1 at y", 0.7},
                                                {"max twice", 2.},
                                                {"max twice at y", 0.7},
                                                {"min u over material 0", 1. - 0.09 - 0.98},
                                                {"min u over material 0 at x", 0.},
                                                {"max u over material 0 at y", 0.7}});
  }
}

TEST(Measurements, KnowsWhatCannotBeNegative)
{
  Fixture<2> fixture(cases[0]);
  MeasurementParameters &parameters = fixture.blank();
  parameters.points = "a: 0.3, 0.7";
  parameters.point_fields = "u, flux_x, flux_magnitude";
  parameters.averages = "mean: u over all; size: flux_magnitude over all";
  parameters.integrals = "area: 1 over all; out: flux.n over boundary";
  parameters.extrema = "grad_u_magnitude";
  for (const Quantity &quantity : fixture.measure(parameters).quantities)
    EXPECT_EQ(quantity.is_nonnegative, quantity.name == "a flux_magnitude" ||
                                           quantity.name == "size" || quantity.name == "area" ||
                                           quantity.name == "min grad_u_magnitude" ||
                                           quantity.name == "max grad_u_magnitude")
        << quantity.name;
}

TEST(Measurements, MagnitudeAtAVertexIsThatOfTheMeanVector)
{
  for (const Case &c : {cases[0], cases[5]}) {
    Fixture<2> fixture(c);
    const Field<2> roof("Test/Roof", {"abs(x - 0.5) + abs(y - 0.5)"});
    VectorTools::interpolate(fixture.discretization.mapping(), fixture.discretization.dofs(), roof,
                             fixture.u);
    MeasurementParameters &parameters = fixture.blank();
    parameters.points = "top: 0.5, 0.5; side: 0.25, 0.25";
    parameters.point_fields = "grad_u_magnitude, flux_magnitude";
    const MeasuredValues measured = fixture.measure(parameters);
    expect_values(measured, {{"top grad_u_magnitude", 0.},
                             {"top flux_magnitude", 0.},
                             {"side grad_u_magnitude", std::sqrt(2.)}});
  }
}

TEST(Measurements, NameWhatIsWrong)
{
  Fixture<2> fixture(cases[0]);
  const auto error_of = [&](std::string MeasurementParameters::*parameter,
                            const std::string &text) {
    MeasurementParameters &parameters = fixture.blank();
    parameters.*parameter = text;
    return fixture.error_of(parameters);
  };
  const auto has = [](const std::string &text, const std::string &words) {
    EXPECT_NE(text.find(words), std::string::npos) << text << "\nlacks: " << words;
  };
  using P = MeasurementParameters;
  has(error_of(&P::points, "far: 2, 0.5"), "closest vertex of the mesh is (1 0.5), 1 away");
  has(error_of(&P::points, "a: 0.5"), "has 1 coordinates in '0.5', but needs 2");
  has(error_of(&P::points, "a: 0.5, x"), "has 'x' where a number is expected");
  has(error_of(&P::points, "a: 0.5, nan"), "a number is expected");
  has(error_of(&P::points, "0.5, 0.5"), "such as 'tip: 0.5, 1'");
  has(error_of(&P::points, "a: 0, 0; a: 1, 1"), "the name 'a' of another entry");
  has(error_of(&P::points, "a/b: 0, 0"), "a name consists of letters");
  has(error_of(&P::point_fields, "u"), "there are no points");
  has(error_of(&P::lines, "a: 0, 0 -> 1, 1"), "such as 'axis: 0, 0 -> 0.5, 1 : 101'");
  has(error_of(&P::lines, "a: 0, 0 -> 1, 1 : 1"), "'1' points, but needs 2 to");
  has(error_of(&P::lines, "a: 0, 0 -> 1, 2 : 3"), "point 3 of the line 'a'");
  has(error_of(&P::lines, "a: 0, 0 -> 0, 0 : 3"), "has the same point as start and end");
  has(error_of(&P::integrals, "a: v over all"), "The fields are u, grad_u_x, grad_u_y");
  has(error_of(&P::integrals, "a: u"), "has no region after 'over'");
  has(error_of(&P::integrals, "a: u over everything"), "where all, 'boundary ids'");
  has(error_of(&P::integrals, "a: u over boundary 7"), "The mesh has no boundary id 7");
  has(error_of(&P::integrals, "a: u over material steel"), "'steel' in Measurements/Integrals");
  has(error_of(&P::integrals, "a: flux.n over all"), "defined on the boundary only");
  has(error_of(&P::integrals, "cells: u over all"), "is a column of the tables");
  has(error_of(&P::extrema, "u; u"), "is given twice");
}

TEST(Measurements, AreaOfADiscConvergesAndPointsOnItsBoundaryAreInIt)
{
  MeshParameters mesh_parameters;
  mesh_parameters.generator = "hyper_ball";
  mesh_parameters.arguments = "0, 0 : 1 : false";
  Mesh<2> mesh = make_mesh<2>(mesh_parameters, MPI_COMM_WORLD);
  refine_globally(mesh, 3);
  Discretization<2> discretization(mesh, 2, 1);
  discretization.distribute_dofs();
  const PrescribedProblem<2> problem;
  discretization.make_constraints(problem);
  FeVector u = discretization.make_vector();
  u = 1.;
  MeasurementParameters &parameters = Fixture<2>::blank();
  parameters.integrals = "area: 1 over all; length: 1 over boundary; again: u over boundary 0";
  parameters.points = "rim: 0.955336489125606, 0.2955202066613396";
  Measurements<2> measurements(parameters, discretization, problem);
  u.update_ghost_values();
  DiscreteSolution<2> solution(problem, discretization, u);
  const MeasuredValues measured = measurements.measure(solution);
  EXPECT_NEAR(value_of(measured, "area"), M_PI, 1e-5);
  EXPECT_NEAR(value_of(measured, "length"), 2. * M_PI, 1e-5);
  EXPECT_NEAR(value_of(measured, "again"), 2. * M_PI, 1e-5);
  EXPECT_NEAR(value_of(measured, "rim u"), 1., 1e-12);
}

TEST(Measurements, PointsBeyondTheCurvedSideOfATriangleAreOutside)
{
  static MeshParameters mesh_parameters;
  mesh_parameters.file = testing::TempDir() + "disc_" + std::to_string(::getpid()) + ".msh";
  mesh_parameters.manifolds = "1: polar 0, 0";
  std::ofstream(mesh_parameters.file) << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n"
                                         "1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n$Elements\n2\n"
                                         "1 1 2 1 1 2 3\n2 2 2 0 0 1 2 3\n$EndElements\n";
  const Mesh<2> mesh = make_mesh<2>(mesh_parameters, MPI_COMM_WORLD);
  std::filesystem::remove(mesh_parameters.file);
  Discretization<2> discretization(mesh, 2, 1);
  discretization.distribute_dofs();
  const std::vector<Point<2>> points = {{0.6, 0.8}, {0.66, 0.88}, {0.9, 0.9}};
  EXPECT_EQ(find_points(discretization, points).missing, (std::vector<unsigned int>{1, 2}));
}
} // namespace
