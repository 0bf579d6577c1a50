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
using Rows = std::vector<std::vector<double>>;

/// Returns "a; b; c".
std::string joined(const std::vector<std::string> &entries)
{
  std::string all;
  for (const std::string &entry : entries)
    all += (all.empty() ? "" : "; ") + entry;
  return all;
}

class Translator
{
public:
  Translator(const std::string &name, const std::string &contents)
      : deck(name, contents), dim(deck.dim), model(deck.model), sections(deck.sections),
        thickness(sections[0].thickness)
  {}

  AbaqusTranslation translate()
  {
    translate_surface_loads();
    if (deck.is_heat)
      translate_heat();
    else
      translate_elasticity();
    return {parameter_file(), std::move(deck.not_translated)};
  }

private:
  /// Adds the loads on sides to `pressures`, `tractions` and `fluxes`.
  void translate_surface_loads()
  {
    for (const AbaqusSurfaceLoad &load : deck.surface_loads) {
      std::vector<double> v = load.values;
      v.resize(4);
      const double length = std::hypot(v[1], v[2], v[3]);
      if (load.label == "P")
        pressures.push_back(load.surface + ": " + number_text(v[0]));
      else if (load.label == "TRVEC" && length > 0.)
        tractions.push_back(
            {load.surface, {v[0] * v[1] / length, v[0] * v[2] / length, v[0] * v[3] / length}});
      else if (load.label == "S")
        fluxes.push_back(load.surface + ": " + number_text(v[0]));
      else if (load.label == "F")
        fluxes.push_back(load.surface + ": " + number_text(v[1]) + "*(" + number_text(v[0]) +
                         " - u)");
      else if (load.label == "R" && deck.stefan_boltzmann > 0.) {
        const std::string zero = " - (" + number_text(deck.absolute_zero) + "))^4";
        fluxes.push_back(load.surface + ": " + number_text(v[1] * deck.stefan_boltzmann) + "*((" +
                         number_text(v[0]) + zero + " - (u" + zero + ")");
      }
      else
        deck.note(load.line, "load " + load.label + ": femgpu has no counterpart");
    }
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
      result += (result.empty() ? "" : "; ") + section.set + ": " + of;
    }
    return is_same ? first : result;
  }

  /// Returns an expression for column @p column of a table whose last column is a temperature, at
  /// the temperature @p at: a number if this is one.
  std::string at_temperature(const Rows &table, const std::size_t column,
                             const std::string &table_name, const std::string &at)
  {
    if (table.size() == 1)
      return number_text(table[0][column]);
    const auto temperature = [](const auto &row) { return row.back(); };
    if (const auto value = finite_number(at)) {
      std::size_t k = 1;
      while (k + 1 < table.size() && temperature(table[k]) < *value)
        ++k;
      const double low = temperature(table[k - 1]), high = temperature(table[k]);
      const double t = std::clamp((*value - low) / (high - low), 0., 1.);
      return number_text(table[k - 1][column] + t * (table[k][column] - table[k - 1][column]));
    }
    std::string known = table_name, entry;
    for (char &c : known)
      c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    for (const auto &row : table)
      entry += (entry.empty() ? "" : ", ") + number_text(temperature(row)) + " " +
               number_text(row[column]);
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
    std::size_t line = 0;
    for (const AbaqusCondition &condition : model.conditions)
      if (condition.keyword == keyword) {
        line = condition.line;
        for (const std::size_t node : condition.members)
          values[node] = deck.number(condition, 0);
      }
    std::vector<std::size_t> nodes;
    const std::vector<bool> is_vertex = vertices_of_cells(model.table, dim);
    for (std::size_t node = 0; node < values.size(); ++node)
      if (is_vertex[node] || model.table.is_mid_side(node))
        nodes.push_back(node);
    if (const auto function = affine_through(model.table, nodes, values))
      return *function;
    deck.note(line, "*" + keyword +
                        ": the temperatures at the nodes are not a linear function of x, y "
                        "and z; set Elasticity/Temperature rise to an expression");
    return otherwise;
  }

  bool has_condition(const std::string &keyword) const
  {
    return std::any_of(model.conditions.begin(), model.conditions.end(),
                       [&](const AbaqusCondition &c) { return c.keyword == keyword; });
  }

  void translate_materials()
  {
    const bool is_warm = has_condition("TEMPERATURE");
    const Affine initial =
        has_condition("INITIAL CONDITIONS") ? temperature("INITIAL CONDITIONS", {}) : Affine{};
    const Affine now = is_warm ? temperature("TEMPERATURE", initial) : initial;
    const std::string at = text_of(now), before = text_of(initial);
    const auto elastic = [&](const std::size_t column, const char *const letter) {
      return by_section("*ELASTIC", [&, column, letter](const AbaqusMaterial &m) {
        const bool has_value = !m.elastic.empty() && m.elastic[0].size() > column;
        return has_value ? at_temperature(m.elastic, column, letter + m.name, at) : std::string();
      });
    };
    set("Elasticity", "Young's modulus", elastic(0, "E_"), "*ELASTIC");
    set("Elasticity", "Poisson's ratio", elastic(1, "nu_"), "*ELASTIC");
    const auto is_constant = [](const AbaqusSection &s) {
      return s.material->expansion.size() < 2;
    };
    const auto expands = [](const AbaqusSection &s) { return !s.material->expansion.empty(); };
    if (!is_warm || std::none_of(sections.begin(), sections.end(), expands))
      return;
    if (std::all_of(sections.begin(), sections.end(), is_constant)) {
      Affine rise = now;
      for (std::size_t d = 0; d < 4; ++d)
        rise[d] -= initial[d];
      set("Elasticity", "Thermal expansion",
          by_section("*EXPANSION",
                     [](const AbaqusMaterial &m) {
                       return m.expansion.empty() ? "0" : number_text(m.expansion[0][0]);
                     }),
          "*EXPANSION");
      set("Elasticity", "Temperature rise", text_of(rise), "*TEMPERATURE - *INITIAL CONDITIONS");
      return;
    }
    // alpha(T) (T - T_zero) - alpha(T_0) (T_0 - T_zero), times a rise of 1
    set("Elasticity", "Thermal expansion",
        by_section("*EXPANSION",
                   [&](const AbaqusMaterial &m) {
                     const auto strain = [&](const std::string &t) {
                       return at_temperature(m.expansion, 0, "alpha_" + m.name, t) + "*(" + t +
                              " - (" + number_text(m.zero) + "))";
                     };
                     return m.expansion.empty() ? "0" : strain(at) + " - " + strain(before);
                   }),
        "thermal strain by *EXPANSION and *TEMPERATURE");
    set("Elasticity", "Temperature rise", "1", "");
  }

  /// Returns the directions 1 to dim that a *BOUNDARY prescribes.
  std::vector<int> prescribed(const AbaqusCondition &condition) const
  {
    const std::string word = condition.values.empty() ? "" : upper(condition.values[0]);
    static const std::map<std::string, std::vector<int>> words = {
        {"ENCASTRE", {1, 2, 3}}, {"PINNED", {1, 2, 3}}, {"XSYMM", {1}},     {"YSYMM", {2}},
        {"ZSYMM", {3}},          {"XASYMM", {2, 3}},    {"YASYMM", {1, 3}}, {"ZASYMM", {1, 2}}};
    if (const auto known = words.find(word); known != words.end())
      return known->second;
    const int first = static_cast<int>(deck.number(condition, 0));
    const int last = condition.values.size() > 1 && !condition.values[1].empty()
                         ? static_cast<int>(deck.number(condition, 1))
                         : first;
    std::vector<int> result;
    for (int direction = std::max(first, 0); direction <= std::min(last, 11); ++direction)
      result.push_back(direction);
    return result;
  }

  /// Lists a condition without nodes or cells of the mesh. Returns whether it has some.
  bool acts(const AbaqusCondition &condition, const bool has_members)
  {
    if (!has_members)
      deck.note(condition.line, "*" + condition.keyword + ": '" + condition.target +
                                    "' is neither a set before the keyword nor part of an element");
    return has_members;
  }

  using Components = std::array<std::string, 3>;

  void translate_supports()
  {
    std::vector<std::pair<std::string, Components>> supports;
    std::map<std::pair<std::size_t, int>, std::pair<std::string, double>> known;
    for (const AbaqusCondition &condition : model.conditions) {
      if (condition.keyword != "BOUNDARY" || !acts(condition, !condition.name.empty()))
        continue;
      const double value = deck.number(condition, 2);
      for (const int direction : prescribed(condition)) {
        if (direction < 1 || direction > dim)
          continue; // rotations and temperatures
        auto support = std::find_if(supports.begin(), supports.end(),
                                    [&](const auto &s) { return s.first == condition.name; });
        if (support == supports.end())
          support = supports.insert(support, {condition.name, {"free", "free", "free"}});
        support->second[static_cast<std::size_t>(direction - 1)] = number_text(value);
        for (const std::size_t node : condition.members) {
          auto &[of, earlier] =
              known.try_emplace({node, direction}, condition.name, value).first->second;
          if (of != condition.name && earlier != value)
            deck.note(condition.line, "*BOUNDARY: '" + condition.name + "' and '" + of +
                                          "' prescribe different displacements at a common node");
          of = condition.name;
          earlier = value;
        }
      }
    }
    std::string all;
    for (const auto &[of, components] : supports)
      all += (all.empty() ? "" : "; ") + of + ": " + in_dim(components);
    set("Elasticity", "Displacement", all, "*BOUNDARY");
  }

  std::string in_dim(const Components &components) const
  {
    std::string result = components[0] + ", " + components[1];
    return dim == 3 ? result + ", " + components[2] : result;
  }

  void translate_loads()
  {
    std::set<std::pair<std::string, std::size_t>> generated; // names and directions
    for (const AbaqusCondition &condition : model.conditions) {
      if (condition.keyword != "CLOAD" || !acts(condition, !condition.name.empty()))
        continue;
      const auto direction = static_cast<std::size_t>(deck.number(condition, 0));
      if (direction < 1 || direction > static_cast<std::size_t>(dim)) {
        deck.note(condition.line,
                  "*CLOAD: direction " + condition.values[0] + " has no counterpart");
        continue;
      }
      if (condition.name != condition.target &&
          !generated.emplace(condition.name, direction).second)
        continue; // further points with the same force
      auto load = std::find_if(tractions.begin(), tractions.end(),
                               [&](const auto &t) { return t.first == condition.name; });
      if (load == tractions.end())
        load = tractions.insert(load, {condition.name, {}});
      load->second[direction - 1] += deck.number(condition, 1) / thickness;
    }
    std::string all;
    for (const auto &[of, force] : tractions)
      all += (all.empty() ? "" : "; ") + of + ": " +
             in_dim({number_text(force[0]), number_text(force[1]), number_text(force[2])});
    set("Elasticity", "Traction", all,
        dim == 2 && thickness != 1. ? "*CLOAD / thickness " + number_text(thickness) : "*CLOAD");
    set("Elasticity", "Pressure", joined(pressures), "*DLOAD, *DSLOAD");
  }

  /// Returns the force per volume of a *DLOAD in a body of density @p rho; nothing if it is none.
  std::optional<std::array<Affine, 3>> body_force(const AbaqusCondition &load,
                                                  const double rho) const
  {
    const std::string label = load.values.empty() ? "" : upper(load.values[0]);
    std::array<Affine, 3> force = {};
    const auto at = [&](const std::size_t i) { return deck.number(load, i); };
    if (label == "BX" || label == "BY" || label == "BZ")
      force[static_cast<std::size_t>(label[1] - 'X')][0] = at(1);
    else if (label == "GRAV")
      for (std::size_t d = 0; d < 3; ++d)
        force[d][0] = rho * at(1) * at(2 + d);
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
    bool has_force = false;
    std::size_t line = 0;
    for (const AbaqusCondition &load : model.conditions) {
      const std::string label = load.values.empty() ? "" : upper(load.values[0]);
      if (load.keyword != "DLOAD" || !acts(load, !load.members.empty()))
        continue;
      if (label.size() == 2 && label[0] == 'P' && label[1] != 'P')
        continue; // a pressure on sides
      for (const std::size_t cell : load.members) {
        const auto &density = sections[deck.section_of[cell]].material->density;
        const auto force = body_force(load, density.empty() ? 0. : density[0][0]);
        if (!force) {
          deck.note(load.line, "*DLOAD, " + label + ": femgpu has no counterpart");
          break;
        }
        has_force = true;
        line = load.line;
        for (std::size_t d = 0; d < 3; ++d)
          for (std::size_t k = 0; k < 4; ++k)
            forces[d][cell][k] += (*force)[d][k];
      }
    }
    Components text = {};
    for (std::size_t d = 0; has_force && d < static_cast<std::size_t>(dim); ++d) {
      const auto expression = expression_in_cells(model.table, dim, forces[d]);
      if (!expression)
        return deck.note(line,
                         "*DLOAD: the body force differs between cells that no box separates");
      text[d] = *expression;
    }
    if (has_force)
      set("Elasticity", "Body force", in_dim(text), "*DLOAD: GRAV, CENTRIF, BX, BY, BZ");
  }

  void translate_elasticity()
  {
    translate_materials();
    translate_supports();
    translate_loads();
    translate_body_forces();
    set("Elasticity", "Reactions", "true", "*NODE PRINT: RF");
  }

  void translate_heat()
  {
    set("Heat", "Conductivity",
        by_section("*CONDUCTIVITY",
                   [&](const AbaqusMaterial &m) {
                     const std::size_t n =
                         m.has_orthotropic_conductivity ? static_cast<std::size_t>(dim) : 1;
                     std::string result;
                     for (std::size_t d = 0; d < n && !m.conductivity.empty(); ++d)
                       result += (d == 0 ? "" : ", ") +
                                 at_temperature(m.conductivity, d,
                                                "k_" + std::to_string(d) + m.name, "u");
                     return result;
                   }),
        "*CONDUCTIVITY");
    std::vector<std::string> temperatures;
    std::vector<Affine> sources(deck.n_cells);
    std::size_t line = 0;
    for (const AbaqusCondition &condition : model.conditions) {
      if (condition.keyword == "BOUNDARY") {
        const std::vector<int> directions = prescribed(condition);
        if (directions.empty() || (directions[0] != 0 && directions.back() < 11))
          continue;
        const std::string side = deck.sides(upper(condition.target), "BOUNDARY", condition.line);
        if (!side.empty() && side != condition.name)
          deck.note(condition.line, "*BOUNDARY: '" + side + "' has nodes outside of whole sides");
        else if (!side.empty())
          temperatures.push_back(side + ": " + number_text(deck.number(condition, 2)));
      }
      else if (condition.keyword == "CFLUX")
        deck.note(condition.line, "*CFLUX: femgpu has no heat flux at nodes; use *DFLUX on sides");
      else if (condition.keyword == "DFLUX" && acts(condition, !condition.members.empty())) {
        if (upper(condition.values.empty() ? "" : condition.values[0]) != "BF")
          continue;
        line = condition.line;
        for (const std::size_t cell : condition.members)
          sources[cell][0] += deck.number(condition, 1);
      }
    }
    set("Heat", "Dirichlet", joined(temperatures), "*BOUNDARY, degree of freedom 11");
    set("Heat", "Neumann", joined(fluxes), "*DFLUX, *FILM, *DSFLUX, *SFILM");
    if (line > 0) {
      if (const auto source = expression_in_cells(model.table, dim, sources))
        set("Heat", "Source", *source, "*DFLUX, BF");
      else
        deck.note(line, "*DFLUX, BF: the source differs between cells that no box separates");
    }
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
      entries += (entries.empty() ? "" : "; ") + known + ": " + entry;
    set("Expressions", "Tables", entries, "");
    set("Mesh", "File", deck.name, "");
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
  std::vector<std::string> pressures, fluxes;                           ///< 'name: value'
  std::vector<std::pair<std::string, std::array<double, 3>>> tractions; ///< by name
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
