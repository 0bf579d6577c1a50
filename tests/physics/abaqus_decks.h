#ifndef femgpu_tests_physics_abaqus_decks_h
#define femgpu_tests_physics_abaqus_decks_h

#include "linalg/base/error.h"
#include "physics/mesh/mesh_readers.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <set>
#include <string>

/// @file Input files of Abaqus and what is read from them, for tests.
namespace femgpu::abaqus_file_test
{
/// Two adjacent squares, nodes 1 2 3 below and 4 5 6 above, as gmsh, Cubit and CalculiX write them.
inline const std::string squares = R"(*Heading
 squares
** a comment
*node, nset=all nodes
1, 0, 0
2, 1., 0.
3, +2.0E0, 0., 0.
4, 0, 1, 0
5, 1, 1, 0
6, 2, 1, 0
*ELEMENT, type=CPS4R,
 ELSET="Plate"
10, 1, 2,
5, 4
20, 2, 3, 6, 5
*Element, Type=T3D2, Elset=Line1
1, 4, 1
*ELSET, ELSET=steel
10,
*ELSET, ELSET=EB7, GENERATE
20, 20, 1
*ELSET, ELSET=SS3_E1
10, EB7
*SURFACE, NAME=SS3
SS3_E1, S1
*NSET, NSET=right
3
6,
*NSET, NSET=corner
6
*MATERIAL, NAME=m
*ELASTIC
210000, 0.3
*STEP
*BOUNDARY
1, 1, 3
*END STEP
)";

inline std::string replaced(std::string text, const std::string &what, const std::string &by)
{
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

inline MeshTable table_of(const std::string &text, const int dim = 2)
{
  MeshTable table = read_abaqus_file("m.inp", text, dim);
  check_mesh_table(table, dim);
  return table;
}

inline std::string error_of(const std::string &text, const int dim = 2)
{
  try {
    table_of(text, dim);
  }
  catch (const InputError &error) {
    return error.what();
  }
  return "no error";
}

inline std::string error_with(const std::string &what, const std::string &by)
{
  return error_of(replaced(squares, what, by));
}

/// Returns the id of a name, or -1 if there is none.
inline long long id_of(const MeshTable &table, const int dimension, const std::string &name)
{
  for (const PhysicalName &entry : table.names)
    if (entry.dimension == dimension && entry.name == name)
      return entry.id;
  return -1;
}

inline std::set<long long> ids_of(const MeshTable &table, const int dimension,
                                  const std::string &name)
{
  std::set<long long> ids;
  for (const PhysicalName &entry : table.names)
    if (entry.dimension == dimension && entry.name == name)
      ids.insert(entry.id);
  return ids;
}

/// Returns why a name cannot be used, or an empty string.
inline std::string reason_of(const MeshTable &table, const std::string &name)
{
  for (const UnusableName &entry : table.unusable_names)
    if (entry.name == name)
      return entry.reason;
  return {};
}

inline std::size_t count(const MeshTable &table, const int dimension, const long long id)
{
  return static_cast<std::size_t>(
      std::count_if(table.elements.begin(), table.elements.end(), [&](const MeshElement &element) {
        return element.shape->dimension == dimension && element.id == id;
      }));
}

/// A cube with shells on two sides and a truss on an edge.
inline const std::string cube = R"(*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 1, 1, 0
4, 0, 1, 0
5, 0, 0, 1
6, 1, 0, 1
7, 1, 1, 1
8, 0, 1, 1
*ELEMENT, TYPE=C3D8I, ELSET=Eall
1, 1, 2, 3, 4, 5, 6, 7, 8
*ELEMENT, TYPE=S4, ELSET=below
2, 1, 2, 3, 4
*ELEMENT, TYPE=M3D4, ELSET=above
3, 5, 6, 7, 8
*ELEMENT, TYPE=B31, ELSET=edge
4, 1, 5
*SURFACE, NAME=front
1, S3
*SURFACE, NAME=shell
below, SPOS
*SURFACE, NAME=rest
1,
*NSET, NSET=left, ELSET=edge
*NSET, NSET=left
8, 4
)";

/// Returns whether @p text is refused in the words for truncated files.
inline bool is_truncated(const std::string &text, const int dim = 2)
{
  return error_of(text, dim).find("truncated") != std::string::npos;
}

#define EXPECT_STARTS(text, part) EXPECT_EQ((text).substr(0, std::string(part).size()), part)
} // namespace femgpu::abaqus_file_test

#endif
