#include "physics/mesh/mesh_readers.h"

#include "linalg/base/text.h"
#include "physics/mesh/abaqus_elements.h"
#include "physics/mesh/abaqus_loads.h"
#include "physics/mesh/abaqus_sets.h"
#include "physics/mesh/abaqus_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
using Fields = std::vector<std::string_view>;

const char *const explicit_nodes_advice =
    " Write all nodes and elements explicitly, with *NODE and *ELEMENT.";

/// Reads the blocks that define the mesh.
class AbaqusReader
{
public:
  AbaqusReader(const std::string &name, const std::string_view contents, const int dim)
      : text(name, contents), dim(dim)
  {
    model.table.file = name;
  }

  AbaqusModel read()
  {
    if (text.next_data() || text.at_end())
      text.reject_first_line();
    while (text.next_keyword())
      read_block();
    if (instances.size() == 1) // no assembly: a file of parts
      for (const auto &part : parts) {
        begin_instance(part.second.value_of("NAME"));
        read_part(part.second);
      }
    model.distinguish_names();
    for (const std::string &coupling : found_couplings)
      model.table.warnings.push_back(model.table.file + ": " + coupling +
                                     " is ignored, so that the parts that it connects are "
                                     "separate. Mesh them with common nodes.");
    for (const auto &[type, skipped] : skipped_types)
      model.table.warnings.push_back(
          AbaqusText::prefix(skipped.first) + "elements of TYPE=" + type + " are ignored (" +
          std::to_string(skipped.n) +
          " in all), because they have neither volume nor sides. femgpu has no masses, springs or "
          "connectors.");
    return std::move(model);
  }

private:
  /// Returns the set or surface named by the value of @p option, and creates it if it does not
  /// exist.
  /// @param origin the origin that a new set gets
  AbaqusSet &named(std::map<std::string, AbaqusSet> &all, const std::string &option,
                   const AbaqusOrigin origin) const
  {
    const std::string name = text.value_of(option);
    AbaqusSet &set =
        all.try_emplace(instance->key(name), AbaqusSet{name, text.main_line_of_keyword(), origin})
            .first->second;
    set.instance = instance->name;
    set.is_internal = text.has("INTERNAL");
    return set;
  }

  void read_nodes()
  {
    text.follow_input();
    if (text.has("SYSTEM") && upper(text.value_of("SYSTEM")) != "R")
      text.fail_at_keyword("*NODE with SYSTEM is not supported." +
                           std::string(explicit_nodes_advice));
    AbaqusSet *const set =
        text.has("NSET") ? &named(model.node_sets, "NSET", AbaqusOrigin::nodes) : nullptr;
    std::size_t n_fields = 1 + static_cast<std::size_t>(dim); // of the previous line
    while (text.next_data()) {
      text.require_fields(n_fields);
      n_fields = text.fields().size();
      const long long number = text.integer(text.field(0), "the number of a node");
      if (text.line().find(',') == std::string_view::npos)
        text.fail("node " + std::to_string(number) + " has no coordinates. Is the file truncated?");
      std::array<double, 3> point = {};
      for (std::size_t d = 0; d < 3; ++d)
        point[d] = text.number(d + 1, "the coordinate of a node");
      point = instance->motion(point);
      if (!std::isfinite(point[0] + point[1] + point[2]))
        text.fail("the coordinates of node " + std::to_string(number) + " are too large.");
      if (!instance->nodes.emplace(number, model.table.points.size()).second)
        text.fail("node " + std::to_string(number) +
                  " is defined twice. Give each node its own number.");
      if (set != nullptr)
        set->members.push_back(model.table.points.size());
      model.table.points.push_back(point);
    }
    reject_truncated_block();
  }

  /// Rejects a block without data at the end of the file.
  void reject_truncated_block() const
  {
    if (text.is_empty_block() && text.at_end())
      text.fail("the file ends within the block *" + text.keyword() + " of line " +
                std::to_string(text.location_of_keyword().line) +
                ": it is truncated. Write or copy it again.");
  }

