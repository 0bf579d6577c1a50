#include "physics/coarser_meshes.h"

#include "physics/prolongation_rows.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>

namespace femgpu
{
namespace
{
constexpr double least_reduction = 0.8; ///< of unknowns: else another mesh is not worth it

/// A mesh that becomes coarser, and what its nodes depend on.
class CoarseningMesh
{
public:
  CoarseningMesh(ForestCells given, UnknownLines given_lines, const int per_node)
      : cells(std::move(given)), lines(std::move(given_lines)), per_node(per_node),
        merged_in(lines.is_constrained.size() / static_cast<std::size_t>(per_node), -1),
        places(merged_in.size())
  {
    is_kept.reserve(merged_in.size());
    for (std::size_t node = 0; node < merged_in.size(); ++node) {
      const auto first =
          lines.is_constrained.begin() + static_cast<std::ptrdiff_t>(node) * per_node;
      is_kept.push_back(std::find(first, first + per_node, 0) != first + per_node ? 1 : 0);
    }
  }

  /// Merges all families, and those that come of them, until few enough of the @p finer nodes are
  /// left. Gives the prolongation from these to the unknowns of the finer ones.
  linalg::HostProlongation coarsen(const std::vector<int> &finer);

  /// The nodes that are left, ascending.
  std::vector<int> nodes() const
  {
    std::vector<int> result;
    for (std::size_t node = 0; node < is_kept.size(); ++node)
      if (is_kept[node] != 0)
        result.push_back(static_cast<int>(node));
    return result;
  }

private:
  bool merge_families();
  void merge(const int *nodes_of_children);
  void add_terms(int unknown, double weight, std::vector<ProlongationTerm> &terms) const;

