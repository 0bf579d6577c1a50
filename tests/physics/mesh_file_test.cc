#include "linalg/base/error.h"
#include "physics/mesh/mesh_readers.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
/// Two adjacent squares: nodes 1 2 3 below, 4 5 6 above.
const std::string squares = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
1 7 "left side"
2 1 "steel"
2 2 "copper"
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
3 2 0 0
4 0 1 0
5 1 1 0
6 2 1 0
$EndNodes
$Elements
3
1 1 2 7 1 4 1
2 3 2 1 1 1 2 5 4
3 3 2 2 2 2 3 6 5
$EndElements
)";

/// Two adjacent squares in format 4.1.
const std::string squares_4 = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
1
1 7 "left side"
$EndPhysicalNames
$Entities
1 1 2 0
1 0 0 0 0
1 0 0 0 0 1 0 1 7 2 1 2
1 0 0 0 1 1 0 1 1 0
2 1 0 0 2 1 0 1 2 0
$EndEntities
$Nodes
2 6 1 6
0 1 0 1
1
0 0 0
2 1 0 5
2
3
4
5
6
1 0 0
2 0 0
0 1 0
1 1 0
2 1 0
$EndNodes
$Elements
3 3 1 3
1 1 1 1
1 4 1
2 1 3 1
2 1 2 5 4
2 2 3 1
3 2 3 6 5
$EndElements
)";

std::string replaced(std::string text, const std::string &what, const std::string &by)
{
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string &text, const int dim = 2)
{
  try {
    MeshTable table = read_gmsh_file("m.msh", text, dim);
    check_mesh_table(table, dim);
  }
  catch (const InputError &error) {
    return error.what();
  }
  return "no error";
}

/// Returns the error for the file of two squares in which the text @p what is replaced by @p by.
std::string error_with(const std::string &what, const std::string &by)
{
  return error_of(replaced(squares, what, by));
}

#define EXPECT_BEGINS(text, beginning)                                                             \
  EXPECT_EQ(text.substr(0, std::string(beginning).size()), beginning)

TEST(GmshFile, HasPointsElementsAndNamesInBothVersions)
{
  for (const std::string &text : {squares, squares_4}) {
    MeshTable file = read_gmsh_file("m.msh", text, 2);
    check_mesh_table(file, 2);
    ASSERT_EQ(file.points.size(), 6U);
    EXPECT_EQ(file.points[5][0], 2.);
    ASSERT_EQ(file.elements.size(), 3U);
    EXPECT_EQ(file.elements[0].shape, &CellShape::line);
    EXPECT_EQ(file.elements[0].id, 7);
    EXPECT_EQ(file.elements[2].shape, &CellShape::quadrilateral);
    EXPECT_EQ(file.elements[2].id, 2);
    EXPECT_EQ(file.elements[2].nodes[2], 5U);
    EXPECT_EQ(file.names[0].name, "left side");
    EXPECT_EQ(file.names[0].id, 7);
  }
}

TEST(GmshFile, PointsOfSeveralGroupsAreThereForEach)
{
  std::string text = replaced(squares_4, "1 0 0 0 0\n", "1 0 0 0 2 3 4\n");
  text = replaced(text, "3 3 1 3\n", "4 4 1 4\n0 1 15 1\n4 1\n");
  const MeshTable file = read_gmsh_file("m.msh", text, 2);
  ASSERT_EQ(file.elements.size(), 5U);
  EXPECT_EQ(file.elements[0].id, 3);
  EXPECT_EQ(file.elements[1].id, 4);
  EXPECT_EQ(file.elements[1].nodes[0], 0U);
}

/// Returns the left square with nodes at the middles of its edges and, if it has nine, at its
/// centre.
std::string second_order(const std::string &type, const std::string &middle_of_bottom,
                         const std::string &center)
{
  return R"($MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
9
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 )" + middle_of_bottom +
         R"( 0
6 1 0.5 0
7 0.5 1 0
8 0 0.5 0
9 0.5 0.5 0
$EndNodes
$Elements
1
1 )" + type +
         " 2 1 1 1 2 3 4 5 6 7 8" + center + "\n$EndElements\n";
}

TEST(GmshFile, NodesOfSecondOrderThatCurveNothingAreIgnored)
{
  for (const std::string &text :
       {second_order("16", "0.5 0", ""), second_order("10", "0.5 0", " 9"),
        second_order("16", "0.5 1e-8", "")}) {
    const MeshTable table = read_gmsh_file("m.msh", text, 2);
    EXPECT_TRUE(table.second_order_nodes.empty());
    EXPECT_EQ(table.elements[0].shape, &CellShape::quadrilateral);
  }
}

