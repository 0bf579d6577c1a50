#include "app/from_abaqus.h"

#include "app/abaqus_deck.h"
#include "app/abaqus_fields.h"
#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace femgpu
{
namespace
{
/// Appends @p entry to the list "a; b; c".
void append(std::string &list, const std::string &entry, const char *const separator = "; ")
{
  list += (list.empty() ? "" : separator) + entry;
}

/// Values by names, in the order in which the names were added.
template <typename T>
using Named = std::vector<std::pair<std::string, T>>;

/// Returns the value of @p name, which is @p initial if the name is new.
template <typename T>
T &value_of(Named<T> &entries, const std::string &name, const T &initial)
{
  for (auto &[known, value] : entries)
    if (known == name)
      return value;
  return entries.emplace_back(name, initial).second;
}

class Translator
{
public:
  Translator(const std::string &name, const std::string &contents)
      : deck(name, contents), dim(deck.dim), model(deck.model), sections(deck.sections),
        thickness(deck.sections[0].thickness)
  {}

  AbaqusTranslation translate()
  {
    translate_surface_loads();
    if (deck.is_heat)
      translate_heat();
    else {
      translate_materials();
      translate_supports();
      translate_loads();
      translate_body_forces();
      set("Elasticity", "Reactions", "true", "*NODE PRINT: RF");
    }
    return {parameter_file(), std::move(deck.not_translated)};
  }

private:
  /// Adds the loads on sides to `pressures`, `tractions` and `fluxes`.
  void translate_surface_loads()
  {
    std::set<std::string> done; // surfaces made of the faces of a load
    for (const char *const keyword :
         {"DLOAD", "DSLOAD", "DFLUX", "DSFLUX", "FILM", "SFILM", "RADIATE", "SRADIATE"})
      for (const AbaqusRow *const row : deck.rows(keyword)) {
        const bool is_generated = row->name != row->fields[0];
        if (row->name.empty() || (is_generated && !done.insert(row->name).second))
          continue;
        const std::string sides = deck.sides(row->name, keyword, row->location);
        if (!sides.empty())
          translate_surface_load(keyword, *row, sides);
      }
  }

  void translate_surface_load(const std::string &keyword, const AbaqusRow &row,
                              const std::string &sides)
  {
    std::string label = upper(row.fields[1]);
    if (label.size() > 1 && is_digits(label.substr(1, 1)))
      label.erase(1, 1);
    const auto value = [&](const std::size_t i) { return deck.number(row, i + 2); };
    const double length = std::hypot(value(1), value(2), value(3));
    const std::string first = number_text(value(0));
    if (label == "P")
      append(pressures, sides + ": " + first);
    else if (label == "TRVEC" && length > 0.)
      for (std::size_t d = 0; d < 3; ++d)
        value_of(tractions, sides, {})[d] += value(0) * value(1 + d) / length;
    else if (label == "S")
      append(fluxes, sides + ": " + first);
    else if (label == "F")
      append(fluxes, sides + ": " + number_text(value(1)) + "*(" + first + " - u)");
    else if (label == "R" && deck.stefan_boltzmann > 0.) {
      const std::string zero = " - (" + number_text(deck.absolute_zero) + "))^4";
      append(fluxes, sides + ": " + number_text(value(1) * deck.stefan_boltzmann) + "*((" + first +
                         zero + " - (u" + zero + ")");
    }
    else
      deck.note(row.location, "*" + keyword + ", " + row.fields[1] + ": femgpu has no counterpart");
  }

  /// Returns 'set: value; set: value' for all sections, or the value that all share; empty if
  /// @p value returns an empty text for a material, which is then listed.
  std::string by_section(const std::string &keyword,
                         const std::function<std::string(const AbaqusMaterial &)> &value)
  {
    std::string result, first;
    bool is_same = true;
    for (const AbaqusSection &section : sections) {
      const std::string of = value(*section.material);
      if (of.empty()) {
        deck.not_translated.push_back(deck.name + ": material '" + section.material->name +
                                      "' has no " + keyword +
                                      " that femgpu supports; add its value below");
        return {};
      }
      first = result.empty() ? of : first;
      is_same = is_same && of == first;
      append(result, section.set + ": " + of);
    }
    return is_same ? first : result;
  }

  /// Returns an expression for column @p column of a table whose last column is a temperature, at
  /// the temperature @p at: a number if this is one.
  std::string at_temperature(const AbaqusTable &table, const std::size_t column,
                             const std::string &table_name, const std::string &at)
  {
    const auto value = finite_number(at);
    if (value || table.size() == 1)
      return number_text(interpolate(table, column, value.value_or(0.)));
    std::string known = table_name, entry;
    for (char &c : known)
      c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    for (const auto &row : table)
      append(entry, number_text(row.back()) + " " + number_text(row[column]), ", ");
    tables[known] = entry;
    return known + "(" + at + ")";
  }

  /// Returns the function of x, y and z that the values of @p keyword at the nodes are; @p
  /// otherwise where it gives none. Lists the keyword if there is no such function.
  Affine temperature(const std::string &keyword, const Affine &otherwise)
  {
    std::vector<double> values;
    for (const auto &p : model.table.points)
      values.push_back(otherwise[0] + otherwise[1] * p[0] + otherwise[2] * p[1] +
                       otherwise[3] * p[2]);
    MeshLocation location;
    for (const AbaqusRow *const row : deck.rows(keyword)) {
      location = row->location;
      for (const std::size_t node : row->members)
        values[node] = deck.number(*row, 1);
    }
    std::vector<std::size_t> nodes;
    const std::vector<bool> is_vertex = vertices_of_cells(model.table, dim);
    for (std::size_t node = 0; node < values.size(); ++node)
      if (is_vertex[node] || model.table.is_mid_side(node))
        nodes.push_back(node);
    if (const auto function = affine_through(model.table, nodes, values))
      return *function;
    deck.note(location, "*" + keyword +
                            ": the temperatures at the nodes are not a linear function of x, y "
                            "and z; set Elasticity/Temperature rise to an expression");
    return otherwise;
  }

  void translate_materials()
  {
    const Affine initial = temperature("INITIAL CONDITIONS", {});
    const Affine now = temperature("TEMPERATURE", initial);
    const std::string at = text_of(now), before = text_of(initial);
    const auto elastic = [&](const std::size_t column, const char *const letter) {
      return by_section("*ELASTIC", [&, column, letter](const AbaqusMaterial &m) {
        const AbaqusTable &table = m["ELASTIC"];
        const bool has_value = !table.empty() && table[0].size() > column;
        return has_value ? at_temperature(table, column, letter + m.name, at) : std::string();
      });
    };
    set("Elasticity", "Young's modulus", elastic(0, "E_"), "*ELASTIC");
    set("Elasticity", "Poisson's ratio", elastic(1, "nu_"), "*ELASTIC");
    std::size_t n = 0;
    for (const AbaqusSection &section : sections)
      n = std::max(n, (*section.material)["EXPANSION"].size());
    if (deck.rows("TEMPERATURE").empty() || n == 0)
      return;
    const auto expansion = [&](const AbaqusMaterial &m) -> std::string {
      const AbaqusTable &table = m["EXPANSION"];
      if (table.empty() || n == 1)
        return table.empty() ? "0" : number_text(table[0][0]);
      // alpha(T) (T - T_zero) - alpha(T_0) (T_0 - T_zero), times a rise of 1
      const auto strain = [&](const std::string &t) {
        return at_temperature(table, 0, "alpha_" + m.name, t) + "*(" + t + " - (" +
               number_text(m.zero) + "))";
      };
      return strain(at) + " - " + strain(before);
    };
    Affine rise = now;
    for (std::size_t d = 0; d < 4; ++d)
      rise[d] -= initial[d];
    set("Elasticity", "Thermal expansion", by_section("*EXPANSION", expansion),
        n == 1 ? "*EXPANSION" : "thermal strain by *EXPANSION and *TEMPERATURE");
    set("Elasticity", "Temperature rise", n == 1 ? text_of(rise) : "1",
        n == 1 ? "*TEMPERATURE - *INITIAL CONDITIONS" : "");
  }

  /// Returns the directions that a line of *BOUNDARY prescribes; 11 is the temperature.
  std::vector<int> prescribed(const AbaqusRow &row) const
  {
    static const std::map<std::string, std::vector<int>> words = {
        {"ENCASTRE", {1, 2, 3}}, {"PINNED", {1, 2, 3}}, {"XSYMM", {1}},     {"YSYMM", {2}},
        {"ZSYMM", {3}},          {"XASYMM", {2, 3}},    {"YASYMM", {1, 3}}, {"ZASYMM", {1, 2}}};
    if (const auto known = words.find(upper(row.fields[1])); known != words.end())
      return known->second;
    const int first = static_cast<int>(deck.number(row, 1));
    const int last = std::max(first, static_cast<int>(deck.number(row, 2)));
    std::vector<int> result;
    for (int direction = std::max(first, 0); direction <= std::min(last, 11); ++direction)
      result.push_back(direction);
    return result;
  }

  /// Lists a line without nodes or cells of the mesh. Returns whether it has some.
  bool acts(const std::string &keyword, const AbaqusRow &row, const bool has_members)
  {
    if (!has_members)
      deck.note(row.location, "*" + keyword + ": '" + row.fields[0] +
                                  "' is neither a set before the keyword nor part of an element");
    return has_members;
  }

  using Components = std::array<std::string, 3>;

  void translate_supports()
  {
    Named<Components> supports;
    std::map<std::size_t, std::map<int, std::pair<std::string, double>>> known; // by node
    for (const AbaqusRow *const row : deck.rows("BOUNDARY")) {
      if (!acts("BOUNDARY", *row, !row->name.empty()))
        continue;
      const double value = deck.number(*row, 3);
      for (const int direction : prescribed(*row)) {
        if (direction < 1 || direction > dim)
          continue; // rotations and temperatures
        value_of(supports, row->name,
                 {"free", "free", "free"})[static_cast<std::size_t>(direction - 1)] =
            number_text(value);
        for (const std::size_t node : row->members) {
          auto &[of, earlier] = known[node].try_emplace(direction, row->name, value).first->second;
          if (of != row->name && earlier != value)
            deck.note(row->location, "*BOUNDARY: '" + row->name + "' and '" + of +
                                         "' prescribe different displacements at a common node");
          of = row->name;
          earlier = value;
        }
      }
    }
    note_transforms([&](const std::size_t node) {
      const auto found = known.find(node); // turned supports are the same if all directions are 0
      return found != known.end() &&
             (found->second.size() < static_cast<std::size_t>(dim) ||
              std::any_of(found->second.begin(), found->second.end(),
                          [](const auto &entry) { return entry.second.second != 0.; }));
    });
    std::string all;
    for (const auto &[of, components] : supports)
      append(all, of + ": " + in_dim(components));
    set("Elasticity", "Displacement", all, "*BOUNDARY");
  }

  std::string in_dim(const Components &components) const
  {
    return components[0] + ", " + components[1] + (dim == 3 ? ", " + components[2] : "");
  }

  /// Lists each *TRANSFORM of a node for which @p matters returns true.
  void note_transforms(const std::function<bool(std::size_t)> &matters)
  {
    for (const AbaqusRow *const row : deck.rows("TRANSFORM"))
      if (std::any_of(row->members.begin(), row->members.end(), matters))
        deck.note(row->location, "*TRANSFORM: femgpu takes the directions of supports and forces "
                                 "as global ones");
  }

  void translate_loads()
  {
    std::set<std::pair<std::string, std::size_t>> generated; // names and directions
    std::set<std::size_t> loaded;                            // nodes
    for (const AbaqusRow *const row : deck.rows("CLOAD")) {
      if (!acts("CLOAD", *row, !row->name.empty()))
        continue;
      const auto direction = static_cast<std::size_t>(deck.number(*row, 1));
      loaded.insert(row->members.begin(), row->members.end());
      if (direction < 1 || direction > static_cast<std::size_t>(dim))
        deck.note(row->location, "*CLOAD: direction " + row->fields[1] + " has no counterpart");
      else if (row->name == row->fields[0] || generated.emplace(row->name, direction).second)
        value_of(tractions, row->name, {})[direction - 1] += deck.number(*row, 2) / thickness;
    }
    note_transforms([&](const std::size_t node) { return loaded.count(node) > 0; });
    std::string all;
    for (const auto &[of, force] : tractions)
      append(all,
             of + ": " +
                 in_dim({number_text(force[0]), number_text(force[1]), number_text(force[2])}));
    set("Elasticity", "Traction", all,
        dim == 2 && thickness != 1. ? "*CLOAD / thickness " + number_text(thickness) : "*CLOAD");
    set("Elasticity", "Pressure", pressures, "*DLOAD, *DSLOAD");
  }

  /// Returns the force per volume of a line of *DLOAD in a body of density @p rho; nothing if it is
  /// none.
  std::optional<std::array<Affine, 3>> body_force(const AbaqusRow &load, const double rho) const
  {
    const std::string label = upper(load.fields[1]);
    std::array<Affine, 3> force = {};
    const auto at = [&](const std::size_t i) { return deck.number(load, i + 1); };
    if (label == "BX" || label == "BY" || label == "BZ")
      force[static_cast<std::size_t>(label[1] - 'X')][0] = at(1);
    else if (label == "GRAV") {
      const double length = std::hypot(at(2), at(3), at(4));
      for (std::size_t d = 0; d < 3 && length > 0.; ++d)
        force[d][0] = rho * at(1) * at(2 + d) / length;
    }
    else if (label == "CENTRIF") { // rho omega^2 (I - n n) (x - p)
      const double length = std::hypot(at(5), at(6), at(7));
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          const double a =
              rho * at(1) * ((i == j ? 1. : 0.) - at(5 + i) / length * (at(5 + j) / length));
          force[i][1 + j] += a;
          force[i][0] -= a * at(2 + j);
        }
    }
    else
      return {};
    return force;
  }

  void translate_body_forces()
  {
    std::array<std::vector<Affine>, 3> forces;
    forces.fill(std::vector<Affine>(deck.n_cells));
    std::optional<MeshLocation> location; // of a load
    for (const AbaqusRow *const row : deck.rows("DLOAD")) {
      if (!row->name.empty() || !acts("DLOAD", *row, !row->members.empty()))
        continue; // a pressure on sides
      for (const std::size_t cell : row->members) {
        const AbaqusTable &density = (*sections[deck.section_of[cell]].material)["DENSITY"];
        const auto force = body_force(*row, density.empty() ? 0. : density[0][0]);
        const std::string label = upper(row->fields[1]);
        const bool is_by_mass = label == "GRAV" || label == "CENTRIF";
        if (!force || (is_by_mass && density.empty())) {
          deck.note(row->location, "*DLOAD, " + row->fields[1] +
                                       (force ? ": a material without *DENSITY has no weight"
                                              : ": femgpu has no counterpart"));
          break;
        }
        location = row->location;
        for (std::size_t d = 0; d < 3; ++d)
          for (std::size_t k = 0; k < 4; ++k)
            forces[d][cell][k] += (*force)[d][k];
      }
    }
    Components text = {};
    for (std::size_t d = 0; location && d < static_cast<std::size_t>(dim); ++d) {
      text[d] = in_cells(forces[d], *location, "*DLOAD: the body force");
      if (text[d].empty())
        return;
    }
    if (location)
      set("Elasticity", "Body force", in_dim(text), "*DLOAD: GRAV, CENTRIF, BX, BY, BZ");
  }

  /// Returns an expression for @p functions, which are given by cell. If there is none, lists @p
  /// what and returns an empty text.
  std::string in_cells(const std::vector<Affine> &functions, const MeshLocation location,
                       const std::string &what)
  {
    const auto expression = expression_in_cells(model.table, dim, functions);
    if (!expression)
      deck.note(location, what + " differs between cells that no box separates");
    return expression.value_or("");
  }

  void translate_heat()
  {
    set("Heat", "Conductivity",
        by_section("*CONDUCTIVITY",
                   [&](const AbaqusMaterial &m) {
                     const std::size_t n =
                         m.has_orthotropic_conductivity ? static_cast<std::size_t>(dim) : 1;
                     const AbaqusTable &table = m["CONDUCTIVITY"];
                     std::string result;
                     for (std::size_t d = 0; d < n && !table.empty(); ++d)
                       append(result,
                              at_temperature(table, d, "k_" + std::to_string(d) + m.name, "u"),
                              ", ");
                     return result;
                   }),
        "*CONDUCTIVITY");
    std::string temperatures;
    for (const AbaqusRow *const row : deck.rows("BOUNDARY")) {
      const std::vector<int> directions = prescribed(*row);
      if (directions.empty() || (directions[0] != 0 && directions.back() < 11))
        continue;
      const std::string side = deck.sides(row->fields[0], "BOUNDARY", row->location);
      if (!side.empty() && side != row->name)
        deck.note(row->location, "*BOUNDARY: '" + side + "' has nodes outside of whole sides");
      else if (!side.empty())
        append(temperatures, side + ": " + number_text(deck.number(*row, 3)));
    }
    for (const AbaqusRow *const row : deck.rows("CFLUX"))
      deck.note(row->location, "*CFLUX: femgpu has no heat flux at nodes; use *DFLUX on sides");
    std::vector<Affine> sources(deck.n_cells);
    std::optional<MeshLocation> location; // of a source
    for (const AbaqusRow *const row : deck.rows("DFLUX")) {
      if (upper(row->fields[1]) != "BF" || !acts("DFLUX", *row, !row->members.empty()))
        continue;
      location = row->location;
      for (const std::size_t cell : row->members)
        sources[cell][0] += deck.number(*row, 2);
    }
    set("Heat", "Dirichlet", temperatures, "*BOUNDARY, degree of freedom 11");
    set("Heat", "Neumann", fluxes, "*DFLUX, *FILM, *DSFLUX, *SFILM");
    if (location)
      set("Heat", "Source", in_cells(sources, *location, "*DFLUX, BF: the source"), "*DFLUX, BF");
    if (!tables.empty())
      set("Solver", "Solver", "gmres", "the conductivity depends on u");
  }

  /// Sets a parameter of the file, with a comment; nothing if @p value is empty.
  void set(const std::string &section, const std::string &key, const std::string &value,
           const std::string &comment)
  {
    if (!value.empty())
      parameters[section] += "  set " + key +
                             std::string(key.size() < 20 ? 20 - key.size() : 1, ' ') + "= " +
                             value + (comment.empty() ? "" : "   # " + comment) + "\n";
  }

  std::string parameter_file()
  {
    std::string result =
        "# Translated by femgpu --from from " + deck.name + ": " + deck.procedure + ".\n";
    if (thickness != 1.)
      result += "# Forces and reactions are per unit of thickness; the thickness in the file is " +
                number_text(thickness) + ".\n";
    if (!deck.not_translated.empty())
      result += "#\n# Not translated:\n";
    for (const std::string &item : deck.not_translated)
      result += "#   " + item + "\n";
    result += "set Dimension = " + std::to_string(dim) +
              "\nset Physics   = " + (deck.is_heat ? "heat" : "elasticity") + "\n";
    std::string entries;
    for (const auto &[known, entry] : tables)
      append(entries, known + ": " + entry);
    set("Expressions", "Tables", entries, "");
    set("Mesh", "File", deck.name, "");
    if (deck.merge_distance > 0.)
      set("Mesh", "Merge nodes", number_text(deck.merge_distance), "*TIE");
    set("Mesh", "Natural boundaries", "all", "");
    set("Mesh", "Initial refinements", "0", "1 divides each cell into 4 or 8");
    set("Output", "Directory", "output", "");
    for (const char *const section :
         {"Expressions", "Mesh", "Elasticity", "Heat", "Solver", "Output"})
      if (parameters.count(section) > 0)
        result += std::string("\nsubsection ") + section + "\n" + parameters[section] + "end\n";
    return result;
  }

  AbaqusDeck deck;
  int dim;
  const AbaqusModel &model;
  const std::vector<AbaqusSection> &sections;
  double thickness;
  std::string pressures, fluxes; ///< 'name: value; name: value'
  Named<std::array<double, 3>> tractions;
  std::map<std::string, std::string> tables;     ///< entries of Expressions/Tables
  std::map<std::string, std::string> parameters; ///< text by section
};
} // namespace

AbaqusTranslation translate_abaqus_file(const std::string &name)
{
  const auto contents = contents_of_file(name);
  if (!contents)
    throw InputError("The input file '" + name + "' cannot be read: " + std::strerror(errno) +
                     ". Check its name.");
  return Translator(name, *contents).translate();
}
} // namespace femgpu
