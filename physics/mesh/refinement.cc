#include "physics/mesh/refinement.h"

#include "linalg/base/error.h"
#include "linalg/dealii/node_memory.h"
#include "linalg/mpi/nodes.h"
#include "linalg/mpi/solver_groups.h"
#include "physics/deal_ii_compat.h"
#include "physics/problem_tools.h"

#include <deal.II/distributed/grid_refinement.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/lac/full_matrix.h>

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

LocalRefinementParameters::LocalRefinementParameters() : ParameterAcceptor("/Mesh")
{
  add_parameter(
      "Initial refinement where", where,
      "How often cells are refined besides, by an expression of their centre: 'x < 0.5 && "
      "y < 0.5' is once in a corner, '2*(x < 0.5)' twice in a half; at most 12 times. On "
      "quadrilaterals and hexahedra.");
}

namespace
{
/// The number with the first 13 binary digits of @p x.
float rounded(const float x)
{
  int exponent = 0;
  const float mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, 13)), exponent - 13);
}

template <int dim, class Predicate>
void flag_if(Mesh<dim> &mesh, const Predicate &predicate)
{
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && predicate(cell)) {
      cell->clear_coarsen_flag();
      cell->set_refine_flag();
    }
}

/// Barycentric coordinates of @p p, without the first: its place in the reference cell.
template <int dim>
Point<dim> unit_point(const typename Triangulation<dim>::cell_iterator &simplex,
                      const Point<dim> &p)
{
  Tensor<2, dim> edges; // column a is the edge from vertex 0 to vertex a + 1
  for (unsigned int a = 0; a < dim; ++a)
    for (unsigned int d = 0; d < dim; ++d)
      edges[d][a] = simplex->vertex(a + 1)[d] - simplex->vertex(0)[d];
  return Point<dim>(invert(edges) * (p - simplex->vertex(0)));
}

void wait_for_values(const linalg::NodeArray<double> &values, MPI_Comm node)
{
  values.synchronize();
  linalg::barrier_asleep(node);
  values.synchronize();
}

/// Each number is 0 on all nodes but one.
void add_values_of_nodes(double *values, std::size_t n, MPI_Comm nodes)
{
  constexpr std::size_t most_at_once = std::size_t{1} << 28; // MPI counts by int
  for (; n > 0; n -= std::min(n, most_at_once), values += most_at_once)
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(std::min(n, most_at_once)), MPI_DOUBLE,
                  MPI_SUM, nodes);
}

/**
 * Refines all cells of a shared mesh, which every rank has as a whole. deal.II's SolutionTransfer
 * needs the dofs of all cells, but a rank knows those of its own only: each leaves its cells'
 * values, by the number of the cell, in memory that the ranks of a node share, nodes tell each
 * other theirs, and the owner of a child evaluates those of its parent at the child's nodes.
 */
template <int dim>
FeVector refine_shared_mesh(Mesh<dim> &mesh, Discretization<dim> &discretization, const FeVector &u)
{
  const MPI_Comm comm = discretization.communicator();
  const FiniteElement<dim> &fe = discretization.element();
  const FiniteElement<dim> &scalar = fe.base_element(0);
  const unsigned int n = fe.n_dofs_per_cell();
  const std::size_t n_values = static_cast<std::size_t>(mesh.triangulation->n_active_cells()) * n;
  const linalg::SolverGroups nodes(comm);
  const linalg::NodeArray<double> values(nodes.group(), nodes.is_leader() ? n_values : 0);
  if (nodes.is_leader() && nodes.n_groups() > 1)
    std::fill_n(values.data(), n_values, 0.);
  wait_for_values(values, nodes.group());
  Vector<double> cell_values(n);
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned()) {
      cell->get_dof_values(u, cell_values);
      std::copy(cell_values.begin(), cell_values.end(),
                values.data() + static_cast<std::size_t>(cell->active_cell_index()) * n);
    }
  wait_for_values(values, nodes.group());
  if (nodes.is_leader() && nodes.n_groups() > 1)
    add_values_of_nodes(values.data(), n_values, nodes.leaders());
  wait_for_values(values, nodes.group());

  Triangulation<dim> before;
  before.copy_triangulation(*mesh.replica);
  const std::vector<unsigned int> parents = refine_globally(mesh, 1);
  discretization.distribute_dofs();
  FeVector result = discretization.make_vector();
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    const unsigned int parent = parents[cell->active_cell_index()];
    const typename Triangulation<dim>::cell_iterator parent_cell(&before, 0, parent);
    const double *of_parent = values.data() + static_cast<std::size_t>(parent) * n;
    cell_values = 0.;
    for (unsigned int i = 0; i < n; ++i) {
      const auto [component, node] = fe.system_to_component_index(i);
      const Point<dim> there = discretization.mapping().transform_unit_to_real_cell(
          cell, scalar.unit_support_point(node));
      const Point<dim> p =
          discretization.has_straight_cells()
              ? unit_point<dim>(parent_cell, there)
              : discretization.mapping().transform_real_to_unit_cell(parent_cell, there);
      for (unsigned int j = 0; j < n; ++j)
        if (fe.system_to_component_index(j).first == component)
          cell_values(i) +=
              of_parent[j] * scalar.shape_value(fe.system_to_component_index(j).second, p);
    }
    cell->set_dof_values(cell_values, result);
  }
  result.zero_out_ghost_values();
  linalg::barrier_asleep(nodes.group()); // nobody lets go of memory that is still read
  return result;
}
} // namespace

