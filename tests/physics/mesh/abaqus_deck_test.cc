#include "physics/mesh/abaqus_sets.h"
#include "tests/physics/abaqus_decks.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace femgpu::abaqus_file_test
{
namespace
{
TEST(AbaqusDeck, ALastLineWithoutEndIsReadIfItHasAllItsFields)
{
  const auto cut_after = [](const std::string &last) {
    return squares.substr(0, squares.find(last) + last.size());
  };
  for (const char *const last : {"2, 3, 6, 5", "4, 1", "20, 20, 1", "20, 20", "SS3_E1, S1",
                                 "NSET=corner\n6", "0.3", "1, 1, 3", "*END STEP"}) {
    EXPECT_EQ(error_of(cut_after(last)), "no error") << last;
  }
  for (const char *const last : {"*ELSET, ELSET=steel\n10,", "20, 20,", "NAME=SS3\nSS3_E1",
                                 "SS3_E1,", "1, 4,", "2, 3, 6", "2, 3, 6,", "NSET=right\n3\n6,",
                                 "210000,", "type=CPS4R,", "NAME=SS3", "Elset=Line1", "1, 4"}) {
    EXPECT_TRUE(is_truncated(cut_after(last))) << last;
  }
  EXPECT_TRUE(is_truncated("*NODE\n1, 0, 0, 0\n2, 1, 1"));
  EXPECT_TRUE(is_truncated("*NODE\n2, 1, 1", 3));
  EXPECT_TRUE(is_truncated("*NODE\n2, 1"));
  EXPECT_FALSE(is_truncated("*NODE\n1, 0, 0\n2, 1, 1", 3));
}

/// Writes @p text to file @p name in a directory for this test and returns the path.
std::string written(const std::string &name, const std::string &text)
{
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("abaqus_" + std::to_string(getpid())) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

TEST(AbaqusDeck, IncludedFilesAreReadWhereTheyAreNamed)
{
  const std::size_t elements = squares.find("*ELEMENT");
  const std::string nodes = squares.substr(0, elements);
  const auto with = [&](const std::string &first, const std::string &more) {
    return written("main.inp", "** main\n*Include, Input=" + first + "\n" + more);
  };
  const auto read = [](const std::string &path) {
    MeshTable table = read_abaqus_file(path, *contents_of_file(path), 2);
    check_mesh_table(table, 2);
    return table;
  };
  const auto error = [&](const std::string &path) -> std::string {
    try {
      read(path);
    }
    catch (const InputError &error) {
      return error.what();
    }
    return "no error";
  };
  written("a/nodes.inp", replaced(nodes, "1, 0, 0\n", "*INCLUDE,\nINPUT=\"b/first.inp\"\n"));
  written("a/b/first.inp", "** data lines without a keyword\n1, 0, 0\n");
  const std::string rest = squares.substr(elements);
  const MeshTable table = read(with("a/nodes.inp", rest));
  EXPECT_EQ(table.points.size(), 6U);
  EXPECT_EQ(table.names.size(), table_of(squares).names.size());
  EXPECT_EQ(table.elements[0].location, 5U);
  const std::string named = replaced(nodes, "*node", "*NSET, NSET=none\n*node");
  written("a/nodes.inp", named);
  const MeshTable warned = read(with("a/nodes.inp", rest));
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_NE(warned.warnings[0].find("a/nodes.inp:4: the set 'none' is empty"), std::string::npos);
  EXPECT_NE(reason_of(warned, "none").find("a/nodes.inp' is empty"), std::string::npos);

  const std::string here = std::filesystem::path(with("a/nodes.inp", rest)).parent_path().string();
  EXPECT_STARTS(error(with("b.inp", rest)),
                here + "/main.inp:2: the file '" + here + "/b.inp' does not exist");
  EXPECT_STARTS(error(with("a", rest)), here + "/main.inp:2: the file '" + here + "/a' does not");
  EXPECT_STARTS(error(written("main.inp", "*INCLUDE\n" + rest)),
                here + "/main.inp:1: *INCLUDE has no option INPUT");
  written("a/nodes.inp", "*INCLUDE, INPUT=../a/c.inp\n");
  written("a/c.inp", "*NODE\n1, 0, 0\n*INCLUDE, INPUT=../main.inp\n");
  EXPECT_STARTS(error(with("a/nodes.inp", rest)), here + "/a/../a/c.inp:3: the file '" + here +
                                                      "/a/../a/../main.inp' includes itself");
  written("a/c.inp", "*NODE\n1, 0, zero\n");
  EXPECT_STARTS(error(with("a/c.inp", rest)), here + "/a/c.inp:2: 'zero' is not a number");
  written("a/c.inp",
          replaced(nodes, "*node", "*MATERIAL, NAME=m\n*node") + "*ELEMENT, TYPE=CAX4\n");
  EXPECT_STARTS(error(with("a/c.inp", rest)), here + "/a/c.inp:12: elements of TYPE=CAX4");
  written("a/c.inp", nodes + "*ELEMENT, TYPE=CPS4\n1, 1, 2, 5, 5\n");
  EXPECT_STARTS(error(with("a/c.inp", "")), here + "/a/c.inp:12: ");

  const std::string by_option = replaced(squares, "1, 0, 0\n", "");
  written("first.inp", "1, 0, 0\n");
  EXPECT_EQ(read(written("main.inp", replaced(by_option, "nset=all", "input=first.inp, nset=all")))
                .points.size(),
            6U);
}

TEST(AbaqusDeck, BlankCoordinatesAreZero)
{
  const std::string text =
      replaced(replaced(squares, "1, 0, 0\n", "1,\n"), "2, 1., 0.\n", "2, 1.,,\n");
  const MeshTable table = table_of(replaced(text, "4, 0, 1, 0", "4, , 1."));
  EXPECT_EQ(table.points, table_of(squares).points);
}

TEST(AbaqusDeck, NodesMayFollowTheBlocksThatUseThem)
{
  const std::size_t begin = squares.find("*node"), end = squares.find("*ELEMENT");
  const std::string nodes = squares.substr(begin, end - begin);
  const std::string elements = squares.substr(end, squares.find("*Element") - end);
  const MeshTable table = table_of(replaced(replaced(squares, nodes, ""), elements, "") + elements +
                                   replaced(nodes, "1, 0, 0\n", "1\n"));
  EXPECT_EQ(table.points, table_of(squares).points);
  EXPECT_EQ(table.elements.size(), table_of(squares).elements.size());
  EXPECT_EQ(id_of(table, 2, "EB7"), 7);
}

TEST(AbaqusDeck, NumbersOfSetsWithoutNodesAndFurtherNodesOfElementsAreIgnored)
{
  const std::string text = replaced(replaced(squares, "20, 20, 1", "20, 1000000000, 10"),
                                    "right\n3\n", "right\n3, 99\n");
  const MeshTable table = table_of(replaced(text, "6, 5\n*", "6, 5, 1\n*"));
  EXPECT_EQ(id_of(table, 2, "EB7"), 7);
  ASSERT_EQ(table.warnings.size(), 3U);
  EXPECT_STARTS(table.warnings[0],
                "m.inp:15: 1 elements have more nodes than a CPS4R. The further");
  EXPECT_STARTS(table.warnings[1], "m.inp:20: 99999998 numbers in this set are ignored");
  EXPECT_STARTS(table.warnings[2], "m.inp:26: 1 numbers in this set are ignored");
}

TEST(AbaqusDeck, EmptySetsAndBlocksAreReadAndSetsWithoutMembersNamed)
{
  const std::string text = replaced(squares, "*ELSET, ELSET=steel\n10,\n",
                                    "*ELSET, ELSET=steel\n*NODE\n*ELEMENT, TYPE=C3D8\n") +
                           "*SURFACE, NAME=bare\n*NSET, NSET=nothing\n";
  const MeshTable table = table_of(text);
  EXPECT_EQ(id_of(table, 2, "EB7"), 7);
  EXPECT_EQ(table.warnings, (std::vector<std::string>{
                                "m.inp:40: the set 'nothing' is empty or has only elements that "
                                "femgpu ignores. Parameters cannot name it.",
                                "m.inp:18: the set 'steel' is empty or has only elements that "
                                "femgpu ignores. Parameters cannot name it.",
                                "m.inp:39: the set 'bare' is empty or has only elements that "
                                "femgpu ignores. Parameters cannot name it."}));
  EXPECT_STARTS(reason_of(table, "nothing"), "This set of line 40 of 'm.inp' is empty");
  EXPECT_TRUE(is_truncated(squares + "*NODE\n"));
}

TEST(AbaqusDeck, MassesAndSpringsAreIgnoredAlsoInSets)
{
  const std::string special =
      "*ELEMENT, TYPE=MASS, ELSET=M\n101, 3\n*ELEMENT, TYPE=SpringA\n102, 1, 3\n"
      "103, 1, 3\n*ELEMENT, TYPE=DCOUP3D, ELSET=all\n104, 6\n*MASS, ELSET=M\n1.\n"
      "*ELSET, ELSET=both\n10, M, 102\n*ELSET, ELSET=springs, GENERATE\n102, 104\n";
  const MeshTable table =
      table_of(replaced(squares, "*ELSET, ELSET=EB7", special + "*ELSET, ELSET=EB7"));
  EXPECT_EQ(table.elements.size(), table_of(squares).elements.size());
  EXPECT_EQ(id_of(table, 2, "both"), id_of(table, 2, "steel"));
  ASSERT_EQ(table.warnings.size(), 4U);
  EXPECT_STARTS(table.warnings[0], "m.inp:25: elements of TYPE=DCOUP3D are ignored (1 in all)");
  EXPECT_STARTS(table.warnings[1], "m.inp:20: elements of TYPE=MASS are ignored (1 in all)");
  EXPECT_STARTS(table.warnings[2], "m.inp:22: elements of TYPE=SPRINGA are ignored (2 in all)");
  EXPECT_STARTS(table.warnings[3], "m.inp:31: the set 'springs' is empty");
  EXPECT_STARTS(reason_of(table, "M"), "This set of line 20 of 'm.inp' is empty or has only");
}

/// A square of side 1 with sets for its lower side, as a part, and two instances of it: one as it
/// is, one turned by 90 degrees about (1, 0) after it was moved by (1, -1), so that it covers the
/// square from (1, 0) to (2, 1).
const std::string assembly = R"(*Part, name=square
*Node
1, 0., 0.
2, 1., 0.
3, 1., 1.
4, 0., 1.
*Element, type=CPS4
7, 1, 2, 3, 4
*Nset, nset=low
1, 2
*Elset, elset=body, generate
7, 7, 1
*Elset, elset=_low_S1, internal
7
*Surface, type=ELEMENT, name=side
_low_S1, S1
*Solid Section, elset=body, material=m
,
*End Part
*Part, name=unused
*Element, type=no such type
*End Part
*Assembly, name=Assembly
*Instance, name=square-1, part=SQUARE
*End Instance
*Instance, name="square 2", part=square
1., -1., 0.
1., 0., 0., 1., 0., 1., 90.
*Nset, nset=own
3
*End Instance
*Node
1, 5., 5.
*Nset, nset=left, instance=square-1
1, 4
*Nset, nset=far, instance="square 2"
low
*Elset, elset=_s, instance=square-1, internal
7
*Elset, elset=_s, instance="square 2", internal
7
*Surface, type=ELEMENT, name=tops
square-1.7, S3
"square 2".body, S4
*End Assembly
*Nset, nset=corner
square-1.1
)";

TEST(AbaqusDeck, InstancesOfPartsAreMovedAndHaveTheirOwnNumbersAndNames)
{
  const MeshTable table = table_of(assembly);
  ASSERT_EQ(table.points.size(), 9U);
  EXPECT_EQ(table.points[4],
            (std::array<double, 3>{{2., 0., 0.}})); // node 1 at (1, -1), then turned
  EXPECT_EQ(table.points[5], (std::array<double, 3>{{2., 1., 0.}}));
  EXPECT_EQ(table.points[7], (std::array<double, 3>{{1., 0., 0.}}));
  EXPECT_EQ(table.elements[1].nodes[0], 4U);
  EXPECT_EQ(table.elements[1].location, 8U);
  for (const char *const name : {"square-1.body", "square 2.body"}) {
    EXPECT_EQ(count(table, 2, id_of(table, 2, name)), 1U) << name;
  }
  EXPECT_EQ(id_of(table, 2, "body"), -1);
  EXPECT_EQ(id_of(table, 1, "far"), id_of(table, 1, "square 2.low"));
  EXPECT_EQ(id_of(table, 1, "square-1.side"), id_of(table, 1, "square-1.low"));
  EXPECT_EQ(count(table, 1, id_of(table, 1, "left")), 1U);
  EXPECT_EQ(count(table, 1, id_of(table, 1, "tops")), 2U);
  EXPECT_EQ(count(table, 0, id_of(table, 0, "own")), 1U);
  EXPECT_EQ(count(table, 0, id_of(table, 0, "corner")), 1U);
  const std::string single = assembly.substr(0, assembly.find("*Assembly"));
  EXPECT_EQ(count(table_of(replaced(single, "*Element, type=no such type\n", "")), 1, 1), 1U);
}

TEST(AbaqusDeck, AnInstanceMayHoldItsMeshAndPartsMayBeIncluded)
{
  const std::size_t begin = assembly.find("*Node"), end = assembly.find("*End Part");
  const std::string mesh = assembly.substr(begin, end - begin);
  const std::string text =
      "*Part, name=P\n*End Part\n*Assembly, name=A\n*Instance, name=I, part=P\n"
      "0., 0., 3.\n" +
      mesh + "*End Instance\n*End Assembly\n";
  const MeshTable table = read_abaqus_file("m.inp", text, 2);
  EXPECT_EQ(table.points[1], (std::array<double, 3>{{1., 0., 3.}}));
  EXPECT_EQ(id_of(table, 2, "body"), 1);
  EXPECT_EQ(id_of(table, 1, "side"), id_of(table, 1, "low"));
  written("mesh.inp", mesh);
  const std::string path =
      written("parts.inp", replaced(assembly, mesh, "*INCLUDE, INPUT=mesh.inp\n"));
  const MeshTable included = read_abaqus_file(path, *contents_of_file(path), 2);
  EXPECT_EQ(included.points, table_of(assembly).points);
  EXPECT_EQ(included.line_of(included.elements[1].location),
            std::filesystem::path(path).parent_path().string() + "/mesh.inp:7");
}

TEST(AbaqusDeck, WrongPartsAndInstancesAreNamedWithTheirLine)
{
  const auto wrong = [](const std::string &what, const std::string &by) {
    return error_of(replaced(assembly, what, by));
  };
  EXPECT_STARTS(wrong("part=SQUARE", "part=circle"), "m.inp:24: there is no part 'circle' before");
  EXPECT_STARTS(wrong("part=SQUARE", "part=unused"), "m.inp:21: elements of TYPE='NO SUCH TYPE'");
  EXPECT_STARTS(wrong("\"square 2\", part", "SQUARE-1, part"),
                "m.inp:26: the instance 'SQUARE-1' is");
  EXPECT_STARTS(wrong("name=unused", "name=Square"),
                "m.inp:20: the part 'Square' is defined twice");
  EXPECT_STARTS(wrong("*End Part\n*Part", "*Part"), "m.inp:1: *PART has no *END PART. Is the file");
  EXPECT_STARTS(wrong("*End Instance\n*Instance", "*Instance"), "m.inp:24: *INSTANCE has no *END");
  EXPECT_STARTS(wrong("instance=square-1\n1,", "instance=sqare\n1,"),
                "m.inp:34: there is no instance 'sqare' in");
  EXPECT_STARTS(wrong("square-1.7, S3", "sqare.7, S3"), "m.inp:43: 'sqare.7' is neither a number");
  EXPECT_STARTS(wrong("square-1.7, S3", "7, S3"), "m.inp:43: there is no element 7 in");
  EXPECT_STARTS(wrong("square-1.7, S3", "square-1.8, S3"), "m.inp:43: there is no element 8 in");
  EXPECT_STARTS(wrong("1., 0., 0., 1., 0., 1., 90.", "1., 0., 0., 1., 0., 0., 90."),
                "m.inp:28: the axis of rotation needs two different points");
  EXPECT_STARTS(wrong("90.\n", "90.\n1.\n"), "m.inp:29: an instance has at most two data lines");
  EXPECT_STARTS(error_of(replaced(squares, "1, 0, 0\n", "1, 1.7e308, 1.7e308\n")),
                "m.inp:5: the coordinates of node 1 are too large");
  for (std::size_t n = 1; n < assembly.size(); n += 3) // every piece is read or refused
    error_of(assembly.substr(0, n));
}

TEST(AbaqusDeck, FacesOfLoadsAreSurfaces)
{
  const std::string loads = "*DLOAD\n20, P2, -10.\nPlate, GRAV, 9.81, 0., 0., -1.\n, BX, 3.\n"
                            "*FILM\n10, F3, 293., 25.\nPlate, F1, 293, 2.5E1\n20, F3, 293., 30.\n"
                            "*DLOAD, AMPLITUDE=a\n10, P4NU\n10, P4, -1E1\n"
                            "*RADIATE\n20, R3, 300., 0.8\n*DFLUX\nPlate, BF, 3.\n20, S2, 7.\n";
  AbaqusModel model = read_abaqus_model("m.inp", squares + loads, 2);
  std::vector<std::string> names;
  for (const AbaqusBlock &block : model.blocks)
    for (const AbaqusRow &row : block.rows)
      if (!row.name.empty())
        names.push_back(row.name + " " + row.fields[1]);
  EXPECT_EQ(names,
            (std::vector<std::string>{"dload_1 P2", "film_1 F3", "film_1 F1", "film_2 F3",
                                      "dload_2 P4NU", "dload_3 P4", "radiate_1 R3", "dflux_1 S2"}));
  EXPECT_EQ(model.surfaces.at("DLOAD_1").sides.size(), 1U); // dload_3 has an amplitude
  EXPECT_EQ(model.surfaces.at("FILM_1").sides.size(), 3U);
  assign_ids_from_sets(model, 2);
  const MeshTable &table = model.table;
  EXPECT_EQ(id_of(table, 1, "dflux_1"), id_of(table, 1, "right"));
  EXPECT_NE(id_of(table, 1, "film_2"), -1);

  const MeshTable plate =
      table_of(replaced(squares, "*STEP", "*DLOAD\n10, P2, 1.\n20, P3, 2.\n*STEP"));
  EXPECT_STARTS(reason_of(plate, "dload_1"), // the side between both cells
                "This surface of line 35 of 'm.inp' has a side that is not on the boundary.");
  EXPECT_EQ(count(plate, 1, id_of(plate, 1, "dload_2")), 1U);
  EXPECT_STARTS(error_of(squares + "*DLOAD\n30, P2, 1.\n"), "m.inp:39: there is no element 30");
  EXPECT_STARTS(error_of(squares + "*DLOAD\n10, P6, 1.\n"), "m.inp:39: a quadrilateral in a mesh");
  EXPECT_TRUE(is_truncated(squares + "*DLOAD\n10, P2"));
}

TEST(AbaqusDeck, LoadsOnShellsInSpaceActOnTheirFaces)
{
  const std::string loads =
      "*DLOAD\nbelow, P, 2.\nEall, P, 2.\nedge, P1, 3.\n*FILM\n3, FPOS, 20., 5.\n";
  const MeshTable table = table_of(cube + loads, 3);
  EXPECT_EQ(id_of(table, 2, "dload_1"), id_of(table, 2, "below"));
  EXPECT_EQ(id_of(table, 2, "film_1"), id_of(table, 2, "above"));
  EXPECT_EQ(id_of(table, 2, "dload_2"), -1);
}
} // namespace
} // namespace femgpu::abaqus_file_test
