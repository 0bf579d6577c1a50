#include "physics/unknowns.h"

#include "linalg/mpi/long_messages.h"
#include "physics/coarser_meshes.h"
#include "physics/prolongation_rows.h"

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_tools.h>
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
constexpr double rounding = 1e-12; ///< rounding error of values of shape functions

using Dofs = std::vector<types::global_dof_index>;

/// For each dof that this rank owns, the source of its row of the prolongation: the first cell that
/// has the dof, and the dof's number in that cell. For a constrained dof: `none`, and the dof's
/// index among the constrained dofs.
struct RowSources
{
  static constexpr unsigned int none = numbers::invalid_unsigned_int; ///< the dof is constrained

  template <int dim>
  RowSources(const Discretization<dim> &fine, const Discretization<dim> &coarse);

  std::vector<unsigned int> cells, in_cell;         ///< for each dof
  std::vector<types::global_dof_index> coarse_dofs; ///< dofs of the coarse element, cell by cell
};

template <int dim>
RowSources::RowSources(const Discretization<dim> &fine, const Discretization<dim> &coarse)
    : cells(fine.owned().n_elements(), none), in_cell(cells.size())
{
  unsigned int n_constrained = 0, row = 0;
  for (const auto dof : fine.owned())
    in_cell[row++] = fine.constraints().is_constrained(dof) ? n_constrained++ : 0;
  Dofs dofs(fine.element().n_dofs_per_cell()), cell_dofs(coarse.element().n_dofs_per_cell());
  unsigned int n_cells = 0;
  for (const auto &cell : fine.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_indices(dofs);
    const typename DoFHandler<dim>::active_cell_iterator same(
        &cell->get_triangulation(), cell->level(), cell->index(), &coarse.dofs());
    same->get_dof_indices(cell_dofs);
    coarse_dofs.insert(coarse_dofs.end(), cell_dofs.begin(), cell_dofs.end());
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

/// Appends @p value times unknown @p j of the coarser space to @p terms. If the unknown is
/// constrained, the terms of its constraint replace it.
void add_term(const types::global_dof_index j, const double value,
              const AffineConstraints<double> &constraints, std::vector<ProlongationTerm> &terms)
{
  if (!constraints.is_constrained(j))
    terms.push_back({static_cast<int>(j), value});
  else
    for (const auto &[master, weight] : *constraints.get_constraint_entries(j))
      terms.push_back({static_cast<int>(master), value * weight});
}

/// Returns this rank's rows of the prolongation from @p coarse to @p fine. The k-th constrained
/// unknown of a group is interpolated from the k-th constrained coarser unknown, if that exists.
/// @param constrained the constrained coarser unknowns of the group, ascending
/// @param n_before number of constrained finer unknowns on the ranks before this one
template <int dim>
linalg::HostProlongation rows_of(const Discretization<dim> &fine, const Discretization<dim> &coarse,
                                 const std::vector<int> &constrained, const std::size_t n_before)
{
  // values of the coarser shape functions at the nodes of the finer element
  FullMatrix<double> values(fine.element().n_dofs_per_cell(), coarse.element().n_dofs_per_cell());
  FETools::get_interpolation_matrix(coarse.element(), fine.element(), values);
  const RowSources sources(fine, coarse);
  const auto width = static_cast<std::size_t>(values.n());
  return rows_by_chunks(
      sources.cells.size(), static_cast<int>(coarse.dofs().n_dofs()),
      [&](const Chunk &chunk, linalg::HostProlongation &P) {
        std::vector<ProlongationTerm> terms;
        for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
          terms.clear();
          if (const std::size_t k = n_before + sources.in_cell[i];
              sources.cells[i] == sources.none && k < constrained.size())
            terms.push_back({constrained[k], 1.});
          for (unsigned int b = 0; b < width && sources.cells[i] != sources.none; ++b)
            if (const double value = values(sources.in_cell[i], b); std::abs(value) > rounding)
              add_term(sources.coarse_dofs[sources.cells[i] * width + b], value,
                       coarse.constraints(), terms);
          end_row(terms, P);
        }
      });
}

/// Concatenates the data of several ranks, in rank order. @param gather concatenates one list
template <class Gather>
ForestCells gathered(ForestCells local, const Gather &gather)
{
  return {local.dimension, gather(std::move(local.levels)), gather(std::move(local.nodes)),
          local.in_block};
}
template <class Gather>
ConstrainedUnknowns gathered(ConstrainedUnknowns local, const Gather &gather)
{
  return {gather(std::move(local.unknowns)), gather(std::move(local.n_terms)),
          gather(std::move(local.columns)), gather(std::move(local.weights))};
}

/// Returns the constrained unknowns that this rank owns.
template <int dim>
ConstrainedUnknowns constrained_unknowns(const Discretization<dim> &discretization)
{
  ConstrainedUnknowns local;
  const AffineConstraints<double> &constraints = discretization.constraints();
  for (const auto dof : discretization.owned()) {
    if (!constraints.is_constrained(dof))
      continue;
    const auto &terms = *constraints.get_constraint_entries(dof);
    local.unknowns.push_back(static_cast<int>(dof));
    local.n_terms.push_back(static_cast<int>(terms.size()));
    for (const auto &[master, weight] : terms) {
      local.columns.push_back(static_cast<int>(master));
      local.weights.push_back(weight);
    }
  }
  return local;
}

/// Returns the first dof of each solver group, whose dofs are consecutive, and the number of dofs.
template <int dim>
std::vector<int> starts_of_groups(const Discretization<dim> &discretization,
                                  const linalg::SolverGroups &groups)
{
  const auto n_owned = Utilities::MPI::all_gather(
      groups.ranks(), static_cast<int>(discretization.owned().n_elements()));
  std::vector<int> starts;
  for (const int rank : groups.first_ranks())
    starts.push_back(std::accumulate(n_owned.begin(), n_owned.begin() + rank, 0));
  return starts;
}

/// Returns the prolongation with all rows of a solver group, on the leader of the group (see
/// linalg::SolverGroups).
template <int dim>
linalg::HostProlongation prolongation(const Discretization<dim> &fine,
                                      const Discretization<dim> &coarse,
                                      const linalg::GroupSystem &system)
{
  MPI_Comm group = system.groups().group();
  const long long n_constrained = constrained_unknowns(fine).unknowns.size();
  long long n_before = 0;
  MPI_Exscan(&n_constrained, &n_before, 1, MPI_LONG_LONG, MPI_SUM, group);
  linalg::HostProlongation P =
      rows_of(fine, coarse, linalg::allgather(constrained_unknowns(coarse).unknowns, group),
              Utilities::MPI::this_mpi_process(group) > 0 ? n_before : 0);
  std::vector<int> lengths(P.row_starts.size() - 1);
  std::adjacent_difference(P.row_starts.begin() + 1, P.row_starts.end(), lengths.begin());
  lengths = system.gather_on_leader(std::move(lengths));
  P.row_starts.assign(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), P.row_starts.begin() + 1);
  P.columns = system.gather_on_leader(std::move(P.columns));
  P.values = system.gather_on_leader(std::move(P.values));
  if (system.groups().n_groups() > 1) {
    const std::vector<int> starts = starts_of_groups(coarse, system.groups());
    const auto number = static_cast<std::size_t>(system.groups().number());
    number_columns(P, starts[number], starts[number + 1] - starts[number]);
  }
  return P;
}