TEST(GmshFile, NodesOfSecondOrderThatCurveCellsHaveTheirCorners)
{
  const MeshTable edge = read_gmsh_file("m.msh", second_order("16", "0.5 -0.1", ""), 2);
  ASSERT_EQ(edge.second_order_nodes.size(), 1U);
  EXPECT_EQ(edge.points[edge.second_order_nodes[0].node][1], -0.1);
  EXPECT_EQ(edge.second_order_nodes[0].location, 18U);
  EXPECT_EQ(edge.second_order_nodes[0].corners, (std::vector<std::size_t>{0, 1}));
  // The centre of the cell should follow its edges to (0.5, 0.45), but its node lies elsewhere.
  const MeshTable cell = read_gmsh_file("m.msh", second_order("10", "0.5 -0.1", " 9"), 2);
  ASSERT_EQ(cell.second_order_nodes.size(), 2U);
  EXPECT_EQ(cell.second_order_nodes[1].corners.size(), 4U);
}

TEST(GmshFile, EveryTruncationIsRefusedWithItsLine)
{
  for (const std::string &text : {squares, squares_4})
    for (std::size_t n = 0; n + 2 < text.size(); ++n)
      EXPECT_BEGINS(error_of(text.substr(0, n)), "m.msh:");
}

TEST(GmshFile, WordsInTheWrongPlaceAreRefusedWithTheirLine)
{
  EXPECT_BEGINS(error_of("solid cube\n"), "m.msh:1: the file does not begin with $MeshFormat");
  EXPECT_BEGINS(error_with("2.2 0 8", "2.2 1 8"), "m.msh:2: the file is binary. Save it with");
  EXPECT_BEGINS(error_with("2.2 0", "4 0"), "m.msh:2: the version of the format is '4', but 2 and");
  EXPECT_BEGINS(error_with("1 0 0 0", "1 0 zero 0"), "m.msh:12: 'zero' is not a number");
  EXPECT_BEGINS(error_with("1 0 0 0", "1 0 nan 0"), "m.msh:12: the coordinate of a node is 'nan'");
  EXPECT_BEGINS(error_with("1 0 0 0", "1 0 -inf 0"), "m.msh:12: the coordinate");
  EXPECT_BEGINS(error_with("1 0 0 0", "1 0 1e999 0"), "m.msh:12: '1e999' is not a number");
  EXPECT_BEGINS(error_with("1 0 0 0", "1 0 0 0 0"), "m.msh:12: '0' is unexpected at the end");
  EXPECT_BEGINS(error_with("1 0 0 0", "1 0 0"), "m.msh:12: the line ends, but");
  EXPECT_BEGINS(error_with("2 1 0 0", "1 1 0 0"), "m.msh:13: node 1 is defined");
  EXPECT_BEGINS(error_with("$Nodes\n6", "$Nodes\n5"),
                "m.msh:17: '6 2 1 0' was found, but $EndNodes");
  EXPECT_BEGINS(error_with("$Nodes\n6", "$Nodes\n7"), "m.msh:18: '$EndNodes' is not an integer");
  EXPECT_BEGINS(error_with("$Nodes\n6", "$Nodes\n99999999999999"), "m.msh:11: the number of nodes");
  EXPECT_BEGINS(error_with("$Nodes\n6", "$Nodes\n-1"), "m.msh:11: the number of nodes is -1");
  EXPECT_BEGINS(error_with("1 4 1", "1 4 9"), "m.msh:21: node 9");
  EXPECT_BEGINS(error_with("$PhysicalNames", "$Comments"), "m.msh:4: the section '$Comments'");
  EXPECT_BEGINS(error_with("$Elements\n", "$Elements\n\nx"), "m.msh:21: 'x3' is not an integer");
}