  /// Returns the instance in which a number or name of the current block is searched, and the
  /// number or name without the instance: NAME for "INSTANCE.NAME".
  std::pair<const AbaqusInstance &, std::string_view> resolve(const std::string_view word) const
  {
    if (const std::size_t dot = word.rfind('.'); dot != std::string_view::npos)
      if (const auto named = instances.find(upper(without_quotes(word.substr(0, dot))));
          named != instances.end())
        return {named->second, without_quotes(word.substr(dot + 1))};
    if (!text.has("INSTANCE") || text.keyword() == "INSTANCE")
      return {*instance, without_quotes(word)};
    const auto named = instances.find(upper(text.value_of("INSTANCE")));
    if (named == instances.end())
      text.fail_at_keyword("there is no instance " + in_quotes(text.value_of("INSTANCE")) +
                           " before this line.");
    return {named->second, without_quotes(word)};
  }

  std::size_t find(const std::unordered_map<long long, std::size_t> &numbers,
                   const std::string_view word, const std::string &what) const
  {
    const long long number = text.integer(word, "the number of " + what);
    const auto found = numbers.find(number);
    if (found == numbers.end())
      text.fail("there is no " + what.substr(what.find(' ') + 1) + " " + std::to_string(number) +
                " before this line. The file is damaged; write it again.");
    return found->second;
  }

  /// Reads an element. It may continue on further lines; each line but the last ends with a comma.
  void read_element(const ElementType &type, const std::string &name)
  {
    const std::size_t first_line = text.main_line();
    const AbaqusText::Location location = text.location();
    Fields fields = text.fields();
    const long long number = text.integer(fields[0], "the number of an element");
    const std::size_t n_nodes = type.n_nodes();
    std::vector<std::size_t> found;
    for (std::size_t i = 1; found.size() < n_nodes; ++i) {
      if (i == fields.size()) {
        const bool continues = text.line().back() == ',';
        if (!continues || !text.next_data())
          text.fail("element " + std::to_string(number) + " has " + std::to_string(found.size()) +
                        " nodes, but a " + name + " has " + std::to_string(n_nodes) +
                        ". Is the file truncated?",
                    location);
        fields = text.fields();
        i = 0;
      }
      found.push_back(find(instance->nodes, fields[i], "a node"));
      if (found.size() == n_nodes && i + 1 < fields.size())
        text.fail("element " + std::to_string(number) + " has more than the " +
                  std::to_string(n_nodes) + " nodes of a " + name + ".");
    }
    if (type.shape == &CellShape::line && n_nodes == 3)
      std::swap(found[1], found[2]); // Abaqus lists the midpoint second
    if (!instance->elements.emplace(number, model.table.elements.size()).second)
      text.fail("element " + std::to_string(number) +
                " is defined twice. Give each element its own number.");
    model.table.add_element(type, 0, first_line, found, dim);
  }

  void read_elements()
  {
    text.follow_input();
    const std::string name = upper(text.value_of("TYPE"));
    AbaqusSet *const set = text.has("ELSET")
                               ? &named(model.element_sets, "ELSET", AbaqusOrigin::of_elements)
                               : nullptr;
    if (is_special_type(name))
      return skip_elements(name);
    const ElementType &type = find_element_type(name, text);
    if (type.shape->dimension == dim)
      model.table.cell_types.emplace(name, text.main_line_of_keyword());
    const bool is_shell = name[0] == 'S' || name[0] == 'M' || name.substr(0, 2) == "DS";
    while (text.next_data()) {
      if (set != nullptr)
        set->members.push_back(model.table.elements.size());
      are_shells.push_back(is_shell);
      read_element(type, name);
    }
    reject_truncated_block();
  }

  /// Skips elements of a type without volume and sides. Sets may contain them.
  void skip_elements(const std::string &type)
  {
    Skipped &skipped =
        skipped_types.try_emplace(type, Skipped{0, text.location_of_keyword()}).first->second;
    for (; text.next_data(); ++skipped.n)
      instance->elements.emplace(text.integer(text.field(0), "the number of an element"),
                                 skipped_element);
  }

