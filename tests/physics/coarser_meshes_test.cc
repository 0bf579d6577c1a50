#include "linalg/base/parallel.h"
#include "physics/coarser_meshes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

/**
 * @file
 * Tests the unknowns of coarser meshes with forests that are built cell by cell.
 */
namespace
{
using namespace femgpu;

/// A square or cube with @p everywhere global refinements, followed by @p times refinements of the
/// cell at its first corner.
class RefinedAtACorner
{
public:
  RefinedAtACorner(const int dimension, const int everywhere, const int times)
      : everywhere(everywhere), finest(everywhere + times), cells{dimension, {}, {}, {}}
  {
    add({}, 0);
  }

  int n_nodes() const
  {
    return static_cast<int>(numbers.size());
  }
  /// Returns the node at a corner of the domain.
  int corner(const int vertex) const
  {
    return numbers.at(lattice_point({}, 0, vertex));
  }

private:
  using LatticePoint = std::array<int, 3>; // in cells of the finest level

  LatticePoint lattice_point(LatticePoint of_cell, const int level, const int vertex) const
  {
    for (int d = 0; d < cells.dimension; ++d)
      of_cell[d] += (vertex >> d & 1) << (finest - level);
    return of_cell;
  }
  void add(const LatticePoint &of_cell, const int level)
  {
    const bool is_first = of_cell[0] == 0 && of_cell[1] == 0 && of_cell[2] == 0;
    if (level < everywhere || (level < finest && is_first)) {
      for (int child = 0; child < cells.n_vertices(); ++child)
        add(lattice_point(of_cell, level + 1, child), level + 1);
      return;
    }
    cells.levels.push_back(static_cast<unsigned char>(level));
    for (int vertex = 0; vertex < cells.n_vertices(); ++vertex)
      cells.nodes.push_back(
          numbers.emplace(lattice_point(of_cell, level, vertex), n_nodes()).first->second);
  }

