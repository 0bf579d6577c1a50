#include "physics/mesh/forest_mesh.h"
#include "physics/refinement.h"

#include <deal.II/base/mpi.h>
#include <deal.II/grid/cell_id.h>
#include <deal.II/grid/grid_generator.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Compares the mesh after refinement with the predictions from its refinement flags.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// Makes five squares around a vertex, or cubes in an L.
template <int dim>
void make_coarse(Triangulation<dim> &mesh)
{
  if (dim == 2)
    GridGenerator::hyper_ball(mesh, Point<dim>(), 1., /* flat inside */ false);
  else
    GridGenerator::hyper_L(mesh);
  mesh.reset_all_manifolds();
}

/// Returns a pseudo-random number for a cell and a step; it is the same on any number of ranks.
template <class Cell>
double random_number(const Cell &cell, const unsigned int step)
{
  double value = 1. + step + 0.1 * cell->level();
  for (unsigned int d = 0; d < cell->center().dimension; ++d)
    value += std::sin(11. * value + 7. * cell->center()[d]);
  return std::abs(std::fmod(1e4 * value, 1.));
}

/// Flags random cells of this rank for refinement, and random families for coarsening.
template <int dim>
void flag_any(Triangulation<dim> &mesh, const unsigned int step, const double refined,
              const double coarsened)
{
  for (const auto &cell : mesh.active_cell_iterators())
    if (cell->is_locally_owned()) {
      if (random_number(cell, step) < refined)
        cell->set_refine_flag();
      else if (cell->level() > 0 && random_number(cell->parent(), step) < coarsened)
        cell->set_coarsen_flag();
    }
}

/// The fractions of refined and coarsened cells in the steps of a test.
const std::vector<std::pair<double, double>> steps = {{0.3, 0.},  {0.3, 0.3},  {0.02, 0.7},
                                                      {0.1, 0.5}, {0.25, 0.1}, {0., 1.}};

/// Returns the cells of all ranks. Collective.
template <int dim>
std::set<CellId> all_cells(const Triangulation<dim> &mesh)
{
  std::vector<CellId> mine;
  for (const auto &cell : mesh.active_cell_iterators())
    if (cell->is_locally_owned())
      mine.push_back(cell->id());
  std::set<CellId> all;
  for (const auto &of_rank : Utilities::MPI::all_gather(MPI_COMM_WORLD, mine))
    all.insert(of_rank.begin(), of_rank.end());
  return all;
}

template <int dim>
void expect_cells_of_one_rank()
{
  ForestMesh<dim> ours(MPI_COMM_WORLD);
  parallel::distributed::Triangulation<dim> theirs(MPI_COMM_SELF);
  const std::array<Triangulation<dim> *, 2> both = {&ours, &theirs};
  for (auto *const mesh : both) {
    make_coarse(*mesh);
    mesh->refine_global(1);
  }
  for (unsigned int step = 0; step < steps.size(); ++step) {
    for (auto *const mesh : both) {
      flag_any(*mesh, step, steps[step].first, steps[step].second);
      mesh->execute_coarsening_and_refinement();
    }
    EXPECT_TRUE(all_cells(ours) == all_cells(theirs)) << "step " << step;
  }
}

TEST(Flags, MakeTheCellsThatDealIIMakesOfThemOnOneRank)
{
  expect_cells_of_one_rank<2>();
  expect_cells_of_one_rank<3>();
}

template <int dim>
Mesh<dim> make_forest()
{
  Mesh<dim> mesh;
  auto triangulation = std::make_unique<ForestMesh<dim>>(MPI_COMM_WORLD);
  make_coarse(*triangulation);
  triangulation->refine_global(1);
  mesh.triangulation = std::move(triangulation);
  return mesh;
}

template <int dim>
void expect_bounds(const unsigned int degree, const unsigned int n_components)
{
  SCOPED_TRACE(std::to_string(dim) + "D, degree " + std::to_string(degree));
  Mesh<dim> mesh = make_forest<dim>();
  Discretization<dim> discretization(mesh, degree, n_components);
  discretization.distribute_dofs();
  for (unsigned int step = 0; step < steps.size(); ++step) {
    flag_any(*mesh.triangulation, step, steps[step].first, steps[step].second);
    const std::size_t min_dofs = min_dofs_after_flags(discretization);
    refine_and_transfer(mesh, discretization, {});
    EXPECT_LE(min_dofs, discretization.dofs().n_dofs()) << "step " << step;
  }
}

TEST(Flags, LeaveNoFewerDofsThanAreForecast)
{
  for (const unsigned int degree : {1U, 2U, 3U}) {
    expect_bounds<2>(degree, 1);
    expect_bounds<2>(degree, 2);
    if (degree < 3)
      expect_bounds<3>(degree, 1);
  }
}

TEST(Flags, OfAllQuadrilateralsLeaveTheDofsThatAreForecast)
{
  for (const unsigned int degree : {1U, 2U, 4U}) {
    Mesh<2> mesh = make_forest<2>();
    Discretization<2> discretization(mesh, degree, 2);
    discretization.distribute_dofs();
    for (unsigned int step = 0; step < 2; ++step) {
      flag_if(mesh, [](const auto & /* cell */) { return true; });
      const std::size_t forecast = min_dofs_after_flags(discretization);
      refine_and_transfer(mesh, discretization, {});
      EXPECT_EQ(forecast, discretization.dofs().n_dofs());
    }
  }
}

TEST(Flags, OfOneFamilyToBeCoarsenedForecastNoMoreThanItsNodes)
{
  // Of the 25 nodes of a family of degree 2, the forecast keeps the centre and the 4 vertices.
  Mesh<2> mesh = make_forest<2>();
  mesh.triangulation->refine_global(1);
  Discretization<2> discretization(mesh, 2, 1);
  discretization.distribute_dofs();
  const std::size_t before = discretization.dofs().n_dofs();
  EXPECT_EQ(min_dofs_after_flags(discretization), before);
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && cell->id().get_coarse_cell_id() == 0 &&
        cell->parent()->center() == cell->parent()->parent()->child(0)->center())
      cell->set_coarsen_flag();
  EXPECT_EQ(min_dofs_after_flags(discretization), before - (25 - 1 - 4));
}
} // namespace
