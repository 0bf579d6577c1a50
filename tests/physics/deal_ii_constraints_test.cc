#include "physics/assembler.h"
#include "physics/cell_equation.h"
#include "physics/estimators.h"
#include "physics/mesh/periodicity.h"
#include "physics/pattern.h"
#include "tests/physics/distorted_meshes.h"
#include "tests/physics/physics_on_mesh.h"
#include "tests/physics/scalar_problem.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/error_estimator.h>
#include <deal.II/numerics/vector_tools_boundary.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Compares constraints, assembled systems and Kelly's indicators with those of deal.II, for hanging
 * nodes, periodic sides and Dirichlet data.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

using DofNumber = types::global_dof_index;
using Constraints = AffineConstraints<double>;

/// The problem −Δu = 0 with periodic sides only.
template <int dim>
class Periodic final : public ScalarProblem<dim>
{
public:
  explicit Periodic(std::vector<PeriodicSides> sides) : sides(std::move(sides))
  {}
  std::vector<PeriodicSides> periodic_sides() const override
  {
    return sides;
  }

private:
  std::vector<PeriodicSides> sides;
};

/// Returns deal.II's constraints of hanging nodes and periodic sides.
template <int dim>
Constraints conformity_of_deal_ii(const Discretization<dim> &discretization,
                                  const std::vector<PeriodicSides> &sides = {})
{
  Constraints constraints(discretization.relevant());
  DoFTools::make_hanging_node_constraints(discretization.dofs(), constraints);
  for (const PeriodicSides &pair : sides) {
    std::vector<GridTools::PeriodicFacePair<typename DoFHandler<dim>::cell_iterator>> faces;
    GridTools::collect_periodic_faces(discretization.dofs(), pair.first, pair.second,
                                      pair.direction, faces);
    DoFTools::make_periodicity_constraints<dim, dim>(faces, constraints);
  }
  return constraints;
}

/// Collects the lines of owned dofs, which are complete, from all ranks, and closes the result.
Constraints of_all_ranks(const Constraints &mine, const IndexSet &owned)
{
  std::vector<Constraints::ConstraintLine> lines;
  for (const auto &line : mine.get_lines())
    if (owned.is_element(line.index))
      lines.push_back(line);
  Constraints all(complete_index_set(owned.size()));
  for (const auto &of_rank : Utilities::MPI::all_gather(MPI_COMM_WORLD, lines))
    for (const auto &line : of_rank) {
      all.add_line(line.index);
      all.add_entries(line.index, line.entries);
      all.set_inhomogeneity(line.index, line.inhomogeneity);
    }
  all.close();
  return all;
}

std::map<DofNumber, double> masters_of(const Constraints &constraints, const DofNumber dof)
{
  const auto *const entries = constraints.get_constraint_entries(dof);
  return entries == nullptr ? std::map<DofNumber, double>()
                            : std::map<DofNumber, double>(entries->begin(), entries->end());
}

/// Checks that @p ours and @p theirs constrain @p dofs equally. @return how many dofs have masters
unsigned int expect_same_lines(const Constraints &ours, const Constraints &theirs,
                               const IndexSet &dofs)
{
  unsigned int n_dependent = 0;
  for (const DofNumber dof : dofs) {
    EXPECT_EQ(ours.is_constrained(dof), theirs.is_constrained(dof)) << dof;
    const auto our_entries = masters_of(ours, dof), their_entries = masters_of(theirs, dof);
    EXPECT_EQ(our_entries.size(), their_entries.size()) << dof;
    for (const auto &[master, weight] : their_entries) {
      EXPECT_EQ(our_entries.count(master), 1U) << dof << " of " << master;
      EXPECT_NEAR(our_entries.count(master) == 1 ? our_entries.at(master) : 0., weight, 1e-12);
    }
    if (theirs.is_constrained(dof)) {
      EXPECT_NEAR(ours.get_inhomogeneity(dof), theirs.get_inhomogeneity(dof), 1e-12) << dof;
    }
    n_dependent += their_entries.empty() ? 0 : 1;
  }
  return n_dependent;
}

