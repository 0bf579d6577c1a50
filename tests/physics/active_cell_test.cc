#include "physics/active_cell.h"

#include "physics/estimators.h"
#include "physics/measurements/point_search.h"
#include "physics/residual.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

/**
 * @file
 * Compares cells in blocks (physics/active_cell.h) with the cells of a refined mesh: functions,
 * integrals and jumps must agree.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

template <int dim>
class Wave final : public Function<dim>
{
public:
  double value(const Point<dim> &p, const unsigned int /* component */) const override
  {
    return std::sin(3. * p[0]) + p[1] * p[1] * p[dim - 1];
  }
};

/// A function on a mesh with @p times global refinements and blocks of @p n cells per direction.
template <int dim>
struct OnMesh
{
  template <class Make>
  OnMesh(const Make &make, const unsigned int times, const unsigned int n)
      : mesh(make_mesh(make, times, n)), discretization(mesh, 1, 1)
  {
    discretization.distribute_dofs();
    discretization.make_constraints(problem);
    u = discretization.make_vector();
    VectorTools::interpolate(discretization.mapping(), discretization.dofs(), Wave<dim>(), u);
    u.update_ghost_values();
  }

  template <class Make>
  static Mesh<dim> make_mesh(const Make &make, const unsigned int times, const unsigned int n)
  {
    Mesh<dim> mesh;
    auto triangulation =
        std::make_unique<parallel::distributed::Triangulation<dim>>(MPI_COMM_WORLD);
    make(*triangulation);
    triangulation->refine_global(times);
    mesh.triangulation = std::move(triangulation);
    mesh.cells_per_block = n;
    return mesh;
  }

  /// Returns energy, norms, estimates of both kinds, moments of the cells' indicators, and
  /// diameters.
  std::vector<double> numbers() const
  {
    const Evaluation evaluation = evaluate(problem, discretization, u);
    Vector<float> of_kelly, of_residual;
    const ErrorEstimate kelly =
                            estimate_error(Estimator::kelly, problem, discretization, u, of_kelly),
                        residual = estimate_error(Estimator::residual, problem, discretization, u,
                                                  of_residual);
    std::vector<double> sums(3, 0.);
    for (const auto &cell : discretization.owned_cells()) {
      double projection = 0.;
      for (unsigned int d = 0; d < dim; ++d)
        projection += (1. + d) * cell->center()[d];
      sums[0] += 1.;
      sums[1] += projection * of_kelly(cell->active_cell_index());
      sums[2] += projection * of_residual(cell->active_cell_index());
    }
    Utilities::MPI::sum(sums, MPI_COMM_WORLD, sums);
    return {mesh.n_cells(),
            static_cast<double>(discretization.dofs().n_dofs()),
            sums[0],
            sums[1],
            sums[2],
            evaluation.quadratic_energy,
            evaluation.norms.L2,
            evaluation.norms.H1,
            kelly.error,
            residual.error,
            evaluation.residual.l2_norm(),
            discretization.largest_diameter()};
  }

  /// Returns the number of cells on all ranks that contain a point.
  unsigned int n_cells_at(const Point<dim> &point) const
  {
    const auto search = find_points(discretization, {point});
    return Utilities::MPI::sum(static_cast<unsigned int>(search.found.size()), MPI_COMM_WORLD);
  }

  ScalarProblem<dim> problem;
  Mesh<dim> mesh;
  Discretization<dim> discretization;
  FeVector u;
};

template <int dim, class Make>
void expect_the_same(const Make &make, const unsigned int times)
{
  const OnMesh<dim> refined(make, times, 1);
  const std::vector<double> expected = refined.numbers();
  Point<dim> vertex, inside;
  for (unsigned int d = 0; d < dim; ++d) {
    vertex[d] = 0.5;
    inside[d] = 0.3;
  }
  for (unsigned int k = 1; k <= std::min(times, 2U); ++k) {
    const OnMesh<dim> in_blocks(make, times - k, 1U << k);
    const std::vector<double> numbers = in_blocks.numbers();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(numbers[i], expected[i],
                  1e-6 * std::abs(expected[i]) * (i == 3 || i == 4) +
                      1e-11 * (1. + std::abs(expected[i])))
          << "number " << i << " with blocks of " << (1U << k);
    EXPECT_EQ(in_blocks.n_cells_at(vertex), refined.n_cells_at(vertex));
    EXPECT_EQ(in_blocks.n_cells_at(inside), refined.n_cells_at(inside));
  }
}

TEST(CellsInBlocks, OfASquareAreThoseOfItsRefinedMesh)
{
  expect_the_same<2>([](auto &mesh) { GridGenerator::subdivided_hyper_cube(mesh, 3); }, 3);
}

TEST(CellsInBlocks, OfObliqueCellsAreThoseOfTheirRefinedMesh)
{
  const auto make = [](auto &mesh) {
    GridGenerator::general_cell(mesh, {{0., 0.}, {1.2, 0.1}, {-0.1, 0.9}, {1.3, 1.4}});
  };
  expect_the_same<2>(make, 3);
}

TEST(CellsInBlocks, OfACubeAreThoseOfItsRefinedMesh)
{
  expect_the_same<3>([](auto &mesh) { GridGenerator::subdivided_hyper_cube(mesh, 2); }, 2);
}

TEST(CellsInBlocks, MeetWhereFacesAreTurned)
{
  for (unsigned int turn = 0; turn < 8; ++turn) {
    SCOPED_TRACE(turn);
    const auto make = [turn](auto &mesh) {
      GridGenerator::non_standard_orientation_mesh(mesh, (turn & 1U) != 0, (turn & 2U) != 0,
                                                   (turn & 4U) != 0, false);
    };
    expect_the_same<3>(make, 2);
  }
}
} // namespace
