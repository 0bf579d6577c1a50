#include "physics/coarser_meshes.h"

#include "physics/prolongation_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

namespace femgpu
{
namespace
{
using linalg::RawVector;

/// A coarser mesh pays off if it has at most this fraction of the nodes of the finer mesh.
constexpr double max_coarsening_ratio = 0.8;

/// Returns whether a mesh has almost as many nodes as a finer one.
bool is_barely_coarser(const std::size_t n, const std::size_t n_finer)
{
  return static_cast<double>(n) > max_coarsening_ratio * static_cast<double>(n_finer);
}

/// Returns the individual cells of blocks.
ForestCells without_blocks(ForestCells blocks)
{
  const std::size_t n_blocks = blocks.levels.size(), n = blocks.in_block.size();
  if (n == 0)
    return blocks;
  const std::size_t n_cells = n / static_cast<std::size_t>(blocks.n_vertices());
  ForestCells cells{blocks.dimension,
                    RawVector<unsigned char>(n_blocks * n_cells),
                    RawVector<int>(n_blocks * n),
                    {}};
  for_chunks(n_blocks, [&](const Chunk &share) {
    for (std::size_t block = share.begin; block < share.end; ++block) {
      std::fill_n(&cells.levels[block * n_cells], n_cells, blocks.levels[block]);
      const int *const nodes = &blocks.nodes[block * (blocks.nodes.size() / n_blocks)];
      std::transform(blocks.in_block.begin(), blocks.in_block.end(), &cells.nodes[block * n],
                     [&](const unsigned int node) { return nodes[node]; });
    }
  });
  return cells;
}

/// A mesh that is coarsened step by step, with the dependencies of its nodes.
class CoarseningMesh
{
public:
  CoarseningMesh(ForestCells all_cells, ConstrainedUnknowns all_constrained, const int n_nodes,
                 const int per_node)
      : cells(without_blocks(std::move(all_cells))), constrained(std::move(all_constrained)),
        term_starts(constrained.unknowns.size() + 1), per_node(per_node),
        is_constrained(static_cast<std::size_t>(n_nodes) * per_node), positions(n_nodes)
  {
    for_chunks(positions.size(), [&](const Chunk &share) {
      for (std::size_t node = share.begin; node < share.end; ++node)
        positions[node].store(0, std::memory_order_relaxed);
    });
    parents.reserve(cells.nodes.size() / (cells.n_vertices() - 1)); // for all passes
    std::partial_sum(constrained.n_terms.begin(), constrained.n_terms.end(),
                     term_starts.begin() + 1);
    for (const int unknown : constrained.unknowns)
      is_constrained[unknown] = 1;
    if (!cells.levels.empty())
      finest = *std::max_element(cells.levels.begin(), cells.levels.end());
  }

  /// Merges all families of sibling cells, repeatedly, until sufficiently few of the nodes in
  /// @p finer remain or no family is left. Returns the remaining nodes. Both lists are ascending.
  RawVector<int> coarsen(const RawVector<int> &finer);

  /// Returns the prolongation from the unknowns of all remaining nodes to the unknowns of the @p n
  /// nodes in @p finer.
  linalg::HostProlongation prolongation(const int *finer, std::size_t n, int n_columns) const;

private:
  RawVector<int> families() const;
  bool merge_families();
  void store_midpoints(const int *nodes_of_children, std::size_t parent);
  void add_terms(int unknown, double weight, std::vector<ProlongationTerm> &terms) const;

  bool is_remaining(const int node) const
  {
    const auto first = is_constrained.begin() + static_cast<std::ptrdiff_t>(node) * per_node;
    return positions[node] <= 0 && std::find(first, first + per_node, 0) != first + per_node;
  }

  /// Returns the new number of a remaining node.
  int number(const int node) const
  {
    return static_cast<int>(-positions[node].load(std::memory_order_relaxed));
  }

