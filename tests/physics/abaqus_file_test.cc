#include "tests/physics/abaqus_decks.h"

#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace femgpu::abaqus_file_test
{
namespace
{
TEST(AbaqusFile, HasNodesCellsAndSides)
{
  const MeshTable table = table_of(squares);
  ASSERT_EQ(table.points.size(), 6U);
  EXPECT_EQ(table.points[2][0], 2.);
  // 2 cells, 2 sides below, left, right, a corner, and the point boundary_1
  ASSERT_EQ(table.elements.size(), 8U);
  EXPECT_EQ(table.elements[0].shape, &CellShape::quadrilateral);
  EXPECT_EQ(table.elements[0].nodes[2], 4U);
  EXPECT_EQ(table.elements[0].location, 13U);
  EXPECT_EQ(count(table, 2, 7), 1U);
  EXPECT_EQ(count(table, 1, 3), 2U);
}

TEST(AbaqusFile, SetsAreNamesAndNumbersInThemIds)
{
  const MeshTable table = table_of(squares);
  EXPECT_EQ(id_of(table, 2, "EB7"), 7);
  EXPECT_EQ(id_of(table, 2, "steel"), 1);
  EXPECT_EQ(id_of(table, 1, "SS3"), 3);
  EXPECT_EQ(id_of(table, 1, "Line1"), 1);
  EXPECT_EQ(id_of(table, 1, "right"), 2);
  EXPECT_EQ(count(table, 1, 1), 1U);
  EXPECT_EQ(count(table, 1, 2), 1U);
  EXPECT_EQ(id_of(table, 2, "SS3_E1"), -1); // its elements are the cells of a surface
  const MeshTable numbers = table_of(replaced(squares, "ELSET=steel", "ELSET=12"));
  EXPECT_EQ(count(numbers, 2, 12), 1U);
  EXPECT_EQ(id_of(numbers, 2, "12"), -1); // because any number is an id
}

TEST(AbaqusFile, SetsMayOverlap)
{
  const MeshTable table = table_of(squares);
  EXPECT_EQ(ids_of(table, 2, "Plate"), (std::set<long long>{1, 7}));
  EXPECT_EQ(ids_of(table, 2, "steel"), (std::set<long long>{1}));
  EXPECT_STARTS(reason_of(table, "all nodes"), "This node set of line 4 of 'm.inp' has all nodes");
  EXPECT_EQ(count(table, 0, id_of(table, 0, "corner")), 1U); // a point
  const MeshTable same = table_of(replaced(squares, "3\n6,\n", "1, 4\n"));
  EXPECT_EQ(id_of(same, 1, "right"), id_of(same, 1, "Line1"));
  const MeshTable cut = table_of(replaced(squares, "3\n6,\n", "1, 4, 5\n"));
  const long long left = id_of(cut, 1, "Line1");
  EXPECT_EQ(ids_of(cut, 1, "right").size(), 2U); // the side above on the left, and Line1
  EXPECT_EQ(ids_of(cut, 1, "right").count(left), 1U);
}

TEST(AbaqusFile, SectionsSayWhichSetsAreMaterials)
{
  const std::string text = replaced(squares, "EB7", "copper");
  const std::string with_all =
      replaced(replaced(text, "*ELSET, ELSET=SS3", "*ELSET, ELSET=some\nPlate\n*ELSET, ELSET=SS3"),
               "EB7", "copper");
  for (const std::string section : {"", "*SOLID SECTION, ELSET=some, MATERIAL=m\n1.\n"})
    EXPECT_EQ(ids_of(table_of(with_all + section), 2, "some"), (std::set<long long>{1, 2}));
}

TEST(AbaqusFile, WhatIsWrongIsNamedWithItsLine)
{
  EXPECT_STARTS(error_of("a b\n"), "m.inp:1: 'a b' is not a keyword such as *NODE");
  EXPECT_STARTS(error_with("1, 0, 0\n", "1, 0, zero\n"), "m.inp:5: 'zero' is not a number");
  EXPECT_STARTS(error_with("1, 0, 0\n", "1, 0, nan\n"),
                "m.inp:5: the coordinate of a node is 'nan'");
  EXPECT_STARTS(error_with("4, 0, 1", "3, 0, 1"), "m.inp:8: node 3 is defined");
  EXPECT_STARTS(error_with("5, 4\n20", "9, 4\n20"), "m.inp:14: there is no node 9 in");
  EXPECT_STARTS(error_with("2,\n5, 4\n20", "2,\n5\n20"),
                "m.inp:13: element 10 has 3 nodes, but a CPS4R has 4. Is the file truncated?");
  EXPECT_STARTS(error_with("20, 2,", "10, 2,"), "m.inp:15: element 10 is defined");
  EXPECT_STARTS(error_with("type=CPS4R", "type=COH2D4"), "m.inp:11: elements of TYPE='COH2D4'");
  EXPECT_STARTS(error_with("type=CPS4R,\n", "\n"), "m.inp:11: *ELEMENT has no option TYPE");
  EXPECT_STARTS(error_with("10, EB7", "10, EB8"), "m.inp:23: 'EB8' is neither a number nor");
  EXPECT_STARTS(error_with("20, 20, 1", "20, 10, 1"), "m.inp:21: a range must increase");
  EXPECT_STARTS(error_with("SS3_E1, S1", "SS3_E1, S5"), "m.inp:25: a quadrilateral in a mesh of");
  EXPECT_STARTS(error_with("SS3_E1, S1", "SS3_E1, E1"), "m.inp:25: 'E1' is not a side of a quadri");
  EXPECT_STARTS(error_with("*Heading\n squares", "*NGEN"),
                "m.inp:1: *NGEN is not supported. Write");
  EXPECT_STARTS(
      error_of("  6 2 0 0 0\n1 0 0 0\n"),
      "m.inp:1: '6 2 0 0 0' is not a keyword such as *NODE: the file is in the UCD format of "
      "AVS. Give it the extension .ucd.");
}

TEST(AbaqusFile, ReadsSidesOfHexahedraAsShellsSurfacesAndNodeSets)
{
  const MeshTable table = table_of(cube, 3);
  for (const char *const name : {"below", "above", "front", "left"}) {
    EXPECT_EQ(count(table, 2, id_of(table, 2, name)), 1U) << name;
  }
  EXPECT_EQ(id_of(table, 2, "shell"), id_of(table, 2, "below"));
  EXPECT_EQ(ids_of(table, 2, "rest").size(), 5U); // contains all free sides, two of them unnamed
  EXPECT_EQ(id_of(table, 3, "Eall"), 1);
  EXPECT_EQ(id_of(table, 1, "edge"), 1);
  EXPECT_STARTS(error_of(cube, 2),
                "m.inp:11: a hexahedron is a cell of a mesh in 3D, but Dimension");
}

TEST(AbaqusFile, NodesOfSecondOrderCurveCells)
{
  const std::string triangle =
      "*NODE\n1, 0, 0\n2, 1, 0\n3, 0, 1\n4, 0.5, 0\n5, 0.5, 0.5\n6, 0, 0.5\n"
      "*ELEMENT, TYPE=CPS6\n1, 1, 2, 3, 4, 5, 6\n"
      "*ELEMENT, TYPE=T3D3, ELSET=below\n2, 1, 4, 2\n";
  const MeshTable table = table_of(triangle);
  EXPECT_EQ(table.elements[0].shape, &CellShape::triangle);
  EXPECT_EQ(id_of(table, 1, "below"), 1);
  EXPECT_TRUE(table.second_order_nodes.empty());
  const MeshTable curved = table_of(replaced(triangle, "0.5, 0.5", "0.6, 0.5"));
  ASSERT_EQ(curved.second_order_nodes.size(), 1U);
  EXPECT_EQ(curved.points[curved.second_order_nodes[0].node][0], 0.6);
  EXPECT_EQ(curved.second_order_nodes[0].corners, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(curved.second_order_nodes[0].location, 9U);
}

/// A cube of second order.
const std::string quadratic_cube = R"(*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 1, 1, 0
4, 0, 1, 0
5, 0, 0, 1
6, 1, 0, 1
7, 1, 1, 1
8, 0, 1, 1
9, 0.5, 0, 0
10, 1, 0.5, 0
11, 0.5, 1, 0
12, 0, 0.5, 0
13, 0.5, 0, 1
14, 1, 0.5, 1
15, 0.5, 1, 1
16, 0, 0.5, 1
17, 0, 0, 0.5
18, 1, 0, 0.5
19, 1, 1, 0.5
20, 0, 1, 0.5
21, 0.5, 0.5, 0.5
*ELEMENT, TYPE=C3D20
1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
11, 12, 13, 14, 15, 16, 17, 18, 19, 20
)";

TEST(AbaqusFile, NodeSetsOfWholeEdgesAreCurvesAndOthersPoints)
{
  const MeshTable table = table_of(quadratic_cube + "*NSET, NSET=edges\n1, 9, 2, 2, 10, 3\n"
                                                    "*NSET, NSET=middles\n17, 18, 19, 20\n"
                                                    "*NSET, NSET=mixed\n5, 13, 6, 15\n",
                                   3);
  EXPECT_EQ(table.order(), 2U);
  EXPECT_EQ(count(table, 1, id_of(table, 1, "edges")), 2U);
  EXPECT_EQ(count(table, 0, id_of(table, 0, "middles")), 4U);
  EXPECT_EQ(count(table, 0, id_of(table, 0, "mixed")), 4U);
  EXPECT_TRUE(table.is_mid_side(16));
  EXPECT_EQ(table.edge_ends[16], (std::array<std::size_t, 2>{{0, 4}}));
  EXPECT_FALSE(table.is_mid_side(0));
  EXPECT_FALSE(table.is_mid_side(20));
}

TEST(AbaqusFile, AnEdgeIsInOneCurveAndNodesOfSetsAreOfCells)
{
  const std::string truss = "*ELEMENT, TYPE=T3D3, ELSET=truss\n2, 1, 9, 2\n";
  const MeshTable table = table_of(quadratic_cube + truss +
                                       "*NSET, NSET=same\n1, 2, 9\n"
                                       "*NSET, NSET=alone\n1, 21\n"
                                       "*NSET, NSET=of truss, ELSET=truss\n",
                                   3);
  EXPECT_STARTS(reason_of(table, "same"),
                "This node set of line 28 of 'm.inp' shares edges with the curve of m.inp:");
  EXPECT_STARTS(reason_of(table, "of truss"), // with the middle node of the truss
                "This node set of line 32 of 'm.inp' shares edges with the curve of m.inp:");
  EXPECT_STARTS(reason_of(table, "alone"), "This node set of line 30 of 'm.inp' has nodes that are "
                                           "neither vertices nor mid-side nodes");
  EXPECT_EQ(id_of(table, 1, "truss"), 1);
}

TEST(AbaqusFile, NamesOfCellsAreKeptAndAxisymmetricOnesRefused)
{
  const MeshTable table = table_of(squares);
  EXPECT_EQ(table.cell_types, (std::map<std::string, MeshLocation>{{"CPS4R", 11}}));
  EXPECT_STARTS(error_with("type=CPS4R", "type=CAX4R"),
                "m.inp:11: elements of TYPE=CAX4R are axisymmetric, which is not supported.");
}

TEST(AbaqusFile, PrismsAndPyramidsHaveTheSidesOfAbaqus)
{
  const std::string nodes = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n"
                            "6, 1, 0, 1\n7, 0.5, 0.5, -1\n8, 0, 1, 1\n";
  const MeshTable table = table_of(nodes + "*ELEMENT, TYPE=DC3D6, ELSET=EB1\n1, 1, 2, 4, 5, 6, 8\n"
                                           "*ELEMENT, TYPE=C3D5\n2, 4, 3, 2, 1, 7\n"
                                           "*SURFACE, NAME=SS7\n1, S4\n*SURFACE, NAME=SS8\n2, S5\n",
                                   3);
  std::map<long long, NodeSet> sides;
  for (const MeshElement &element : table.elements)
    if (element.shape->dimension == 2)
      sides[element.id] = all_nodes(element);
  constexpr auto none = static_cast<std::size_t>(-1);
  EXPECT_EQ(sides, (std::map<long long, NodeSet>{{7, {{1, 3, 5, 7}}}, {8, {{0, 3, 6, none}}}}));
}
} // namespace
} // namespace femgpu::abaqus_file_test