TEST(GmshFile, CellsThatAreNotSupportedAreRefusedWithTheirLine)
{
  EXPECT_BEGINS(error_with("2 3 2 1 1 1 2 5 4", "2 21 2 1 1 1 2 5 4 6 3"),
                "m.msh:22: an element of order 3 or more (type 21). Mesh with `gmsh -order 2`");
  EXPECT_BEGINS(error_with("2 3 2 1 1 1 2 5 4", "2 6 2 1 1 1 2 5 4 6 3"),
                "m.msh:22: a prism is a cell of a mesh in 3D");
  EXPECT_BEGINS(error_with("2 3 2 1 1 1 2 5 4", "2 99 2 1 1 1"), "m.msh:22: elements of type 99");
  EXPECT_BEGINS(error_with("1 2 5 4", "1 2 5 5"), "m.msh:22: the quadrilateral is degenerate");
  EXPECT_BEGINS(error_of(replaced(replaced(squares, "$Elements\n3", "$Elements\n4"), "$EndElements",
                                  "4 3 2 2 2 1 2 5 4\n$EndElements")),
                "m.msh:24: this cell shares a face with two others");
  EXPECT_BEGINS(error_with("6 2 1 0", "6 2 1 0.5"), "m.msh:23: a node has z = 0.5");
  EXPECT_BEGINS(error_of(squares, 3), "The mesh file 'm.msh' has no cells of dimension 3");
}

TEST(GmshFile, BoundariesThatAreNoneAreRefusedWithTheirLine)
{
  EXPECT_BEGINS(error_with("1 4 1", "1 4 2"), "m.msh:21: the line is not a face of a cell");
  EXPECT_BEGINS(error_of(replaced(replaced(squares, "$Elements\n3", "$Elements\n4"), "$EndElements",
                                  "4 1 2 8 1 1 4\n$EndElements")),
                "no error"); // it is in both groups
  EXPECT_BEGINS(error_of(replaced(replaced(squares, "$Elements\n3", "$Elements\n4"), "$EndElements",
                                  "4 1 2 7 1 1 4\n$EndElements")),
                "m.msh:24: this face has the id 7, but also the id 7 (line 21)");
  EXPECT_BEGINS(error_with("1 1 2 7 1", "1 1 2 -7 1"), "m.msh:21: the line has the id -7");
  EXPECT_BEGINS(error_with("1 1 2 7 1", "1 1 2 4294967295 1"),
                "m.msh:21: the line has the id 4294967295, but the largest");
}

/// Returns the ids that the elements in group @p name have.
std::set<long long> ids_of(const MeshTable &table, const std::string &name)
{
  std::set<long long> ids;
  for (const PhysicalName &entry : table.names)
    if (entry.name == name)
      ids.insert(entry.id);
  return ids;
}

TEST(GmshFile, CellsAndSidesMayBeInSeveralGroups)
{
  using Ids = std::set<long long>;
  std::string text = replaced(squares, "$Elements\n3", "$Elements\n6");
  text = replaced(text, "$PhysicalNames\n3", "$PhysicalNames\n4\n2 3 \"all\"");
  text = replaced(text, "$EndElements",
                  "4 1 2 8 1 1 4\n5 3 2 3 1 1 2 5 4\n6 3 2 3 2 2 3 6 5\n$EndElements");
  const MeshTable file = read_gmsh_file("m.msh", text, 2);
  ASSERT_EQ(file.elements.size(), 3U);
  EXPECT_EQ(ids_of(file, "left side"), Ids{7});
  EXPECT_EQ(ids_of(file, "8"), Ids{7}); // another group of the same side
  EXPECT_EQ(ids_of(file, "steel"), Ids{1});
  EXPECT_EQ(ids_of(file, "all"), (Ids{1, 2}));
  EXPECT_EQ(ids_of(file, "3"), (Ids{1, 2}));
  const MeshTable file_4 =
      read_gmsh_file("m.msh", replaced(squares_4, "1 0 1 7 2", "1 0 2 7 8 2"), 2);
  EXPECT_EQ(file_4.elements.size(), 3U);
  EXPECT_EQ(ids_of(file_4, "8"), Ids{7});
}

TEST(GmshFile, SidesInsideTheBodyAreMarked)
{
  MeshTable file = read_gmsh_file("m.msh", replaced(squares, "1 4 1", "1 5 2"), 2);
  check_mesh_table(file, 2);
  ASSERT_EQ(file.elements.size(), 3U);
  for (const MeshElement &element : file.elements)
    EXPECT_EQ(element.is_inner_side, element.shape == &CellShape::line);
}

TEST(GmshFile, NodesWithoutElementsAndSectionsBehindAreAllowed)
{
  EXPECT_EQ(error_of(replaced(squares, "$Nodes\n6", "$Nodes\n7\n77 0 0 5")), "no error");
  EXPECT_EQ(error_of(squares + "$NodeData\n1\n\"u\"\n$EndNodeData\n"), "no error");
  EXPECT_BEGINS(error_of(squares + "$NodeData\n1\n"), "m.msh:25: the section '$NodeData'");
}