template <int dim>
void expect_hanging_nodes_of_deal_ii(const unsigned int n_components)
{
  for (unsigned int degree = 1; degree <= 4; ++degree) {
    SCOPED_TRACE(std::to_string(dim) + "D, degree " + std::to_string(degree));
    PhysicsOnMesh<dim> on_mesh("poisson", "subsection Poisson\n set Right-hand side = 1\nend\n");
    distort(on_mesh.mesh);
    refine_globally(on_mesh.mesh, 1);
    refine_at_corner(on_mesh.mesh, 2);
    Discretization<dim> discretization(on_mesh.mesh, degree, n_components);
    discretization.distribute_dofs();
    discretization.make_constraints(ScalarProblem<dim>());
    const Constraints theirs =
        of_all_ranks(conformity_of_deal_ii(discretization), discretization.owned());
    EXPECT_GT(Utilities::MPI::sum(
                  expect_same_lines(discretization.conformity(), theirs, discretization.relevant()),
                  MPI_COMM_WORLD),
              3U);
  }
}

TEST(AsDealII, HangingNodes)
{
  expect_hanging_nodes_of_deal_ii<2>(1);
  expect_hanging_nodes_of_deal_ii<2>(2);
  expect_hanging_nodes_of_deal_ii<3>(1);
}

