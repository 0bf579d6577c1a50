#include "app/abaqus_deck.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace femgpu
{
namespace
{
constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Keywords without an effect on the solution, or translated by their lines.
constexpr std::string_view ignored_keywords =
    "|HEADING|NODE PRINT|EL PRINT|NODE FILE|EL FILE|ELEMENT FILE|FILE FORMAT|FACE PRINT|"
    "SECTION PRINT|CONTACT FILE|CONTACT PRINT|ENERGY PRINT|OUTPUT|NODE OUTPUT|ELEMENT OUTPUT|"
    "CONTACT OUTPUT|ENERGY OUTPUT|PREPRINT|PRINT|MONITOR|RESTART|TIME POINTS|CONTROLS|"
    "SPECIFIC HEAT|ASSEMBLY|END ASSEMBLY|ORIENTATION|DEPVAR|TIE|SURFACE INTERACTION|SURFACE "
    "BEHAVIOR|FRICTION|DESIGNVARIABLES|DESIGN VARIABLES|"
    "END STEP|";

/// Procedures of steps other than *STATIC and *HEAT TRANSFER.
constexpr std::string_view other_procedures =
    "|FREQUENCY|BUCKLE|DYNAMIC|MODAL DYNAMIC|STEADY STATE DYNAMICS|VISCO|GREEN|"
    "COUPLED TEMPERATURE-DISPLACEMENT|UNCOUPLED TEMPERATURE-DISPLACEMENT|ELECTROMAGNETICS|"
    "COMPLEX FREQUENCY|SENSITIVITY|SUBSTRUCTURE GENERATE|CFD|CRACK PROPAGATION|";

/// Returns the dimension of the mesh in @p contents. @throws InputError if the file has elements
/// that femgpu cannot compute
int dimension_of(const std::string &name, const std::string &contents)
{
  int dim = 0;
  for (AbaqusText text(name, contents); text.next_keyword();) {
    const std::string &keyword = text.keyword();
    if (is_one_of(keyword, "|SHELL SECTION|MEMBRANE SECTION|FLUID SECTION|") ||
        keyword.substr(0, 4) == "BEAM")
      text.fail_at_keyword("*" + keyword +
                           ": femgpu has neither shells nor membranes, beams and "
                           "networks. Model this part with solid or plane elements.");
    if (keyword != "ELEMENT")
      continue;
    const std::string type = upper(text.value_of("TYPE"));
    const std::string family = type.substr(type[0] == 'D' || type[0] == 'A' ? 1 : 0, 3);
    if (family == "C3D")
      dim = 3;
    else if (dim == 0 && (is_one_of(family, "|CPS|CPE|C2D|") || type.find("AX") != type.npos))
      dim = 2;
  }
  if (dim == 0)
    throw InputError(name + ": the file has neither solid elements (C3D8, …) nor plane ones "
                            "(CPS4, CPE4, …), which femgpu needs. Shells, beams and trusses have "
                            "no counterpart.");
  return dim;
}
} // namespace

AbaqusDeck::AbaqusDeck(const std::string &name, const std::string &contents)
    : name(name), dim(dimension_of(name, contents)), model(read_abaqus_model(name, contents, dim))
{
  assign_ids_from_sets(model, dim);
  for (const MeshElement &element : model.table.elements)
    n_cells += element.shape->dimension == dim ? 1 : 0;
  for (AbaqusBlock &block : model.blocks)
    read(block);
  if (procedure.empty())
    throw InputError(name + ": the file has no *STEP with *STATIC or *HEAT TRANSFER, STEADY STATE, "
                            "which femgpu could compute. Add one.");
  read_sections();
  read_ties();
  for (AbaqusBlock &block : model.blocks)
    apply_amplitudes(block);
}

std::vector<const AbaqusRow *> AbaqusDeck::rows(const std::string &keyword) const
{
  std::vector<const AbaqusRow *> result;
  for (const AbaqusBlock &block : model.blocks)
    for (const AbaqusRow &row : block.rows)
      if (block.keyword == keyword)
        result.push_back(&row);
  return result;
}

void AbaqusDeck::note(const MeshLocation location, const std::string &what)
{
  const std::string item = model.table.location_of(location) + what;
  if (std::find(not_translated.begin(), not_translated.end(), item) == not_translated.end())
    not_translated.push_back(item);
}

void AbaqusDeck::note_keyword(const AbaqusBlock &block, const std::string &reason)
{
  note(block.location, "*" + block.keyword + reason);
}

void AbaqusDeck::fail(const MeshLocation location, const std::string &message) const
{
  throw InputError(model.table.location_of(location) + message);
}

double AbaqusDeck::number(const AbaqusRow &row, const std::size_t i) const
{
  if (i >= row.fields.size() || row.fields[i].empty())
    return 0.;
  if (const auto value = finite_number(row.fields[i]))
    return *value;
  fail(row.location, in_quotes(row.fields[i]) + " is not a number. Correct it.");
}

std::string AbaqusDeck::sides(const std::string &name, const std::string &keyword,
                              const MeshLocation location)
{
  for (const PhysicalName &known : model.table.names)
    if (known.dimension == dim - 1 && upper(known.name) == upper(name))
      return known.name;
  std::string reason =
      "'" + name + "' has no whole sides of cells; add an *NSET or *SURFACE that has";
  for (const UnusableName &known : model.table.unusable_names)
    if (upper(known.name) == upper(name))
      reason = "'" + known.name + "' is unusable. " + known.reason;
  note(location, "*" + keyword + ": " + reason);
  return {};
}

/// Reads a block, and removes the lines of one that cannot be translated.
void AbaqusDeck::read(AbaqusBlock &block)
{
  const std::string &keyword = block.keyword;
  const auto reject = [&](const std::string &reason) {
    note_keyword(block, reason);
    block.rows.clear();
  };
  if (keyword == "STEP")
    begin_step(block);
  else if (is_one_of(keyword, "|STATIC|HEAT TRANSFER|") || is_one_of(keyword, other_procedures))
    read_procedure(block);
  else if (block.has("USER") || block.has("SUBMODEL") ||
           (keyword == "TEMPERATURE" && block.has("FILE")))
    reject(": its values are not in this file");
  else if (keyword == "INITIAL CONDITIONS" && block.value("TYPE") != "TEMPERATURE")
    reject(", TYPE=" + block.value("TYPE") + ": femgpu has no counterpart");
  else if (keyword == "BOUNDARY" && n_steps == 1 && block.value("OP") == "NEW")
    remove_supports_before_the_step();
  else if (keyword == "AMPLITUDE")
    read_amplitude(block);
  else if (keyword == "PHYSICAL CONSTANTS") {
    absolute_zero = finite_number(block.value("ABSOLUTE ZERO")).value_or(0.);
    stefan_boltzmann = finite_number(block.value("STEFAN BOLTZMANN")).value_or(0.);
  }
  else if (model.targets_of(keyword) == nullptr && !read_material(block) &&
           !is_one_of(keyword, ignored_keywords))
    note_keyword(block, ": femgpu has no counterpart");
}

void AbaqusDeck::begin_step(const AbaqusBlock &block)
{
  if (++n_steps > 1)
    return note_keyword(block, ": step " + std::to_string(n_steps) +
                                   "; femgpu computes the first step only");
  if (block.has("NLGEOM") && block.value("NLGEOM") != "NO")
    note_keyword(block, ", NLGEOM: femgpu computes small displacements");
}

/// Removes the lines of *BOUNDARY before the first step, which OP=NEW replaces.
void AbaqusDeck::remove_supports_before_the_step()
{
  for (AbaqusBlock &block : model.blocks) {
    if (block.keyword == "STEP")
      return;
    if (block.keyword == "BOUNDARY")
      block.rows.clear();
  }
}

void AbaqusDeck::read_procedure(const AbaqusBlock &block)
{
  is_heat = block.keyword == "HEAT TRANSFER";
  if (is_one_of(block.keyword, other_procedures) || (is_heat && !block.has("STEADY STATE")))
    fail(block.location, "*" + block.keyword + (is_heat ? " without STEADY STATE" : "") +
                             " in the first step is not supported: femgpu computes *STATIC and "
                             "*HEAT TRANSFER, STEADY STATE. Move such a step to the front.");
  procedure = "*" + block.keyword + (is_heat ? ", STEADY STATE" : "") + ", line " +
              std::to_string(block.location.number);
  if (!block.rows.empty() && number(block.rows[0], 1) > 0.)
    end_time = number(block.rows[0], 1);
}

/// Reads *MATERIAL or a property. Returns false if the keyword is neither.
bool AbaqusDeck::read_material(const AbaqusBlock &block)
{
  const std::string &keyword = block.keyword, type = block.value("TYPE");
  if (keyword == "MATERIAL") {
    material = &materials[block.value("NAME")];
    material->name = block.has("NAME") ? block.options.at("NAME") : "";
    return true;
  }
  if (keyword == "PLASTIC") {
    note_keyword(block, ": femgpu is linear; Elasticity/Yield stress gives the safety factor");
    return true;
  }
  if (!is_one_of(keyword, "|ELASTIC|EXPANSION|DENSITY|CONDUCTIVITY|"))
    return false;
  if (material == nullptr)
    fail(block.location, "*" + keyword + " comes before the first *MATERIAL. Add the material.");
  const bool is_orthotropic = keyword == "CONDUCTIVITY" && type == "ORTHO";
  material->has_orthotropic_conductivity |= is_orthotropic;
  if (!type.empty() && type.substr(0, 3) != "ISO" && !is_orthotropic)
    note_keyword(block, ", TYPE=" + type + ": femgpu has no counterpart");
  else
    for (const AbaqusRow &row : block.rows) {
      auto &values = material->properties[keyword].emplace_back();
      for (std::size_t i = 0; i < row.fields.size(); ++i)
        values.push_back(number(row, i));
    }
  if (keyword == "EXPANSION")
    material->zero = finite_number(block.value("ZERO")).value_or(material->zero);
  return true;
}

/// Reads a table of times and factors.
void AbaqusDeck::read_amplitude(const AbaqusBlock &block)
{
  for (const auto &[option, value] : block.options)
    if (!is_one_of(option, "|NAME|TIME|") &&
        !is_one_of(option + "=" + upper(value), "|DEFINITION=TABULAR|VALUE=RELATIVE|"))
      return note_keyword(block, ", " + option + ": femgpu applies the full values of loads");
  for (const AbaqusRow &row : block.rows)
    for (std::size_t i = 0; i + 1 < row.fields.size(); i += 2)
      amplitudes[block.value("NAME")].push_back({number(row, i + 1), number(row, i)});
}

/// Multiplies loads and prescribed values by their amplitudes at the end of the step: sink
/// temperatures by AMPLITUDE, their coefficients by FILM AMPLITUDE or RADIATION AMPLITUDE.
void AbaqusDeck::apply_amplitudes(AbaqusBlock &block)
{
  for (const std::string kind : {"", "FILM ", "RADIATION "}) {
    const std::string option = kind + "AMPLITUDE";
    if (!block.has(option) || block.rows.empty())
      continue;
    const auto found = amplitudes.find(block.value(option));
    if (found == amplitudes.end()) {
      note_keyword(block, ", " + option + ": femgpu applies the full value");
      continue;
    }
    const double time = end_time - finite_number(block.value(kind + "TIME DELAY")).value_or(0.);
    const double factor = interpolate(found->second, 0, time);
    const std::size_t column = block.keyword == "TEMPERATURE"                 ? 1
                               : block.keyword == "BOUNDARY" || !kind.empty() ? 3
                                                                              : 2;
    for (AbaqusRow &row : block.rows)
      if (column < row.fields.size())
        row.fields[column] = number_text(factor * number(row, column));
  }
}

/// Returns the positions of the vertices of the sides with the name @p name.
std::set<std::array<double, 3>> AbaqusDeck::corners(const std::string &name) const
{
  std::set<std::array<double, 3>> result;
  for (const PhysicalName &known : model.table.names)
    for (const MeshElement &side : model.table.elements)
      if (known.dimension == dim - 1 && upper(known.name) == upper(name) && side.id == known.id &&
          side.shape->dimension == dim - 1)
        for (std::size_t v = 0; v < side.shape->n_nodes; ++v)
          result.insert(model.table.points[side.nodes[v]]);
  return result;
}

/// Sets merge_distance if the surfaces of all *TIE have coincident nodes and no other nodes of the
/// mesh coincide.
void AbaqusDeck::read_ties()
{
  std::set<std::array<double, 3>> tied, all, coincident;
  bool is_conforming = true;
  double size = 0.;
  for (const AbaqusRow *const row : rows("TIE")) {
    const auto of_slave = corners(row->fields.front()), of_master = corners(row->fields.back());
    is_conforming = is_conforming && std::includes(of_master.begin(), of_master.end(),
                                                   of_slave.begin(), of_slave.end());
    tied.insert(of_slave.begin(), of_slave.end());
  }
  const std::vector<bool> is_vertex = vertices_of_cells(model.table, dim);
  for (std::size_t node = 0; node < is_vertex.size() && !tied.empty(); ++node)
    if (const auto &point = model.table.points[node]; is_vertex[node]) {
      size = std::max({size, std::abs(point[0]), std::abs(point[1]), std::abs(point[2])});
      if (!all.insert(point).second)
        coincident.insert(point);
    }
  if (is_conforming && !tied.empty() && coincident == tied)
    merge_distance = 1e-9 * size;
  for (const AbaqusBlock &block : model.blocks)
    if (block.keyword == "TIE" && (merge_distance == 0. || block.has("CYCLIC SYMMETRY")))
      note_keyword(block, ": femgpu joins parts only at coincident nodes (Mesh/Merge nodes)");
}

void AbaqusDeck::read_sections()
{
  section_of.assign(n_cells, none);
  for (const AbaqusBlock &block : model.blocks) {
    if (block.keyword != "SOLID SECTION" || block.rows[0].members.empty())
      continue;
    const AbaqusRow &row = block.rows[0];
    const auto of = materials.find(block.value("MATERIAL"));
    if (of == materials.end())
      fail(block.location,
           std::string("*SOLID SECTION has ") +
               (block.has("MATERIAL") ? "the material " + in_quotes(block.options.at("MATERIAL")) +
                                            ", which is not in the file"
                                      : "no MATERIAL") +
               ". Add the *MATERIAL.");
    const double thickness = dim == 2 ? number(row, 1) : 1.;
    sections.push_back({row.fields[0], &of->second, thickness == 0. ? 1. : thickness});
    for (const std::size_t cell : row.members)
      section_of[cell] = sections.size() - 1;
    if (sections.back().thickness != sections[0].thickness)
      note_keyword(block, ": another thickness than that of '" + sections[0].set +
                              "'; femgpu has one thickness");
    for (const UnusableName &known : model.table.unusable_names)
      if (known.dimension == dim && known.name == sections.back().set)
        note_keyword(block, ": '" + known.name + "' is unusable. " + known.reason);
  }
  if (sections.empty() || std::count(section_of.begin(), section_of.end(), none) > 0)
    throw InputError(name + ": some elements have no *SOLID SECTION with a material. Add it.");
}
} // namespace femgpu
