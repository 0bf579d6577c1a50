#include "physics/mesh/named_places.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string boundaries_path = "Mesh/Boundaries", points_path = "Mesh/Named points",
                  curves_path = "Mesh/Named curves";

/// An entry "name: what" of a parameter.
struct Entry
{
  std::string path, text, name, what;

  [[noreturn]] void reject(const std::string &why) const
  {
    throw ParameterError("The entry '" + text + "' of " + path + " " + why, path);
  }
};

/// Parses the entries "name: what; name: what" of a parameter.
/// @param example a correct entry
/// @param is_known returns whether the mesh already has a name
template <class IsKnown>
std::vector<Entry> read_entries(const std::string &path, const std::string &text,
                                const std::string &example, const IsKnown &is_known)
{
  std::vector<Entry> entries;
  std::set<std::string> names;
  for (const std::string &item : entries_of(text)) {
    const auto colon = std::min(item.find(':'), item.size());
    const Entry entry = {path, item, trimmed(item.substr(0, colon)),
                         trimmed(item.substr(std::min(colon + 1, item.size())))};
    const auto is_of_name = [](const unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-';
    };
    if (entry.name.empty() || entry.what.empty() ||
        std::isalpha(static_cast<unsigned char>(entry.name[0])) == 0 ||
        !std::all_of(entry.name.begin(), entry.name.end(), is_of_name))
      entry.reject("does not begin with a name, which consists of letters, digits, '_' and '-' and "
                   "begins with a letter, and ':'; write entries such as '" +
                   example + "'.");
    if (is_known(entry.name) || !names.insert(entry.name).second)
      entry.reject("has the name '" + entry.name +
                   "', which the mesh or another entry has, too. Choose another name.");
    entries.push_back(entry);
  }
  return entries;
}

bool is_name(const MeshRegions &regions, const std::string &name)
{
  return regions.boundaries.names.count(name) > 0 || regions.curve_or_point_set(name) != nullptr;
}

bool is_name(const MeshTable &table, const std::string &name)
{
  return std::any_of(table.names.begin(), table.names.end(),
                     [&](const PhysicalName &group) { return group.name == name; });
}

/// Returns "from (MINIMA) to (MAXIMA)" of the vertices of @p coarse, for messages.
template <int dim>
std::string extent(const Triangulation<dim> &coarse)
{
  Point<dim> low = coarse.begin_active()->vertex(0), high = low;
  for (const auto &cell : coarse.active_cell_iterators())
    for (const unsigned int v : cell->vertex_indices())
      for (unsigned int d = 0; d < dim; ++d) {
        low[d] = std::min(low[d], cell->vertex(v)[d]);
        high[d] = std::max(high[d], cell->vertex(v)[d]);
      }
  std::ostringstream text;
  text << "from (" << low << ") to (" << high << ")";
  return text.str();
}

/// The condition of an entry, evaluated at vertices.
template <int dim>
class Condition
{
public:
  Condition(const Entry &entry, const MeshRegions &regions)
      : field(entry.path, {entry.what}, Variables::position, regions.definitions)
  {}
  /// Returns whether the condition holds at all vertices of @p object, a face or an edge.
  template <class Object>
  bool holds_on(const Object &object) const
  {
    for (const unsigned int v : object->vertex_indices())
      if (field.value(object->vertex(v)) == 0.)
        return false;
    return true;
  }

private:
  Field<dim> field;
};

/// Returns a number that no group of @p table of this dimension has.
long long unused_number(const MeshTable &table, const int dimension)
{
  long long largest = 0;
  for (const PhysicalName &group : table.names)
    if (group.dimension == dimension)
      largest = std::max(largest, group.id);
  for (const MeshElement &element : table.elements)
    if (element.shape->dimension == dimension)
      largest = std::max(largest, element.id);
  return largest + 1;
}

template <int dim>
std::size_t add_point(const Point<dim> &p, MeshTable &table)
{
  table.points.push_back({});
  std::copy_n(p.begin_raw(), dim, table.points.back().begin());
  return table.points.size() - 1;
}

/// Returns whether @p text is a list of ids and names of boundaries, not a condition.
bool is_list_of_boundaries(const std::string &text, const MeshRegions &regions)
{
  const auto words = split_expressions(text, ',');
  return words.size() > 1 || std::all_of(words.begin(), words.end(), [&](const std::string &word) {
           return is_digits(word) || regions.boundaries.names.count(word) > 0;
         });
}
} // namespace

