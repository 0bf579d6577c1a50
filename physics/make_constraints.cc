#include "physics/base/deal_ii_compat.h"
#include "physics/constraints/row_reduction.h"
#include "physics/discretization.h"
#include "physics/lower_parts.h"
#include "physics/periodic_constraints.h"
#include "physics/problem.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/tensor.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/numerics/vector_tools_boundary.h>

#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
using Index = types::global_dof_index;
using Line = AffineConstraints<double>::ConstraintLine;
using Lines = std::map<Index, Line>;

/// Collective. The lines that the owners of @p dofs have for them; free dofs have none.
/// @param known those of the dofs that this rank owns, and perhaps others
std::vector<Line> ask_owners(const IndexSet &owned, const IndexSet &dofs, const Lines &known,
                             MPI_Comm communicator)
{
  const auto owners = Utilities::MPI::compute_index_owner(owned, dofs, communicator);
  std::map<unsigned int, std::vector<Index>> questions;
  auto owner = owners.begin();
  for (const Index dof : dofs)
    questions[*owner++].push_back(dof);
  std::map<unsigned int, std::vector<Line>> answers;
  for (const auto &[rank, asked] : Utilities::MPI::some_to_some(communicator, questions)) {
    std::vector<Line> &answer = answers[rank];
    for (const Index dof : asked)
      if (const auto line = known.find(dof); line != known.end())
        answer.push_back(line->second);
  }
  std::vector<Line> lines;
  for (const auto &[rank, answer] : Utilities::MPI::some_to_some(communicator, answers))
    lines.insert(lines.end(), answer.begin(), answer.end());
  return lines;
}

/// The dofs that @p lines depend on.
IndexSet masters_of(const Lines &lines, const IndexSet::size_type size)
{
  std::vector<Index> masters;
  for (const auto &[dof, line] : lines)
    for (const auto &entry : line.entries)
      masters.push_back(entry.first);
  std::sort(masters.begin(), masters.end());
  IndexSet set(size);
  set.add_indices(masters.begin(), masters.end());
  set.compress();
  return set;
}

/**
 * Collective. Gives @p constraints, which are not closed yet, the owners' lines for all other dofs:
 * the relevant ones, those that their lines depend on, and so on. Every rank sees all cells around
 * the dofs it owns, so its lines for these are complete. For a ghost they need not be: it may be on
 * a boundary or depend on a cell that only others see.
 * AffineConstraints::make_consistent_in_parallel() of deal.II 9.4.1 leaves some of them as they
 * are: tests/physics/hanging_nodes_at_corner.prm has a mesh where that shows with 4 ranks.
 */
template <int dim>
void take_lines_of_owners(const Discretization<dim> &discretization,
                          AffineConstraints<double> &constraints)
{
  const MPI_Comm communicator = discretization.communicator();
  if (Utilities::MPI::n_mpi_processes(communicator) == 1)
    return; // it owns all dofs
  const IndexSet &owned = discretization.owned();
  Lines lines;
  for (const auto &line : constraints.get_lines())
    if (owned.is_element(line.index))
      lines[line.index] = line;
  IndexSet known = owned, unknown = discretization.relevant();
  unknown.subtract_set(known);
  while (Utilities::MPI::max(unknown.n_elements(), communicator) > 0) {
    for (Line &line : ask_owners(owned, unknown, lines, communicator))
      lines[line.index] = std::move(line);
    known.add_indices(unknown);
    unknown = masters_of(lines, owned.size());
    unknown.subtract_set(known);
  }
  known.compress();

  constraints.clear();
  compat::reinit(constraints, owned, known);
  for (const auto &[dof, line] : lines) {
    constraints.add_line(dof);
    constraints.add_entries(dof, line.entries);
    constraints.set_inhomogeneity(dof, line.inhomogeneity);
  }
}

// Normals that differ by less are the same, and components of at most this size are zero: the
// vertices of mesh files are rounded.
constexpr double rounding = 1e-6;

/// The normals at a node, known by the dofs of its components.
template <int dim>
using NodeNormals = std::map<std::array<Index, dim>, std::vector<Tensor<1, dim>>>;