  ForestCells cells;
  UnknownLines lines;
  int per_node;
  std::vector<int> merged_in; ///< of each node: the parent whose midpoint it is; -1: of none
  std::vector<char> places;   ///< there: two bits a direction, 0, 1 or 2
  std::vector<int> parents;   ///< their vertices
  std::vector<char> is_kept;
  std::vector<int> numbers; ///< of the nodes that are kept
};

void CoarseningMesh::merge(const int *const nodes_of_children)
{
  const int n_vertices = cells.n_vertices();
  const auto parent = static_cast<int>(parents.size()) / n_vertices;
  for (int child = 0; child < n_vertices; ++child) {
    parents.push_back(nodes_of_children[child * n_vertices + child]);
    for (int vertex = 0; vertex < n_vertices; ++vertex) {
      int place = 0;
      for (int d = 0; d < cells.dimension; ++d)
        place |= ((child >> d & 1) + (vertex >> d & 1)) << 2 * d;
      if ((place & 0b010101) == 0)
        continue;
      const int node = nodes_of_children[child * n_vertices + vertex];
      merged_in[node] = parent;
      places[node] = static_cast<char>(place);
      is_kept[node] = 0;
    }
  }
}

/// Gives whether there were any.
bool CoarseningMesh::merge_families()
{
  const std::size_t n_before = parents.size();
  const int n_vertices = cells.n_vertices(), n_cells = static_cast<int>(cells.trees.size());
  const int finest = n_cells > 0 ? *std::max_element(cells.levels.begin(), cells.levels.end()) : 0;
  const auto size = [&](const int level) { // in cells of the finest level
    return std::uint64_t{1} << cells.dimension * (finest - level);
  };
  int n_left = 0;
  std::uint64_t offset = 0; // in the tree
  for (int i = 0; i < n_cells;) {
    const int tree = cells.trees[i], level = cells.levels[i];
    bool is_family = level > 0 && i + n_vertices <= n_cells && offset % size(level - 1) == 0;
    for (int k = i; is_family && k < i + n_vertices; ++k)
      is_family = cells.trees[k] == tree && cells.levels[k] == level;
    const int step = is_family ? n_vertices : 1;
    const auto first = cells.nodes.begin() + static_cast<std::ptrdiff_t>(i) * n_vertices;
    const auto to = cells.nodes.begin() + static_cast<std::ptrdiff_t>(n_left) * n_vertices;
    offset += static_cast<std::uint64_t>(step) * size(level);
    cells.trees[n_left] = tree;
    cells.levels[n_left++] = is_family ? level - 1 : level;
    i += step;
    if (is_family) {
      merge(&*first);
      std::copy(parents.end() - n_vertices, parents.end(), to);
    }
    else if (to != first)
      std::copy(first, first + n_vertices, to);
    if (i < n_cells && cells.trees[i] != tree)
      offset = 0;
  }
  cells.trees.resize(n_left);
  cells.levels.resize(n_left);
  cells.nodes.resize(static_cast<std::size_t>(n_left) * n_vertices);
  return parents.size() > n_before;
}

/// Ends, because what a midpoint or a hanging node depends on has fewer refinements behind it.
void CoarseningMesh::add_terms(const int unknown, const double weight,
                               std::vector<ProlongationTerm> &terms) const
{
  if (lines.is_constrained[unknown] != 0) {
    for (int k = lines.starts[unknown]; k < lines.starts[unknown + 1]; ++k)
      add_terms(lines.columns[k], weight * lines.weights[k], terms);
    return;
  }
  const int node = unknown / per_node, component = unknown % per_node;
  if (merged_in[node] < 0) {
    terms.push_back({numbers[node] * per_node + component, weight});
    return;
  }
  const int n_vertices = cells.n_vertices();
  const int *const vertices = &parents[static_cast<std::size_t>(merged_in[node]) * n_vertices];
  for (int vertex = 0; vertex < n_vertices; ++vertex) {
    double part = weight;
    for (int d = 0; d < cells.dimension; ++d) {
      const int place = places[node] >> 2 * d & 3;
      part *= (vertex >> d & 1) != 0 ? 0.5 * place : 1. - 0.5 * place;
    }
    if (part != 0.)
      add_terms(vertices[vertex] * per_node + component, part, terms);
  }
}

linalg::HostProlongation CoarseningMesh::coarsen(const std::vector<int> &finer)
{
  const double most = least_reduction * static_cast<double>(finer.size());
  while (merge_families() &&
         static_cast<double>(std::count(is_kept.begin(), is_kept.end(), 1)) > most) {
  }
  numbers.assign(is_kept.size(), -1);
  int n_left = 0;
  for (std::size_t node = 0; node < is_kept.size(); ++node)
    if (is_kept[node] != 0)
      numbers[node] = n_left++;
  return rows_by_parts(finer.size(), n_left * per_node,
                       [&](const auto begin, const auto end, auto &P) {
                         std::vector<ProlongationTerm> terms;
                         for (auto k = begin; k < end; ++k)
                           for (int component = 0; component < per_node; ++component) {
                             const int unknown = finer[k] * per_node + component;
                             terms.clear();
                             if (lines.is_constrained[unknown] == 0)
                               add_terms(unknown, 1., terms);
                             else if (numbers[finer[k]] >= 0) // it stands alone
                               terms.push_back({numbers[finer[k]] * per_node + component, 1.});
                             end_row(terms, P);
                           }
                       });
}

/// Ranks have pieces of the curve one after the other, but each lists its trees in their order.
void sort_by_trees(ForestCells &cells)
{
  if (std::is_sorted(cells.trees.begin(), cells.trees.end()))
    return;
  std::vector<int> order(cells.trees.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](const int i, const int j) { return cells.trees[i] < cells.trees[j]; });
  const ForestCells given = std::move(cells);
  const auto n_vertices = static_cast<std::ptrdiff_t>(given.n_vertices());
  cells = {given.dimension, {}, {}, {}};
  for (const int i : order) {
    cells.trees.push_back(given.trees[i]);
    cells.levels.push_back(given.levels[i]);
    const auto first = given.nodes.begin() + i * n_vertices;
    cells.nodes.insert(cells.nodes.end(), first, first + n_vertices);
  }
}

/// What is known of the nodes begin <= k < end of a list.
linalg::Unknowns of_nodes(const linalg::Unknowns &given, const std::vector<int> &nodes,
                          const std::size_t begin, const std::size_t end)
{
  linalg::Unknowns result;
  result.per_node = given.per_node;
  result.dimension = given.dimension;
  const auto width =
      static_cast<std::size_t>(given.per_node) * static_cast<std::size_t>(given.dimension);
  for (std::size_t node = begin; !given.coordinates.empty() && node < end; ++node)
    for (std::size_t k = 0; k < width; ++k)
      result.coordinates.push_back(
          given.coordinates[static_cast<std::size_t>(nodes[node]) * width + k]);
  return result;
}

/// Where the nodes of each group begin in an ascending list of nodes, and its end.
std::vector<std::size_t> places_of(const std::vector<int> &starts, const std::vector<int> &nodes)
{
  std::vector<std::size_t> places;
  for (const int start : starts)
    places.push_back(static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), start) -
                                              nodes.begin()));
  return places;
}

