#include "physics/mesh/mesh_readers.h"

#include "linalg/base/error.h"
#include "physics/mesh/abaqus_sets.h"
#include "physics/mesh/abaqus_text.h"

#include <algorithm>
#include <regex>
#include <set>
#include <unordered_map>
#include <utility>

namespace femgpu
{
namespace
{
using Fields = std::vector<std::string_view>;

/// Returns @p word, a number or name, without the name of its part: "NAME" for "PART-1-1.NAME".
std::string_view without_part(std::string_view word)
{
  word.remove_prefix(word.rfind('.') + 1); // npos + 1 is 0
  return without_quotes(word);
}

/// Returns dimension and number of nodes of the element type @p type, which is in upper case;
/// {0, 0} if the type is unknown.
std::pair<int, std::size_t> size_of_type(const std::string &type)
{
  static const std::vector<std::pair<std::regex, int>> families = {
      {std::regex("(?:AC|DC|C)3D(\\d+)[A-Z]*"), 3},
      {std::regex("(?:CPS|CPEG|CPE|DC2D|AC2D|M3D|SFM3D|R3D|DS|S)([34689])"
                  "(?!\\d)[A-Z0-9]*"),
       2},
      {std::regex("STRI(3|6)5?"), 2},
      {std::regex("(?:T[23]D|R2D|RB[23]D|DC1D)([23])[A-Z]*"), 1}};
  if (type.size() > 20) // std::regex may fail on long strings
    return {0, 0};
  std::smatch match;
  for (const auto &[family, dimension] : families)
    if (std::regex_match(type, match, family))
      return {dimension, std::stoul(match[1].str().substr(0, 4))};
  static const std::regex beam("B[23]([1-3])[A-Z]*"); // the degree; 3 has two nodes, too
  if (std::regex_match(type, match, beam))
    return {1, match[1] == "2" ? 3U : 2U};
  return {0, 0};
}

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
      text.fail(in_quotes(text.line()) +
                " is not a keyword such as *NODE: the file is damaged or not an Abaqus input "
                "file. Write it again.");
    while (text.next_keyword())
      read_block();
    for (const std::string &coupling : found_couplings)
      model.table.warnings.push_back(model.table.file + ": " + coupling +
                                     " is ignored, so that the parts that it connects are "
                                     "separate. Mesh them with common nodes.");
    return std::move(model);
  }

private:
  /// Moves to the next data line. @throws InputError if the block ends before its first data line
  bool next_data()
  {
    if (text.next_data())
      return true;
    if (text.is_empty_block() && text.at_end())
      text.fail("the file ends within the block *" + text.keyword() + " of line " +
                std::to_string(text.location_of_keyword().line) +
                ": it is truncated. Write or copy it again.");
    if (text.is_empty_block())
      text.fail("the block *" + text.keyword() + " before this line is empty. Remove it.");
    return false;
  }

  void reject_option(const std::string &option) const
  {
    if (text.has(option))
      text.fail_at_keyword("*" + text.keyword() + " with " + option + " is not supported." +
                           explicit_nodes_advice);
  }

  /// Returns the set or surface named by the value of @p option, and creates it if it does not
  /// exist.
  /// @param origin the origin that a new set gets
  AbaqusSet &named(std::map<std::string, AbaqusSet> &all, const std::string &option,
                   const AbaqusOrigin origin) const
  {
    const std::string name = text.value_of(option);
    AbaqusSet &set =
        all.try_emplace(upper(name), AbaqusSet{name, text.main_line_of_keyword(), origin})
            .first->second;
    set.is_internal = text.has("INTERNAL");
    return set;
  }

