#include "physics/assembler.h"
#include "physics/mesh/periodicity.h"
#include "physics/parameter_fields.h"
#include "physics/pattern.h"
#include "physics/refinement.h"
#include "physics/unknowns.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/lac/full_matrix.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Tests the information on unknowns that preconditioners receive: coordinates, and unknowns of
 * lower degrees and coarser meshes.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// The problem −Δu + u = 0 for each component, optionally periodic in y; component 0 vanishes at
/// x = 0.
template <int dim>
class Membrane final : public ScalarProblem<dim>
{
public:
  Membrane(const unsigned int components, const bool is_periodic)
      : components(components), is_periodic(is_periodic), zero(components)
  {}

  unsigned int n_components() const override
  {
    return components;
  }
  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    ComponentMask first(components, false);
    first.set(0, true);
    return {{0, &zero, first}};
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    if (is_periodic)
      return {{2, 3, 1}};
    return {};
  }
  /// Computes the flux of −Δu_c + u_c = 0.
  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override
  {
    for (unsigned int row = 0; row < components * dim; ++row)
      for (unsigned int q = 0; q < at.size(); ++q) {
        sigma.value(row)[q] = at.gradients[row][q];
        sigma.gradient_derivative(row, row / dim, row % dim)[q] = 1.;
      }
  }
  void source(const PointBatch<dim> &at, PointTerms &s) const override
  {
    for (unsigned int c = 0; c < components; ++c)
      for (unsigned int q = 0; q < at.size(); ++q) {
        s.value(c)[q] = -at.u[c][q];
        s.u_derivative(c, c)[q] = -1.;
      }
  }

private:
  unsigned int components;
  bool is_periodic;
  Functions::ZeroFunction<dim> zero;
};

/// Returns the unit square or cube, refined globally and then around a corner.
template <int dim>
Mesh<dim> refined_mesh(const Problem<dim> &problem, const std::string &cells,
                       const unsigned int levels, const unsigned int times = dim == 2 ? 2 : 1)
{
  static MeshParameters parameters;
  parameters.arguments = "0 : 1 : true";
  parameters.cells = cells;
  Mesh<dim> mesh = make_mesh<dim>(parameters, MPI_COMM_WORLD);
  make_periodic(mesh, problem.periodic_sides());
  refine_globally(mesh, times);
  for (unsigned int level = 0; level < levels; ++level) {
    Vector<float> indicators(mesh.triangulation->n_active_cells());
    for (const auto &cell : mesh.triangulation->active_cell_iterators())
      indicators(cell->active_cell_index()) =
          static_cast<float>(1. / (0.01 + cell->center().distance(Point<dim>())));
    flag_by_indicators(mesh, indicators, {RefinementRule::Fraction::of_cells, 0.2, 0.});
    mesh.triangulation->execute_coarsening_and_refinement();
  }
  return mesh;
}

FullMatrix<double> dense(const int n_rows, const int n_columns, const int *starts,
                         const int *columns, const double *values)
{
  FullMatrix<double> result(n_rows, n_columns);
  for (int i = 0; i < n_rows; ++i)
    for (int k = starts[i]; k < starts[i + 1]; ++k)
      result(i, columns[k]) = values[k];
  return result;
}

FullMatrix<double> dense(const linalg::HostCsr &A)
{
  return dense(A.n, A.n, A.row_starts.low, A.columns, A.values);
}

/// Returns whether the unknown is constrained, that is, its row has only one entry.
bool is_constrained(const FullMatrix<double> &A, const int i)
{
  const auto row = static_cast<unsigned int>(i);
  return std::count_if(A.begin(row), A.end(row),
                       [](const auto &entry) { return entry.value() != 0.; }) == 1;
}

FullMatrix<double> galerkin_product(const FullMatrix<double> &A, const linalg::HostProlongation &P)
{
  const FullMatrix<double> dense_P = dense(static_cast<int>(A.m()), P.n_columns,
                                           P.row_starts.data(), P.columns.data(), P.values.data());
  FullMatrix<double> AP(A.m(), dense_P.n()), result(dense_P.n(), dense_P.n());
  A.mmult(AP, dense_P);
  dense_P.Tmmult(result, AP);
  return result;
}