  /// Adds the member with number @p token, or the members of the set with this name, to @p set.
  void add_members(AbaqusSet &set, const std::string_view token, const bool of_elements)
  {
    const auto [where, word] = resolve(token);
    if (word.find_first_not_of("0123456789") == std::string_view::npos) {
      const std::size_t member = of_elements ? find(where.elements, word, "an element")
                                             : find(where.nodes, word, "a node");
      if (member != skipped_element)
        set.members.push_back(member);
      return;
    }
    const auto &sets = of_elements ? model.element_sets : model.node_sets;
    const auto other = sets.find(where.key(word));
    if (other == sets.end())
      text.fail(in_quotes(token) + " is neither a number nor the name of a set before this line.");
    const auto members = other->second.members; // a copy: the other set may be this set
    set.members.insert(set.members.end(), members.begin(), members.end());
    if (set.members.size() > 2 * (model.table.points.size() + model.table.elements.size()))
      set.remove_duplicates(); // bounds the size of nested sets
  }

  /// Adds the members of a range, FIRST, LAST, STEP, to @p set.
  void add_range(AbaqusSet &set, const Fields &fields, const bool of_elements)
  {
    if (fields.size() < 2)
      text.fail("a range must be FIRST, LAST or FIRST, LAST, STEP. Is the file truncated?");
    const long long first = text.integer(fields[0], "the first number of a range");
    const long long last = text.integer(fields[1], "the last number of a range");
    const long long step = fields.size() > 2 ? text.integer(fields[2], "the step of a range") : 1;
    if (step < 1 || last < first || first < 0)
      text.fail("a range must increase from FIRST to LAST by a positive STEP.");
    for (long long number = first;; number += step) { // fails at the first missing number
      add_members(set, std::to_string(number), of_elements);
      if (last - number < step)
        return;
    }
  }

  /// Adds the vertices of the elements in @p element_set, and the mid-side nodes between them.
  void add_nodes_of(const std::string &element_set, AbaqusSet &set)
  {
    AbaqusSet chosen;
    add_members(chosen, element_set, true);
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    const MeshTable &table = model.table;
    for (const std::size_t e : chosen.members) {
      const auto begin = table.elements[e].nodes.begin();
      const auto end = begin + table.elements[e].shape->n_nodes;
      set.members.insert(set.members.end(), begin, end);
      for (auto a = begin; a != end && table.order() > 1; ++a)
        for (auto b = begin; b != end; ++b)
          pairs.emplace(*a, *b);
    }
    for (std::size_t node = 0; node < table.edge_ends.size() && !pairs.empty(); ++node)
      if (table.is_mid_side(node) &&
          pairs.count({table.edge_ends[node][0], table.edge_ends[node][1]}) > 0)
        set.members.push_back(node);
  }

  void read_set()
  {
    const bool of_elements = text.keyword() == "ELSET";
    AbaqusSet &set = of_elements ? named(model.element_sets, "ELSET", AbaqusOrigin::listed)
                                 : named(model.node_sets, "NSET", AbaqusOrigin::nodes);
    if (!of_elements && text.has("ELSET")) {
      add_nodes_of(text.value_of("ELSET"), set);
      return;
    }
    while (text.next_data()) {
      const Fields &fields = text.fields();
      if (text.has("GENERATE"))
        add_range(set, fields, of_elements);
      else
        for (const std::string_view field : fields)
          if (!field.empty())
            add_members(set, field, of_elements);
    }
  }

