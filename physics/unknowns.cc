#include "physics/unknowns.h"

#include "linalg/mpi/long_messages.h"
#include "physics/coarser_meshes.h"
#include "physics/prolongation_rows.h"

#include <deal.II/base/mpi.h>
#include <deal.II/lac/full_matrix.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
constexpr double rounding = 1e-12; ///< of values of shape functions

/// The values of the coarser element's shape functions in the nodes of the finer one.
template <int dim>
FullMatrix<double> interpolation(const FiniteElement<dim> &fine, const FiniteElement<dim> &coarse)
{
  FullMatrix<double> values(fine.n_dofs_per_cell(), coarse.n_dofs_per_cell());
  for (unsigned int a = 0; a < fine.n_dofs_per_cell(); ++a) {
    const unsigned int component = fine.system_to_component_index(a).first;
    for (unsigned int b = 0; b < coarse.n_dofs_per_cell(); ++b)
      if (coarse.system_to_component_index(b).first == component)
        values(a, b) = coarse.shape_value_component(b, fine.unit_support_point(a), component);
  }
  return values;
}

using Dofs = std::vector<types::global_dof_index>;

/// For each dof that this rank owns the cell that gives its row, the first that has it, and its
/// number there.
struct RowSources
{
  static constexpr unsigned int none = numbers::invalid_unsigned_int; ///< it is constrained

  template <int dim>
  RowSources(const Discretization<dim> &fine, const Discretization<dim> &coarse);

  std::vector<unsigned int> cells, in_cell;         ///< of each dof
  std::vector<types::global_dof_index> coarse_dofs; ///< of each cell
};

template <int dim>
RowSources::RowSources(const Discretization<dim> &fine, const Discretization<dim> &coarse)
    : cells(fine.owned().n_elements(), none), in_cell(cells.size())
{
  Dofs dofs(fine.element().n_dofs_per_cell()), here(coarse.element().n_dofs_per_cell());
  unsigned int n_cells = 0;
  for (const auto &cell : fine.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_indices(dofs);
    const typename DoFHandler<dim>::active_cell_iterator same(
        &cell->get_triangulation(), cell->level(), cell->index(), &coarse.dofs());
    same->get_dof_indices(here);
    coarse_dofs.insert(coarse_dofs.end(), here.begin(), here.end());
    for (unsigned int a = 0; a < dofs.size(); ++a) {
      const auto own = fine.owned().index_within_set(dofs[a]);
      if (own == numbers::invalid_dof_index || cells[own] != none ||
          fine.constraints().is_constrained(dofs[a]))
        continue;
      cells[own] = n_cells;
      in_cell[own] = a;
    }
    ++n_cells;
  }
}

/// Appends what an unknown of the coarser space is: itself, or what its constraints make of it.
void add_term(const types::global_dof_index j, const double value,
              const AffineConstraints<double> &constraints, std::vector<ProlongationTerm> &terms)
{
  if (!constraints.is_constrained(j))
    terms.push_back({static_cast<int>(j), value});
  else
    for (const auto &[master, weight] : *constraints.get_constraint_entries(j))
      terms.push_back({static_cast<int>(master), value * weight});
}

/// Those of this rank; empty where an unknown is constrained.
template <int dim>
linalg::HostProlongation rows_of_free_dofs(const Discretization<dim> &fine,
                                           const Discretization<dim> &coarse)
{
  const FullMatrix<double> values = interpolation(fine.element(), coarse.element());
  const RowSources sources(fine, coarse);
  const auto width = static_cast<std::size_t>(values.n());
  return rows_by_parts(
      sources.cells.size(), static_cast<int>(coarse.dofs().n_dofs()),
      [&](const auto begin, const auto end, auto &P) {
        std::vector<ProlongationTerm> terms;
        for (auto i = begin; i < end; ++i) {
          terms.clear();
          for (unsigned int b = 0; b < width && sources.cells[i] != sources.none; ++b)
            if (const double value = values(sources.in_cell[i], b); std::abs(value) > rounding)
              add_term(sources.coarse_dofs[sources.cells[i] * width + b], value,
                       coarse.constraints(), terms);
          end_row(terms, P);
        }
      });
}

