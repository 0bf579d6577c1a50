#include "physics/mesh/abaqus_sets.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "physics/mesh/abaqus_text.h"
#include "physics/mesh/group_classes.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace femgpu
{
namespace
{
/// Returns the number in @p name: 12 for "12" and, with the prefix "EB", for "EB12". Returns
/// nullopt for other names.
std::optional<long long> number_in(const std::string &name, const std::string &prefix)
{
  const auto same = [](const unsigned char a, const unsigned char b) {
    return a == std::toupper(b);
  };
  std::string digits = name;
  if (name.size() > prefix.size() && std::equal(prefix.begin(), prefix.end(), name.begin(), same))
    digits.erase(0, prefix.size());
  const bool is_number = is_digits(digits) && digits.size() < 18;
  return is_number ? std::optional<long long>(std::stoll(digits)) : std::nullopt;
}

/// Sorts @p candidates by precedence: the first set that contains a member determines its id.
void sort(std::vector<AbaqusSet> &candidates, const std::string &prefix)
{
  const auto key = [&](const AbaqusSet &c) {
    return std::make_tuple(!number_in(c.name, prefix).has_value(), c.origin, c.members.size(),
                           c.location.file, c.location.number);
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const AbaqusSet &a, const AbaqusSet &b) { return key(a) < key(b); });
}

/// Adds "This @p kind of line N of 'FILE' @p reason" to the unusable names of @p table.
void add_unusable(MeshTable &table, const std::vector<int> &dimensions, const AbaqusSet &set,
                  const std::string &kind, const std::string &reason)
{
  for (const int dimension : dimensions)
    table.unusable_names.push_back({dimension, set.name,
                                    "This " + kind + " of line " +
                                        std::to_string(set.location.number) + " of '" +
                                        table.file_of(set.location) + "' " + reason});
}

/**
 * Assigns ids to the elements or sides in @p candidates, and adds the names of the sets to @p
 * table.
 * @param candidates sets whose members are indices, less than @p n_members, into the elements or
 *        into the sides
 * @return the id of each element or side; 0 if it is in no set
 */
std::vector<long long> assign_ids(std::vector<AbaqusSet> &candidates, const std::string &prefix,
                                  const int dimension, const std::size_t n_members,
                                  const bool is_of_curves, MeshTable &table)
{
  sort(candidates, prefix);
  GroupClasses groups(n_members);
  for (const AbaqusSet &candidate : candidates)
    groups.add(candidate.members, number_in(candidate.name, prefix));
  GroupClasses::Ids ids = groups.ids();
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const std::set<long long> &of_set = ids.of_groups[c];
    if (is_of_curves && of_set.size() > 1)
      add_unusable(table, {dimension}, candidates[c], "curve",
                   "shares edges with another one, but each edge can be in one curve only. Remove "
                   "one of the two.");
    else if (of_set != std::set<long long>{number_in(candidates[c].name, "").value_or(-1)})
      for (const long long id : of_set)
        table.names.push_back({dimension, id, candidates[c].name});
  }
  return std::move(ids.of_elements);
}

constexpr std::size_t no_side = static_cast<std::size_t>(-1);

/// Converts the sets of a model to ids and names in its table.
class SetConverter
{
public:
  SetConverter(AbaqusModel &model, const int dim) : model(model), table(model.table), dim(dim)
  {}

  void assign_element_ids(const int dimension)
  {
    std::vector<AbaqusSet> candidates = element_sets(dimension);
    const auto ids = assign_ids(candidates, dimension == dim ? "EB" : "", dimension,
                                table.elements.size(), dimension < dim - 1, table);
    for (std::size_t e = 0; e < table.elements.size(); ++e)
      if (ids[e] != 0)
        table.elements[e].id = ids[e];
  }

  void assign_side_ids()
  {
    sides = sides_on_boundary(table, dim);
    n_boundary_sides = sides.size();
    is_vertex = vertices_of_cells(table, dim);
    for (std::size_t s = 0; s < sides.size(); ++s)
      side_of_nodes[all_nodes(sides[s])] = s;
    std::vector<AbaqusSet> candidates;
    for (auto &entry : model.surfaces)
      add_surface(entry.second, candidates);
    const auto is_known = [&](const MeshElement &element) {
      return element.shape->dimension == dim - 1 && find_side(all_nodes(element)) != no_side;
    };
    for (AbaqusSet &set : element_sets(dim - 1)) {
      std::set<std::size_t> members; // check_mesh_table() rejects elements that are not sides
      for (const std::size_t element : set.members)
        members.insert(index_of(table.elements[element]));
      set.members.assign(members.begin(), members.end());
      candidates.push_back(std::move(set));
    }
    store_curve_edges();
    add_supported_sides();
    for (auto &entry : model.node_sets)
      if (!entry.second.is_internal)
        add_node_set(entry.second, candidates);
    const auto ids = assign_ids(candidates, "SS", dim - 1, sides.size(), false, table);
    table.elements.erase(std::remove_if(table.elements.begin(), table.elements.end(), is_known),
                         table.elements.end());
    for (std::size_t s = 0; s < sides.size(); ++s)
      if (ids[s] != 0) {
        sides[s].id = ids[s];
        table.elements.push_back(sides[s]);
      }
  }

private:
  /// A direction, a value and an amplitude.
  using Support = std::tuple<int, double, std::string>;