  void read_surface()
  {
    const std::string type =
        upper(text.has("TYPE") ? text.value_of("TYPE") : std::string("ELEMENT"));
    if (type == "NODE") {
      AbaqusSet &set = named(model.node_sets, "NAME", AbaqusOrigin::nodes);
      while (text.next_data())
        add_members(set, text.field(0), false);
      return reject_truncated_block();
    }
    AbaqusSet &surface = named(model.surfaces, "NAME", AbaqusOrigin::surface);
    if (type != "ELEMENT" || text.has("COMBINE") || text.has("CROP"))
      text.fail_at_keyword(
          "only surfaces of nodes or of sides of elements are supported. Remove this "
          "surface.");
    while (text.next_data()) {
      text.require_fields(2);
      AbaqusSet chosen;
      add_members(chosen, text.field(0), true);
      for (const std::size_t element : chosen.members)
        surface.sides.push_back(
            {element,
             side_number(text, model.table.elements[element].shape->name, are_shells[element]),
             text.main_line()});
      const auto [where, word] = resolve(text.field(0));
      if (const auto set = model.element_sets.find(where.key(word));
          set != model.element_sets.end())
        set->second.defines_surface = true;
    }
    reject_truncated_block();
  }

  /// Makes a surface of all faces that loads of the same keyword and values act on.
  void read_face_loads()
  {
    while (text.next_data()) {
      const std::optional<std::size_t> side = AbaqusLoads::side(text);
      if (!side)
        continue;
      text.require_fields(3);
      AbaqusSet chosen;
      add_members(chosen, text.field(0), true);
      const bool is_itself = *side == AbaqusSet::element_itself;
      const int dimension = is_itself ? dim - 1 : dim; // others are structures without faces
      const auto has_no_face = [&](const std::size_t element) {
        return model.table.elements[element].shape->dimension != dimension;
      };
      auto &members = chosen.members;
      members.erase(std::remove_if(members.begin(), members.end(), has_no_face), members.end());
      if (members.empty())
        continue;
      AbaqusSet &surface = loads.surface(text, model);
      for (const std::size_t element : members)
        surface.sides.push_back({element, *side, text.main_line()});
    }
  }

  void read_section()
  {
    const auto [where, word] = resolve(text.value_of("ELSET"));
    const auto set = model.element_sets.find(where.key(word));
    if (set != model.element_sets.end())
      set->second.origin = AbaqusOrigin::section;
    if (text.keyword() == "SOLID SECTION")
      add_section(text, where.key(word), model);
  }

  /// Stores the data lines of a keyword that acts on nodes or elements, and the faces of loads.
  void read_conditions()
  {
    add_conditions(text, model, [this](const std::string_view token, const bool of_elements) {
      const auto [where, word] = resolve(token);
      const auto &numbers = of_elements ? where.elements : where.nodes;
      const bool is_number = is_digits(word) && word.size() < 18;
      const auto found = is_number ? numbers.find(std::stoll(std::string(word))) : numbers.end();
      return std::pair(where.key(word), found == numbers.end() ? skipped_element : found->second);
    });
    if (is_on_elements(text.keyword()))
      read_face_loads();
  }

  /// Reads, or skips, the blocks up to *END PART or *END INSTANCE.
  /// @param begin stands at *PART or *INSTANCE
  void walk_to_end(const AbaqusText &begin, const bool reads)
  {
    static const std::set<std::string> others = {"PART", "INSTANCE", "ASSEMBLY", "END ASSEMBLY",
                                                 "STEP"};
    while (text.next_keyword() && others.count(text.keyword()) == 0)
      if (text.keyword() == "END " + begin.keyword())
        return;
      else if (reads)
        read_block();
    begin.fail_at_keyword("*" + begin.keyword() + " has no *END " + begin.keyword() +
                          ". Is the file truncated?");
  }

  /// Skips a part, which *INSTANCE reads.
  void skip_part()
  {
    const auto [part, is_new] = parts.emplace(upper(text.value_of("NAME")), text);
    if (!is_new)
      text.fail_at_keyword("the part " + in_quotes(text.value_of("NAME")) + " is defined twice.");
    walk_to_end(AbaqusText(text), false);
  }