/// Of a group's ranks, on the leader: for each dof that a rank owns, is it constrained?
template <int dim>
std::vector<int> constrained_dofs(const Discretization<dim> &discretization,
                                  const linalg::GroupSystem &system)
{
  std::vector<int> mine;
  for (const auto dof : discretization.owned())
    mine.push_back(discretization.constraints().is_constrained(dof) ? 1 : 0);
  return system.gather_on_leader(std::move(mine));
}

/// P of the rows of free unknowns, where the k-th constrained one is the k-th of the coarser.
linalg::HostProlongation with_constrained_rows(const linalg::HostProlongation &of_free,
                                               const std::vector<int> &is_constrained,
                                               const std::vector<int> &is_coarse_constrained)
{
  linalg::HostProlongation P;
  P.n_columns = static_cast<int>(is_coarse_constrained.size());
  P.ghosts = of_free.ghosts;
  P.row_starts.reserve(of_free.row_starts.size());
  P.columns.reserve(of_free.columns.size() + is_constrained.size() / 8);
  P.values.reserve(P.columns.capacity());
  int next = 0; // the next coarser unknown that may be constrained
  for (std::size_t i = 0; i < is_constrained.size(); ++i) {
    for (int k = of_free.row_starts[i]; k < of_free.row_starts[i + 1]; ++k) {
      P.columns.push_back(of_free.columns[k]);
      P.values.push_back(of_free.values[k]);
    }
    if (is_constrained[i] != 0) {
      while (next < P.n_columns && is_coarse_constrained[next] == 0)
        ++next;
      if (next < P.n_columns) {
        P.columns.push_back(next++);
        P.values.push_back(1.);
      }
    }
    P.row_starts.push_back(static_cast<int>(P.columns.size()));
  }
  return P;
}

/// The first dof of this rank's group, whose ranks' dofs follow each other.
template <int dim>
long long first_of_group(const Discretization<dim> &discretization,
                         const linalg::SolverGroups &groups)
{
  const auto n_owned =
      Utilities::MPI::all_gather(groups.ranks(), discretization.owned().n_elements());
  const auto first_rank = groups.first_ranks()[static_cast<std::size_t>(groups.number())];
  return std::accumulate(n_owned.begin(), n_owned.begin() + first_rank, 0LL);
}

/// Of all rows of a group, on the leader.
template <int dim>
linalg::HostProlongation prolongation(const Discretization<dim> &fine,
                                      const Discretization<dim> &coarse,
                                      const linalg::GroupSystem &system)
{
  linalg::HostProlongation P = rows_of_free_dofs(fine, coarse);
  std::vector<int> lengths(P.row_starts.size() - 1);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = P.row_starts[i + 1] - P.row_starts[i];
  P.row_starts = {0};
  for (const int length : system.gather_on_leader(std::move(lengths)))
    P.row_starts.push_back(P.row_starts.back() + length);
  P.columns = system.gather_on_leader(std::move(P.columns));
  P.values = system.gather_on_leader(std::move(P.values));
  const std::vector<int> is_constrained = constrained_dofs(fine, system),
                         is_coarse_constrained = constrained_dofs(coarse, system);
  const long long first = first_of_group(coarse, system.groups());
  if (system.groups().n_groups() > 1)
    number_columns(P, first, static_cast<int>(is_coarse_constrained.size()));
  return with_constrained_rows(P, is_constrained, is_coarse_constrained);
}

/// Has each coarser unknown of a group a part in a finer one there?
bool reaches_all(const linalg::HostProlongation &P)
{
  std::vector<bool> is_reached(static_cast<std::size_t>(P.n_columns));
  for (const int column : P.columns)
    if (column < P.n_columns)
      is_reached[column] = true;
  return std::find(is_reached.begin(), is_reached.end(), false) == is_reached.end();
}