  /// Returns what a line of *BOUNDARY on a single node prescribes; nothing for words such as
  /// ENCASTRE and for other lines.
  static std::vector<Support> supports_of(const AbaqusBlock &block, const AbaqusRow &row)
  {
    std::vector<Support> result;
    if (block.keyword != "BOUNDARY" || row.members.size() != 1 || !is_digits(row.fields[0]) ||
        !is_digits(row.fields[1]))
      return result;
    const auto number = [&](const std::size_t i) {
      return i < row.fields.size() ? finite_number(row.fields[i]).value_or(0.) : 0.;
    };
    const auto direction_in = [&](const std::size_t i) {
      return static_cast<int>(std::clamp(number(i), 0., 11.)); // 11 is the temperature
    };
    const int last = std::max(direction_in(1), direction_in(2));
    for (int direction = direction_in(1); direction <= last; ++direction)
      result.emplace_back(direction, number(3), block.value("AMPLITUDE"));
    return result;
  }

  /// Replaces lines of *BOUNDARY on all single nodes of sides by lines on node sets with generated
  /// names, so that the supports hold the centres of quadrilaterals of second order, too. These are
  /// not nodes of the file.
  void add_supported_sides()
  {
    if (dim != 3 || table.order() == 1)
      return;
    std::map<Support, std::set<std::size_t>> nodes, on_sides;
    for (const AbaqusBlock &block : model.blocks)
      for (const AbaqusRow &row : block.rows)
        for (const Support &support : supports_of(block, row))
          nodes[support].insert(row.members[0]);
    const ElementNodes nodes_of(table);
    for (const auto &[support, held] : nodes)
      for (const MeshElement &side : sides) {
        const std::vector<std::size_t> of_side = nodes_of(side);
        if (side.shape == &CellShape::quadrilateral &&
            std::all_of(of_side.begin(), of_side.end(),
                        [&held = held](const std::size_t node) { return held.count(node) > 0; }))
          on_sides[support].insert(of_side.begin(), of_side.end());
      }
    std::map<std::set<std::size_t>, std::string> names;
    std::set<Support> done;
    for (AbaqusBlock &block : model.blocks) {
      std::vector<AbaqusRow> rows;
      for (AbaqusRow &row : block.rows) {
        bool is_replaced = row.members.size() == 1;
        const std::vector<Support> supports = supports_of(block, row);
        for (const Support &support : supports)
          if (on_sides[support].count(row.members[0]) == 0)
            is_replaced = false;
          else if (done.insert(support).second)
            rows.push_back(row_on(on_sides[support], support, row, names));
        if (supports.empty() || !is_replaced)
          rows.push_back(std::move(row));
      }
      block.rows = std::move(rows);
    }
  }

  /// Returns the line that prescribes @p support at the nodes @p held of whole sides.
  /// @param row a line that prescribes it at a single node
  AbaqusRow row_on(const std::set<std::size_t> &held, const Support &support, const AbaqusRow &row,
                   std::map<std::set<std::size_t>, std::string> &names)
  {
    AbaqusRow result = {row.location, row.fields, {held.begin(), held.end()}};
    std::string &name = names[held];
    if (name.empty()) {
      name = model.new_name("boundary_");
      model.node_sets.emplace(upper(name),
                              AbaqusSet{name, row.location, AbaqusOrigin::nodes, result.members});
    }
    result.fields[0] = name;
    result.fields.resize(std::max<std::size_t>(result.fields.size(), 3));
    result.fields[1] = result.fields[2] = std::to_string(std::get<int>(support));
    return result;
  }

  /// Returns the element sets, restricted to elements of @p dimension. Omits empty sets, internal
  /// sets and, for cells, sets that only define a surface.
  std::vector<AbaqusSet> element_sets(const int dimension) const
  {
    std::vector<AbaqusSet> result;
    for (const auto &entry : model.element_sets) {
      const AbaqusSet &set = entry.second;
      const bool is_surface_helper = set.defines_surface && set.origin == AbaqusOrigin::listed;
      if (set.is_internal || (is_surface_helper && dimension == dim))
        continue;
      AbaqusSet candidate = {set.name, set.location, set.origin};
      for (const std::size_t element : set.members)
        if (table.elements[element].shape->dimension == dimension)
          candidate.members.push_back(element);
      if (!candidate.members.empty())
        result.push_back(std::move(candidate));
    }
    return result;
  }