  /// Reads the blocks of @p part into the current instance.
  void read_part(const AbaqusText &part)
  {
    AbaqusText position = std::exchange(text, part);
    walk_to_end(part, true);
    text = std::move(position);
  }

  void begin_instance(const std::string &name)
  {
    const auto [added, is_new] = instances.try_emplace(upper(name), AbaqusInstance{name});
    if (!is_new)
      text.fail_at_keyword("the instance " + in_quotes(name) + " is defined twice.");
    instance = &added->second;
  }

  void read_instance()
  {
    const AbaqusText begin = text;
    const auto part = parts.find(upper(text.value_of("PART")));
    if (part == parts.end())
      text.fail_at_keyword("there is no part " + in_quotes(text.value_of("PART")) +
                           " before this line.");
    begin_instance(text.value_of("NAME"));
    instance->motion = AbaqusMotion(text);
    read_part(part->second);
    walk_to_end(begin, true);
    instance = &instances.at("");
  }

  /// Reads a block, or skips it if its keyword does not concern the mesh.
  void read_block()
  {
    static const std::map<std::string, void (AbaqusReader::*)()> blocks = {
        {"NODE", &AbaqusReader::read_nodes},
        {"ELEMENT", &AbaqusReader::read_elements},
        {"NSET", &AbaqusReader::read_set},
        {"ELSET", &AbaqusReader::read_set},
        {"SURFACE", &AbaqusReader::read_surface},
        {"PART", &AbaqusReader::skip_part},
        {"INSTANCE", &AbaqusReader::read_instance},
        {"SOLID SECTION", &AbaqusReader::read_section},
        {"SHELL SECTION", &AbaqusReader::read_section}};
    static const std::set<std::string> on_nodes = {"BOUNDARY", "CLOAD", "CFLUX", "TEMPERATURE",
                                                   "INITIAL CONDITIONS"};
    static const std::set<std::string> generating_keywords = {
        "NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM", "PARAMETER"};
    static const std::set<std::string> coupling_keywords = {
        "TIE", "MPC", "EQUATION", "COUPLING", "RIGID BODY", "EMBEDDED ELEMENT"};
    if (generating_keywords.count(text.keyword()) > 0)
      text.fail_at_keyword("*" + text.keyword() + " is not supported." + explicit_nodes_advice);
    if (coupling_keywords.count(text.keyword()) > 0)
      found_couplings.insert("*" + text.keyword());
    n_steps += text.keyword() == "STEP" ? 1 : 0;
    if (const auto block = blocks.find(text.keyword()); block != blocks.end())
      (this->*block->second)();
    else if (n_steps < 2 && (on_nodes.count(text.keyword()) > 0 || is_on_elements(text.keyword())))
      read_conditions();
  }

  /// The elements of a type that is ignored.
  struct Skipped
  {
    std::size_t n;
    AbaqusText::Location first;
  };
  /// The index of elements that are ignored.
  static constexpr std::size_t skipped_element = static_cast<std::size_t>(-1);

  AbaqusText text;
  int dim;
  AbaqusModel model;
  std::vector<bool> are_shells;            ///< whether an element is a shell or membrane
  std::map<std::string, AbaqusText> parts; ///< where they begin, by names in upper case
  std::map<std::string, AbaqusInstance> instances = {{"", {}}}; ///< by names in upper case
  AbaqusInstance *instance = &instances.at("");                 ///< of the current block
  std::set<std::string> found_couplings;        ///< keywords that are ignored with a warning
  std::map<std::string, Skipped> skipped_types; ///< by names of types
  AbaqusLoads loads;
  std::size_t n_steps = 0;
};
} // namespace

AbaqusModel read_abaqus_model(const std::string &name, const std::string_view text, const int dim)
{
  return AbaqusReader(name, text, dim).read();
}

MeshTable read_abaqus_file(const std::string &name, const std::string_view text, const int dim)
{
  AbaqusModel model = read_abaqus_model(name, text, dim);
  assign_ids_from_sets(model, dim);
  return std::move(model.table);
}
} // namespace femgpu