  int everywhere, finest;
  std::map<LatticePoint, int> numbers;

public:
  ForestCells cells;
};

/// Checks that several groups, one of them without nodes, together have the same coarser unknowns
/// as one group with all nodes.
TEST(CoarserMeshes, are_those_of_all_groups)
{
  const RefinedAtACorner mesh(2, 0, 12);
  const int n_nodes = mesh.n_nodes(), n = 2 * n_nodes;
  const auto of_group = [&](const std::vector<int> &starts, const int group) {
    linalg::Unknowns fine_unknowns;
    fine_unknowns.per_node = 2;
    fine_unknowns.dimension = 1;
    for (int i = 2 * starts[group]; i < 2 * starts[group + 1]; ++i)
      fine_unknowns.coordinates.push_back(i);
    return unknowns_of_coarser_meshes(mesh.cells, {}, fine_unknowns, starts, group);
  };
  auto all = of_group({0, n_nodes}, 0);
  ASSERT_EQ(all->prolongation.row_starts.size(), static_cast<std::size_t>(n) + 1);
  std::vector<std::shared_ptr<const linalg::CoarserUnknowns>> groups;
  for (int group = 0; group < 4; ++group)
    groups.push_back(of_group({0, 17, 17, 40, n_nodes}, group));
  for (; all; all = all->unknowns.coarser.get()) {
    const linalg::HostProlongation &P = all->prolongation;
    int first = 0; // first column of the group
    std::size_t row = 0;
    std::vector<double> coordinates;
    for (auto &group : groups) {
      ASSERT_NE(group, nullptr);
      const linalg::HostProlongation &own = group->prolongation;
      for (std::size_t i = 0; i + 1 < own.row_starts.size(); ++i, ++row) {
        std::map<long long, double> expected, entries;
        for (int k = P.row_starts[row]; k < P.row_starts[row + 1]; ++k)
          expected[P.columns[k]] = P.values[k];
        for (int k = own.row_starts[i]; k < own.row_starts[i + 1]; ++k) {
          const int column = own.columns[k];
          entries[column < own.n_columns ? first + column : own.ghosts[column - own.n_columns]] =
              own.values[k];
        }
        EXPECT_EQ(entries, expected);
      }
      first += own.n_columns;
      const auto &local = group->unknowns.coordinates;
      EXPECT_EQ(local.size(), static_cast<std::size_t>(own.n_columns));
      coordinates.insert(coordinates.end(), local.begin(), local.end());
      group = group->unknowns.coarser.get();
    }
    EXPECT_EQ(row + 1, P.row_starts.size());
    EXPECT_EQ(first, P.n_columns);
    EXPECT_EQ(coordinates, all->unknowns.coordinates);
  }
  for (const auto &group : groups)
    EXPECT_EQ(group, nullptr);
}

TEST(CoarserMeshes, become_fewer_by_a_fifth_with_each)
{
  const RefinedAtACorner mesh(2, 0, 12);
  auto n_nodes = static_cast<std::size_t>(mesh.n_nodes());
  linalg::Unknowns fine_unknowns;
  fine_unknowns.per_node = 1;
  fine_unknowns.dimension = 2;
  auto coarser = unknowns_of_coarser_meshes(mesh.cells, {}, fine_unknowns, {0, mesh.n_nodes()}, 0);
  for (; coarser; coarser = coarser->unknowns.coarser.get()) {
    const linalg::HostProlongation &P = coarser->prolongation;
    ASSERT_EQ(P.row_starts.size(), n_nodes + 1);
    EXPECT_LE(P.n_columns, 0.8 * static_cast<double>(n_nodes));
    for (std::size_t i = 0; i < n_nodes; ++i)
      EXPECT_NEAR(std::accumulate(P.values.begin() + P.row_starts[i],
                                  P.values.begin() + P.row_starts[i + 1], 0.),
                  1., 1e-12);
    n_nodes = static_cast<std::size_t>(P.n_columns);
  }
  EXPECT_EQ(n_nodes, 4);
}

void expect_equal(std::shared_ptr<const linalg::CoarserUnknowns> a,
                  std::shared_ptr<const linalg::CoarserUnknowns> b, const int min_meshes)
{
  int n_meshes = 0;
  for (; a; a = a->unknowns.coarser.get(), ++n_meshes) {
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(a->prolongation.n_columns, b->prolongation.n_columns);
    EXPECT_EQ(a->prolongation.row_starts, b->prolongation.row_starts);
    EXPECT_EQ(a->prolongation.columns, b->prolongation.columns);
    EXPECT_EQ(a->prolongation.values, b->prolongation.values);
    b = b->unknowns.coarser.get();
  }
  EXPECT_EQ(b, nullptr);
  EXPECT_GE(n_meshes, min_meshes);
}

TEST(CoarserMeshes, of_blocks_are_those_of_their_cells)
{
  for (const int dimension : {2, 3}) {
    const RefinedAtACorner mesh(dimension, 4, 0);
    const ForestCells &cells = mesh.cells;
    ForestCells blocks{dimension, {}, {}, {}};
    std::size_t n_nodes = 1; // in a block of two cells per direction
    for (int d = 0; d < dimension; ++d)
      n_nodes *= 3;
    for (int cell = 0; cell < cells.n_vertices(); ++cell)
      for (int vertex = 0; vertex < cells.n_vertices(); ++vertex) {
        unsigned int number = 0;
        for (int d = dimension; d-- > 0;)
          number = 3 * number + (cell >> d & 1) + (vertex >> d & 1);
        blocks.in_block.push_back(number);
      }
    const std::size_t n = blocks.in_block.size();
    for (std::size_t first = 0; first < cells.nodes.size(); first += n) {
      blocks.levels.push_back(cells.levels[first / cells.n_vertices()]);
      const std::size_t begin = blocks.nodes.size();
      blocks.nodes.resize(begin + n_nodes);
      for (std::size_t k = 0; k < n; ++k)
        blocks.nodes[begin + blocks.in_block[k]] = cells.nodes[first + k];
    }
    linalg::Unknowns fine_unknowns;
    fine_unknowns.per_node = 1;
    const auto meshes_of = [&](const ForestCells &forest) {
      return unknowns_of_coarser_meshes(forest, {}, fine_unknowns, {0, mesh.n_nodes()}, 0);
    };
    expect_equal(meshes_of(cells), meshes_of(blocks), 3);
  }
}

/// Covers midpoints of parent cells that different threads create: the sum of the terms of such a
/// node must not depend on the order of the threads.
TEST(CoarserMeshes, have_the_same_bits_with_any_number_of_threads)
{
  const int n_threads = linalg::n_loop_threads();
  for (const RefinedAtACorner &mesh : {RefinedAtACorner(2, 8, 6), RefinedAtACorner(3, 5, 4)}) {
    ConstrainedUnknowns constrained;
    for (int node = 0; node < mesh.n_nodes(); node += 7)
      if (node != mesh.corner(0) && node != mesh.corner(3)) {
        constrained.unknowns.push_back(2 * node + 1);
        constrained.n_terms.push_back(2);
        constrained.columns.insert(constrained.columns.end(),
                                   {2 * mesh.corner(0) + 1, 2 * mesh.corner(3) + 1});
        constrained.weights.insert(constrained.weights.end(), {1. / 3., 0.6});
      }
    linalg::Unknowns fine_unknowns;
    fine_unknowns.per_node = 2;
    const auto with_threads = [&](const int n) {
      linalg::set_n_loop_threads(n);
      return unknowns_of_coarser_meshes(mesh.cells, constrained, fine_unknowns, {0, mesh.n_nodes()},
                                        0);
    };
    expect_equal(with_threads(1), with_threads(4), 4);
  }
  linalg::set_n_loop_threads(n_threads);
}
} // namespace
