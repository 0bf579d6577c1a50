#ifndef femgpu_physics_abaqus_sets_h
#define femgpu_physics_abaqus_sets_h

#include "physics/mesh/mesh_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// The origin of a name. Of sets with the same members, the origin listed first takes precedence.
enum class AbaqusOrigin
{
  surface,
  section,     ///< an element set that *SOLID SECTION names
  listed,      ///< by *ELSET
  of_elements, ///< by *ELEMENT
  nodes        ///< by *NSET or *NODE
};

/// A named set of nodes, elements or sides of elements.
struct AbaqusSet
{
  enum : std::size_t
  {
    all_free = 1000, ///< every side of the element that belongs to no other cell
    element_itself   ///< for shells and membranes
  };
  struct Side
  {
    std::size_t element, side; ///< side: number from 0, or a constant above
    std::size_t line;
  };

  std::string name = {}; ///< spelled as at its first occurrence
  std::size_t line = 0;
  AbaqusOrigin origin = AbaqusOrigin::listed;
  bool is_internal = false;              ///< for internal use by Abaqus/CAE
  bool defines_surface = false;          ///< an element set that defines the sides of a surface
  std::vector<std::size_t> members = {}; ///< of nodes or elements: indices in MeshTable
  std::vector<Side> sides = {};          ///< of surfaces
  long long id = 0;                      ///< of the region, if the set became one

  void remove_duplicates()
  {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
};

/// The contents of an input file. Keys are names in upper case.
struct AbaqusModel
{
  MeshTable table;
  std::map<std::string, AbaqusSet> node_sets, element_sets, surfaces;
};

/**
 * Assigns ids and names to cells, boundary sides and edges according to the sets of @p model, by
 * the rules of read_abaqus_file().
 * @throws InputError "FILE:LINE: …" if a side is in the interior
 */
MeshTable assign_ids_from_sets(AbaqusModel model, int dim);
} // namespace femgpu

#endif
