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

/// Nodes, elements or sides of elements that have a name.
struct AbaqusSet
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

  std::string name = {}; ///< as first written
  std::size_t line = 0;
  AbaqusOrigin origin = AbaqusOrigin::listed;
  bool is_internal = false;              ///< of Abaqus/CAE's own use
  bool is_of_a_surface = false;          ///< listed to tell a surface its cells
  std::vector<std::size_t> members = {}; ///< of nodes or elements, as indices of MeshTable
  std::vector<Side> sides = {};          ///< of a surface
  long long id = 0;                      ///< of those that own what they have

  void drop_repetitions()
  {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
};

/// What an input file says, by names in capitals.
struct AbaqusModel
{
  MeshTable table;
  std::map<std::string, AbaqusSet> node_sets, element_sets, surfaces;
};

/**
 * Gives cells, sides on the boundary and edges the ids and names that the sets of @p model say, as
 * read_abaqus_file() describes it.
 * @throws InputError "FILE:LINE: …" for sides that lie inside
 */
MeshTable with_ids_of_sets(AbaqusModel model, int dim);
} // namespace femgpu

#endif