template <int dim>
void add_normal(const Tensor<1, dim> &n, std::vector<Tensor<1, dim>> &normals)
{
  const bool is_known = std::any_of(normals.begin(), normals.end(), [&](const auto &known) {
    return (n - (n * known) * known).norm() < rounding;
  });
  if (!is_known)
    normals.push_back(n);
}

template <int dim>
NodeNormals<dim> find_normals(const Discretization<dim> &discretization,
                              const std::set<types::boundary_id> &planes)
{
  const FiniteElement<dim> &fe = discretization.dofs().get_fe();
  FEFaceValues<dim> values(discretization.mapping(), fe, discretization.face_quadrature(),
                           update_normal_vectors);
  NodeNormals<dim> result;
  for_each_boundary_face(
      discretization, planes,
      [&](const auto &cell, const unsigned int face, const auto &dofs, const auto &on_face) {
        values.reinit(cell, face);
        for (const unsigned int i : on_face) {
          const auto [component, node] = fe.system_to_component_index(i);
          if (component != 0)
            continue;
          std::array<Index, dim> key;
          for (unsigned int c = 0; c < dim; ++c)
            key[c] = dofs[fe.component_to_system_index(c, node)];
          add_normal(values.normal_vector(0), result[key]);
        }
      });
  return result;
}

/// Adds n·u = 0 for all @p normals at the node with the dofs @p dofs.
template <int dim>
void constrain_node(const std::array<Index, dim> &dofs, const std::vector<Tensor<1, dim>> &normals,
                    AffineConstraints<double> &constraints)
{
  std::vector<unsigned int> free;
  for (unsigned int c = 0; c < dim; ++c)
    if (!constraints.is_constrained(dofs[c]))
      free.push_back(c);
    else if (!constraints.get_constraint_entries(dofs[c])->empty())
      return; // of a hanging node, whose masters are in the plane
  const auto n_free = static_cast<unsigned int>(free.size());
  if (n_free == 0)
    return;
  // for each normal n: the sum of n_c u_c over free c is that of −n_c u_c over the others
  FullMatrix<double> with_rhs(static_cast<unsigned int>(normals.size()), n_free + 1);
  for (unsigned int row = 0; row < with_rhs.m(); ++row) {
    for (unsigned int j = 0; j < n_free; ++j)
      with_rhs(row, j) = normals[row][free[j]];
    for (unsigned int c = 0; c < dim; ++c)
      if (constraints.is_constrained(dofs[c]))
        with_rhs(row, n_free) -= normals[row][c] * constraints.get_inhomogeneity(dofs[c]);
  }
  const auto pivots = row_reduce(with_rhs, n_free, Pivots::by_size, rounding);
  for (unsigned int row = 0; row < pivots.size(); ++row) {
    const Index dof = dofs[free[pivots[row]]];
    constraints.add_line(dof);
    constraints.set_inhomogeneity(dof, with_rhs(row, n_free));
    for (unsigned int j = 0; j < n_free; ++j)
      if (std::find(pivots.begin(), pivots.end(), j) == pivots.end() &&
          std::abs(with_rhs(row, j)) > rounding)
        constraints.add_entry(dof, dofs[free[j]], -with_rhs(row, j));
  }
}

/**
 * Adds u·n = 0 on the plane faces of the parts @p planes of the boundary, for a vector-valued u, to
 * @p constraints, which have hanging nodes and Dirichlet data already and are not closed. Where
 * several planes meet, all their normals count; components that are given keep their values.
 * Constraints of axis-parallel planes have no entries. Complete for the dofs that this rank owns.
 *
 * VectorTools::compute_no_normal_flux_constraints() leaves out a dof that has Dirichlet data, and
 * with it the condition on the other components of an oblique plane there.
 */
template <int dim>
void add_normal_constraints(const Discretization<dim> &discretization,
                            const std::set<types::boundary_id> &planes,
                            AffineConstraints<double> &constraints)
{
  for (const auto &[dofs, normals] : find_normals(discretization, planes))
    if (constraints.can_store_line(dofs[0]))
      constrain_node<dim>(dofs, normals, constraints);
}