  void read_nodes()
  {
    text.follow_input();
    reject_option("SYSTEM");
    AbaqusSet *const set =
        text.has("NSET") ? &named(model.node_sets, "NSET", AbaqusOrigin::nodes) : nullptr;
    while (next_data()) {
      const Fields &fields = text.fields();
      if (fields.size() < 3)
        text.fail("a node needs a number and two or three coordinates. Is the file truncated?");
      const long long number = text.integer(fields[0], "the number of a node");
      std::array<double, 3> point = {};
      for (std::size_t d = 0; d < std::min<std::size_t>(3, fields.size() - 1); ++d)
        point[d] = text.number(d + 1, "the coordinate of a node");
      if (!nodes.emplace(number, model.table.points.size()).second)
        text.fail(
            "node " + std::to_string(number) +
            " is defined twice. Use different numbers in all parts: in Abaqus/CAE, choose 'Do not "
            "use parts and assemblies in input files' in Model > Edit Attributes.");
      if (set != nullptr)
        set->members.push_back(model.table.points.size());
      model.table.points.push_back(point);
    }
  }

  const ElementType &type_of(const std::string &name) const
  {
    if (name.find("AX") != std::string::npos)
      text.fail_at_keyword(
          "elements of TYPE=" + name +
          " are axisymmetric, which is not supported. Mesh a sector of the body in 3D with "
          "symmetry planes at its sides, or use CPS or CPE elements for a plane body.");
    const auto [dimension, n_nodes] = size_of_type(name);
    for (const ElementType &type : element_types())
      if (type.is_of_abaqus && type.shape->dimension == dimension && type.n_nodes() == n_nodes)
        return type;
    text.fail_at_keyword(
        "elements of TYPE=" + in_quotes(name) +
        " are not supported. Remove the block, or use elements of solids (such as C3D4, C3D8, "
        "C3D10, C3D20), planes, shells and membranes (CPS3, CPE4, S4R, M3D4), trusses and "
        "beams (T3D2, B31).");
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
      found.push_back(find(nodes, fields[i], "a node"));
      if (found.size() == n_nodes && i + 1 < fields.size())
        text.fail("element " + std::to_string(number) + " has more than the " +
                  std::to_string(n_nodes) + " nodes of a " + name + ".");
    }
    if (type.shape == &CellShape::line && n_nodes == 3)
      std::swap(found[1], found[2]); // Abaqus lists the midpoint second
    if (!elements.emplace(number, model.table.elements.size()).second)
      text.fail("element " + std::to_string(number) +
                " is defined twice. Give each element its own number.");
    model.table.add_element(type, 0, first_line, found, dim);
  }

  void read_elements()
  {
    text.follow_input();
    const std::string name = upper(text.value_of("TYPE"));
    const ElementType &type = type_of(name);
    if (type.shape->dimension == dim)
      model.table.cell_types.emplace(name, text.main_line_of_keyword());
    const bool is_shell = name[0] == 'S' || name[0] == 'M' || name.substr(0, 2) == "DS";
    AbaqusSet *const set = text.has("ELSET")
                               ? &named(model.element_sets, "ELSET", AbaqusOrigin::of_elements)
                               : nullptr;
    while (next_data()) {
      if (set != nullptr)
        set->members.push_back(model.table.elements.size());
      are_shells.push_back(is_shell);
      read_element(type, name);
    }
  }

  /// Adds the member with number @p token, or the members of the set with this name, to @p set.
  void add_members(AbaqusSet &set, const std::string_view token, const bool of_elements)
  {
    const std::string_view word = without_part(token);
    if (word.find_first_not_of("0123456789") == std::string_view::npos) {
      set.members.push_back(of_elements ? find(elements, word, "an element")
                                        : find(nodes, word, "a node"));
      return;
    }
    const auto &sets = of_elements ? model.element_sets : model.node_sets;
    const auto other = sets.find(upper(word));
    if (other == sets.end())
      text.fail(in_quotes(word) + " is neither a number nor the name of a set before this line.");
    const auto members = other->second.members; // a copy: the other set may be this set
    set.members.insert(set.members.end(), members.begin(), members.end());
    if (set.members.size() > 2 * (nodes.size() + elements.size()))
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
    while (next_data()) {
      const Fields fields = text.fields();
      if (text.has("GENERATE"))
        add_range(set, fields, of_elements);
      else
        for (const std::string_view field : fields)
          add_members(set, field, of_elements);
    }
  }

  /// Returns AbaqusSet::Side::side for the side @p word: "S3", "E1", "SPOS" or "".
  std::size_t read_side(const std::string_view word, const std::size_t element) const
  {
    const std::string side = upper(word);
    if (side == "SPOS" || side == "SNEG")
      return AbaqusSet::element_itself;
    if (side.empty())
      return AbaqusSet::all_free;
    const char letter = are_shells[element] ? 'E' : 'S';
    if (side.size() != 2 || side[0] != letter || side[1] < '1' || side[1] > '6')
      text.fail(
          in_quotes(word) + " is not a side of a " + model.table.elements[element].shape->name +
          (letter == 'E' ? ", a shell or membrane: its edges are E1 to E4, its faces SPOS and "
                           "SNEG."
                         : ": they are S1 to S6."));
    return static_cast<std::size_t>(side[1] - '1');
  }

  void read_surface()
  {
    const std::string type =
        upper(text.has("TYPE") ? text.value_of("TYPE") : std::string("ELEMENT"));
    if (type == "NODE") {
      AbaqusSet &set = named(model.node_sets, "NAME", AbaqusOrigin::nodes);
      while (next_data())
        add_members(set, text.fields()[0], false);
      return;
    }
    AbaqusSet &surface = named(model.surfaces, "NAME", AbaqusOrigin::surface);
    if (type != "ELEMENT" || text.has("COMBINE") || text.has("CROP"))
      text.fail_at_keyword(
          "only surfaces of nodes or of sides of elements are supported. Remove this "
          "surface.");
    while (next_data()) {
      const Fields fields = text.fields();
      AbaqusSet chosen;
      add_members(chosen, fields[0], true);
      for (const std::size_t element : chosen.members)
        surface.sides.push_back(
            {element, read_side(fields.size() > 1 ? fields[1] : "", element), text.main_line()});
      const auto set = model.element_sets.find(upper(without_part(fields[0])));
      if (set != model.element_sets.end())
        set->second.defines_surface = true;
    }
  }

  void read_section()
  {
    const auto set = model.element_sets.find(upper(text.value_of("ELSET")));
    if (set != model.element_sets.end())
      set->second.origin = AbaqusOrigin::section;
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
        {"SOLID SECTION", &AbaqusReader::read_section},
        {"SHELL SECTION", &AbaqusReader::read_section}};
    static const std::set<std::string> generating_keywords = {
        "NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM", "PARAMETER"};
    static const std::set<std::string> coupling_keywords = {
        "TIE", "MPC", "EQUATION", "COUPLING", "RIGID BODY", "EMBEDDED ELEMENT"};
    if (generating_keywords.count(text.keyword()) > 0)
      text.fail_at_keyword("*" + text.keyword() + " is not supported." + explicit_nodes_advice);
    if (coupling_keywords.count(text.keyword()) > 0)
      found_couplings.insert("*" + text.keyword());
    n_parts += text.keyword() == "PART" ? 1 : 0;
    const auto block = blocks.find(text.keyword());
    if (block != blocks.end())
      return (this->*block->second)();
    const bool is_moved = text.keyword() == "INSTANCE" && text.next_data();
    if (n_parts > 1 || is_moved)
      text.fail_at_keyword(
          "the mesh has several parts, or a part that is moved, which is not supported. In "
          "Abaqus/CAE, choose 'Do not use parts and assemblies in input files' in Model > Edit "
          "Attributes, and write it again.");
  }

  AbaqusText text;
  int dim;
  AbaqusModel model;
  std::unordered_map<long long, std::size_t> nodes, elements; ///< indices by number in the file
  std::vector<bool> are_shells; ///< whether an element is a shell or membrane
  std::size_t n_parts = 0;
  std::set<std::string> found_couplings; ///< keywords that are ignored with a warning
};
} // namespace

MeshTable read_abaqus_file(const std::string &name, const std::string_view text, const int dim)
{
  MeshTable table = assign_ids_from_sets(AbaqusReader(name, text, dim).read(), dim);
  if (text.back() != '\n') // a number cut off at the end would be wrong, but valid
    throw InputError(name + ":" + std::to_string(1 + std::count(text.begin(), text.end(), '\n')) +
                     ": the last line is not terminated: the file is truncated. Write or copy it "
                     "again, or end the line.");
  return table;
}
} // namespace femgpu
