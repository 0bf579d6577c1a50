#include "physics/assembler.h"
#include "physics/mesh/periodicity.h"
#include "physics/mesh/refinement.h"
#include "physics/problem_tools.h"
#include "physics/unknowns.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/lac/full_matrix.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/**
 * @file
 * What preconditioners are told of unknowns: places, and those of lower degrees.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// −Δu + u for each component, the first 0 at x = 0, perhaps periodic in y.
template <int dim>
class Membrane final : public ScalarProblem<dim>
{
public:
  using typename ScalarProblem<dim>::CellMatrix;
  using typename ScalarProblem<dim>::CellVector;

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
    return {{{0}, &zero, first}};
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    if (is_periodic)
      return {{2, 3, 1}};
    return {};
  }
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector & /* f */) const override
  {
    const auto component = [&](const unsigned int i) {
      return fe.get_fe().system_to_component_index(i).first;
    };
    for (const unsigned int q : fe.quadrature_point_indices())
      for (const unsigned int i : fe.dof_indices())
        for (const unsigned int j : fe.dof_indices())
          if (component(i) == component(j))
            K(i, j) += (fe.shape_grad(i, q) * fe.shape_grad(j, q) +
                        fe.shape_value(i, q) * fe.shape_value(j, q)) *
                       fe.JxW(q);
  }

private:
  unsigned int components;
  bool is_periodic;
  Functions::ZeroFunction<dim> zero;
};

/// The unit square or cube, refined twice as a whole and then around a corner.
template <int dim>
Mesh<dim> refined_mesh(const Problem<dim> &problem, const std::string &cells,
                       const unsigned int levels)
{
  static MeshParameters parameters;
  parameters.arguments = "0 : 1 : true";
  parameters.cells = cells;
  Mesh<dim> mesh = make_mesh<dim>(parameters, MPI_COMM_WORLD);
  make_periodic(mesh, problem.periodic_sides());
  refine_globally(mesh, dim == 2 ? 2 : 1);
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

/// PᵀAP is what is assembled with the elements of lower degree.
template <int dim>
void expect_galerkin(const std::string &cells, const unsigned int degree, const unsigned int levels,
                     const unsigned int components = 1, const bool is_periodic = false)
{
  SCOPED_TRACE(std::to_string(dim) + "D, " + cells + " of degree " + std::to_string(degree) + ", " +
               std::to_string(components) + " components" + (is_periodic ? ", periodic" : ""));
  const Membrane<dim> problem(components, is_periodic);
  const Mesh<dim> mesh = refined_mesh<dim>(problem, cells, levels);
  const auto assembled = [&](const Discretization<dim> &discretization,
                             linalg::NodeSystem &system) {
    make_pattern(discretization, system);
    describe_unknowns(problem, discretization, {true, true}, system);
    assemble(problem, discretization, system);
  };
  Discretization<dim> fine(mesh, degree, components), coarse(mesh, degree / 2, components);
  linalg::NodeSystem of_fine(MPI_COMM_WORLD), of_coarse(MPI_COMM_WORLD);
  for (Discretization<dim> *const discretization : {&fine, &coarse}) {
    discretization->distribute_dofs();
    discretization->make_constraints(problem);
  }
  assembled(fine, of_fine);
  assembled(coarse, of_coarse);
  const auto &known = *of_fine.matrix().unknowns;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) > 0) {
    EXPECT_EQ(known.coarser, nullptr);
    return;
  }
  ASSERT_NE(known.coarser, nullptr);
  EXPECT_EQ(known.coarser->unknowns.coordinates, of_coarse.matrix().unknowns->coordinates);
  const auto &coarsest = known.coarser->unknowns.coarser;
  EXPECT_EQ(coarsest == nullptr, degree < 4);
  EXPECT_TRUE(coarsest == nullptr || coarsest->prolongation.row_starts.size() == of_coarse.n() + 1);
  const linalg::HostProlongation &rows = known.coarser->prolongation;
  const FullMatrix<double> A = dense(of_fine.matrix()), expected = dense(of_coarse.matrix());
  const FullMatrix<double> P =
      dense(static_cast<int>(A.m()), rows.n_columns, rows.row_starts.data(), rows.columns.data(),
            rows.values.data());
  ASSERT_EQ(P.n(), expected.m());
  FullMatrix<double> AP(A.m(), P.n()), PtAP(P.n(), P.n());
  A.mmult(AP, P);
  P.Tmmult(PtAP, AP);
  for (unsigned int i = 0; i < P.n(); ++i) {
    const bool stands_alone = std::count_if(expected.begin(i), expected.end(i),
                                            [](const auto &e) { return e.value() != 0.; }) == 1;
    for (unsigned int j = 0; j < P.n(); ++j)
      if (stands_alone && i == j)
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

TEST(CoarserUnknowns, are_told_only_where_they_are_wanted)
{
  const Membrane<2> problem(1, false);
  const Mesh<2> mesh = refined_mesh<2>(problem, "hypercube", 0);
  Discretization<2> discretization(mesh, 2, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  linalg::NodeSystem system(MPI_COMM_WORLD);
  make_pattern(discretization, system);
  EXPECT_EQ(system.matrix().unknowns->per_node, 0);
  describe_unknowns(problem, discretization, {}, system);
  EXPECT_EQ(system.matrix().unknowns->per_node, 1);
  EXPECT_TRUE(system.matrix().unknowns->coordinates.empty());
  EXPECT_EQ(system.matrix().unknowns->coarser, nullptr);
}

TEST(Coordinates, are_those_of_the_unknowns)
{
  const Membrane<2> problem(1, false);
  const Mesh<2> mesh = refined_mesh<2>(problem, "hypercube", 2);
  Discretization<2> discretization(mesh, 3, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  linalg::NodeSystem system(MPI_COMM_WORLD);
  make_pattern(discretization, system);
  describe_unknowns(problem, discretization, {true, false}, system);
  std::vector<double> mine(system.n_owned());
  for_each_owned_node(discretization, [&](const auto dof, const Point<2> &place) {
    mine[dof - system.first_owned()] = place[0];
  });
  const std::vector<double> first = system.gather_on_leader(mine);
  const linalg::HostCsr A = system.matrix();
  for (std::size_t i = 0; i < first.size(); ++i) // on the leader
    EXPECT_EQ(A.unknowns->coordinates[2 * i], first[i]);
}
} // namespace