/// Checks that PᵀAP equals the matrix assembled with elements of lower degree.
template <int dim>
void expect_galerkin(const std::string &cells, const unsigned int degree, const unsigned int levels,
                     const unsigned int components = 1, const bool is_periodic = false)
{
  SCOPED_TRACE(std::to_string(dim) + "D, " + cells + " of degree " + std::to_string(degree) + ", " +
               std::to_string(components) + " components" + (is_periodic ? ", periodic" : ""));
  const Membrane<dim> problem(components, is_periodic);
  const Mesh<dim> mesh = refined_mesh<dim>(problem, cells, levels);
  const auto assembled = [&](const Discretization<dim> &discretization,
                             linalg::GroupSystem &system) {
    make_pattern(discretization, system);
    describe_unknowns(problem, discretization, {true, true}, system);
    assemble(problem, discretization, nullptr, system);
  };
  Discretization<dim> fine(mesh, degree, components), coarse(mesh, degree / 2, components);
  linalg::GroupSystem of_fine{linalg::SolverGroups(MPI_COMM_WORLD)},
      of_coarse{linalg::SolverGroups(MPI_COMM_WORLD)};
  for (Discretization<dim> *const discretization : {&fine, &coarse}) {
    discretization->distribute_dofs();
    discretization->make_constraints(problem);
  }
  assembled(fine, of_fine);
  assembled(coarse, of_coarse);
  const auto &known = *of_fine.block().A.unknowns;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) > 0) {
    EXPECT_EQ(known.coarser.get(), nullptr);
    return;
  }
  const auto coarser = known.coarser.get();
  ASSERT_NE(coarser, nullptr);
  EXPECT_EQ(coarser->unknowns.coordinates, of_coarse.block().A.unknowns->coordinates);
  const auto coarsest = coarser->unknowns.coarser.get();
  EXPECT_EQ(coarsest == nullptr, cells == "simplex");
  EXPECT_TRUE(coarsest == nullptr || coarsest->prolongation.row_starts.size() == of_coarse.n() + 1);
  const FullMatrix<double> expected = dense(of_coarse.block().A);
  const FullMatrix<double> PtAP = galerkin_product(dense(of_fine.block().A), coarser->prolongation);
  ASSERT_EQ(PtAP.m(), expected.m());
  for (unsigned int i = 0; i < PtAP.n(); ++i) {
    for (unsigned int j = 0; j < PtAP.n(); ++j)
      if (i == j && is_constrained(expected, static_cast<int>(i)))
        EXPECT_GT(PtAP(i, i), 0.);
      else
        EXPECT_NEAR(PtAP(i, j), expected(i, j), 1e-12) << i << ", " << j;
  }
}

TEST(CoarserUnknowns, of_lower_degrees_give_the_matrices_of_these)
{
  for (const unsigned int degree : {2, 3, 4})
    for (const unsigned int levels : {0, 3})
      expect_galerkin<2>("hypercube", degree, levels);
  expect_galerkin<2>("hypercube", 2, 3, 1, true);
  expect_galerkin<2>("hypercube", 2, 3, 2, true);
  expect_galerkin<2>("hypercube", 4, 1, 2);
  expect_galerkin<3>("hypercube", 2, 1, 3);
  expect_galerkin<3>("hypercube", 2, 1);
  expect_galerkin<3>("hypercube", 4, 0);
  expect_galerkin<2>("simplex", 2, 0);
  expect_galerkin<3>("simplex", 2, 0);
}

/// A discretization and its system.
template <int dim>
struct Assembled
{
  Assembled(const Problem<dim> &problem, Mesh<dim> mesh_)
      : mesh(std::move(mesh_)), discretization(mesh, 1, problem.n_components()),
        system(linalg::SolverGroups(MPI_COMM_WORLD))
  {
    discretization.distribute_dofs();
    discretization.make_constraints(problem);
    make_pattern(discretization, system);
    describe_unknowns(problem, discretization, {true, true}, system);
    assemble(problem, discretization, nullptr, system);
  }

  Mesh<dim> mesh;
  Discretization<dim> discretization;
  linalg::GroupSystem system;
};

/// Compares two sets of unknowns. Returns, for each unknown in @p some, the index of the unknown in
/// @p all with the same position and component, or -1 if there is none.
std::vector<int> matching_nodes(const linalg::Unknowns &some, const linalg::Unknowns &all)
{
  const auto point = [](const linalg::Unknowns &unknowns, const std::size_t i) {
    std::vector<int> result = {static_cast<int>(i) % unknowns.per_node};
    for (int d = 0; d < unknowns.dimension; ++d)
      result.push_back(static_cast<int>(std::lround(
          1e6 * unknowns.coordinates[i * static_cast<std::size_t>(unknowns.dimension) + d])));
    return result;
  };
  const auto dimension = static_cast<std::size_t>(some.dimension);
  std::map<std::vector<int>, int> numbers;
  for (std::size_t i = 0; i < all.coordinates.size() / dimension; ++i)
    numbers[point(all, i)] = static_cast<int>(i);
  std::vector<int> result;
  for (std::size_t i = 0; i < some.coordinates.size() / dimension; ++i) {
    const auto found = numbers.find(point(some, i));
    result.push_back(found == numbers.end() ? -1 : found->second);
  }
  return result;
}