/**
 * Collective. The free dof that has the lowest place, or stands for it. By place, as the numbers
 * depend on that of the ranks: with the same dof fixed the system is the same.
 */
template <int dim>
types::global_dof_index lowest_free_dof(const Discretization<dim> &discretization)
{
  double lowest = std::numeric_limits<double>::max();
  types::global_dof_index result = numbers::invalid_dof_index;
  for_each_owned_node(discretization, [&](const auto dof, const Point<dim> &node) {
    const auto *const entries = discretization.conformity().get_constraint_entries(dof);
    const bool stands_alone = entries == nullptr;
    if (!stands_alone && !(entries->size() == 1 && std::abs((*entries)[0].second - 1.) < 1e-12))
      return;
    // A direction that is no symmetry of usual bodies: one node is the lowest, rounding or not.
    const double slopes[3] = {1., 0.6180339887, 0.3141592654};
    double place = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      place += slopes[d] * node[d];
    if (place < lowest) {
      lowest = place;
      result = stands_alone ? dof : (*entries)[0].first;
    }
  });
  const auto all =
      Utilities::MPI::all_gather(discretization.communicator(), std::make_pair(lowest, result));
  return std::min_element(all.begin(), all.end())->second;
}

/// Gives dofs on @p part that have no other condition their values.
template <int dim>
void constrain_lower_part(const Discretization<dim> &discretization, const LowerPart &part,
                          const DirichletCondition<dim> &condition,
                          AffineConstraints<double> &constraints)
{
  for (const auto &[dof, node] : dofs_on(part, discretization))
    if (condition.mask[node.component] && constraints.can_store_line(dof) &&
        !constraints.is_constrained(dof)) {
      constraints.add_line(dof);
      constraints.set_inhomogeneity(dof, condition.values->value(node.place, node.component));
    }
}
} // namespace

template <int dim>
void Discretization<dim>::make_constraints(const Problem<dim> &problem)
{
  const bool has_hanging_nodes = the_mesh->triangulation->has_hanging_nodes();
  the_constraints.clear();
  compat::reinit(the_constraints, owned(), relevant_dofs);
  if (has_hanging_nodes) // quicker to ask than to look for each
    DoFTools::make_hanging_node_constraints(dof_handler, the_constraints);
  const auto sides = problem.periodic_sides();
  if (!sides.empty())
    add_periodic_constraints(*this, sides, the_constraints);
  const bool has_conditions_between_dofs = has_hanging_nodes || !sides.empty();
  the_conformity.clear();
  the_conformity.copy_from(the_constraints);
  if (has_conditions_between_dofs)
    take_lines_of_owners(*this, the_conformity);
  the_conformity.close();
  const auto conditions = problem.dirichlet_conditions();
  for (const auto &condition : conditions)
    if (the_mesh->regions.lower_part(condition.id) == nullptr)
      VectorTools::interpolate_boundary_values(*the_mapping, dof_handler, condition.id,
                                               *condition.values, the_constraints, condition.mask);
  for (const auto &condition : conditions)
    if (const LowerPart *const part = the_mesh->regions.lower_part(condition.id))
      constrain_lower_part(*this, *part, condition, the_constraints);
  const auto planes = problem.symmetry_planes();
  if (!planes.empty())
    add_normal_constraints(*this, planes, the_constraints);
  if (problem.fixes_mean())
    if (const auto dof = lowest_free_dof(*this); the_constraints.can_store_line(dof))
      the_constraints.add_line(dof);
  if (has_conditions_between_dofs || !planes.empty())
    take_lines_of_owners(*this, the_constraints);
  const auto lines = the_constraints.get_lines();
  const bool has_entries = std::any_of(lines.begin(), lines.end(),
                                       [](const auto &line) { return !line.entries.empty(); });
  is_linearly_constrained =
      Utilities::MPI::logical_or(has_conditions_between_dofs || has_entries, communicator());
  the_constraints.close();
}

template void Discretization<2>::make_constraints(const Problem<2> &);
template void Discretization<3>::make_constraints(const Problem<3> &);
} // namespace femgpu