/// Four tetrahedra around the edge from (0 0 0) to (0 0 1). Two of them have separate nodes 6 to 9
/// at the positions of nodes 0, 1, 2 and 4.
MeshTable two_halves()
{
  MeshTable table;
  table.file = "m.msh";
  table.points = {{0, 0, 0},  {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0},
                  {0, -1, 0}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {-1, 0, 0}};
  table.elements = {{&CellShape::tetrahedron, 1, 1, {{0, 1, 2, 3}}},
                    {&CellShape::tetrahedron, 1, 2, {{0, 1, 3, 4}}},
                    {&CellShape::tetrahedron, 2, 3, {{6, 7, 9, 5}}},
                    {&CellShape::tetrahedron, 2, 4, {{6, 7, 5, 8}}},
                    {&CellShape::triangle, 1, 5, {{0, 1, 2}}},
                    {&CellShape::triangle, 2, 6, {{6, 9, 5}}},
                    {&CellShape::line, 1, 7, {{6, 9}}},
                    {&CellShape::point, 1, 8, {{7}}}};
  return table;
}

const std::vector<std::size_t> representative_nodes = {0, 1, 2, 3, 4, 5, 0, 1, 2, 4};

TEST(MergedNodes, AreThoseOfSidesCurvesAndPointsToo)
{
  MeshTable table = two_halves();
  replace_nodes(table, representative_nodes, 3);
  ASSERT_EQ(table.elements.size(), 8U);
  EXPECT_TRUE(table.elements[4].is_inner_side);
  EXPECT_FALSE(table.elements[5].is_inner_side);
  EXPECT_EQ(all_nodes(table.elements[5]), all_nodes({&CellShape::triangle, 0, 0, {{0, 4, 5}}}));
  EXPECT_EQ(all_nodes(table.elements[6]), all_nodes({&CellShape::line, 0, 0, {{0, 4}}}));
  EXPECT_EQ(table.elements[7].nodes[0], 1U);
}

TEST(MergedNodes, SidesThatCoincideThenAreRemoved)
{
  MeshTable table = two_halves();
  table.elements.push_back({&CellShape::triangle, 2, 9, {{6, 7, 8}}});
  table.names = {{2, 2, "seam"}};
  replace_nodes(table, representative_nodes, 3);
  EXPECT_EQ(table.elements.size(), 7U);
}

TEST(MergedNodes, CurvesThatLieInsideThenAreRemoved)
{
  MeshTable table = two_halves();
  table.elements[6].nodes = {{6, 7}};
  EXPECT_NO_THROW(check_mesh_table(table, 3));
  replace_nodes(table, representative_nodes, 3);
  ASSERT_EQ(table.unusable_names.size(), 1U);
  EXPECT_EQ(table.unusable_names[0].dimension, 1);
}

TEST(PhysicalNames, WrongTablesAreRefusedWithTheirLine)
{
  EXPECT_BEGINS(error_with("\"steel\"", "steel"), "m.msh:7: the line of a physical group must be");
  EXPECT_BEGINS(error_with("\"steel\"", "\"steel"), "m.msh:7: the line of a physical group");
  EXPECT_BEGINS(error_with("\"steel\"", "\"\""), "m.msh:7: the name of a physical group is empty");
  EXPECT_BEGINS(error_with("\"steel\"", "\"12\""),
                "m.msh:7: the name '12' of a physical group is a");
  EXPECT_BEGINS(error_with("\"copper\"", "\"steel\""),
                "m.msh:8: the name 'steel' is also the name of the physical group in line 7");
  EXPECT_BEGINS(error_with("2 2 \"copper\"", "2 1 \"copper\""),
                "m.msh:8: physical group 1 already has a name in line 7");
  EXPECT_BEGINS(error_with("2 1 \"steel\"", "4 1 \"steel\""), "m.msh:7: the dimension of a");
  EXPECT_BEGINS(error_with("Names\n3", "Names\n4"), "m.msh:9: '$EndPhysicalNames' follows 3");
  EXPECT_BEGINS(error_with("Names\n3", "Names\n2"), "m.msh:8: '2 2 \"copper\"' was found");
  EXPECT_EQ(error_with("2 1 \"steel\"", "1 1 \"steel\""), "no error");
}

} // namespace
} // namespace femgpu