/// What @p discretization alone tells. Its rows are those of the ranks one after the other.
template <int dim>
linalg::Unknowns known_of(const Discretization<dim> &discretization, const bool with_coordinates,
                          const linalg::GroupSystem &system)
{
  linalg::Unknowns unknowns;
  unknowns.per_node = static_cast<int>(discretization.element().n_components());
  if (with_coordinates) {
    const auto &owned = discretization.owned();
    std::vector<double> mine(owned.n_elements() * dim);
    for_each_owned_node(discretization, [&](const auto dof, const Point<dim> &place) {
      for (unsigned int d = 0; d < dim; ++d)
        mine[owned.index_within_set(dof) * dim + d] = place[d];
    });
    unknowns.dimension = dim;
    unknowns.coordinates = system.gather_on_leader(std::move(mine));
  }
  return unknowns;
}

/// Appends the active cells of this rank that @p cell has become, in the order of the curve.
template <int dim>
void add_cells(const typename DoFHandler<dim>::cell_iterator &cell, const Blocks<dim> *const blocks,
               const int within_blocks, const int tree, const unsigned int components, Dofs &dofs,
               ForestCells &cells)
{
  if (cell->has_children()) {
    for (unsigned int child = 0; child < cell->n_children(); ++child)
      add_cells<dim>(cell->child(child), blocks, within_blocks, tree, components, dofs, cells);
    return;
  }
  if (!cell->is_locally_owned())
    return;
  for (unsigned int part = 0; part < (blocks == nullptr ? 1 : blocks->size()); ++part) {
    const ActiveCell<dim> active(cell, blocks, part);
    active.get_dof_indices(dofs); // vertex by vertex
    cells.trees.push_back(tree);
    cells.levels.push_back(cell->level() + within_blocks);
    for (std::size_t first = 0; first < dofs.size(); first += components)
      cells.nodes.push_back(static_cast<int>(dofs[first] / components));
  }
}

/// Of all ranks, on the leader, with linear elements.
template <int dim>
ForestCells forest_cells(const Discretization<dim> &discretization,
                         const linalg::GroupSystem &system)
{
  ForestCells mine{dim, {}, {}, {}};
  const auto &handler = discretization.dofs();
  mine.nodes.reserve(discretization.mesh().triangulation->n_active_cells() *
                     static_cast<std::size_t>(mine.n_vertices()));
  Dofs dofs(discretization.element().n_dofs_per_cell());
  for (auto cell = handler.begin(0); cell != handler.end(0); ++cell)
    add_cells<dim>(cell, discretization.blocks(),
                   static_cast<int>(discretization.mesh().refinements_within_blocks()),
                   static_cast<int>(cell->id().get_coarse_cell_id()),
                   discretization.element().n_components(), dofs, mine);
  return {dim, system.gather_on_leader(std::move(mine.trees)),
          system.gather_on_leader(std::move(mine.levels)),
          system.gather_on_leader(std::move(mine.nodes))};
}

/// Of all ranks, on the leader.
template <int dim>
UnknownLines unknown_lines(const Discretization<dim> &discretization,
                           const linalg::GroupSystem &system)
{
  std::vector<int> lengths, columns;
  std::vector<double> weights;
  for (const auto dof : discretization.owned()) {
    const auto *const entries = discretization.constraints().get_constraint_entries(dof);
    lengths.push_back(entries == nullptr ? 0 : static_cast<int>(entries->size()));
    for (std::size_t k = 0; entries != nullptr && k < entries->size(); ++k) {
      columns.push_back(static_cast<int>((*entries)[k].first));
      weights.push_back((*entries)[k].second);
    }
  }
  UnknownLines lines{constrained_dofs(discretization, system),
                     {0},
                     system.gather_on_leader(std::move(columns)),
                     system.gather_on_leader(std::move(weights))};
  for (const int length : system.gather_on_leader(std::move(lengths)))
    lines.starts.push_back(lines.starts.back() + length);
  return lines;
}