/// The rows begin <= i < end.
linalg::HostProlongation rows_of(const linalg::HostProlongation &P, const std::size_t begin,
                                 const std::size_t end)
{
  const auto of_rows = [&](const auto &entries) {
    return std::decay_t<decltype(entries)>(entries.begin() + P.row_starts[begin],
                                           entries.begin() + P.row_starts[end]);
  };
  linalg::HostProlongation rows{P.n_columns, {}, {}, of_rows(P.columns), of_rows(P.values)};
  for (std::size_t i = begin; i <= end; ++i)
    rows.row_starts.push_back(P.row_starts[i] - P.row_starts[begin]);
  return rows;
}
} // namespace

std::vector<std::shared_ptr<const linalg::CoarserUnknowns>>
unknowns_of_coarser_meshes(ForestCells cells, UnknownLines lines, const linalg::Unknowns &given,
                           const std::vector<int> &starts)
{
  sort_by_trees(cells);
  const std::size_t n_groups = starts.size() - 1;
  const auto per_node = static_cast<std::size_t>(given.per_node);
  CoarseningMesh mesh(std::move(cells), std::move(lines), given.per_node);
  std::vector<int> finer(static_cast<std::size_t>(starts.back()));
  std::iota(finer.begin(), finer.end(), 0);
  std::vector<std::shared_ptr<const linalg::CoarserUnknowns>> first(n_groups);
  std::vector<linalg::CoarserUnknowns *> last(n_groups, nullptr);
  while (true) {
    linalg::HostProlongation P = mesh.coarsen(finer);
    std::vector<int> nodes = mesh.nodes();
    if (nodes.empty() ||
        static_cast<double>(nodes.size()) > least_reduction * static_cast<double>(finer.size()))
      return first;
    const std::vector<std::size_t> begins = places_of(starts, nodes),
                                   finer_begins = places_of(starts, finer);
    for (std::size_t group = 0; group < n_groups; ++group) {
      const auto next = std::make_shared<linalg::CoarserUnknowns>();
      if (n_groups == 1)
        next->prolongation = std::exchange(P, {});
      else {
        next->prolongation =
            rows_of(P, finer_begins[group] * per_node, finer_begins[group + 1] * per_node);
        number_columns(next->prolongation, static_cast<long long>(begins[group]) * given.per_node,
                       static_cast<int>((begins[group + 1] - begins[group]) * per_node));
      }
      next->unknowns = of_nodes(given, nodes, begins[group], begins[group + 1]);
      if (last[group] == nullptr)
        first[group] = next;
      else
        last[group]->unknowns.coarser = linalg::LazyCoarserUnknowns::Pointer(next);
      last[group] = next.get();
    }
    finer = std::move(nodes);
  }
}
} // namespace femgpu