/// Returns whether each coarser unknown of a group occurs in @p P, the group's prolongation.
bool covers_all_columns(const linalg::HostProlongation &P)
{
  std::vector<bool> is_covered(static_cast<std::size_t>(P.n_columns));
  for (const int column : P.columns)
    if (column < P.n_columns)
      is_covered[column] = true;
  return std::find(is_covered.begin(), is_covered.end(), false) == is_covered.end();
}

/// Returns the data on the unknowns of @p discretization. The leader of a solver group gets the
/// coordinates for its group.
template <int dim>
linalg::Unknowns make_unknowns(const Discretization<dim> &discretization,
                               const bool with_coordinates, const linalg::GroupSystem &system)
{
  linalg::Unknowns unknowns;
  unknowns.per_node = static_cast<int>(discretization.element().n_components());
  if (with_coordinates) {
    const auto &owned = discretization.owned();
    std::vector<double> local(owned.n_elements() * dim);
    for_each_owned_node(discretization, [&](const auto dof, const Point<dim> &point) {
      for (unsigned int d = 0; d < dim; ++d)
        local[owned.index_within_set(dof) * dim + d] = point[d];
    });
    unknowns.dimension = dim;
    unknowns.coordinates = system.gather_on_leader(std::move(local));
  }
  return unknowns;
}