/// Of all groups, on the first leader. Is called by all leaders.
ForestCells of_all_groups(ForestCells cells, MPI_Comm leaders)
{
  return {cells.dimension, linalg::gather_on_first(std::move(cells.trees), leaders),
          linalg::gather_on_first(std::move(cells.levels), leaders),
          linalg::gather_on_first(std::move(cells.nodes), leaders)};
}

/// The same.
UnknownLines of_all_groups(UnknownLines lines, MPI_Comm leaders)
{
  std::vector<int> lengths(lines.starts.size() - 1);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = lines.starts[i + 1] - lines.starts[i];
  UnknownLines all{linalg::gather_on_first(std::move(lines.is_constrained), leaders),
                   {0},
                   linalg::gather_on_first(std::move(lines.columns), leaders),
                   linalg::gather_on_first(std::move(lines.weights), leaders)};
  for (const int length : linalg::gather_on_first(std::move(lengths), leaders))
    all.starts.push_back(all.starts.back() + length);
  return all;
}

using CoarserPointer = linalg::LazyCoarserUnknowns::Pointer;

/// Gives each leader those of its group. @param of_groups on the first leader
CoarserPointer scatter_to_groups(std::vector<CoarserPointer> of_groups,
                                 const linalg::Unknowns &given, const linalg::SolverGroups &groups)
{
  MPI_Comm leaders = groups.leaders();
  const auto scattered = [&](const auto &member) { // (coarser unknowns) of each group
    using List = std::decay_t<decltype(member(*of_groups[0]))>;
    std::vector<List> lists;
    for (const CoarserPointer &of_group : of_groups)
      lists.push_back(member(*of_group));
    return linalg::scatter_from_first(std::move(lists), leaders);
  };
  const bool is_there = groups.number() == 0 && of_groups[0];
  if (Utilities::MPI::max(is_there ? 1 : 0, leaders) == 0)
    return nullptr;
  auto mine = std::make_shared<linalg::CoarserUnknowns>();
  linalg::HostProlongation &P = mine->prolongation;
  P.n_columns = scattered([](const auto &of_group) {
                  return std::vector<int>{of_group.prolongation.n_columns};
                }).front();
  P.ghosts = scattered([](const auto &of_group) { return of_group.prolongation.ghosts; });
  P.row_starts = scattered([](const auto &of_group) { return of_group.prolongation.row_starts; });
  P.columns = scattered([](const auto &of_group) { return of_group.prolongation.columns; });
  P.values = scattered([](const auto &of_group) { return of_group.prolongation.values; });
  mine->unknowns.per_node = given.per_node;
  mine->unknowns.dimension = given.dimension;
  mine->unknowns.coordinates =
      scattered([](const auto &of_group) { return of_group.unknowns.coordinates; });
  for (CoarserPointer &of_group : of_groups)
    of_group = of_group->unknowns.coarser.get();
  mine->unknowns.coarser = scatter_to_groups(std::move(of_groups), given, groups);
  return mine;
}

/// The first leader makes them for all groups: families of cells, and what nodes depend on, do not
/// end where a group does. Is called by all leaders.
CoarserPointer coarser_meshes_of_groups(ForestCells cells, UnknownLines lines,
                                        linalg::Unknowns given, const linalg::SolverGroups &groups)
{
  MPI_Comm leaders = groups.leaders();
  const auto n_nodes = static_cast<int>(lines.is_constrained.size()) / given.per_node;
  std::vector<int> starts = {0};
  for (const int n : Utilities::MPI::all_gather(leaders, n_nodes))
    starts.push_back(starts.back() + n);
  given.coordinates = linalg::gather_on_first(std::move(given.coordinates), leaders);
  cells = of_all_groups(std::move(cells), leaders);
  lines = of_all_groups(std::move(lines), leaders);
  std::vector<CoarserPointer> of_groups;
  if (groups.number() == 0)
    of_groups = unknowns_of_coarser_meshes(std::move(cells), std::move(lines), given, starts);
  return scatter_to_groups(std::move(of_groups), given, groups);
}

