#include "linalg/base/error.h"
#include "physics/mesh/mesh_readers.h"
#include "physics/mesh/simplex_split.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
using Nodes = std::vector<std::size_t>;

const std::vector<std::array<double, 3>> cube = {{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}},
                                                 {{0, 1, 0}}, {{0, 0, 1}}, {{1, 0, 1}},
                                                 {{1, 1, 1}}, {{0, 1, 1}}};
const std::vector<std::array<double, 3>> wedge = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}},
                                                  {{0, 0, 1}}, {{1, 0, 1}}, {{0, 1, 1}}};
const std::vector<std::array<double, 3>> pyramid = {
    {{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}}, {{0.4, 0.5, 1}}};

MeshElement element(const CellShape &shape, const long long id, const Nodes &nodes)
{
  MeshElement result{&shape, id, 7, {}};
  std::copy(nodes.begin(), nodes.end(), result.nodes.begin());
  return result;
}

/// Returns a mesh of one cell whose node i is point number numbers[i].
MeshTable one_cell(const CellShape &shape, const std::vector<std::array<double, 3>> &corners,
                   const Nodes &numbers)
{
  MeshTable table;
  table.file = "m.msh";
  table.points.resize(corners.size());
  for (std::size_t i = 0; i < corners.size(); ++i)
    table.points[numbers[i]] = corners[i];
  table.elements = {element(shape, 3, numbers)};
  return table;
}

double volume(const MeshTable &table, const MeshElement &cell)
{
  std::array<std::array<double, 3>, 3> e;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      e[i][d] = table.points[cell.nodes[i + 1]][d] - table.points[cell.nodes[0]][d];
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
          e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6.;
}

/// Checks that @p table consists of tetrahedra with a positive volume. Returns their total volume.
double total_volume(const MeshTable &table)
{
  double total = 0.;
  for (const MeshElement &cell : table.elements)
    if (cell.shape->dimension == 3) {
      EXPECT_EQ(cell.shape, &CellShape::tetrahedron);
      EXPECT_GT(volume(table, cell), 0.);
      total += volume(table, cell);
    }
  return total;
}

/// Splits a cell for each numbering of its nodes.
/// @return the number of numberings by the number of tetrahedra
std::map<std::size_t, std::size_t>
split_for_all_numberings(const CellShape &shape, const std::vector<std::array<double, 3>> &corners,
                         const double size)
{
  std::map<std::size_t, std::size_t> counts;
  Nodes numbers(corners.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  do {
    MeshTable table = one_cell(shape, corners, numbers);
    std::set<NodeSet> expected;
    for (std::size_t s = 0; s < shape.sides.size(); ++s) {
      const MeshElement side = side_of(table.elements[0], s);
      Nodes nodes(side.nodes.begin(), side.nodes.begin() + side.shape->n_nodes);
      std::rotate(nodes.begin(), std::min_element(nodes.begin(), nodes.end()), nodes.end());
      for (std::size_t i = 1; i + 1 < nodes.size(); ++i)
        expected.insert(
            all_nodes(element(CellShape::triangle, 0, {nodes[0], nodes[i], nodes[i + 1]})));
    }
    split_into_simplices(table, 3, false);
    ++counts[table.elements.size()];
    std::set<NodeSet> sides;
    for (const MeshElement &side : sides_on_boundary(table, 3))
      sides.insert(all_nodes(side));
    EXPECT_EQ(sides, expected);
    EXPECT_NEAR(total_volume(table), size, 1e-14);
  } while (std::next_permutation(numbers.begin(), numbers.end()) && !testing::Test::HasFailure());
  return counts;
}

TEST(SimplexSplit, EachNumberingSplitsFacesAtTheirSmallestNodeAndFillsTheCell)
{
  const auto of_hexahedra = split_for_all_numberings(CellShape::hexahedron, cube, 1.);
  EXPECT_EQ(of_hexahedra.size(), 2U);
  EXPECT_GT(of_hexahedra.at(5), 0U);
  EXPECT_GT(of_hexahedra.at(6), 0U);
  EXPECT_EQ(split_for_all_numberings(CellShape::prism, wedge, 0.5),
            (std::map<std::size_t, std::size_t>{{3, 720}}));
  EXPECT_EQ(split_for_all_numberings(CellShape::pyramid, pyramid, 1. / 3.),
            (std::map<std::size_t, std::size_t>{{2, 120}}));
}

TEST(SimplexSplit, PartsHaveTheIdsAndLocationsOfTheirElements)
{
  MeshTable table = one_cell(CellShape::hexahedron, cube, {0, 1, 2, 3, 4, 5, 6, 7});
  table.elements.push_back(element(CellShape::quadrilateral, 9, {6, 5, 1, 2}));
  table.elements.push_back(element(CellShape::line, 4, {0, 1}));
  table.elements.push_back(element(CellShape::point, 5, {6}));
  split_into_simplices(table, 3, false);
  check_mesh_table(table, 3);
  std::map<std::pair<std::string, long long>, std::size_t> counts;
  for (const MeshElement &part : table.elements) {
    ++counts[{part.shape->name, part.id}];
    EXPECT_EQ(part.location, 7U);
  }
  EXPECT_EQ(
      counts,
      (std::map<std::pair<std::string, long long>, std::size_t>{
          {{"tetrahedron", 3}, 6}, {{"triangle", 9}, 2}, {{"line", 4}, 1}, {{"point", 5}, 1}}));
  ASSERT_EQ(table.warnings.size(), 1U);
  EXPECT_EQ(table.warnings[0].substr(0, 89), "m.msh: femgpu has split 1 hexahedron, so that all "
                                             "cells are tetrahedra (6). To avoid this");
}

TEST(SimplexSplit, PrismsOfAnyOrientationBecomePositive)
{
  MeshTable table = one_cell(CellShape::prism, wedge, {3, 4, 5, 0, 1, 2});
  split_into_simplices(table, 3, false);
  EXPECT_NEAR(total_volume(table), 0.5, 1e-14);
}

/// Returns a mesh of a cube, numbered by @p numbers, whose top meets two tetrahedra directly.
MeshTable cube_below_tetrahedra(const Nodes &numbers)
{
  MeshTable table = one_cell(CellShape::hexahedron, cube, numbers);
  table.points.push_back({{0.5, 0.5, 2}});
  const auto &n = numbers;
  table.elements.push_back(element(CellShape::tetrahedron, 3, {n[4], n[5], n[7], 8}));
  table.elements.push_back(element(CellShape::tetrahedron, 3, {n[5], n[6], n[7], 8}));
  return table;
}

TEST(SimplexSplit, QuadrilateralsGetTheTrianglesOfTheirNeighbours)
{
  for (const Nodes &numbers : {Nodes{0, 1, 2, 3, 4, 5, 6, 7}, Nodes{7, 6, 5, 4, 0, 3, 1, 2}}) {
    MeshTable table = cube_below_tetrahedra(numbers);
    EXPECT_TRUE(must_be_split(table, 3));
    split_into_simplices(table, 3, false);
    EXPECT_EQ(sides_on_boundary(table, 3).size(), 14U);
    EXPECT_NEAR(total_volume(table), 4. / 3., 1e-14);
  }
}

TEST(SimplexSplit, TrianglesThatNoOrderFitsAreRefused)
{
  MeshTable table = cube_below_tetrahedra({0, 1, 2, 3, 4, 5, 6, 7});
  table.elements[2] = element(CellShape::tetrahedron, 3, {4, 5, 6, 8}); // overlaps the other one
  try {
    split_into_simplices(table, 3, false);
    FAIL();
  }
  catch (const InputError &error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 60),
              "m.msh:7: a quadrilateral face of this cell meets triangles o");
  }
}