template <int dim>
void name_boundaries(const std::string &text, Triangulation<dim> &coarse, MeshRegions &regions)
{
  NamedIds &boundaries = regions.boundaries;
  const auto is_known = [&](const std::string &name) { return is_name(regions, name); };
  for (const Entry &entry :
       read_entries(boundaries_path, text, "top: y > 0.99; walls: 0, 1", is_known)) {
    if (is_list_of_boundaries(entry.what, regions)) {
      for (const std::string &word : split_expressions(entry.what, ','))
        boundaries.names[entry.name].merge(regions.places(boundaries_path, word, Places::sides));
      continue;
    }
    const Condition<dim> condition(entry, regions);
    const NamedIds::Id id = boundaries.unused();
    bool holds = false;
    for (const auto &face : coarse.active_face_iterators())
      if (face->at_boundary() && condition.holds_on(face)) {
        face->set_boundary_id(id);
        holds = true;
      }
    if (!holds)
      entry.reject("names no part of the boundary: its condition holds at all vertices of no "
                   "boundary face of the coarse mesh, which extends " +
                   extent(coarse) + ". Check the condition, or use a finer coarse mesh.");
    boundaries.names[entry.name] = {id};
    const auto remaining = coarse.get_boundary_ids();
    boundaries.ids = {remaining.begin(), remaining.end()};
    for (auto named = boundaries.names.begin(); named != boundaries.names.end();) {
      MeshRegions::Ids present;
      for (const NamedIds::Id of_name : named->second)
        if (boundaries.ids.count(of_name) + boundaries.inner.count(of_name) > 0)
          present.insert(of_name);
      if (present.empty())
        boundaries.unusable[named->first] =
            "All of its faces belong to '" + entry.name + "' of " + boundaries_path + ".";
      named->second = std::move(present);
      named = named->second.empty() ? boundaries.names.erase(named) : std::next(named);
    }
  }
}

template <int dim>
void name_points(const std::string &text, const Triangulation<dim> &coarse,
                 const MeshRegions &regions, MeshTable &table)
{
  constexpr double tolerance = 1e-6; // relative to the size of the mesh
  const auto is_known = [&](const std::string &name) {
    return is_name(regions, name) || is_name(table, name);
  };
  for (const Entry &entry :
       read_entries(points_path, text, dim == 2 ? "tip: 1, 0" : "tip: 1, 0, 0", is_known)) {
    const auto words = split_expressions(entry.what, ',');
    if (words.size() != dim)
      entry.reject("has " + std::to_string(words.size()) + " coordinates, but needs " +
                   std::to_string(dim) + "." + advice_on_decimal_comma(entry.what));
    const Field<dim> coordinates(points_path, words, Variables::position, regions.definitions);
    Point<dim> wanted, nearest;
    for (unsigned int d = 0; d < dim; ++d)
      wanted[d] = coordinates.value(Point<dim>(), d);
    double distance = std::numeric_limits<double>::max(), size = 0.;
    for (const auto &cell : coarse.active_cell_iterators())
      for (const unsigned int v : cell->vertex_indices()) {
        size = std::max(size, cell->vertex(v).distance(coarse.begin_active()->vertex(0)));
        if (const double d = cell->vertex(v).distance(wanted); d < distance) {
          distance = d;
          nearest = cell->vertex(v);
        }
      }
    if (distance > tolerance * size) {
      std::ostringstream place;
      place.precision(10);
      place << nearest;
      entry.reject("is not at a vertex of the coarse mesh; the nearest one is (" + place.str() +
                   ").");
    }
    const long long id = unused_number(table, 0);
    table.elements.push_back({&CellShape::point, id, 0, {{add_point(nearest, table)}}});
    table.names.push_back({0, id, entry.name});
  }
}

template <int dim>
void name_curves(const std::string &text, const Triangulation<dim> &coarse,
                 const MeshRegions &regions, MeshTable &table)
{
  const auto is_known = [&](const std::string &name) {
    return is_name(regions, name) || is_name(table, name);
  };
  const auto entries =
      read_entries(curves_path, text, "rim: z > 0.99 && x^2 + y^2 > 0.99", is_known);
  if (dim == 2 && !entries.empty())
    entries.front().reject("needs a mesh in 3D. In 2D, curves are boundaries: use " +
                           boundaries_path + ".");
  if constexpr (dim == 3)
    for (const Entry &entry : entries) {
      const Condition<3> condition(entry, regions);
      const long long id = unused_number(table, 1);
      std::set<std::pair<unsigned int, unsigned int>> edges; // by the indices of their ends
      for (const auto &face : coarse.active_face_iterators())
        for (unsigned int l = 0; face->at_boundary() && l < face->n_lines(); ++l)
          if (const auto line = face->line(l);
              condition.holds_on(line) &&
              edges.emplace(line->vertex_index(0), line->vertex_index(1)).second)
            table.elements.push_back(
                {&CellShape::line,
                 id,
                 0,
                 {{add_point(line->vertex(0), table), add_point(line->vertex(1), table)}}});
      if (edges.empty())
        entry.reject("names no curve: its condition holds at both ends of no edge on the boundary "
                     "of the coarse mesh, which extends " +
                     extent(coarse) + ". Check the condition, or use a finer coarse mesh.");
      table.names.push_back({1, id, entry.name});
    }
}

template void name_boundaries(const std::string &, Triangulation<2> &, MeshRegions &);
template void name_boundaries(const std::string &, Triangulation<3> &, MeshRegions &);
template void name_points(const std::string &, const Triangulation<2> &, const MeshRegions &,
                          MeshTable &);
template void name_points(const std::string &, const Triangulation<3> &, const MeshRegions &,
                          MeshTable &);
template void name_curves(const std::string &, const Triangulation<2> &, const MeshRegions &,
                          MeshTable &);
template void name_curves(const std::string &, const Triangulation<3> &, const MeshRegions &,
                          MeshTable &);
} // namespace femgpu
