#ifndef femgpu_physics_abaqus_sets_h
#define femgpu_physics_abaqus_sets_h

#include "physics/mesh/abaqus_text.h"
#include "physics/mesh/mesh_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
  load         ///< faces on which a *DLOAD, *DFLUX, *FILM or *RADIATE acts
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
    MeshLocation location;
  };

  std::string name = {}; ///< spelled as at its first occurrence
  MeshLocation location = {};
  AbaqusOrigin origin = AbaqusOrigin::listed;
  std::vector<std::size_t> members = {}; ///< indices of nodes or elements; of sides in surfaces
  bool is_internal = false;              ///< has the option INTERNAL, which Abaqus/CAE writes
  bool defines_surface = false;          ///< an element set to which a *SURFACE refers
  std::vector<Side> sides = {};          ///< sides of a surface as listed in the file
  long long id = 0;                      ///< id of the region, if the set became a region
  std::string instance = {};             ///< name of the instance that defines it; empty if none

  void remove_duplicates()
  {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
};

/// A data line of an AbaqusBlock.
struct AbaqusRow
{
  MeshLocation location;
  /// The first field of a line that acts on nodes, elements or a surface is its target: a number,
  /// or the name of a set.
  std::vector<std::string> fields;
  /// Indices of the nodes on which the line acts, or of the cells in their order in the file.
  std::vector<std::size_t> members = {};
  /// For *BOUNDARY and *CLOAD, the name of `members` in the mesh: the name of the set if femgpu
  /// takes all its nodes as sides, a curve or points (for *CLOAD, as points); otherwise boundary_N
  /// or cload_N, which are points. Lines with equal values on different nodes have the same name.
  /// Empty if no element has the nodes. For loads on faces of elements, the name of the surface
  /// that consists of the faces, such as dload_1. For loads on surfaces, the name of the surface.
  std::string name = {};
};

/**
 * A keyword that does not define the mesh, with its data lines. *SOLID SECTION and *TRANSFORM,
 * which act on the set in an option, have one line, which begins with this set.
 */
struct AbaqusBlock : AbaqusKeyword
{
  std::vector<AbaqusRow> rows = {};

  using Key = std::pair<std::string, std::vector<double>>;
  /// Returns a key that is the same for rows of the same keyword, amplitude and values.
  /// @param first number of the first field that is a value
  Key key(const AbaqusRow &row, std::size_t first) const;
};

/**
 * The contents of an Abaqus input file. Keys are names in upper case; those of a set of an instance
 * are "INSTANCE.NAME", as in references to the set. AbaqusSet::name is the name in femgpu, which
 * has the instance only if several instances, or the assembly and an instance, have the name.
 */
struct AbaqusModel
{
  using Sets = std::map<std::string, AbaqusSet>;

  MeshTable table;
  Sets node_sets, element_sets, surfaces;
  std::vector<AbaqusBlock> blocks; ///< up to the end of the first step, and all *STEP

  /// Returns the sets in which the targets of lines of @p keyword are searched; nullptr if the
  /// lines have no targets.
  Sets *targets_of(const std::string &keyword);
  /// Returns the name @p prefix + number that no set has.
  std::string new_name(const std::string &prefix);
  /// Puts the instance before the names of sets that also another instance or the assembly has.
  void distinguish_names();
};

/// Returns the nodes of elements: the vertices and the mid-side nodes between them.
class ElementNodes
{
public:
  explicit ElementNodes(const MeshTable &table);
  std::vector<std::size_t> operator()(const MeshElement &element) const;

private:
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> mid_side_nodes; ///< by ends, ascending
};

/// Replaces keys of sets in rows by the names of the sets, and element indices by cell indices,
/// which count elements of @p dim only.
void prepare_rows(AbaqusModel &model, int dim);
/// Sets AbaqusRow::name of *BOUNDARY and *CLOAD when sets have ids, and adds the points of
/// generated names to the table.
void name_rows(AbaqusModel &model, int dim);

/**
 * Gives the cells, boundary sides and edges of the table of @p model the ids and names of their
 * sets, by the rules in the comment of read_abaqus_file() (mesh_readers.h). Sets AbaqusRow::name.
 * The members of node sets and surfaces become unspecified.
 * @throws InputError "FILE:LINE: …" if a side of a surface does not exist
 */
void assign_ids_from_sets(AbaqusModel &model, int dim);

/// Reads an input file as read_abaqus_file() does, but without assign_ids_from_sets().
AbaqusModel read_abaqus_model(const std::string &name, std::string_view text, int dim);
} // namespace femgpu

#endif
