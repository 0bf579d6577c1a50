#include "physics/measurements/measurement_text.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
// A larger number of points on a line is taken for a mistake. Each point is a row of a file.
constexpr unsigned int max_points = 1000000;

/// The entry that is being parsed, for messages.
struct Entry
{
  const std::string &path, &text;
  std::string example;

  [[noreturn]] void reject(const std::string &why) const
  {
    throw ParameterError("The entry '" + text + "' of " + path + " " + why +
                             "; write entries such as '" + example + "'.",
                         path);
  }
};

double read_number(const Entry &entry, const std::string &text)
{
  const auto value = finite_number(text);
  if (!value)
    entry.reject("has '" + text + "' where a number is expected");
  return *value;
}

template <int dim>
Point<dim> read_point(const Entry &entry, const std::string &text)
{
  const auto words = split_expressions(text, ',');
  if (words.size() != dim)
    entry.reject("has " + std::to_string(words.size()) + " coordinates in '" + text +
                 "', but needs " + std::to_string(dim));
  Point<dim> point;
  for (unsigned int d = 0; d < dim; ++d)
    point[d] = read_number(entry, words[d]);
  return point;
}

/// Splits "name: rest". Names become parts of file names and column headers.
/// @param before earlier entries, whose names may not be repeated
template <class T>
std::pair<std::string, std::string> split_name(const Entry &entry, const std::vector<T> &before)
{
  const auto colon = std::min(entry.text.find(':'), entry.text.size());
  const std::string name = trimmed(entry.text.substr(0, colon));
  if (name.empty() || colon == entry.text.size())
    entry.reject("does not begin with a name and ':'");
  const auto is_name_character = [](const unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  };
  if (std::isalpha(static_cast<unsigned char>(name[0])) == 0 ||
      !std::all_of(name.begin(), name.end(), is_name_character))
    entry.reject("has the name '" + name +
                 "', but a name consists of letters, digits, '_' and '-' and begins with a letter");
  for (const T &other : before)
    if (other.name == name)
      entry.reject("has the name '" + name + "' of another entry");
  return {name, trimmed(entry.text.substr(colon + 1))};
}

template <int dim>
const std::string example_of_point = dim == 2 ? "0.5, 1" : "0.5, 1, 0";
} // namespace

template <int dim>
std::vector<NamedPoints<dim>> parse_points(const std::string &path, const std::string &text)
{
  std::vector<NamedPoints<dim>> points;
  for (const std::string &item : entries_of(text)) {
    const Entry entry{path, item, "tip: " + example_of_point<dim>};
    const auto [name, coordinates] = split_name(entry, points);
    points.push_back({name, {read_point<dim>(entry, coordinates)}});
  }
  return points;
}

template <int dim>
std::vector<NamedPoints<dim>> parse_lines(const std::string &path, const std::string &text)
{
  std::vector<NamedPoints<dim>> lines;
  for (const std::string &item : entries_of(text)) {
    const Entry entry{path, item,
                      "axis: " + std::string(dim == 2 ? "0, 0" : "0, 0, 0") + " -> " +
                          example_of_point<dim> + " : 101"};
    const auto [name, rest] = split_name(entry, lines);
    const auto colon = rest.rfind(':');
    const auto arrow = rest.find("->");
    if (arrow == std::string::npos || colon == std::string::npos || colon < arrow)
      entry.reject("is not two points and a number of points");
    const std::string count = trimmed(rest.substr(colon + 1));
    const double n = read_number(entry, count);
    if (!(n >= 2.) || n > max_points || n != std::floor(n))
      entry.reject("has '" + count + "' points, but needs 2 to " + std::to_string(max_points));
    const Point<dim> begin = read_point<dim>(entry, rest.substr(0, arrow)),
                     end = read_point<dim>(entry, rest.substr(arrow + 2, colon - arrow - 2));
    if (begin == end)
      entry.reject("has the same point as start and end");
    lines.push_back({name, {}});
    for (unsigned int i = 0; i + 1 < n; ++i)
      lines.back().points.push_back(begin + i / (n - 1.) * (end - begin));
    lines.back().points.push_back(end); // exact: no rounding
  }
  return lines;
}