  void add_surface(AbaqusSet &surface, std::vector<AbaqusSet> &candidates)
  {
    std::set<std::size_t> members;
    for (const AbaqusSet::Side &listed : surface.sides) {
      const MeshElement &element = table.elements[listed.element];
      const bool is_cell = element.shape->dimension == dim;
      const std::size_t n_sides = is_cell ? element.shape->sides.size() : 0;
      if (is_cell && listed.side == AbaqusSet::all_free) {
        for (std::size_t s = 0; s < n_sides; ++s)
          if (const auto side = find_side(all_nodes(side_of(element, s))); side != no_side)
            members.insert(side);
        continue;
      }
      if (element.shape->dimension < dim - 1 || (is_cell && listed.side >= n_sides) ||
          (!is_cell && listed.side < AbaqusSet::all_free))
        throw InputError(table.location_of(listed.location) + "a " + element.shape->name +
                         " in a mesh of dimension " + std::to_string(dim) +
                         " has no such side. Use S1 to S6 for cells (E1 to E4 for shells in 2D), "
                         "SPOS or SNEG for elements on the boundary.");
      const MeshElement side = is_cell ? side_of(element, listed.side) : element;
      if (surface.origin == AbaqusOrigin::load && find_side(all_nodes(side)) == no_side)
        return make_unusable(surface, "surface", "has a side that is not on the boundary.");
      members.insert(index_of(side));
    }
    surface.members.assign(members.begin(), members.end());
    if (!surface.is_internal && !members.empty())
      candidates.push_back(std::move(surface));
    else if (!surface.is_internal && !surface.sides.empty())
      make_unusable(surface, "surface", off_boundary(dim - 1));
  }

  /// Adds the sides whose vertices are all in the set as a candidate; if there are none, adds a
  /// curve or points.
  void add_node_set(AbaqusSet &set, std::vector<AbaqusSet> &candidates)
  {
    const std::unordered_set<std::size_t> nodes(set.members.begin(), set.members.end());
    std::vector<std::size_t> members;
    for (std::size_t s = 0; s < n_boundary_sides; ++s)
      if (std::all_of(sides[s].nodes.begin(), sides[s].nodes.begin() + sides[s].shape->n_nodes,
                      [&](const std::size_t node) { return nodes.count(node) > 0; }))
        members.push_back(s);
    if (nodes.size() == table.points.size())
      make_unusable(
          set, "node set",
          "has all nodes of the mesh. Define a separate set for each part of the boundary.");
    else if (members.empty())
      add_curve_or_points(set);
    else {
      set.members = std::move(members);
      candidates.push_back(std::move(set));
    }
  }

  void make_unusable(const AbaqusSet &set, const std::string &kind, const std::string &reason)
  {
    add_unusable(table, {dim - 1}, set, kind, reason);
  }

  /// In 3D, stores the edges of the curves that element sets of trusses or beams already define.
  void store_curve_edges()
  {
    for (const MeshElement &element : table.elements)
      if (dim == 3 && element.shape == &CellShape::line && element.id != 0) {
        line_of_edge.emplace(all_nodes(element), element.location);
        largest_curve = std::max(largest_curve, element.id);
      }
  }

  /// Returns the edges of second order whose three nodes are in the set.
  std::vector<MeshElement> complete_edges(const AbaqusSet &set) const
  {
    const auto is_member = [&](const std::size_t node) {
      return std::binary_search(set.members.begin(), set.members.end(), node);
    };
    std::vector<MeshElement> edges;
    for (const std::size_t node : set.members)
      if (table.is_mid_side(node) && is_member(table.edge_ends[node][0]) &&
          is_member(table.edge_ends[node][1]))
        edges.push_back({&CellShape::line,
                         largest_curve + 1,
                         set.location,
                         {{table.edge_ends[node][0], table.edge_ends[node][1]}}});
    return edges;
  }

  /// Returns whether @p set consists of the nodes of @p edges, all of them on the boundary.
  bool is_curve(const std::vector<MeshElement> &edges, const AbaqusSet &set)
  {
    if (dim != 3 || edges.empty())
      return false;
    std::set<std::size_t> vertices;
    for (const MeshElement &edge : edges)
      vertices.insert(edge.nodes.begin(), edge.nodes.begin() + 2);
    if (vertices.size() + edges.size() != set.members.size())
      return false;
    if (boundary_edges.empty())
      for (std::size_t s = 0; s < n_boundary_sides; ++s)
        for (std::size_t e = 0; e < sides[s].shape->sides.size(); ++e)
          boundary_edges.insert(all_nodes(side_of(sides[s], e)));
    return std::all_of(edges.begin(), edges.end(), [&](const MeshElement &edge) {
      return boundary_edges.count(all_nodes(edge)) > 0;
    });
  }