/// Estimates the number of nodes along the longest side of the body from the number of all nodes
/// and the volume of the coarse mesh.
template <int dim>
double nodes_along_body(const Discretization<dim> &discretization)
{
  const Triangulation<dim> &coarse = discretization.mesh().coarse();
  const BoundingBox<dim> box(coarse.get_vertices());
  double longest = 0., volume = 0.;
  for (unsigned int d = 0; d < dim; ++d)
    longest = std::max(longest, box.side_length(d));
  for (const auto &cell : coarse.cell_iterators_on_level(0))
    volume += cell->measure();
  const double n_nodes =
      static_cast<double>(discretization.dofs().n_dofs()) / discretization.element().n_components();
  return longest * std::pow(n_nodes / volume, 1. / dim);
}

/// Calls @p use for the active descendants of @p cell on this rank, in the order of the
/// space-filling curve.
template <int dim, class Use>
void for_owned_cells(const typename DoFHandler<dim>::cell_iterator &cell, const Use &use)
{
  if (cell->is_active()) {
    if (cell->is_locally_owned())
      use(typename DoFHandler<dim>::active_cell_iterator(cell));
    return;
  }
  for (unsigned int child = 0; child < cell->n_children(); ++child)
    for_owned_cells<dim>(cell->child(child), use);
}

/// Returns the cells of this rank, for linear elements. Ranks have consecutive pieces of the
/// space-filling curve, with the trees in p4est's order.
template <int dim>
ForestCells forest_cells(const Discretization<dim> &discretization)
{
  const Blocks<dim> *const blocks = discretization.blocks();
  const unsigned int components = discretization.element().n_components();
  constexpr unsigned int n_vertices = GeometryInfo<dim>::vertices_per_cell;
  ForestCells local{dim, {}, {}, {}};
  std::vector<unsigned int> vertex_of_node; // the last cell vertex at each node of a block
  if (blocks != nullptr) {
    local.in_block = blocks->cell_vertices();
    vertex_of_node.resize(Utilities::pow(blocks->per_direction() + 1, dim));
    for (unsigned int k = 0; k < local.in_block.size(); ++k)
      vertex_of_node[local.in_block[k]] = k;
  }
  const auto within_blocks = static_cast<int>(discretization.mesh().refinements_within_blocks());
  Dofs dofs(discretization.element().n_dofs_per_cell());
  const auto add = [&](const auto &cell) {
    local.levels.push_back(static_cast<unsigned char>(cell->level() + within_blocks));
    for (const unsigned int k : vertex_of_node)
      local.nodes.push_back(static_cast<int>(
          blocks->vertex_dof(cell->active_cell_index(), k / n_vertices, k % n_vertices) /
          components));
    if (blocks != nullptr)
      return;
    cell->get_dof_indices(dofs); // vertex by vertex
    for (std::size_t first = 0; first < dofs.size(); first += components)
      local.nodes.push_back(static_cast<int>(dofs[first] / components));
  };
  const auto &forest = dynamic_cast<const parallel::distributed::Triangulation<dim> &>(
      *discretization.mesh().triangulation);
  for (const auto tree : forest.get_p4est_tree_to_coarse_cell_permutation())
    for_owned_cells<dim>({&forest, 0, static_cast<int>(tree), &discretization.dofs()}, add);
  return local;
}