/// Those of coarser meshes, for linear elements; made when they are wanted. None on ranks but
/// leaders, which all have them or none.
template <int dim>
linalg::LazyCoarserUnknowns of_coarser_meshes(const Discretization<dim> &fine,
                                              const linalg::Unknowns &given,
                                              const linalg::GroupSystem &system)
{
  const linalg::SolverGroups &groups = system.groups();
  ForestCells cells = forest_cells(fine, system);
  UnknownLines lines = unknown_lines(fine, system);
  if (!groups.is_leader())
    return {};
  const int deepest =
      cells.levels.empty() ? 0 : *std::max_element(cells.levels.begin(), cells.levels.end());
  if (Utilities::MPI::max(deepest, groups.leaders()) == 0) // nothing coarsens
    return {};
  return linalg::LazyCoarserUnknowns([cells = std::move(cells), lines = std::move(lines),
                                      given = given, groups]() mutable {
    return coarser_meshes_of_groups(std::move(cells), std::move(lines), std::move(given), groups);
  });
}

/// Is there a coarser space, and has it unknowns? The leaders of all groups come to the same
/// answer.
bool is_coarser(const linalg::HostProlongation &P, const linalg::SolverGroups &groups)
{
  if (!groups.is_leader())
    return false;
  return Utilities::MPI::min(reaches_all(P) ? 1 : 0, groups.leaders()) == 1 &&
         Utilities::MPI::max(P.n_columns, groups.leaders()) > 0;
}

/// Those of half the degree, and so on, and then those of coarser meshes; none on ranks but
/// leaders. @param given what is known of those of @p fine
template <int dim>
linalg::LazyCoarserUnknowns
coarser_unknowns(const Problem<dim> &problem, const Discretization<dim> &fine,
                 const linalg::Unknowns &given, const bool with_coordinates,
                 const linalg::GroupSystem &system)
{
  if (fine.degree() == 1)
    return fine.mesh().is_simplex ? linalg::LazyCoarserUnknowns()
                                  : of_coarser_meshes(fine, given, system);
  Discretization<dim> coarse(fine.mesh(), fine.degree() / 2, fine.element().n_components());
  coarse.distribute_dofs();
  coarse.make_constraints(problem);
  auto result = std::make_shared<linalg::CoarserUnknowns>();
  result->prolongation = prolongation(fine, coarse, system);
  result->unknowns = known_of(coarse, with_coordinates, system);
  result->unknowns.coarser =
      coarser_unknowns(problem, coarse, result->unknowns, with_coordinates, system);
  if (!is_coarser(result->prolongation, system.groups()))
    return {};
  return linalg::LazyCoarserUnknowns::Pointer(std::move(result));
}
} // namespace

template <int dim>
void describe_unknowns(const Problem<dim> &problem, const Discretization<dim> &discretization,
                       const WantedOfUnknowns wanted, linalg::GroupSystem &system)
{
  linalg::Unknowns unknowns = known_of(discretization, wanted.coordinates, system);
  if (wanted.coarser)
    unknowns.coarser =
        coarser_unknowns(problem, discretization, unknowns, wanted.coordinates, system);
  system.set_unknowns(std::move(unknowns));
}

template void describe_unknowns(const Problem<2> &, const Discretization<2> &, WantedOfUnknowns,
                                linalg::GroupSystem &);
template void describe_unknowns(const Problem<3> &, const Discretization<3> &, WantedOfUnknowns,
                                linalg::GroupSystem &);
} // namespace femgpu