namespace
{
/// Parses "all", "boundary", "boundary ids" or "material ids".
MeasuredRegion read_region(const Entry &entry, const std::string &text, const MeshRegions &regions)
{
  const auto blank = std::min(text.find_first_of(" \t"), text.size());
  const std::string kind = text.substr(0, blank);
  const std::string rest = trimmed(text.substr(blank));
  MeasuredRegion region;
  if (kind == "all" && rest.empty())
    return region;
  region.is_on_boundary = kind == "boundary";
  if (!region.is_on_boundary && kind != "material")
    entry.reject("has '" + text + "' where all, 'boundary ids' or 'material ids' is expected");
  if (!region.is_on_boundary && rest.empty())
    entry.reject("has no material id");
  region.text = kind;
  if (rest.empty())
    region.boundary_ids = regions.boundaries.ids;
  else
    for (const std::string &word : split_expressions(rest, ',')) {
      if (region.is_on_boundary)
        region.boundary_ids.merge(regions.places(entry.path, word, Places::sides));
      else
        region.material_ids.merge(regions.material(entry.path, word));
      region.text += (region.text == kind ? " " : "+") + word;
    }
  return region;
}

/// Parses "field over region", or "field" for all cells if @p region_is_optional.
RegionField read_region_field(const Entry &entry, const std::string &text,
                              const MeshRegions &regions, const bool region_is_optional)
{
  RegionField result;
  const auto over = text.find(" over");
  if (over == std::string::npos && !region_is_optional)
    entry.reject("has no region after 'over'");
  result.field = trimmed(text.substr(0, over));
  if (result.field.empty())
    entry.reject("has no field");
  if (over != std::string::npos)
    result.region = read_region(entry, trimmed(text.substr(over + 5)), regions);
  return result;
}
} // namespace

void parse_integrals(const std::string &path, const std::string &text, const MeshRegions &regions,
                     std::vector<RegionField> &integrals)
{
  // column names that tables already use
  constexpr std::array<const char *, 11> reserved = {
      "cycle",      "cells",    "dofs",      "nonzeros", "h",       "outcome",
      "iterations", "residual", "nonlinear", "seconds",  "quantity"};
  for (const std::string &item : entries_of(text)) {
    const Entry entry{path, item, "mass: u over all; flow: grad_u.n over boundary 0, 3"};
    const auto [name, rest] = split_name(entry, integrals);
    if (std::find(reserved.begin(), reserved.end(), name) != reserved.end())
      entry.reject("has the name '" + name + "', which is a column of the tables");
    integrals.push_back(read_region_field(entry, rest, regions, /* region_is_optional */ false));
    integrals.back().name = name;
  }
}

std::vector<RegionField> parse_extrema(const std::string &path, const std::string &text,
                                       const MeshRegions &regions)
{
  std::vector<RegionField> result;
  for (const std::string &item : entries_of(text)) {
    const Entry entry{path, item, "u; u over boundary 0, 3"};
    result.push_back(read_region_field(entry, item, regions, /* region_is_optional */ true));
    RegionField &added = result.back();
    added.name = added.field + (added.region.text.empty() ? "" : " over " + added.region.text);
    for (const RegionField &other : result)
      if (&other != &added && other.name == added.name)
        entry.reject("is given twice");
  }
  return result;
}

template std::vector<NamedPoints<2>> parse_points(const std::string &, const std::string &);
template std::vector<NamedPoints<3>> parse_points(const std::string &, const std::string &);
template std::vector<NamedPoints<2>> parse_lines(const std::string &, const std::string &);
template std::vector<NamedPoints<3>> parse_lines(const std::string &, const std::string &);
} // namespace femgpu
