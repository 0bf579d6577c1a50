#include "app/abaqus_deck.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace femgpu
{
namespace
{
constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Keywords without an effect on the solution.
constexpr std::string_view ignored_keywords =
    "|HEADING|NODE|ELEMENT|NSET|ELSET|SURFACE|NODE PRINT|EL PRINT|NODE FILE|EL FILE|"
    "ELEMENT FILE|FILE FORMAT|FACE PRINT|SECTION PRINT|CONTACT FILE|CONTACT PRINT|"
    "ENERGY PRINT|OUTPUT|NODE OUTPUT|ELEMENT OUTPUT|CONTACT OUTPUT|ENERGY OUTPUT|PREPRINT|"
    "PRINT|MONITOR|RESTART|TIME POINTS|CONTROLS|SPECIFIC HEAT|PART|END PART|ASSEMBLY|"
    "END ASSEMBLY|INSTANCE|END "
    "INSTANCE|ORIENTATION|BOUNDARY|CLOAD|CFLUX|DLOAD|DFLUX|DEPVAR|DESIGNVARIABLES|DESIGN VARIABLES|"
    "TEMPERATURE|INITIAL CONDITIONS|SOLID SECTION|FILM|RADIATE|";

/// Procedures of steps other than *STATIC and *HEAT TRANSFER.
constexpr std::string_view other_procedures =
    "|FREQUENCY|BUCKLE|DYNAMIC|MODAL DYNAMIC|STEADY STATE DYNAMICS|VISCO|GREEN|"
    "COUPLED TEMPERATURE-DISPLACEMENT|UNCOUPLED TEMPERATURE-DISPLACEMENT|ELECTROMAGNETICS|"
    "COMPLEX FREQUENCY|SENSITIVITY|SUBSTRUCTURE GENERATE|CFD|CRACK PROPAGATION|";

bool is_in(const std::string_view list, const std::string &keyword)
{
  return list.find("|" + keyword + "|") != std::string_view::npos;
}

/// Returns the dimension of the mesh in @p contents. @throws InputError if the file has elements
/// that femgpu cannot compute
int dimension_of(const std::string &name, const std::string &contents)
{
  int dim = 0;
  for (AbaqusText text(name, contents); text.next_keyword();) {
    const std::string &keyword = text.keyword();
    if (keyword == "SHELL SECTION" || keyword == "MEMBRANE SECTION" ||
        keyword.substr(0, 4) == "BEAM" || keyword == "FLUID SECTION")
      text.fail_at_keyword("*" + keyword +
                           ": femgpu has neither shells nor membranes, beams and "
                           "networks. Model this part with solid or plane elements.");
    if (keyword != "ELEMENT")
      continue;
    const std::string type = upper(text.value_of("TYPE"));
    if (type.find("AX") != std::string::npos)
      text.fail_at_keyword("elements of TYPE=" + type +
                           " are axisymmetric, which femgpu does not support. Mesh a sector of the "
                           "body in 3D with symmetry planes at its sides.");
    const std::string family = type.substr(type[0] == 'D' || type[0] == 'A' ? 1 : 0, 3);
    if (family == "C3D")
      dim = 3;
    else if (dim == 0 && (family == "CPS" || family == "CPE" || family == "C2D"))
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
    : name(name), dim(dimension_of(name, contents)), model(read_abaqus_model(name, contents, dim)),
      text(name, contents)
{
  assign_ids_from_sets(model, dim);
  for (const MeshElement &element : model.table.elements)
    n_cells += element.shape->dimension == dim ? 1 : 0;
  while (text.next_keyword())
    read_keyword();
  if (procedure.empty())
    throw InputError(name + ": the file has no *STEP with *STATIC or *HEAT TRANSFER, STEADY STATE, "
                            "which femgpu could compute. Add one.");
  read_sections();
  for (const FaceLoad &load : model.face_loads) {
    AbaqusSurfaceLoad of_values = {
        sides(upper(load.name), load.keyword, load.line), load.label, {}, load.line};
    for (std::size_t i = 0; i < load.values.size(); ++i)
      of_values.values.push_back(number({load.keyword, "", load.line, load.values, {}}, i));
    if (!of_values.surface.empty())
      surface_loads.push_back(std::move(of_values));
  }
}

void AbaqusDeck::note(const std::size_t line, const std::string &what)
{
  const std::string item = name + ":" + std::to_string(line) + ": " + what;
  if (std::find(not_translated.begin(), not_translated.end(), item) == not_translated.end())
    not_translated.push_back(item);
}

void AbaqusDeck::note_keyword(const std::string &reason)
{
  note(text.main_line_of_keyword(), "*" + text.keyword() + reason);
}

std::string AbaqusDeck::option(const std::string &key) const
{
  const auto found = text.options().find(key);
  return found == text.options().end() ? "" : upper(found->second);
}

double AbaqusDeck::number(const AbaqusCondition &condition, const std::size_t i) const
{
  if (i >= condition.values.size() || condition.values[i].empty())
    return 0.;
  if (const auto value = finite_number(condition.values[i]))
    return *value;
  throw InputError(name + ":" + std::to_string(condition.line) + ": " +
                   in_quotes(condition.values[i]) + " in *" + condition.keyword +
                   " is not a number. Correct it.");
}

std::string AbaqusDeck::sides(const std::string &upper_name, const std::string &keyword,
                              const std::size_t line)
{
  for (const PhysicalName &known : model.table.names)
    if (known.dimension == dim - 1 && upper(known.name) == upper_name)
      return known.name;
  std::string reason = "'" + upper_name +
                       "' has no whole sides of cells; add an *NSET or *SURFACE "
                       "that has";
  for (const UnusableName &known : model.table.unusable_names)
    if (upper(known.name) == upper_name)
      reason = "'" + known.name + "' is unusable. " + known.reason;
  note(line, "*" + keyword + ": " + reason);
  return {};
}

void AbaqusDeck::read_keyword()
{
  const std::string &keyword = text.keyword();
  if (keyword == "STEP")
    return begin_step();
  if (n_steps > 1 || keyword == "END STEP")
    return;
  if (keyword == "STATIC" || keyword == "HEAT TRANSFER" || is_in(other_procedures, keyword))
    return read_procedure();
  if (keyword.substr(0, 2) == "DS" || keyword.substr(0, 2) == "SF" || keyword == "SRADIATE")
    return read_surface_loads();
  if (!option("AMPLITUDE").empty())
    note_keyword(", AMPLITUDE: femgpu applies the full value");
  if (text.has("USER") || text.has("SUBMODEL") || (keyword == "TEMPERATURE" && text.has("FILE")))
    return note_keyword(": its values are not in this file");
  if (keyword == "INITIAL CONDITIONS" && option("TYPE") != "TEMPERATURE")
    return note_keyword(", TYPE=" + option("TYPE") + ": femgpu has no counterpart");
  if (keyword == "AMPLITUDE")
    return note_keyword(": femgpu applies the full values of loads");
  if (keyword == "TRANSFORM")
    return note_keyword(": femgpu takes the directions of supports and forces as global ones");
  if (keyword == "PHYSICAL CONSTANTS") {
    absolute_zero = finite_number(option("ABSOLUTE ZERO")).value_or(0.);
    stefan_boltzmann = finite_number(option("STEFAN BOLTZMANN")).value_or(0.);
    return;
  }
  if (!read_material() && !is_in(ignored_keywords, keyword))
    note_keyword(": femgpu has no counterpart");
}

void AbaqusDeck::begin_step()
{
  if (++n_steps > 1)
    return note_keyword(": step " + std::to_string(n_steps) +
                        "; femgpu computes the first step only");
  if (text.has("NLGEOM") && option("NLGEOM") != "NO")
    note_keyword(", NLGEOM: femgpu computes small displacements");
}

void AbaqusDeck::read_procedure()
{
  is_heat = text.keyword() == "HEAT TRANSFER";
  if (is_in(other_procedures, text.keyword()) || (is_heat && !text.has("STEADY STATE")))
    text.fail_at_keyword("*" + text.keyword() + (is_heat ? " without STEADY STATE" : "") +
                         " in the first step is not supported: femgpu computes *STATIC and "
                         "*HEAT TRANSFER, STEADY STATE. Move such a step to the front.");
  procedure = "*" + text.keyword() + (is_heat ? ", STEADY STATE" : "") + ", line " +
              std::to_string(text.main_line_of_keyword());
}

/// Reads *MATERIAL or a property. Returns false if the keyword is neither.
bool AbaqusDeck::read_material()
{
  const std::string &keyword = text.keyword();
  if (keyword == "MATERIAL") {
    material = &materials[upper(text.value_of("NAME"))];
    material->name = text.value_of("NAME");
    return true;
  }
  if (keyword == "PLASTIC") {
    note_keyword(": femgpu is linear; Elasticity/Yield stress gives the safety factor");
    return true;
  }
  const std::map<std::string, std::vector<std::vector<double>> AbaqusMaterial::*> properties = {
      {"ELASTIC", &AbaqusMaterial::elastic},
      {"EXPANSION", &AbaqusMaterial::expansion},
      {"DENSITY", &AbaqusMaterial::density},
      {"CONDUCTIVITY", &AbaqusMaterial::conductivity}};
  const auto property = properties.find(keyword);
  if (property == properties.end())
    return false;
  if (material == nullptr)
    text.fail_at_keyword("*" + keyword + " comes before the first *MATERIAL. Add the material.");
  const std::string type = option("TYPE");
  material->has_orthotropic_conductivity |= keyword == "CONDUCTIVITY" && type == "ORTHO";
  if (!type.empty() && type.substr(0, 3) != "ISO" && (keyword != "CONDUCTIVITY" || type != "ORTHO"))
    note_keyword(", TYPE=" + type + ": femgpu has no counterpart");
  else
    while (text.next_data()) {
      auto &row = (material->*property->second).emplace_back();
      for (std::size_t i = 0; i < text.fields().size(); ++i)
        row.push_back(text.number(i, "a value of *" + text.keyword()));
    }
  if (keyword == "EXPANSION")
    if (const auto zero = finite_number(option("ZERO")))
      material->zero = *zero;
  return true;
}

/// Reads *DSLOAD, *DSFLUX or *SFILM.
void AbaqusDeck::read_surface_loads()
{
  while (text.next_data()) {
    const std::string surface = sides(upper(text.field(0)), text.keyword(), text.main_line());
    AbaqusSurfaceLoad load = {surface, upper(text.field(1)), {}, text.main_line()};
    for (std::size_t i = 2; i < text.fields().size(); ++i)
      load.values.push_back(text.number(i, "a value of *" + text.keyword()));
    if (!surface.empty())
      surface_loads.push_back(load);
  }
}

void AbaqusDeck::read_sections()
{
  section_of.assign(n_cells, none);
  for (const AbaqusCondition &condition : model.conditions) {
    if (condition.keyword != "SOLID SECTION" || condition.members.empty())
      continue;
    const auto of = materials.find(upper(condition.values[0]));
    if (of == materials.end())
      throw InputError(
          name + ":" + std::to_string(condition.line) + ": *SOLID SECTION has " +
          (condition.values[0].empty()
               ? "no MATERIAL"
               : "the material " + in_quotes(condition.values[0]) + ", which is not in the file") +
          ". Add the *MATERIAL.");
    const double thickness = dim == 2 ? number(condition, 1) : 1.;
    sections.push_back({condition.target, &of->second, thickness == 0. ? 1. : thickness});
    for (const std::size_t cell : condition.members)
      section_of[cell] = sections.size() - 1;
    if (sections.back().thickness != sections[0].thickness)
      note(condition.line, "*SOLID SECTION: another thickness than that of '" + sections[0].set +
                               "'; femgpu has one thickness");
    for (const UnusableName &known : model.table.unusable_names)
      if (known.dimension == dim && known.name == sections.back().set)
        note(condition.line, "*SOLID SECTION: '" + known.name + "' is unusable. " + known.reason);
  }
  if (sections.empty() || std::count(section_of.begin(), section_of.end(), none) > 0)
    throw InputError(name + ": some elements have no *SOLID SECTION with a material. Add it.");
}

} // namespace femgpu