template <int dim>
void expect_periodic_sides_of_deal_ii(const unsigned int degree, const unsigned int levels)
{
  SCOPED_TRACE(std::to_string(dim) + "D, degree " + std::to_string(degree));
  const Periodic<dim> problem({{0, 1, 0}, {2, 3, 1}});
  PhysicsOnMesh<dim> on_mesh("poisson", "subsection Poisson\n set Right-hand side = 1\nend\n");
  make_periodic(on_mesh.mesh, problem.periodic_sides());
  refine_globally(on_mesh.mesh, 2);
  refine_at_corner(on_mesh.mesh, levels);
  Discretization<dim> discretization(on_mesh.mesh, degree, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  const Constraints theirs = of_all_ranks(
      conformity_of_deal_ii(discretization, problem.periodic_sides()), discretization.owned());
  EXPECT_GT(Utilities::MPI::sum(
                expect_same_lines(discretization.conformity(), theirs, discretization.relevant()),
                MPI_COMM_WORLD),
            8U);
}

TEST(AsDealII, PeriodicSides)
{
  for (unsigned int degree = 1; degree <= 4; ++degree) {
    expect_periodic_sides_of_deal_ii<2>(degree, 0);
    expect_periodic_sides_of_deal_ii<2>(degree, 2);
  }
  expect_periodic_sides_of_deal_ii<3>(1, 1);
  expect_periodic_sides_of_deal_ii<3>(2, 0);
}

/// Returns the positions of all dofs by index.
template <int dim>
std::map<DofNumber, Point<dim>> points_of_dofs(const Discretization<dim> &discretization)
{
  std::vector<std::pair<DofNumber, Point<dim>>> mine;
  for_each_owned_node(discretization, [&](const DofNumber dof, const Point<dim> &point) {
    mine.emplace_back(dof, point);
  });
  std::map<DofNumber, Point<dim>> all;
  for (const auto &of_rank : Utilities::MPI::all_gather(MPI_COMM_WORLD, mine))
    all.insert(of_rank.begin(), of_rank.end());
  return all;
}

/// Checks that positions that coincide modulo 1 have the same dof. There is no comparison
/// with deal.II, which does not pair the faces of triangles.
template <int dim>
void expect_period_1(const std::string &cells, const unsigned int degree)
{
  SCOPED_TRACE(std::to_string(dim) + "D, " + cells + " of degree " + std::to_string(degree));
  const Periodic<dim> problem({{0, 1, 0}, {2, 3, 1}});
  PhysicsOnMesh<dim> on_mesh("poisson", "subsection Poisson\n set Right-hand side = 1\nend\n",
                             {"subdivided_hyper_cube", "2 : 0 : 1 : true", cells});
  make_periodic(on_mesh.mesh, problem.periodic_sides());
  refine_globally(on_mesh.mesh, dim == 2 ? 1 : 0);
  Discretization<dim> discretization(on_mesh.mesh, degree, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  const Constraints &ours = discretization.conformity();
  const auto root_of = [&](const DofNumber dof) {
    const auto entries = masters_of(ours, dof);
    EXPECT_LE(entries.size(), 1U);
    if (entries.empty())
      return dof;
    EXPECT_EQ(entries.begin()->second, 1.);
    return entries.begin()->first;
  };
  std::map<DofNumber, DofNumber> roots; // for the dofs relevant on this rank
  for (const DofNumber dof : discretization.relevant())
    roots[dof] = root_of(dof);
  std::map<std::vector<long>, DofNumber> root_at;
  std::size_t n_relevant_points = 0, n_dependent = 0;
  for (const auto &[dof, point] : points_of_dofs(discretization)) {
    if (roots.count(dof) == 0)
      continue;
    std::vector<long> moved;
    for (unsigned int d = 0; d < dim; ++d)
      moved.push_back(std::lround(1e6 * point[d]) % (d < 2 ? 1000000 : 2000000));
    const auto [known, is_new] = root_at.emplace(moved, roots.at(dof));
    EXPECT_EQ(known->second, roots.at(dof)) << point;
    n_relevant_points += is_new ? 1 : 0;
    n_dependent += roots.at(dof) == dof ? 0 : 1;
  }
  std::set<DofNumber> different;
  for (const auto &[point, root] : root_at)
    different.insert(root);
  EXPECT_EQ(different.size(), n_relevant_points); // different positions have different roots
  EXPECT_GT(Utilities::MPI::sum(n_dependent, MPI_COMM_WORLD), 5U);
}

TEST(PeriodicSides, HaveOneDofForEachPlaceInThePeriod)
{
  for_each_element([](const std::string &cells, const unsigned int degree) {
    expect_period_1<2>(cells, degree);
    if (degree <= 2)
      expect_period_1<3>(cells, degree);
  });
}

/// Returns b followed by the rows of A, assembled by deal.II from our cells and summed over the
/// ranks.
template <int dim>
std::vector<double> system_of_deal_ii(const Problem<dim> &problem,
                                      const Discretization<dim> &discretization,
                                      const Constraints &constraints)
{
  const unsigned int n = discretization.dofs().n_dofs();
  FullMatrix<double> A(n, n);
  Vector<double> b(n);
  CellEquation<dim> equation(problem, discretization);
  CellTerms terms(discretization.element().n_dofs_per_cell(), false);
  for (const auto &cell : discretization.owned_cells()) {
    equation.linearize(cell, nullptr, terms);
    constraints.distribute_local_to_global(terms.K, terms.f, terms.dofs, A, b);
  }
  std::vector<double> mine(b.begin(), b.end());
  for (unsigned int i = 0; i < n; ++i)
    for (unsigned int j = 0; j < n; ++j)
      mine.push_back(A(i, j));
  std::vector<double> sums(mine.size());
  Utilities::MPI::sum(mine, MPI_COMM_WORLD, sums);
  return sums;
}

/// Checks that the row of each free dof differs from deal.II's by at most 1e-12 of its largest
/// entry, and that constrained dofs have only a diagonal entry.
void expect_system(const linalg::GroupSystem &system, const std::vector<double> &theirs,
                   const Constraints &constraints)
{
  const linalg::GroupSystem::Block block = system.block();
  const auto n = static_cast<std::size_t>(block.A.n);
  ASSERT_EQ(theirs.size(), n + n * n);
  const double largest_b = std::abs(
      *std::max_element(theirs.begin(), theirs.begin() + static_cast<std::ptrdiff_t>(n),
                        [](const double a, const double b) { return std::abs(a) < std::abs(b); }));
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(row.begin(), row.end(), 0.);
    for (int k = block.A.row_starts.low[i]; k < block.A.row_starts.low[i + 1]; ++k)
      row[static_cast<std::size_t>(block.A.columns[k])] = block.A.values[k];
    if (constraints.is_constrained(i)) {
      EXPECT_GT(row[i], 0.);
      row[i] = 0.;
      EXPECT_EQ(*std::max_element(row.begin(), row.end()), 0.) << "row " << i;
      EXPECT_EQ(block.b[i], 0.) << "row " << i;
      continue;
    }
    const double *const expected = theirs.data() + n + n * i;
    double largest = 0.;
    for (std::size_t j = 0; j < n; ++j)
      largest = std::max(largest, std::abs(expected[j]));
    for (std::size_t j = 0; j < n; ++j)
      ASSERT_NEAR(row[j], expected[j], 1e-12 * largest) << "row " << i << ", column " << j;
    ASSERT_NEAR(block.b[i], theirs[i], 1e-12 * largest_b) << "row " << i;
  }
}

/// The boundary data of the problems below: component c is (1 + c) x + y.
template <int dim>
class LinearData final : public Function<dim>
{
public:
  explicit LinearData(const unsigned int n_components) : Function<dim>(n_components)
  {}
  double value(const Point<dim> &p, const unsigned int c) const override
  {
    return (1. + c) * p[0] + p[1];
  }
};

template <int dim>
void expect_assembled_system(const std::string &physics, const std::string &parameters,
                             const std::string &cells, const unsigned int degree)
{
  SCOPED_TRACE(physics + ", " + std::to_string(dim) + "D, " + cells + " of degree " +
               std::to_string(degree));
  PhysicsOnMesh<dim> on_mesh(physics, parameters, {"hyper_cube", "0 : 1 : true", cells});
  const Problem<dim> &problem = *on_mesh.problem;
  make_periodic(on_mesh.mesh, problem.periodic_sides());
  if (problem.periodic_sides().empty())
    distort(on_mesh.mesh);
  refine_globally(on_mesh.mesh, cells == "simplex" ? 0 : 1);
  if (cells == "hypercube")
    refine_at_corner(on_mesh.mesh, 1);
  Discretization<dim> discretization(on_mesh.mesh, degree, problem.n_components());
  discretization.distribute_dofs();
  discretization.make_constraints(problem);
  linalg::GroupSystem system{linalg::SolverGroups(MPI_COMM_WORLD)};
  make_pattern(discretization, system);
  assemble<dim>(problem, discretization, nullptr, system);
  Constraints mine = conformity_of_deal_ii(discretization, problem.periodic_sides());
  VectorTools::interpolate_boundary_values(discretization.mapping(), discretization.dofs(), 0,
                                           LinearData<dim>(problem.n_components()), mine);
  const Constraints theirs = of_all_ranks(mine, discretization.owned());
  expect_same_lines(discretization.constraints(), theirs, discretization.relevant());
  const std::vector<double> expected = system_of_deal_ii(problem, discretization, theirs);
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    expect_system(system, expected, theirs);
}

const std::string varying_diffusion =
    "subsection Poisson\n set Coefficient = 2 + x*y\n"
    " set Right-hand side = 4 - (1 + x)*u\n set Dirichlet = 0: x + y\n"
    " set Robin = 1: 2, 3*y\n set Neumann = 3: x\nend\n";

TEST(AsDealII, SystemsOfDiffusion)
{
  for_each_element([](const std::string &cells, const unsigned int degree) {
    expect_assembled_system<2>("poisson", varying_diffusion, cells, degree);
    if (degree <= 2)
      expect_assembled_system<3>("poisson", varying_diffusion, cells, degree);
  });
}

TEST(AsDealII, SystemsOfElasticity)
{
  const auto parameters = [](const std::string &displacement) {
    return "subsection Elasticity\n set Young's modulus = 2 + x\n set Poisson's ratio = 0.3\n"
           " set Displacement = 0: " +
           displacement + "\n set Pressure = 1: 1\nend\n";
  };
  for_each_element([&](const std::string &cells, const unsigned int degree) {
    expect_assembled_system<2>("elasticity", parameters("x + y, 2*x + y"), cells, degree);
    if (degree == 1)
      expect_assembled_system<3>("elasticity", parameters("x + y, 2*x + y, 3*x + y"), cells,
                                 degree);
  });
}

TEST(AsDealII, SystemsWithPeriodicSidesAndHangingNodes)
{
  const std::string periodic = "subsection Poisson\n set Coefficient = 2 + y\n"
                               " set Right-hand side = 4\n set Dirichlet = 0: x + y\n"
                               " set Periodic = 2, 3: y\nend\n";
  for (unsigned int degree = 1; degree <= 4; ++degree)
    expect_assembled_system<2>("poisson", periodic, "hypercube", degree);
  expect_assembled_system<3>("poisson", periodic, "hypercube", 1);
}

/// A coefficient on the unit cube.
template <int dim>
class VaryingCoefficient final : public Function<dim>
{
public:
  double value(const Point<dim> &p, const unsigned int /* component */) const override
  {
    return 2. + p[0] * p[1];
  }
};

template <int dim>
class Ripple final : public Function<dim>
{
public:
  double value(const Point<dim> &p, const unsigned int /* component */) const override
  {
    return std::sin(3. * p[0]) + p[1] * p[1] * p[dim - 1];
  }
};

/// Returns the L2 norm of k∇u, computed with deal.II's FEValues.
template <int dim>
double norm_of_flux(const Discretization<dim> &discretization, const FeVector &u)
{
  const QGauss<dim> quadrature(discretization.degree() + 1);
  FEValues<dim> values(discretization.mapping(), discretization.element(), quadrature,
                       update_gradients | update_quadrature_points | update_JxW_values);
  std::vector<Tensor<1, dim>> gradients(quadrature.size());
  const VaryingCoefficient<dim> k;
  double sum = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned()) {
      values.reinit(cell);
      values.get_function_gradients(u, gradients);
      for (const unsigned int q : values.quadrature_point_indices())
        sum +=
            (k.value(values.quadrature_point(q), 0) * gradients[q]).norm_square() * values.JxW(q);
    }
  return std::sqrt(Utilities::MPI::sum(sum, MPI_COMM_WORLD));
}

