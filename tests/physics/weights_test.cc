#include "linalg/base/error.h"
#include "linalg/dealii/group_system.h"
#include "physics/assembler.h"
#include "physics/parameter_fields.h"
#include "physics/pattern.h"
#include "physics/refinement.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

/**
 * @file
 * Tests the weights of reactions after the elimination of constraints.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// A problem with reaction c e^u in cells and on the boundary and without Dirichlet data, so that
/// all integrals are complete.
template <int dim>
class Reaction final : public ScalarProblem<dim>
{
public:
  Reaction(const double in_cells, const double on_faces) : in_cells(in_cells), on_faces(on_faces)
  {}

  std::optional<linalg::Nonlinearity> nonlinearity() const override
  {
    return linalg::Nonlinearity();
  }
  void reaction_weight(const PointBatch<dim> &at, std::vector<double> &c) const override
  {
    c.assign(c.size(), at.is_on_side() ? on_faces : in_cells);
  }
  bool has_boundary_flux(const types::boundary_id) const override
  {
    return true;
  }

private:
  double in_cells, on_faces;
};

/// The function x^p.
template <int dim>
class Power : public Function<dim>
{
public:
  explicit Power(const unsigned int p) : p(p)
  {}
  double value(const Point<dim> &x, const unsigned int) const override
  {
    return std::pow(x[0], p);
  }

private:
  unsigned int p;
};

/// The unit square or cube, refined twice globally and then several times around a corner.
template <int dim>
struct Refined
{
  Refined(const Problem<dim> &problem, const std::string &cells, const unsigned int degree,
          const unsigned int levels)
      : mesh(make(cells)), discretization(mesh, degree, 1)
  {
    refine_globally(mesh, 2);
    discretization.distribute_dofs();
    for (unsigned int level = 0; level < levels; ++level)
      refine_around_corner();
    discretization.make_constraints(problem);
  }

  static Mesh<dim> make(const std::string &cells)
  {
    static MeshParameters parameters;
    parameters.cells = cells;
    return make_mesh<dim>(parameters, MPI_COMM_WORLD);
  }

  void refine_around_corner()
  {
    Vector<float> indicators(mesh.triangulation->n_active_cells());
    for (const auto &cell : mesh.triangulation->active_cell_iterators())
      indicators(cell->active_cell_index()) =
          static_cast<float>(1. / (0.01 + cell->center().distance(Point<dim>())));
    flag_by_indicators(mesh, indicators, {RefinementRule::Fraction::of_cells, 0.2, 0.});
    refine_and_transfer(mesh, discretization, {});
  }

  Mesh<dim> mesh;
  Discretization<dim> discretization;
};

/// Returns Σ w_i x_i^p. Constrained dofs have weight 0, because their weights were added to their
/// masters.
template <int dim>
double integral_of_power(const Discretization<dim> &discretization,
                         const linalg::GroupSystem &system, const unsigned int p)
{
  FeVector values = discretization.make_vector();
  VectorTools::interpolate(discretization.mapping(), discretization.dofs(), Power<dim>(p), values);
  double sum = 0.;
  for (auto i = system.first_owned(); i < system.first_owned() + system.n_owned(); ++i)
    sum += system.weights()[i - system.first_owned()] * values(i);
  return Utilities::MPI::sum(sum, MPI_COMM_WORLD);
}

template <int dim>
void expect_exact_for_degree_2p_minus_1(const std::string &cells, const unsigned int degree,
                                        const unsigned int levels)
{
  SCOPED_TRACE(std::to_string(dim) + "D, degree " + std::to_string(degree));
  const double on_faces = 0.25;
  const Reaction<dim> problem(1., on_faces);
  const Refined<dim> refined(problem, cells, degree, levels);
  linalg::GroupSystem system{linalg::SolverGroups(MPI_COMM_WORLD)};
  make_pattern(refined.discretization, system);
  assemble(problem, refined.discretization, nullptr, system);
  for (auto i = system.first_owned(); i < system.first_owned() + system.n_owned(); ++i)
    if (refined.discretization.constraints().is_constrained(i))
      EXPECT_EQ(system.weights()[i - system.first_owned()], 0.);
    else
      EXPECT_GT(system.weights()[i - system.first_owned()], 0.) << "of dof " << i;
  for (unsigned int p = 0; p <= 2 * degree - 1; ++p) {
    const double in_cube = 1. / (p + 1.);
    // The faces x = 0 and x = 1, and the adjacent ones.
    const double on_boundary = (p == 0 ? 2. : 1.) + 2. * (dim - 1) / (p + 1.);
    EXPECT_NEAR(integral_of_power(refined.discretization, system, p),
                in_cube + on_faces * on_boundary, 1e-12)
        << "of x^" << p;
  }
}

TEST(Weights, stay_positive_and_exact_with_hanging_nodes_in_2d)
{
  for (const unsigned int degree : {1, 2, 3, 4})
    expect_exact_for_degree_2p_minus_1<2>("hypercube", degree, 4);
}

TEST(Weights, stay_positive_and_exact_with_hanging_nodes_in_3d)
{
  for (const unsigned int degree : {1, 2, 3, 4})
    expect_exact_for_degree_2p_minus_1<3>("hypercube", degree, degree < 4 ? 3 : 1);
}

TEST(Weights, of_linear_triangles_and_tetrahedra_are_exact_for_degree_1)
{
  expect_exact_for_degree_2p_minus_1<2>("simplex", 1, 0);
  expect_exact_for_degree_2p_minus_1<3>("simplex", 1, 0);
}

TEST(Weights, that_are_negative_are_refused_with_their_place)
{
  const Reaction<2> problem(1., -10.);
  const Refined<2> refined(problem, "hypercube", 1, 0);
  linalg::GroupSystem system{linalg::SolverGroups(MPI_COMM_WORLD)};
  make_pattern(refined.discretization, system);
  try {
    assemble(problem, refined.discretization, nullptr, system);
    FAIL() << "nothing was thrown";
  }
  catch (const InputError &error) {
    EXPECT_NE(std::string(error.what()).find("at node (0 0)"), std::string::npos) << error.what();
  }
}

TEST(Numbers, of_the_components_of_a_node_follow_each_other)
{
  const Reaction<2> problem(1., 0.);
  const Refined<2> refined(problem, "hypercube", 1, 2);
  for (const unsigned int degree : {1, 2, 3, 4}) {
    Discretization<2> discretization(refined.discretization.mesh(), degree, 2);
    discretization.distribute_dofs();
    std::map<types::global_dof_index, Point<2>> points;
    for_each_owned_node(discretization,
                        [&](const auto dof, const Point<2> &x) { points[dof] = x; });
    for (const auto &[dof, point] : points)
      EXPECT_LT(point.distance(points.at(dof % 2 == 0 ? dof + 1 : dof - 1)), 1e-14)
          << "dof " << dof << " of degree " << degree;
  }
}
} // namespace

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  const Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  return RUN_ALL_TESTS();
}