TEST(SimplexSplit, WarpedCellsAreSplitFromTheirCentre)
{
  auto warped = cube;
  warped[6] = {{0.6, 0.6, 0.6}}; // behind the plane of its neighbours 2, 5 and 7
  MeshTable table = one_cell(CellShape::hexahedron, warped, {0, 4, 2, 5, 6, 1, 7, 3});
  split_into_simplices(table, 3, false);
  EXPECT_EQ(table.points.size(), 9U);
  EXPECT_EQ(table.elements.size(), 12U);
  EXPECT_GT(total_volume(table), 0.5);
  warped[6] = {{-1, -1, -1}};
  table = one_cell(CellShape::hexahedron, warped, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THROW(split_into_simplices(table, 3, false), InputError);
}

TEST(SimplexSplit, ConcaveQuadrilateralsAreSplitAtTheirReentrantCorner)
{
  MeshTable table;
  table.points = {{{0, 0, 0}}, {{1, 0, 0}}, {{0.3, 0.3, 0}}, {{0, 1, 0}}};
  for (const Nodes &nodes : {Nodes{0, 1, 2, 3}, Nodes{1, 2, 3, 0}}) {
    table.elements = {element(CellShape::quadrilateral, 3, nodes)};
    split_into_simplices(table, 2, true);
    ASSERT_EQ(table.elements.size(), 2U);
    for (const MeshElement &part : table.elements)
      EXPECT_EQ(std::count(part.nodes.begin(), part.nodes.begin() + 3, 2U), 1);
  }
}

TEST(SimplexSplit, EdgesOfEachElementTypeHaveOneMidSideNode)
{
  for (const ElementType &type : element_types()) {
    std::vector<Nodes> expected, found;
    for (const auto &side : type.shape->sides)
      for (std::size_t i = 0; i < side.size() && !type.midpoint_corners.empty(); ++i) {
        const Nodes ends = {side[i], side[(i + 1) % side.size()]};
        if (type.shape->dimension == 3 && ends[0] < ends[1]) // each edge has two sides
          expected.push_back(ends);
      }
    for (Nodes corners : type.midpoint_corners) {
      std::sort(corners.begin(), corners.end());
      if (corners.size() == 2 && type.shape->dimension == 3)
        found.push_back(corners);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected) << type.shape->name << " with " << type.n_nodes() << " nodes";
  }
}
} // namespace
} // namespace femgpu