template <int dim>
void flag_by_indicators(Mesh<dim> &mesh, const Vector<float> &indicators,
                        const RefinementRule &rule)
{
  auto &triangulation =
      dynamic_cast<parallel::distributed::Triangulation<dim> &>(*mesh.triangulation);
  Vector<float> eta(indicators);
  std::transform(eta.begin(), eta.end(), eta.begin(), rounded);
  using namespace parallel::distributed::GridRefinement;
  if (rule.fraction == RefinementRule::Fraction::of_cells)
    refine_and_coarsen_fixed_number(triangulation, eta, rule.refine, rule.coarsen);
  else
    refine_and_coarsen_fixed_fraction(triangulation, eta, rule.refine, rule.coarsen,
                                      VectorTools::NormType::L2_norm);
}

template <int dim>
void flag_all(Mesh<dim> &mesh)
{
  flag_if(mesh, [](const auto & /* cell */) { return true; });
}

template <int dim>
void flag_where(Mesh<dim> &mesh, const Function<dim> &where)
{
  flag_if(mesh, [&](const auto &cell) { return where.value(cell->center()) != 0.; });
}

template <int dim>
void flag_larger_than(Mesh<dim> &mesh, const Function<dim> &size)
{
  flag_if(mesh, [&](const auto &cell) { return cell->diameter() > size.value(cell->center()); });
}

template <int dim>
bool limit_level(Mesh<dim> &mesh, const unsigned int largest)
{
  bool any = false;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned()) {
      if (static_cast<unsigned int>(cell->level()) >= largest)
        cell->clear_refine_flag();
      any = any || cell->refine_flag_set();
    }
  return Utilities::MPI::logical_or(any, compat::communicator(*mesh.triangulation));
}

template <int dim>
std::unique_ptr<Function<dim>> initial_refinement(const Mesh<dim> &mesh,
                                                  const LocalRefinementParameters &parameters)
{
  const std::string path = "Mesh/Initial refinement where";
  auto where = make_optional_field<dim>(path, parameters.where, 1, mesh.regions);
  if (where && mesh.is_simplex)
    throw ParameterError("Triangles and tetrahedra can be refined globally only. Leave " + path +
                             " empty, or use quadrilaterals or hexahedra.",
                         path);
  return where;
}

template <int dim>
void refine_initially(Mesh<dim> &mesh, const unsigned int times,
                      const LocalRefinementParameters &parameters)
{
  const auto where = initial_refinement(mesh, parameters);
  refine_globally(mesh, times);
  for (unsigned int step = 0; where && step < most_local_refinements; ++step) {
    flag_if(mesh,
            [&](const auto &cell) { return cell->level() < times + where->value(cell->center()); });
    if (!limit_level(mesh, times + most_local_refinements))
      return;
    mesh.triangulation->execute_coarsening_and_refinement();
  }
}

template <int dim>
FeVector refine_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                             const FeVector &u)
{
  if (mesh.is_simplex)
    return refine_shared_mesh(mesh, discretization, u);
  auto &triangulation = *mesh.triangulation;
  triangulation.prepare_coarsening_and_refinement();
  compat::SolutionTransfer<dim, FeVector> transfer(discretization.dofs());
  transfer.prepare_for_coarsening_and_refinement(u);
  triangulation.execute_coarsening_and_refinement();
  discretization.distribute_dofs();
  FeVector guess = discretization.make_vector(); // interpolate() writes to ghost entries, too
  transfer.interpolate(guess);
  return guess;
}

template void flag_by_indicators(Mesh<2> &, const Vector<float> &, const RefinementRule &);
template void flag_all(Mesh<2> &);
template void flag_where(Mesh<2> &, const Function<2> &);
template void flag_larger_than(Mesh<2> &, const Function<2> &);
template bool limit_level(Mesh<2> &, unsigned int);
template std::unique_ptr<Function<2>> initial_refinement(const Mesh<2> &,
                                                         const LocalRefinementParameters &);
template void refine_initially(Mesh<2> &, unsigned int, const LocalRefinementParameters &);
template FeVector refine_and_transfer(Mesh<2> &, Discretization<2> &, const FeVector &);
template void flag_by_indicators(Mesh<3> &, const Vector<float> &, const RefinementRule &);
template void flag_all(Mesh<3> &);
template void flag_where(Mesh<3> &, const Function<3> &);
template void flag_larger_than(Mesh<3> &, const Function<3> &);
template bool limit_level(Mesh<3> &, unsigned int);
template std::unique_ptr<Function<3>> initial_refinement(const Mesh<3> &,
                                                         const LocalRefinementParameters &);
template void refine_initially(Mesh<3> &, unsigned int, const LocalRefinementParameters &);
template FeVector refine_and_transfer(Mesh<3> &, Discretization<3> &, const FeVector &);
} // namespace femgpu