/// Checks that PᵀAP equals the matrix assembled on the mesh with one refinement less.
template <int dim>
void expect_galerkin_of_mesh(const unsigned int components, const bool is_periodic)
{
  SCOPED_TRACE(std::to_string(dim) + "D, " + std::to_string(components) + " components");
  const Membrane<dim> problem(components, is_periodic);
  const unsigned int times = dim == 2 ? 4 : 2;
  const Assembled<dim> fine(problem, refined_mesh(problem, "hypercube", 0, times));
  const Assembled<dim> coarse(problem, refined_mesh(problem, "hypercube", 0, times - 1));
  const linalg::HostCsr A = fine.system.block().A, expected_A = coarse.system.block().A;
  const auto coarser = A.unknowns->coarser.get();
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) > 0) {
    EXPECT_EQ(coarser, nullptr);
    return;
  }
  ASSERT_NE(coarser, nullptr);
  const FullMatrix<double> PtAP = galerkin_product(dense(A), coarser->prolongation);
  const FullMatrix<double> expected = dense(expected_A);
  const std::vector<int> same = matching_nodes(coarser->unknowns, *expected_A.unknowns);
  ASSERT_EQ(PtAP.m(), same.size());
  for (unsigned int i = 0; i < PtAP.m(); ++i) {
    ASSERT_GE(same[i], 0);
    for (unsigned int j = 0; j < PtAP.m(); ++j)
      if (i == j && is_constrained(expected, same[i]))
        EXPECT_GT(PtAP(i, i), 0.);
      else
        EXPECT_NEAR(PtAP(i, j), expected(same[i], same[j]), 1e-12) << i << ", " << j;
  }
}

TEST(CoarserUnknowns, of_coarser_meshes_give_the_matrices_of_these)
{
  expect_galerkin_of_mesh<2>(1, false);
  expect_galerkin_of_mesh<2>(1, true);
  expect_galerkin_of_mesh<2>(2, false);
  expect_galerkin_of_mesh<3>(1, true);
  expect_galerkin_of_mesh<3>(3, false);
}

/// Checks that linear functions, which belong to all spaces, are prolongated exactly, also at
/// hanging nodes.
template <int dim>
void expect_linear_functions()
{
  const Membrane<dim> problem(2, false); // its second component has no Dirichlet data
  const Assembled<dim> fine(problem, refined_mesh(problem, "hypercube", 4));
  const linalg::HostCsr system = fine.system.block().A;
  linalg::UnknownsPtr known = system.unknowns;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) > 0)
    return;
  const auto value = [](const linalg::Unknowns &unknowns, const int i) {
    double sum = 1.;
    for (int d = 0; d < dim; ++d)
      sum += (d + 2.) * unknowns.coordinates[static_cast<std::size_t>(i) * dim + d];
    return sum;
  };
  const FullMatrix<double> A = dense(system);
  int n_meshes = 0, n_rows = 0;
  for (auto coarser = known->coarser.get(); coarser; coarser = known->coarser.get(), ++n_meshes) {
    const linalg::HostProlongation &P = coarser->prolongation;
    for (int i = 1; i < static_cast<int>(P.row_starts.size()) - 1; i += 2) {
      if (n_meshes == 0 && is_constrained(A, i))
        continue;
      double sum = 0.;
      for (int k = P.row_starts[i]; k < P.row_starts[i + 1]; ++k)
        sum += P.values[k] * value(coarser->unknowns, P.columns[k]);
      ASSERT_NEAR(sum, value(*known, i), 1e-12) << "mesh " << n_meshes << ", " << i;
      ++n_rows;
    }
    known = linalg::UnknownsPtr(coarser, &coarser->unknowns);
  }
  EXPECT_GE(n_meshes, 2);
  EXPECT_GE(n_rows, 100);
}

TEST(CoarserUnknowns, of_coarser_meshes_have_linear_functions_at_hanging_nodes)
{
  expect_linear_functions<2>();
  expect_linear_functions<3>();
}

TEST(CoarserUnknowns, are_told_only_where_they_are_wanted)
{
  const Membrane<2> problem(1, false);
  const Mesh<2> mesh = refined_mesh<2>(problem, "hypercube", 0);
  Discretization<2> discretization(mesh, 2, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  linalg::GroupSystem system{linalg::SolverGroups(MPI_COMM_WORLD)};
  make_pattern(discretization, system);
  EXPECT_EQ(system.block().A.unknowns->per_node, 0);
  describe_unknowns(problem, discretization, {}, system);
  EXPECT_EQ(system.block().A.unknowns->per_node, 1);
  EXPECT_TRUE(system.block().A.unknowns->coordinates.empty());
  EXPECT_EQ(system.block().A.unknowns->coarser.get(), nullptr);
}

TEST(Coordinates, are_those_of_the_unknowns)
{
  const Membrane<2> problem(1, false);
  const Mesh<2> mesh = refined_mesh<2>(problem, "hypercube", 2);
  Discretization<2> discretization(mesh, 3, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  linalg::GroupSystem system{linalg::SolverGroups(MPI_COMM_WORLD)};
  make_pattern(discretization, system);
  describe_unknowns(problem, discretization, {true, false}, system);
  std::vector<double> mine(system.n_owned());
  for_each_owned_node(discretization, [&](const auto dof, const Point<2> &point) {
    mine[dof - system.first_owned()] = point[0];
  });
  const std::vector<double> first = system.gather_on_leader(mine);
  const linalg::HostCsr A = system.block().A;
  for (std::size_t i = 0; i < first.size(); ++i) // empty except on the leader
    EXPECT_EQ(A.unknowns->coordinates[2 * i], first[i]);
}
} // namespace