/**
 * Compares Kelly's indicators. In η_K², deal.II gives boundary faces the weight of interior faces,
 * whose jump two cells share. We give a boundary face twice this weight, because it has one cell.
 */
template <int dim>
void expect_indicators_of_deal_ii(const unsigned int degree)
{
  SCOPED_TRACE(std::to_string(dim) + "D, degree " + std::to_string(degree));
  PhysicsOnMesh<dim> on_mesh("poisson", "subsection Poisson\n set Coefficient = 2 + x*y\n"
                                        " set Right-hand side = 1\n set Dirichlet = 0: x\n"
                                        " set Neumann = 1: x + y; 2: 0; 3: 0" +
                                            std::string(dim == 3 ? "; 4: 0; 5: 0" : "") +
                                            "\nend\n");
  distort(on_mesh.mesh);
  refine_globally(on_mesh.mesh, dim == 2 ? 2 : 1);
  refine_at_corner(on_mesh.mesh, dim == 2 ? 2 : 1);
  Discretization<dim> discretization(on_mesh.mesh, degree, 1);
  discretization.distribute_dofs();
  discretization.make_constraints(*on_mesh.problem);
  FeVector u = discretization.make_vector();
  VectorTools::interpolate(discretization.mapping(), discretization.dofs(), Ripple<dim>(), u);
  discretization.conformity().distribute(u);
  u.update_ghost_values();
  Vector<float> ours;
  const ErrorEstimate estimate =
      estimate_error(Estimator::kelly, *on_mesh.problem, discretization, u, ours);
  const LinearData<dim> neumann_data(1);
  const Functions::ZeroFunction<dim> zero;
  const VaryingCoefficient<dim> k;
  const auto of_deal_ii = [&](const std::map<types::boundary_id, const Function<dim> *> &neumann) {
    Vector<float> theirs(on_mesh.mesh.triangulation->n_active_cells());
    KellyErrorEstimator<dim>::estimate(discretization.mapping(), discretization.dofs(),
                                       QGauss<dim - 1>(degree + 1), neumann, u, theirs, {}, &k,
                                       numbers::invalid_unsigned_int,
                                       on_mesh.mesh.triangulation->locally_owned_subdomain());
    return theirs;
  };
  std::map<types::boundary_id, const Function<dim> *> neumann = {{1, &neumann_data}};
  for (types::boundary_id id = 2; id < 2 * dim; ++id)
    neumann[id] = &zero;
  const Vector<float> with_boundary = of_deal_ii(neumann), of_jumps = of_deal_ii({});
  double sum = 0.;
  for (const auto &cell : on_mesh.mesh.triangulation->active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    const unsigned int i = cell->active_cell_index();
    const double expected = 2. * std::pow(with_boundary(i), 2) - std::pow(of_jumps(i), 2);
    EXPECT_NEAR(ours(i), std::sqrt(expected), 5e-7 * std::sqrt(expected)) << cell->center();
    sum += expected;
  }
  sum = std::sqrt(Utilities::MPI::sum(sum, MPI_COMM_WORLD));
  EXPECT_NEAR(estimate.error, sum, 5e-7 * sum);
  const double size = norm_of_flux(discretization, u);
  EXPECT_NEAR(estimate.size, size, 1e-12 * size);
}

TEST(AsDealII, IndicatorsOfKelly)
{
  for (unsigned int degree = 1; degree <= 4; ++degree)
    expect_indicators_of_deal_ii<2>(degree);
  expect_indicators_of_deal_ii<3>(1);
  expect_indicators_of_deal_ii<3>(2);
}
} // namespace
