#include "physics/mesh/mesh_readers.h"

#include "linalg/base/text.h"
#include "physics/mesh/abaqus_elements.h"
#include "physics/mesh/abaqus_parts.h"
#include "physics/mesh/abaqus_sets.h"
#include "physics/mesh/abaqus_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
using Fields = std::vector<std::string_view>;
using Numbers = AbaqusInstance::Numbers;

/// Reads the blocks that define the mesh.
class AbaqusReader
{
public:
  AbaqusReader(const std::string &name, const std::string_view contents, const int dim)
      : parts(AbaqusText(name, contents)), text(name, contents), dim(dim)
  {
    model.table.file = name;
  }

  AbaqusModel read()
  {
    for (const char *const pass : {"NODE", "ELEMENT", ""})
      for (const auto &[begin, owner] : parts.blocks) {
        const bool is_other = !is_one_of(begin.keyword(), "|NODE|ELEMENT|");
        if (pass != begin.keyword() && !(is_other && *pass == '\0'))
          continue;
        text = begin;
        instance = owner;
        (this->*reader_of(text.keyword()))();
      }
    model.distinguish_names();
    model.table.included_files = text.included_files();
    add_warnings();
    return std::move(model);
  }

private:
  /// Elements or numbers that are not read as written.
  struct Count
  {
    MeshLocation first;
    std::size_t n = 0;
  };

  void add_warnings()
  {
    const auto warn = [this](const Count &count, const std::string &text) {
      model.table.warnings.push_back(model.table.location_of(count.first) + text);
    };
    for (const std::string &coupling : found_couplings)
      model.table.warnings.push_back(model.table.file + ": " + coupling +
                                     " is ignored: the parts that it connects are separate "
                                     "unless they have common nodes. Mesh them so, or set "
                                     "Mesh/Merge nodes.");
    for (const auto &[type, skipped] : skipped_types)
      warn(skipped, "elements of TYPE=" + type + " are ignored (" + std::to_string(skipped.n) +
                        " in all), because they have neither volume nor sides. femgpu has no "
                        "masses, springs or connectors.");
    for (const auto &[type, elements] : long_elements)
      warn(elements, std::to_string(elements.n) + " elements have more nodes than a " + type +
                         ". The further nodes are ignored; correct the TYPE if they belong to it.");
    for (const Count &missing : missing_members)
      warn(missing, std::to_string(missing.n) +
                        " numbers in this set are ignored, because the file has no nodes or "
                        "elements with these numbers.");
  }

  /// Returns the set or surface named by the value of @p option, and creates it if it does not
  /// exist.
  /// @param origin the origin that a new set gets
  AbaqusSet &named(AbaqusModel::Sets &all, const std::string &option,
                   const AbaqusOrigin origin) const
  {
    const std::string name = text.value_of(option);
    AbaqusSet &set =
        all.try_emplace(instance->key(name), AbaqusSet{name, text.keyword_line().location, origin})
            .first->second;
    set.instance = instance->name;
    set.is_internal = text.has("INTERNAL");
    return set;
  }

  void read_nodes()
  {
    text.follow_input();
    if (text.has("SYSTEM") && text.keyword_line().value("SYSTEM") != "R")
      text.fail_at_keyword("*NODE with SYSTEM is not supported." +
                           AbaqusParts::explicit_nodes_advice);
    AbaqusSet *const set =
        text.has("NSET") ? &named(model.node_sets, "NSET", AbaqusOrigin::nodes) : nullptr;
    std::size_t n_fields = 1 + static_cast<std::size_t>(dim); // of the previous line
    while (text.next_data()) {
      text.require_fields(n_fields);
      n_fields = text.fields().size();
      const long long number = text.integer(text.field(0), "the number of a node");
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
                std::to_string(text.keyword_line().location.number) +
                ": it is truncated. Write or copy it again.");
  }

  /// Returns the instance in which a number or name of the current block is searched, and the
  /// number or name without the instance: NAME for "INSTANCE.NAME".
  std::pair<const AbaqusInstance &, std::string_view> resolve(const std::string_view word) const
  {
    if (const std::size_t dot = word.rfind('.'); dot != std::string_view::npos)
      if (const auto named = parts.instances.find(upper(without_quotes(word.substr(0, dot))));
          named != parts.instances.end())
        return {named->second, without_quotes(word.substr(dot + 1))};
    if (!text.has("INSTANCE") || text.keyword() == "INSTANCE")
      return {*instance, without_quotes(word)};
    const auto named = parts.instances.find(upper(text.value_of("INSTANCE")));
    if (named == parts.instances.end())
      text.fail_at_keyword("there is no instance " + in_quotes(text.value_of("INSTANCE")) +
                           " in the file.");
    return {named->second, without_quotes(word)};
  }

