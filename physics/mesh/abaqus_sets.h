#ifndef femgpu_physics_abaqus_sets_h
#define femgpu_physics_abaqus_sets_h

#include "physics/mesh/mesh_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// Where a name comes from; of names for the same parts, those of the first go first.
enum class AbaqusOrigin
{
  surface,
  section,     ///< of elements, that *SOLID SECTION names
  listed,      ///< by *ELSET
  of_elements, ///< by *ELEMENT
  nodes        ///< by *NSET or *NODE
};

/// What sets and surfaces have.
struct AbaqusName
{
  std::string name; ///< as first written
  std::size_t line = 0;
  bool is_internal = false; ///< of Abaqus/CAE's own use
};

/// Nodes or elements that have a name, as indices of MeshTable.
struct AbaqusSet : AbaqusName
{
  AbaqusOrigin origin = AbaqusOrigin::listed; ///< of elements
  bool is_of_a_surface = false;               ///< listed to tell a surface its cells
  std::vector<std::size_t> members;

  void drop_repetitions()
  {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
};

/// A surface of sides of elements.
struct AbaqusSurface : AbaqusName
{
  enum : std::size_t
  {
    all_free = 1000, ///< each side of the element that no other cell has
    element_itself   ///< of shells and membranes
  };
  struct Side
  {
    std::size_t element, side; ///< number of the side from 0, or one of the above
    std::size_t line;
  };

  std::vector<Side> sides;
};

/// What an input file says, by names in capitals.
struct AbaqusModel
{
  MeshTable table;
  std::map<std::string, AbaqusSet> node_sets, element_sets;
  std::map<std::string, AbaqusSurface> surfaces;
};

/**
 * Gives cells, sides on the boundary and edges the ids and names that the sets of @p model say, as
 * read_abaqus_file() describes it.
 * @throws InputError "FILE:LINE: …" for sides that lie inside
 */
MeshTable with_ids_of_sets(AbaqusModel model, int dim);
} // namespace femgpu

#endif
