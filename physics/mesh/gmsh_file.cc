#include "linalg/base/text.h"
#include "physics/mesh/group_classes.h"
#include "physics/mesh/mesh_readers.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace femgpu
{
namespace
{
const std::string save_advice = " Save it with `gmsh FILE -save -format msh2` or `-format msh41`, "
                                "not binary.";

/// Reads one file of gmsh.
class GmshReader : private MeshText
{
public:
  GmshReader(const std::string &name, const std::string_view text, const int dim)
      : MeshText(name, text), dim(dim)
  {
    result.file = name;
  }

  MeshTable read()
  {
    read_format();
    std::set<std::string> seen;
    const auto has = [&seen](const std::string &section) { return seen.count(section) > 0; };
    while (next_line()) {
      const std::string section(line());
      if (section.front() != '$' || section.substr(0, 4) == "$End")
        fail(in_quotes(section) +
             " is not the beginning of a section such as $Nodes. Save the mesh again.");
      if (section == "$PartitionedEntities")
        fail("the mesh is partitioned. Save it without partitions; femgpu partitions it.");
      if (section == "$Elements" && !has("$Nodes"))
        fail("$Elements comes before $Nodes. Save the mesh again.");
      if (section == "$PhysicalNames" && (has("$Entities") || has("$Nodes")))
        fail("$PhysicalNames must come before the sections of the mesh. Save it with gmsh.");
      if (!read_section(section)) {
        if (!has("$Elements"))
          fail("the section " + in_quotes(section) +
               " is not supported before $Elements. Remove it, or save the mesh with gmsh.");
        skip_section(section);
      }
      else if (!seen.insert(section).second)
        fail("the section " + in_quotes(section) + " occurs twice. Save the mesh again.");
    }
    for (const std::string section : {"$Nodes", "$Elements"})
      if (!has(section))
        fail("the file ends without the section " + section +
             ": it is truncated, or the model was saved before meshing. Mesh and save it again.");
    for (const int dimension : {dim - 1, dim})
      unite_repeated_elements(dimension);
    return std::move(result);
  }

private:
  void read_format()
  {
    if (!next_line() || line() != "$MeshFormat")
      fail("the file does not begin with $MeshFormat: it is damaged or not a gmsh mesh." +
           save_advice);
    require_line("the version of the format");
    const std::string version(word());
    is_version_4 = version == "4.1";
    if (!is_version_4 && version != "2" && version.substr(0, 2) != "2.")
      fail("the version of the format is " + in_quotes(version) + ", but 2 and 4.1 are supported." +
           save_advice);
    if (integer("the file type") != 0)
      fail("the file is binary." + save_advice);
    if (count("the size of numbers", 16) != 8)
      fail("the size of numbers is not 8 bytes." + save_advice);
    require_end_of_line("the format");
    read_end("$MeshFormat");
  }

  /// Returns the name between the quotation marks at the end of the line.
  std::string read_name()
  {
    const std::string_view quoted = rest();
    if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"')
      fail("the line of a physical group must be DIMENSION NUMBER \"NAME\", but " +
           in_quotes(quoted) + " is not a name in quotation marks.");
    std::string name(quoted.substr(1, quoted.size() - 2));
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name.empty())
      fail("the name of a physical group is empty. Name the group, or remove its line.");
    if (is_digits(name))
      fail("the name " + in_quotes(name) +
           " of a physical group is a number, which is indistinguishable from an id. Give the "
           "group a name that begins with a letter.");
    return name;
  }

  /// Reads the table of names, starting at the current line, with one entry in each line.
  std::vector<PhysicalName> read_physical_names()
  {
    require_line("the number of physical names");
    const std::size_t n = count("the number of physical names", bytes_left());
    require_end_of_line("the number of physical names");
    std::vector<PhysicalName> names;
    std::map<std::pair<int, std::string>, std::size_t> lines; // line numbers by name
    std::map<std::pair<int, long long>, std::size_t> numbers; // line numbers by id
    for (std::size_t i = 0; i < n; ++i) {
      require_line("a physical name");
      if (line().front() == '$')
        fail(in_quotes(line()) + " follows " + std::to_string(i) +
             " physical names, but the section announces " + std::to_string(n) + ".");
      PhysicalName entry;
      entry.dimension = static_cast<int>(count("the dimension of a physical group", 3));
      entry.id = integer("the number of a physical group");
      entry.name = read_name();
      names.push_back(entry);
      const auto name = lines.emplace(std::make_pair(entry.dimension, entry.name), line_number());
      if (!name.second)
        fail("the name " + in_quotes(entry.name) +
             " is also the name of the physical group in line " +
             std::to_string(name.first->second) + ". Give each group its own name.");
      const auto group = numbers.emplace(std::make_pair(entry.dimension, entry.id), line_number());
      if (!group.second)
        fail("physical group " + std::to_string(entry.id) + " already has a name in line " +
             std::to_string(group.first->second) + ". Keep one of the two lines.");
    }
    return names;
  }

  void read_entities()
  {
    require_line("the numbers of entities");
    std::array<std::size_t, 4> n;
    for (std::size_t &n_d : n)
      n_d = count("the number of entities", bytes_left());
    for (int d = 0; d < 4; ++d)
      for (std::size_t i = 0; i < n[static_cast<std::size_t>(d)]; ++i)
        read_entity(d);
    read_end("$Entities");
  }

  void read_nodes_2()
  {
    require_line("the number of nodes");
    const std::size_t n = count("the number of nodes", bytes_left());
    require_end_of_line("the number of nodes");
    for (std::size_t i = 0; i < n; ++i) {
      require_line("node " + std::to_string(i + 1) + " of " + std::to_string(n));
      const long long node = integer("the number of a node");
      read_point(node);
      require_end_of_line("the coordinates of a node");
    }
    read_end("$Nodes");
  }

  void read_nodes_4()
  {
    require_line("the numbers of nodes");
    const std::size_t n_blocks = count("the number of blocks of nodes", bytes_left());
    const std::size_t n_all = count("the number of nodes", bytes_left());
    for (std::size_t b = 0; b < n_blocks; ++b) {
      require_line("a block of nodes");
      count("the dimension of an entity", 3);
      integer("the number of an entity");
      const bool is_parametric = integer("0 or 1 for parametric coordinates") != 0;
      const std::size_t n = count("the number of nodes of a block", bytes_left());
      require_end_of_line("the block of nodes");
      std::vector<long long> nodes(n);
      for (long long &node : nodes) {
        require_line("the number of a node");
        node = integer("the number of a node");
        require_end_of_line("the number of a node");
      }
      for (const long long node : nodes) {
        require_line("the coordinates of node " + std::to_string(node));
        read_point(node);
        if (!is_parametric) // parametric coordinates follow
          require_end_of_line("the coordinates of a node");
      }
    }
    if (result.points.size() != n_all)
      fail("the blocks have " + std::to_string(result.points.size()) +
           " nodes, but the section announces " + std::to_string(n_all) + ".");
    read_end("$Nodes");
  }

  void read_elements_2()
  {
    require_line("the number of elements");
    const std::size_t n = count("the number of elements", bytes_left());
    require_end_of_line("the number of elements");
    for (std::size_t i = 0; i < n; ++i) {
      require_line("element " + std::to_string(i + 1) + " of " + std::to_string(n));
      integer("the number of an element");
      const ElementType &type = read_type();
      const std::size_t n_tags = count("the number of tags", line().size());
      long long id = 0, entity = 0;
      for (std::size_t t = 0; t < n_tags; ++t) {
        const long long tag = integer("a tag of an element");
        id = t == 0 ? tag : id;
        entity = t == 1 ? tag : entity;
      }
      groups[{type.shape->dimension, entity}].insert(id);
      read_element(type, id);
    }
    read_end("$Elements");
  }

  void read_elements_4()
  {
    require_line("the numbers of elements");
    const std::size_t n_blocks = count("the number of blocks of elements", bytes_left());
    const std::size_t n_all = count("the number of elements", bytes_left());
    std::size_t n_read = 0; // an element in several groups counts once
    for (std::size_t b = 0; b < n_blocks; ++b) {
      require_line("a block of elements");
      const auto dimension = static_cast<int>(count("the dimension of an entity", 3));
      const long long entity = integer("the number of an entity");
      const ElementType &type = read_type();
      if (type.shape->dimension != dimension)
        fail("a " + type.shape->name + " belongs to an entity of dimension " +
             std::to_string(dimension) + ". The file is damaged; save the mesh again.");
      const std::size_t n = count("the number of elements of a block", bytes_left());
      require_end_of_line("the block of elements");
      n_read += n;
      const auto group = groups.find({dimension, entity});
      for (std::size_t i = 0; i < n; ++i) {
        require_line("an element");
        integer("the number of an element");
        if (group == groups.end()) {
          read_element(type, 0);
          continue;
        }
        read_element(type, *group->second.begin());
        for (auto id = std::next(group->second.begin()); id != group->second.end(); ++id) {
          result.elements.push_back(result.elements.back());
          result.elements.back().id = *id;
        }
      }
    }
    if (n_read != n_all)
      fail("the blocks have " + std::to_string(n_read) + " elements, but the section announces " +
           std::to_string(n_all) + ".");
    read_end("$Elements");
  }

  /// Reads number, bounding box and groups from a line of $Entities, and ignores the rest.
  void read_entity(const int dimension)
  {
    require_line("an entity");
    const long long tag = integer("the number of an entity");
    for (int i = 0; i < (dimension == 0 ? 3 : 6); ++i)
      coordinate("the box of an entity");
    const std::size_t n = count("the number of physical groups of an entity", 1000);
    for (std::size_t i = 0; i < n; ++i)
      groups[{dimension, tag}].insert(integer("a physical group of an entity"));
  }

  /// Unites the copies of elements of @p dimension that are in several groups, and gives each set
  /// of elements that are in the same groups an id.
  void unite_repeated_elements(const int dimension)
  {
    if (std::none_of(groups.begin(), groups.end(), [&](const auto &entry) {
          return entry.first.first == dimension && entry.second.size() > 1;
        }))
      return;
    std::vector<MeshElement> &elements = result.elements;
    std::map<std::array<std::size_t, 8>, std::size_t> numbers; // of different elements, by nodes
    std::vector<std::size_t> kept;                             // their indices
    std::map<long long, std::vector<std::size_t>> members;     // of groups: numbers of elements
    std::vector<bool> is_repeated(elements.size(), false);
    for (std::size_t e = 0; e < elements.size(); ++e) {
      if (elements[e].shape->dimension != dimension)
        continue;
      std::array<std::size_t, 8> nodes = {};
      std::copy_n(elements[e].nodes.begin(), elements[e].shape->n_nodes, nodes.begin());
      std::sort(nodes.begin(), nodes.end());
      const auto [entry, is_new] = numbers.emplace(nodes, kept.size());
      is_repeated[e] = !is_new;
      if (is_new)
        kept.push_back(e);
      members[elements[e].id].push_back(entry->second);
    }
    GroupClasses classes(kept.size());
    std::vector<long long> groups_with_ids;
    for (auto &[id, group] : members) {
      std::sort(group.begin(), group.end());
      group.erase(std::unique(group.begin(), group.end()), group.end());
      if (id == 0)
        continue;
      groups_with_ids.push_back(id);
      classes.add(group, id);
    }
    const GroupClasses::Ids ids = classes.ids();
    for (std::size_t n = 0; n < kept.size(); ++n)
      elements[kept[n]].id = ids.of_elements[n];
    std::size_t end = 0;
    for (std::size_t e = 0; e < elements.size(); ++e)
      if (!is_repeated[e])
        elements[end++] = elements[e];
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(end), elements.end());
    rename_groups(dimension, groups_with_ids, ids.of_groups);
  }

  /// Gives the names of groups of @p dimension to the ids of their elements. The number of a group
  /// with other ids becomes a name, too.
  void rename_groups(const int dimension, const std::vector<long long> &group_numbers,
                     const std::vector<std::set<long long>> &ids)
  {
    std::vector<PhysicalName> names;
    for (PhysicalName &name : result.names) {
      const auto at = std::find(group_numbers.begin(), group_numbers.end(), name.id);
      if (name.dimension != dimension || at == group_numbers.end())
        names.push_back(std::move(name));
      else
        for (const long long id : ids[static_cast<std::size_t>(at - group_numbers.begin())])
          names.push_back({dimension, id, name.name});
    }
    for (std::size_t g = 0; g < group_numbers.size(); ++g)
      if (ids[g] != std::set<long long>{group_numbers[g]})
        for (const long long id : ids[g])
          names.push_back({dimension, id, std::to_string(group_numbers[g])});
    result.names = std::move(names);
  }

  void read_point(const long long node)
  {
    std::array<double, 3> point;
    for (double &x : point)
      x = coordinate("the coordinate of a node");
    if (!points.emplace(node, result.points.size()).second)
      fail("node " + std::to_string(node) +
           " is defined twice. Save the mesh again with different node numbers.");
    result.points.push_back(point);
  }

  void read_element(const ElementType &type, const long long id)
  {
    std::vector<std::size_t> nodes(type.n_nodes());
    for (std::size_t &node : nodes) {
      const long long number = integer("a node of an element");
      const auto point = points.find(number);
      if (point == points.end())
        fail("node " + std::to_string(number) +
             " of this element does not exist. The file is damaged; save the mesh again.");
      node = point->second;
    }
    require_end_of_line("the nodes of a " + type.shape->name);
    result.add_element(type, id, line_number(), nodes, dim);
  }

  const ElementType &read_type()
  {
    const long long type = integer("the type of an element");
    for (const ElementType &known : element_types())
      if (known.gmsh == type)
        return known;
    if (type >= 20 && type <= 93)
      fail("an element of order 3 or more (type " + std::to_string(type) +
           "). Mesh with `gmsh -order 2`, which curves the cells, or `-order 1`; femgpu adds the "
           "nodes of its own degree.");
    fail("elements of type " + std::to_string(type) +
         " are unknown. Mesh with `gmsh -order 1` or `-order 2`.");
  }

  void read_end(const std::string &section)
  {
    const std::string end = "$End" + section.substr(1);
    require_line(end);
    if (line() != end)
      fail(in_quotes(line()) + " was found, but " + end +
           " was expected: the section has more lines than announced, or is truncated. Save the "
           "mesh again.");
  }

  void skip_section(const std::string &section)
  {
    const std::size_t begin = line_number();
    const std::string end = "$End" + section.substr(1);
    while (next_line())
      if (line() == end)
        return;
    fail("the section " + in_quotes(section) +
             ", which begins here, has no end: the file is truncated. Write or copy it again.",
         begin);
  }

  /// Reads the section that begins at the current line. Returns false, and reads nothing, if femgpu
  /// does not need the section.
  bool read_section(const std::string &section)
  {
    if (section == "$PhysicalNames") {
      result.names = read_physical_names();
      read_end(section);
    }
    else if (section == "$Entities" && is_version_4)
      read_entities();
    else if (section == "$Nodes")
      is_version_4 ? read_nodes_4() : read_nodes_2();
    else if (section == "$Elements")
      is_version_4 ? read_elements_4() : read_elements_2();
    else
      return false;
    return true;
  }

  int dim;
  bool is_version_4 = false;
  MeshTable result;
  std::unordered_map<long long, std::size_t> points; ///< indices by node number
  /// The physical groups of each entity, by dimension and number of the entity.
  std::map<std::pair<int, long long>, std::set<long long>> groups;
};
} // namespace

MeshTable read_gmsh_file(const std::string &name, const std::string_view text, const int dim)
{
  return GmshReader(name, text, dim).read();
}
} // namespace femgpu