  /// The node, element or set that a word of the current block denotes.
  struct Target
  {
    std::string key; ///< of a set in AbaqusModel
    bool is_number;
    std::optional<std::size_t> index; ///< of the node or element with this number, if it exists
  };

  Target look_up(const std::string_view word, const bool of_elements) const
  {
    const auto [where, name] = resolve(word);
    Target result = {where.key(name), is_digits(name), {}};
    const Numbers &numbers = of_elements ? where.elements : where.nodes;
    if (result.is_number)
      if (const auto found = numbers.find(text.integer(name, "the number of a node or element"));
          found != numbers.end())
        result.index = found->second;
    return result;
  }

  [[noreturn]] void reject_missing(const std::string_view number, const bool is_element) const
  {
    text.fail(std::string("there is no ") + (is_element ? "element " : "node ") +
              std::string(number) + " in the file. The file is damaged; write it again.");
  }

  /// Reads an element. It may continue on further lines; each line but the last ends with a comma.
  void read_element(const ElementType &type, const std::string &name)
  {
    const MeshLocation location = text.location();
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
      const auto node = instance->nodes.find(text.integer(fields[i], "the number of a node"));
      if (node == instance->nodes.end())
        reject_missing(fields[i], false);
      found.push_back(node->second);
      if (found.size() == n_nodes && i + 1 < fields.size())
        ++long_elements.try_emplace(name, Count{location}).first->second.n;
    }
    if (type.shape == &CellShape::line && n_nodes == 3)
      std::swap(found[1], found[2]); // Abaqus lists the midpoint second
    if (!instance->elements.emplace(number, model.table.elements.size()).second)
      text.fail("element " + std::to_string(number) +
                " is defined twice. Give each element its own number.");
    model.table.add_element(type, 0, location, found, dim);
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
      model.table.cell_types.emplace(name, text.keyword_line().location);
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
    Count &skipped =
        skipped_types.try_emplace(type, Count{text.keyword_line().location}).first->second;
    for (; text.next_data(); ++skipped.n)
      instance->elements.emplace(text.integer(text.field(0), "the number of an element"),
                                 skipped_element);
  }

  /// Adds the member with number @p token, or the members of the set with this name, to @p set. A
  /// set may list numbers that the file lacks; other blocks may not.
  void add_members(AbaqusSet &set, const std::string_view token, const bool of_elements)
  {
    const Target target = look_up(token, of_elements);
    if (target.index) {
      if (*target.index != skipped_element)
        set.members.push_back(*target.index);
      return;
    }
    if (target.is_number) {
      if (!is_one_of(text.keyword(), "|NSET|ELSET|"))
        reject_missing(resolve(token).second, of_elements);
      return count_missing(set, 1);
    }
    const auto &sets = of_elements ? model.element_sets : model.node_sets;
    const auto other = sets.find(target.key);
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
    const auto [where, word] = resolve(fields[0]);
    const long long first = text.integer(word, "the first number of a range");
    const long long last = text.integer(fields[1], "the last number of a range");
    const long long step = fields.size() > 2 ? text.integer(fields[2], "the step of a range") : 1;
    if (step < 1 || last < first || first < 0)
      text.fail("a range must increase from FIRST to LAST by a positive STEP.");
    const Numbers &numbers = of_elements ? where.elements : where.nodes;
    const auto length = static_cast<std::size_t>((last - first) / step) + 1;
    std::size_t n_found = 0;
    const auto add = [&](const std::size_t member) {
      ++n_found;
      if (member != skipped_element)
        set.members.push_back(member);
    };
    if (length > numbers.size()) { // the range has more numbers than the file
      for (const auto &[number, member] : numbers)
        if (number >= first && number <= last && (number - first) % step == 0)
          add(member);
    }
    else
      for (std::size_t i = 0; i < length; ++i)
        if (const auto found = numbers.find(first + static_cast<long long>(i) * step);
            found != numbers.end())
          add(found->second);
    if (n_found < length)
      count_missing(set, length - n_found);
  }

  void count_missing(const AbaqusSet &set, const std::size_t n)
  {
    if (missing_members.empty() || !(missing_members.back().first == set.location))
      missing_members.push_back({set.location});
    missing_members.back().n += n;
  }

  /// Adds the vertices of the elements in @p element_set, and the mid-side nodes between them.
  void add_nodes_of(const std::string &element_set, AbaqusSet &set)
  {
    AbaqusSet chosen;
    add_members(chosen, element_set, true);
    const ElementNodes nodes_of(model.table);
    for (const std::size_t element : chosen.members)
      for (const std::size_t node : nodes_of(model.table.elements[element]))
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
    const std::string type = text.keyword_line().value("TYPE");
    if (type == "NODE") {
      AbaqusSet &set = named(model.node_sets, "NAME", AbaqusOrigin::nodes);
      while (text.next_data())
        add_members(set, text.field(0), false);
      return reject_truncated_block();
    }
    AbaqusSet &surface = named(model.surfaces, "NAME", AbaqusOrigin::surface);
    if ((text.has("TYPE") && type != "ELEMENT") || text.has("COMBINE") || text.has("CROP"))
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
             text.location()});
      if (const auto set = model.element_sets.find(look_up(text.field(0), true).key);
          set != model.element_sets.end())
        set->second.defines_surface = true;
    }
    reject_truncated_block();
  }

  void read_section()
  {
    const auto set = model.element_sets.find(look_up(text.value_of("ELSET"), true).key);
    if (set != model.element_sets.end())
      set->second.origin = AbaqusOrigin::section;
    store_block();
  }

  /// Stores a block that does not define the mesh.
  void store_block()
  {
    if (is_one_of(text.keyword(), "|TIE|MPC|EQUATION|COUPLING|RIGID BODY|EMBEDDED ELEMENT|"))
      found_couplings.insert("*" + text.keyword());
    n_steps += text.keyword() == "STEP" ? 1 : 0;
    if (n_steps > 1 && text.keyword() != "STEP")
      return;
    AbaqusBlock block = {text.keyword_line()};
    const bool is_section = block.keyword == "SOLID SECTION";
    if (is_section || block.keyword == "TRANSFORM") {
      const std::string set = text.value_of(is_section ? "ELSET" : "NSET");
      text.next_data();
      add_row(block, {set});
    }
    while (text.next_data())
      add_row(block, {});
    model.blocks.push_back(std::move(block));
  }

  /// Adds a row of @p fields and the fields of the current line to @p block.
  void add_row(AbaqusBlock &block, std::vector<std::string> fields)
  {
    fields.insert(fields.end(), text.fields().begin(), text.fields().end());
    AbaqusRow row = {text.location(), std::move(fields)};
    if (const AbaqusModel::Sets *const sets = model.targets_of(block.keyword)) {
      const Target target = look_up(row.fields[0], sets != &model.node_sets);
      if (const auto set = sets->find(target.key); set != sets->end())
        row.members = set->second.members;
      else if (target.index && *target.index != skipped_element)
        row.members = {*target.index};
      row.fields[0] = target.key;
      row.fields.resize(std::max<std::size_t>(row.fields.size(), 2));
      if (const auto side = side_of_load(block.keyword, upper(row.fields[1])))
        add_faces(block, row, *side);
    }
    block.rows.push_back(std::move(row));
  }

  /// Adds the faces with number @p side on which a load acts to the surface of all faces with the
  /// same load.
  void add_faces(const AbaqusBlock &block, AbaqusRow &row, const std::size_t side)
  {
    text.require_fields(3);
    AbaqusSet chosen;
    add_members(chosen, text.field(0), true);
    const bool is_itself = side == AbaqusSet::element_itself;
    AbaqusBlock::Key key = block.key(row, 2);
    key.first += upper(row.fields[1]).erase(1, is_itself ? 0 : 1);
    for (const std::size_t element : chosen.members) {
      if (model.table.elements[element].shape->dimension != (is_itself ? dim - 1 : dim))
        continue; // a structure without faces
      row.name = load_surfaces[key];
      if (row.name.empty()) {
        row.name = load_surfaces[key] = model.new_name(lower(block.keyword) + "_");
        model.surfaces.emplace(upper(row.name),
                               AbaqusSet{row.name, row.location, AbaqusOrigin::load});
      }
      model.surfaces.at(upper(row.name)).sides.push_back({element, side, row.location});
    }
  }

  using Read = void (AbaqusReader::*)();
  static Read reader_of(const std::string &keyword)
  {
    static const std::map<std::string, Read> readers = {
        {"NODE", &AbaqusReader::read_nodes},
        {"ELEMENT", &AbaqusReader::read_elements},
        {"NSET", &AbaqusReader::read_set},
        {"ELSET", &AbaqusReader::read_set},
        {"SURFACE", &AbaqusReader::read_surface},
        {"SOLID SECTION", &AbaqusReader::read_section},
        {"SHELL SECTION", &AbaqusReader::read_section}};
    const auto found = readers.find(keyword);
    return found == readers.end() ? &AbaqusReader::store_block : found->second;
  }

  /// The index of elements that are ignored.
  static constexpr std::size_t skipped_element = static_cast<std::size_t>(-1);

  AbaqusParts parts;
  AbaqusText text; ///< of the current block
  int dim;
  AbaqusModel model;
  std::vector<bool> are_shells;          ///< whether an element is a shell or membrane
  AbaqusInstance *instance = nullptr;    ///< of the current block
  std::set<std::string> found_couplings; ///< keywords that are ignored with a warning
  std::map<std::string, Count> skipped_types, long_elements; ///< by names of types
  std::vector<Count> missing_members;                        ///< of sets
  std::map<AbaqusBlock::Key, std::string> load_surfaces;     ///< names
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
