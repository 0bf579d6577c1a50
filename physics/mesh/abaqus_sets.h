#ifndef femgpu_physics_abaqus_sets_h
#define femgpu_physics_abaqus_sets_h

#include "physics/mesh/mesh_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace femgpu
{
/// The kind of keyword by which an Abaqus input file defines a set. If sets have common members,
/// the set whose origin comes first in this list takes precedence.
enum class AbaqusOrigin
{
  surface,
  section,     ///< an element set that *SOLID SECTION names
  listed,      ///< an element set that *ELSET lists
  of_elements, ///< an element set that *ELEMENT names
  nodes,       ///< a node set that *NSET, *NODE, or *SURFACE with TYPE=NODE names
  load         ///< faces of a FaceLoad
};

/// A named set of nodes, elements or sides of elements.
struct AbaqusSet
{
  /// The values of Side::side other than the number of a side.
  enum : std::size_t
  {
    all_free = 1000, ///< all sides of the element that no other cell shares
    element_itself   ///< the element itself is the side (shells and membranes)
  };
  struct Side
  {
    std::size_t element, side; ///< side: number from 0, all_free or element_itself
    std::size_t line;
  };

  std::string name = {}; ///< spelled as at its first occurrence
  std::size_t line = 0;
  AbaqusOrigin origin = AbaqusOrigin::listed;
  bool is_internal = false;              ///< has the option INTERNAL, which Abaqus/CAE writes
  bool defines_surface = false;          ///< an element set to which a *SURFACE refers
  std::vector<std::size_t> members = {}; ///< indices of nodes or elements; of sides in surfaces
  std::vector<Side> sides = {};          ///< sides of a surface as listed in the file
  long long id = 0;                      ///< id of the region, if the set became a region
  std::string instance = {};             ///< name of the instance that defines it; empty if none

  void remove_duplicates()
  {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
};

/// A load on faces of elements with one keyword and one list of values. Its faces form a surface.
struct FaceLoad
{
  std::string keyword;             ///< DLOAD, DFLUX, FILM or RADIATE
  std::string name;                ///< of its surface, such as dload_1
  std::size_t line;                ///< the first line, see AbaqusText::main_line()
  std::vector<std::string> values; ///< the fields after the label
  std::string
      label; ///< without the number of the face: P, or PNU for a load that a program defines
};

/**
 * A data line that acts on nodes or elements, before the end of the first step: of *BOUNDARY,
 * *CLOAD, *CFLUX, *TEMPERATURE, *INITIAL CONDITIONS with TYPE=TEMPERATURE, *DLOAD, *DFLUX, *FILM
 * and *RADIATE; or a *SOLID SECTION, whose target is its ELSET.
 */
struct AbaqusCondition
{
  std::string keyword; ///< in upper case
  std::string target;  ///< a number, or the name of a set
  std::size_t line;
  std::vector<std::string> values;  ///< the fields after the target
  std::vector<std::size_t> members; ///< indices of nodes, or of cells in their order in the file
  /// For *BOUNDARY and *CLOAD, the name of `members` in the mesh: the name of the set if femgpu
  /// takes all its nodes as sides, a curve or points (for *CLOAD, as points); otherwise boundary_N
  /// or cload_N, which are points. Conditions with equal values on different nodes have the same
  /// name. Empty if no element has the nodes.
  std::string name = {};
};

/// Returns whether the members of conditions with @p keyword are elements.
inline bool is_on_elements(const std::string &keyword)
{
  return keyword == "SOLID SECTION" || keyword == "DLOAD" || keyword == "DFLUX" ||
         keyword == "FILM" || keyword == "RADIATE";
}

/**
 * The contents of an Abaqus input file. Keys are names in upper case; those of a set of an instance
 * are "INSTANCE.NAME", as in references to the set. AbaqusSet::name is the name in femgpu, which
 * has the instance only if several instances, or the assembly and an instance, have the name.
 */
struct AbaqusModel
{
  MeshTable table;
  std::vector<FaceLoad> face_loads; ///< in the order of their first lines
  std::map<std::string, AbaqusSet> node_sets, element_sets, surfaces;
  std::vector<AbaqusCondition> conditions; ///< in the order of the file

  /// Puts the instance before the names of sets that also another instance or the assembly has.
  void distinguish_names();
};

/**
 * Gives the cells, boundary sides and edges of the table of @p model the ids and names of their
 * sets, by the rules in the comment of read_abaqus_file() (mesh_readers.h). Names the nodes of
 * conditions. The members of node sets and surfaces become unspecified.
 * @throws InputError "FILE:LINE: …" if a side of a surface does not exist
 */
void assign_ids_from_sets(AbaqusModel &model, int dim);

/// Reads an input file as read_abaqus_file() does, but without assign_ids_from_sets().
AbaqusModel read_abaqus_model(const std::string &name, std::string_view text, int dim);
} // namespace femgpu

#endif
