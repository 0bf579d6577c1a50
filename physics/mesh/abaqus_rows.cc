#include "linalg/base/text.h"
#include "physics/mesh/abaqus_sets.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace femgpu
{
namespace
{
constexpr std::size_t no_cell = static_cast<std::size_t>(-1);
}

ElementNodes::ElementNodes(const MeshTable &table)
{
  for (std::size_t node = 0; node < table.edge_ends.size(); ++node)
    if (table.is_mid_side(node))
      mid_side_nodes[std::minmax(table.edge_ends[node][0], table.edge_ends[node][1])] = node;
}

std::vector<std::size_t> ElementNodes::operator()(const MeshElement &element) const
{
  std::vector<std::size_t> nodes;
  for (std::size_t a = 0; a < element.shape->n_nodes; ++a) {
    nodes.push_back(element.nodes[a]);
    for (std::size_t b = 0; b < a; ++b) {
      const auto middle = mid_side_nodes.find(std::minmax(element.nodes[a], element.nodes[b]));
      if (middle != mid_side_nodes.end())
        nodes.push_back(middle->second);
    }
  }
  return nodes;
}

namespace
{
/// Names the nodes of the lines of *BOUNDARY and *CLOAD.
class RowNamer
{
public:
  RowNamer(AbaqusModel &model, const int dim)
      : model(model), table(model.table), dim(dim), is_vertex(vertices_of_cells(table, dim)),
        nodes_of(table)
  {}

  /// Sets AbaqusRow::name of *BOUNDARY and *CLOAD, and adds the points of generated names to the
  /// table.
  void run()
  {
    std::map<AbaqusBlock::Key, std::vector<PointGroup>> groups;
    std::map<std::pair<std::string, bool>, std::string> regions; // by target and is_load
    for (AbaqusBlock &block : model.blocks) {
      const bool is_load = block.keyword == "CLOAD";
      if (!is_load && block.keyword != "BOUNDARY")
        continue;
      for (AbaqusRow &row : block.rows) {
        const auto [region, is_new] = regions.try_emplace({row.fields[0], is_load});
        if (is_new && !is_digits(row.fields[0]))
          region->second = region_with(row, is_load ? 0 : dim - 1);
        row.name = region->second;
        if (row.name.empty())
          add_points(block.keyword, row, groups[block.key(row, 1)]);
      }
    }
  }

private:
  /// Points with a generated name.
  struct PointGroup
  {
    std::string name;
    long long id;
    std::set<std::size_t> nodes;
  };

  /// Adds the nodes of @p row to one of the @p groups with the same values. Each group has a node
  /// once, so that repeated loads add up.
  void add_points(const std::string &keyword, AbaqusRow &row, std::vector<PointGroup> &groups)
  {
    std::vector<std::size_t> nodes;
    for (const std::size_t node : row.members)
      if (is_vertex[node] || table.is_mid_side(node))
        nodes.push_back(node);
    if (nodes.empty())
      return;
    const auto is_free = [&](const PointGroup &group) {
      return keyword != "CLOAD" ||
             std::none_of(nodes.begin(), nodes.end(),
                          [&](const std::size_t node) { return group.nodes.count(node) > 0; });
    };
    auto group = std::find_if(groups.begin(), groups.end(), is_free);
    if (group == groups.end()) {
      const std::string name = model.new_name(keyword == "CLOAD" ? "cload_" : "boundary_");
      const auto id = static_cast<long long>(table.names.size()) + 1;
      model.node_sets.emplace(upper(name), AbaqusSet{name});
      table.names.push_back({0, id, name});
      group = groups.insert(group, {name, id, {}});
    }
    row.name = group->name;
    for (const std::size_t node : nodes)
      if (group->nodes.insert(node).second)
        table.elements.push_back({&CellShape::point, group->id, row.location, {{node}}});
  }

  /// Returns the name of the region of at most @p dimension that the target of @p row denotes
  /// and that has exactly its nodes; empty if there is none.
  std::string region_with(const AbaqusRow &row, const int dimension) const
  {
    const auto is_named = [&](const PhysicalName &known) {
      return known.dimension < dim && known.name == row.fields[0];
    };
    const auto found = std::find_if(table.names.begin(), table.names.end(), is_named);
    if (found == table.names.end() || found->dimension > dimension)
      return {};
    std::set<long long> ids;
    for (const PhysicalName &known : table.names)
      if (known.dimension == dim - 1 && known.name == row.fields[0])
        ids.insert(known.id);
    std::set<std::size_t> of_sides;
    for (const MeshElement &side : table.elements)
      if (side.shape->dimension == dim - 1 && ids.count(side.id) > 0) {
        const std::vector<std::size_t> of_side = nodes_of(side);
        of_sides.insert(of_side.begin(), of_side.end());
      }
    const std::set<std::size_t> nodes(row.members.begin(), row.members.end());
    return found->dimension < dim - 1 || of_sides == nodes ? found->name : std::string();
  }

  AbaqusModel &model;
  MeshTable &table;
  int dim;
  std::vector<bool> is_vertex; ///< whether a point is a vertex of a cell
  ElementNodes nodes_of;
};
} // namespace

void name_rows(AbaqusModel &model, const int dim)
{
  RowNamer(model, dim).run();
}

void prepare_rows(AbaqusModel &model, const int dim)
{
  std::vector<std::size_t> cells(model.table.elements.size(), no_cell);
  std::size_t n_cells = 0;
  for (std::size_t e = 0; e < cells.size(); ++e)
    if (model.table.elements[e].shape->dimension == dim)
      cells[e] = n_cells++;
  for (AbaqusBlock &block : model.blocks) {
    const AbaqusModel::Sets *const sets = model.targets_of(block.keyword);
    for (AbaqusRow &row : block.rows) {
      if (sets == nullptr)
        break;
      if (const auto set = sets->find(row.fields[0]); set != sets->end())
        row.fields[0] = set->second.name;
      if (sets == &model.surfaces)
        row.name = row.fields[0];
      if (sets != &model.element_sets)
        continue;
      for (std::size_t &member : row.members)
        member = cells[member];
      std::sort(row.members.begin(), row.members.end());
      const auto end = std::unique(row.members.begin(), row.members.end());
      row.members.erase(std::lower_bound(row.members.begin(), end, no_cell), row.members.end());
    }
  }
}

AbaqusBlock::Key AbaqusBlock::key(const AbaqusRow &row, const std::size_t first) const
{
  Key result = {keyword + "," + value("AMPLITUDE") + "," + value("TIME DELAY"), {}};
  for (std::size_t i = first; i < row.fields.size(); ++i)
    if (const auto number = finite_number(row.fields[i]))
      result.second.push_back(*number);
    else
      result.first += "," + row.fields[i];
  return result;
}

AbaqusModel::Sets *AbaqusModel::targets_of(const std::string &keyword)
{
  if (is_one_of(keyword, "|BOUNDARY|CLOAD|CFLUX|TEMPERATURE|INITIAL CONDITIONS|TRANSFORM|"))
    return &node_sets;
  if (is_one_of(keyword, "|SOLID SECTION|DLOAD|DFLUX|FILM|RADIATE|"))
    return &element_sets;
  return is_one_of(keyword, "|DSLOAD|DSFLUX|SFILM|SRADIATE|") ? &surfaces : nullptr;
}

void AbaqusModel::distinguish_names()
{
  std::map<std::string, std::set<std::string>> owners; // instances by names
  for (const auto *const sets : {&node_sets, &element_sets, &surfaces})
    for (const auto &entry : *sets)
      if (!entry.second.is_internal)
        owners[upper(entry.second.name)].insert(entry.second.instance);
  for (auto *const sets : {&node_sets, &element_sets, &surfaces})
    for (auto &[key, set] : *sets)
      if (!set.instance.empty() && owners[upper(set.name)].size() > 1)
        set.name.insert(0, set.instance + ".");
}
} // namespace femgpu