  /// Adds a curve if the set consists of the nodes of whole edges of second order; else points.
  void add_curve_or_points(const AbaqusSet &set)
  {
    const auto has_no_cell = [&](const std::size_t node) {
      return !is_vertex[node] && !table.is_mid_side(node);
    };
    if (std::any_of(set.members.begin(), set.members.end(), has_no_cell))
      return make_unusable(set, "node set",
                           "has nodes that are neither vertices nor mid-side nodes of cells. "
                           "Remove them from the set.");
    const std::vector<MeshElement> edges = complete_edges(set);
    if (!is_curve(edges, set)) {
      const auto id = static_cast<long long>(table.names.size()) + 1;
      table.names.push_back({0, id, set.name});
      for (const std::size_t node : set.members)
        table.elements.push_back({&CellShape::point, id, set.location, {{node}}});
      return;
    }
    for (const MeshElement &edge : edges)
      if (const auto owner = line_of_edge.find(all_nodes(edge)); owner != line_of_edge.end())
        return make_unusable(set, "node set",
                             "shares edges with the curve of " + table.line_of(owner->second) +
                                 ", but each edge can be in one curve only. Use that curve, "
                                 "or remove one of the two from the file.");
    table.names.push_back({1, ++largest_curve, set.name});
    for (const MeshElement &edge : edges) {
      line_of_edge.emplace(all_nodes(edge), set.location);
      table.elements.push_back(edge);
    }
  }

  /// Returns the index of @p side, which is added if it is not known.
  std::size_t index_of(const MeshElement &side)
  {
    const auto [found, is_new] = side_of_nodes.emplace(all_nodes(side), sides.size());
    if (is_new)
      sides.push_back(side);
    return found->second;
  }
  std::size_t find_side(const NodeSet &nodes) const
  {
    const auto found = side_of_nodes.find(nodes);
    return found == side_of_nodes.end() ? no_side : found->second;
  }

  AbaqusModel &model;
  MeshTable &table;
  int dim;
  std::vector<MeshElement> sides; ///< boundary sides, then those inside the body that sets name
  std::size_t n_boundary_sides = 0;
  std::vector<bool> is_vertex; ///< whether a point is a vertex of a cell
  std::map<NodeSet, std::size_t> side_of_nodes;
  std::set<NodeSet> boundary_edges;             ///< in 3D; filled when first needed
  std::map<NodeSet, MeshLocation> line_of_edge; ///< for edges of curves
  long long largest_curve = 0;                  ///< the largest id of curves
};

/// Removes empty sets. Their names become unusable.
void drop_empty_sets(AbaqusModel &model, const int dim)
{
  for (auto *const sets : {&model.node_sets, &model.element_sets, &model.surfaces})
    for (auto entry = sets->begin(); entry != sets->end();) {
      const AbaqusSet &set = entry->second;
      if (!set.members.empty() || !set.sides.empty()) {
        ++entry;
        continue;
      }
      const std::string reason = "is empty or has only elements that femgpu ignores";
      add_unusable(model.table, {dim - 1, dim}, set, "set", reason + ".");
      if (!set.is_internal && set.origin != AbaqusOrigin::of_elements)
        model.table.warnings.push_back(model.table.location_of(set.location) + "the set '" +
                                       set.name + "' " + reason + ". Parameters cannot name it.");
      entry = sets->erase(entry);
    }
}
} // namespace

std::string AbaqusModel::new_name(const std::string &prefix)
{
  for (int n = 1;; ++n) {
    std::string name = prefix + std::to_string(n);
    const std::string key = upper(name);
    if (surfaces.count(key) + node_sets.count(key) + element_sets.count(key) == 0)
      return name;
  }
}

void assign_ids_from_sets(AbaqusModel &model, const int dim)
{
  drop_empty_sets(model, dim);
  for (auto *const sets : {&model.node_sets, &model.element_sets})
    for (auto &entry : *sets)
      entry.second.remove_duplicates();
  const auto is_too_large = [&](const MeshElement &e) { return e.shape->dimension > dim; };
  const auto &elements = model.table.elements;
  if (std::any_of(elements.begin(), elements.end(), is_too_large))
    return; // check_mesh_table() rejects it
  prepare_rows(model, dim);
  SetConverter reader(model, dim);
  reader.assign_element_ids(dim);
  if (dim == 3)
    reader.assign_element_ids(1);
  reader.assign_side_ids();
  name_rows(model, dim);
}
} // namespace femgpu