  ForestCells cells;
  ConstrainedUnknowns constrained;
  std::vector<int> term_starts;
  int per_node, finest = 0;
  std::vector<char> is_constrained; ///< whether each unknown is constrained
  RawVector<int> parents;           ///< vertices of each parent of merged cells
  /// For a midpoint: 64 times the parent's number, counted from 1, plus the position in the parent.
  /// The parent with the largest number is stored, independently of the order of threads. For
  /// another node: minus its new number if it remains.
  RawVector<std::atomic<std::int64_t>> positions;
};

/// Returns the first cell of each family of siblings. The offset of such a cell along the curve is
/// a multiple of the size of the parent.
RawVector<int> CoarseningMesh::families() const
{
  const std::size_t n_cells = cells.levels.size(), n_vertices = cells.n_vertices();
  const auto size = [&](const int level) { // in units of the finest cells
    return std::uint64_t{1} << cells.dimension * (finest - level);
  };
  std::vector<std::uint64_t> offsets(number_of_chunks(n_cells) + 1); // along the curve
  for_chunks(n_cells, [&](const Chunk &share) {
    for (std::size_t i = share.begin; i < share.end; ++i)
      offsets[share.number + 1] += size(cells.levels[i]);
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return list_by_chunks(n_cells, [&](const Chunk &share, std::vector<int> &first_siblings) {
    std::uint64_t offset = offsets[share.number];
    for (std::size_t i = share.begin; i < share.end; ++i) {
      const int level = cells.levels[i];
      if (level > 0 && offset % size(level - 1) == 0 && i + n_vertices <= n_cells &&
          std::all_of(&cells.levels[i], &cells.levels[i] + n_vertices,
                      [&](const int other) { return other == level; }))
        first_siblings.push_back(static_cast<int>(i));
      offset += size(level);
    }
  });
}

/// Stores the midpoints of @p parent. A midpoint is a vertex of several children. It is stored for
/// only one of them: the child c in which the midpoint's vertex number has all bits of c.
void CoarseningMesh::store_midpoints(const int *const nodes_of_children, const std::size_t parent)
{
  const int n_vertices = cells.n_vertices();
  for (int child = 0; child < n_vertices; ++child)
    for (int vertex = 0; vertex < n_vertices; ++vertex) {
      std::int64_t code = static_cast<std::int64_t>(parent + 1) << 6;
      for (int d = 0; d < cells.dimension; ++d)
        code |= ((child >> d & 1) + (vertex >> d & 1)) << 2 * d;
      if ((code & 0b010101) == 0 || (child & ~vertex) != 0)
        continue;
      auto &position = positions[nodes_of_children[child * n_vertices + vertex]];
      std::int64_t current = position.load(std::memory_order_relaxed);
      while (current < code &&
             !position.compare_exchange_weak(current, code, std::memory_order_relaxed)) {
      }
    }
}

/// Merges all families once. Returns whether there were any.
bool CoarseningMesh::merge_families()
{
  const RawVector<int> first_siblings = families();
  const std::size_t n_cells = cells.levels.size(), n_vertices = cells.n_vertices();
  const std::size_t n_before = parents.size() / n_vertices;
  const std::size_t n_remaining = n_cells - first_siblings.size() * (n_vertices - 1);
  parents.resize(parents.size() + first_siblings.size() * n_vertices);
  ForestCells remaining{cells.dimension,
                        RawVector<unsigned char>(n_remaining),
                        RawVector<int>(n_remaining * n_vertices),
                        {}};
  for_chunks(n_cells, [&](const Chunk &share) {
    std::size_t i = share.begin,
                family = std::lower_bound(first_siblings.begin(), first_siblings.end(), i) -
                         first_siblings.begin();
    if (family > 0)
      i = std::max(i, first_siblings[family - 1] + n_vertices);
    while (i < share.end) {
      const std::size_t to = i - family * (n_vertices - 1);
      const int *const nodes = &cells.nodes[i * n_vertices];
      int *const remaining_nodes = &remaining.nodes[to * n_vertices];
      const bool is_family =
          family < first_siblings.size() && static_cast<std::size_t>(first_siblings[family]) == i;
      remaining.levels[to] = static_cast<unsigned char>(cells.levels[i] - (is_family ? 1 : 0));
      for (std::size_t vertex = 0; vertex < n_vertices; ++vertex) // vertex v of parent and child v
        remaining_nodes[vertex] = nodes[is_family ? vertex * n_vertices + vertex : vertex];
      i += is_family ? n_vertices : 1;
      if (is_family) {
        std::copy_n(remaining_nodes, n_vertices, &parents[(n_before + family) * n_vertices]);
        store_midpoints(nodes, n_before + family++);
      }
    }
  });
  cells = std::move(remaining);
  return !first_siblings.empty();
}

/// Adds @p weight times @p unknown, in terms of remaining unknowns. The recursion ends, because
/// the nodes on which a midpoint or a hanging node depends belong to coarser cells.
void CoarseningMesh::add_terms(const int unknown, const double weight,
                               std::vector<ProlongationTerm> &terms) const
{
  if (is_constrained[unknown] != 0) {
    const std::vector<int> &all = constrained.unknowns;
    const auto line = std::lower_bound(all.begin(), all.end(), unknown) - all.begin();
    for (int k = term_starts[line]; k < term_starts[line + 1]; ++k)
      add_terms(constrained.columns[k], weight * constrained.weights[k], terms);
    return;
  }
  const int node = unknown / per_node, component = unknown % per_node;
  const std::int64_t midpoint = positions[node].load(std::memory_order_relaxed);
  if (midpoint <= 0) {
    terms.push_back({number(node) * per_node + component, weight});
    return;
  }
  const int n_vertices = cells.n_vertices();
  const int *const vertices = &parents[((midpoint >> 6) - 1) * n_vertices];
  for (int vertex = 0; vertex < n_vertices; ++vertex) {
    double share = weight;
    for (int d = 0; d < cells.dimension; ++d) {
      const auto position = static_cast<int>(midpoint >> 2 * d & 3);
      share *= (vertex >> d & 1) != 0 ? 0.5 * position : 1. - 0.5 * position;
    }
    if (share != 0.)
      add_terms(vertices[vertex] * per_node + component, share, terms);
  }
}

RawVector<int> CoarseningMesh::coarsen(const RawVector<int> &finer)
{
  RawVector<int> remaining;
  bool is_coarser = true;
  do {
    is_coarser = merge_families();
    remaining = list_by_chunks(finer.size(), [&](const Chunk &share, std::vector<int> &nodes) {
      std::copy_if(&finer[share.begin], &finer[share.begin] + (share.end - share.begin),
                   std::back_inserter(nodes), [&](const int node) { return is_remaining(node); });
    });
  } while (is_coarser && is_barely_coarser(remaining.size(), finer.size()));
  for_chunks(remaining.size(), [&](const Chunk &share) {
    for (std::size_t k = share.begin; k < share.end; ++k)
      positions[remaining[k]].store(-static_cast<std::int64_t>(k), std::memory_order_relaxed);
  });
  return remaining;
}

linalg::HostProlongation CoarseningMesh::prolongation(const int *const finer, const std::size_t n,
                                                      const int n_columns) const
{
  return rows_by_chunks(n, n_columns, [&](const Chunk &share, linalg::HostProlongation &P) {
    std::vector<ProlongationTerm> terms;
    for (std::size_t k = share.begin; k < share.end; ++k)
      for (int component = 0; component < per_node; ++component) {
        const int unknown = finer[k] * per_node + component;
        terms.clear();
        if (is_constrained[unknown] == 0)
          add_terms(unknown, 1., terms);
        else if (is_remaining(finer[k])) // the unknown is decoupled
          terms.push_back({number(finer[k]) * per_node + component, 1.});
        end_row(terms, P);
      }
  });
}

/// Returns the data on the unknowns of @p n nodes of a group.
/// @param nodes the numbers of the nodes
/// @param first the group's first node
linalg::Unknowns unknowns_of_nodes(const linalg::Unknowns &fine_unknowns, const int *const nodes,
                                   const std::size_t n, const int first)
{
  linalg::Unknowns result;
  result.per_node = fine_unknowns.per_node;
  result.dimension = fine_unknowns.dimension;
  if (fine_unknowns.coordinates.empty())
    return result;
  const auto width = static_cast<std::size_t>(fine_unknowns.per_node) *
                     static_cast<std::size_t>(fine_unknowns.dimension);
  result.coordinates.resize(n * width);
  for_chunks(n, [&](const Chunk &share) {
    for (std::size_t k = share.begin; k < share.end; ++k)
      std::copy_n(&fine_unknowns.coordinates[static_cast<std::size_t>(nodes[k] - first) * width],
                  width, &result.coordinates[k * width]);
  });
  return result;
}
} // namespace

std::shared_ptr<const linalg::CoarserUnknowns>
unknowns_of_coarser_meshes(ForestCells cells, ConstrainedUnknowns constrained,
                           const linalg::Unknowns &fine_unknowns, const std::vector<int> &starts,
                           const int group)
{
  const auto per_node = static_cast<std::size_t>(fine_unknowns.per_node);
  CoarseningMesh mesh(std::move(cells), std::move(constrained), starts.back(),
                      fine_unknowns.per_node);
  // returns the range of the group's nodes in an ascending list of nodes
  const auto of_group = [&](const RawVector<int> &nodes) {
    const auto position = [&](const int node) {
      return static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) -
                                      nodes.begin());
    };
    return std::pair(position(starts[group]), position(starts[group + 1]));
  };
  RawVector<int> finer(static_cast<std::size_t>(starts.back()));
  std::iota(finer.begin(), finer.end(), 0);
  std::shared_ptr<const linalg::CoarserUnknowns> first;
  linalg::CoarserUnknowns *last = nullptr;
  while (true) {
    RawVector<int> nodes = mesh.coarsen(finer);
    if (nodes.empty() || is_barely_coarser(nodes.size(), finer.size()))
      return first;
    const auto [begin, end] = of_group(nodes);
    const auto [finer_begin, finer_end] = of_group(finer);
    const auto next = std::make_shared<linalg::CoarserUnknowns>();
    next->prolongation = mesh.prolongation(finer.data() + finer_begin, finer_end - finer_begin,
                                           static_cast<int>(nodes.size() * per_node));
    const std::size_t first_column = begin * per_node;
    if (starts.size() > 2)
      number_columns(next->prolongation, static_cast<long long>(first_column),
                     static_cast<int>((end - begin) * per_node));
    next->unknowns =
        unknowns_of_nodes(fine_unknowns, nodes.data() + begin, end - begin, starts[group]);
    if (last == nullptr)
      first = next;
    else
      last->unknowns.coarser = linalg::LazyCoarserUnknowns::Pointer(next);
    last = next.get();
    finer = std::move(nodes);
  }
}
} // namespace femgpu