/// Returns the unknowns of coarser meshes, for linear elements. Each leader computes them on demand
/// for its group, from the cells of all groups, because families of cells and dependencies of nodes
/// cross the borders of groups. Empty on ranks other than leaders; available on all leaders or on
/// none.
template <int dim>
linalg::LazyCoarserUnknowns lazy_unknowns_of_coarser_meshes(const Discretization<dim> &fine,
                                                            const linalg::Unknowns &fine_unknowns,
                                                            const linalg::GroupSystem &system)
{
  const linalg::SolverGroups &groups = system.groups();
  const auto on_leader = [&](auto list) { return system.gather_on_leader(std::move(list)); };
  ForestCells cells = gathered(forest_cells(fine), on_leader);
  ConstrainedUnknowns constrained = gathered(constrained_unknowns(fine), on_leader);
  std::vector<int> starts = starts_of_groups(fine, groups);
  for (int &start : starts)
    start /= fine_unknowns.per_node;
  if (!groups.is_leader())
    return {};
  const int max_level =
      cells.levels.empty() ? 0 : *std::max_element(cells.levels.begin(), cells.levels.end());
  if (Utilities::MPI::max(max_level, groups.leaders()) == 0) // no cell can be coarsened
    return {};
  return linalg::LazyCoarserUnknowns(
      [cells = std::move(cells), constrained = std::move(constrained),
       fine_unknowns = fine_unknowns, starts = std::move(starts), groups]() mutable {
        const auto on_all = [&](auto list) {
          return linalg::allgather(std::move(list), groups.leaders());
        };
        return unknowns_of_coarser_meshes(gathered(std::move(cells), on_all),
                                          gathered(std::move(constrained), on_all), fine_unknowns,
                                          starts, groups.number());
      });
}

/// Returns whether the coarser space has unknowns and covers_all_columns() is true for the
/// prolongation @p P of each group. All leaders get the same answer; other ranks get false.
bool is_coarser(const linalg::HostProlongation &P, const linalg::SolverGroups &groups)
{
  if (!groups.is_leader())
    return false;
  return Utilities::MPI::min(covers_all_columns(P) ? 1 : 0, groups.leaders()) == 1 &&
         Utilities::MPI::max(P.n_columns, groups.leaders()) > 0;
}

/// Returns the unknowns of half the degree, whose member `coarser` leads to lower degrees and
/// coarser meshes; for degree 1, the unknowns of coarser meshes. Empty on ranks other than leaders,
/// and if there are no coarser unknowns. @param fine_unknowns data on the unknowns of @p fine
template <int dim>
linalg::LazyCoarserUnknowns
coarser_unknowns(const Problem<dim> &problem, const Discretization<dim> &fine,
                 const linalg::Unknowns &fine_unknowns, const bool with_coordinates,
                 const linalg::GroupSystem &system)
{
  if (fine.degree() == 1)
    return fine.mesh().is_simplex ? linalg::LazyCoarserUnknowns()
                                  : lazy_unknowns_of_coarser_meshes(fine, fine_unknowns, system);
  Discretization<dim> coarse(fine.mesh(), fine.degree() / 2, fine.element().n_components());
  coarse.distribute_dofs();
  coarse.make_constraints(problem);
  auto result = std::make_shared<linalg::CoarserUnknowns>();
  result->prolongation = prolongation(fine, coarse, system);
  result->unknowns = make_unknowns(coarse, with_coordinates, system);
  result->unknowns.coarser =
      coarser_unknowns(problem, coarse, result->unknowns, with_coordinates, system);
  if (!is_coarser(result->prolongation, system.groups()))
    return {};
  return linalg::LazyCoarserUnknowns::Pointer(std::move(result));
}
} // namespace

template <int dim>
void describe_unknowns(const Problem<dim> &problem, const Discretization<dim> &discretization,
                       const RequiredDofData required, linalg::GroupSystem &system)
{
  linalg::Unknowns unknowns = make_unknowns(discretization, required.coordinates, system);
  if (required.coarser) {
    unknowns.nodes_along_body = nodes_along_body(discretization);
    unknowns.coarser =
        coarser_unknowns(problem, discretization, unknowns, required.coordinates, system);
  }
  system.set_unknowns(std::move(unknowns));
}

template void describe_unknowns(const Problem<2> &, const Discretization<2> &, RequiredDofData,
                                linalg::GroupSystem &);
template void describe_unknowns(const Problem<3> &, const Discretization<3> &, RequiredDofData,
                                linalg::GroupSystem &);
} // namespace femgpu
