#include "app/abaqus_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace femgpu
{
namespace
{
using Position = std::array<double, 3>;

/// Returns the mean of the vertices of @p cell.
Position centre_of(const MeshTable &table, const MeshElement &cell)
{
  Position centre = {};
  for (std::size_t v = 0; v < cell.shape->n_nodes; ++v)
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += table.points[cell.nodes[v]][d] / static_cast<double>(cell.shape->n_nodes);
  return centre;
}

/// A box parallel to the axes.
struct Box
{
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  Position low = {{infinity, infinity, infinity}}, high = {{-infinity, -infinity, -infinity}};

  void extend(const Position &p)
  {
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  bool contains(const Position &p) const
  {
    bool result = true;
    for (std::size_t d = 0; d < 3; ++d)
      result = result && p[d] >= low[d] && p[d] <= high[d];
    return result;
  }
  /// Returns a condition on x, y and z that holds inside; omits sides of the box @p body.
  std::string condition(const Box &body) const
  {
    std::string text;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string variable(1, "xyz"[d]);
      if (low[d] > body.low[d])
        text += " && " + variable + " > " + number_text(low[d]);
      if (high[d] < body.high[d])
        text += " && " + variable + " < " + number_text(high[d]);
    }
    return text.substr(std::min<std::size_t>(4, text.size()));
  }
};
} // namespace

double interpolate(const AbaqusTable &table, const std::size_t column, const double at)
{
  std::size_t k = 0;
  while (k < table.size() && table[k].back() < at)
    ++k;
  if (k == 0 || k == table.size())
    return table[k == 0 ? 0 : k - 1][column];
  const double t = (at - table[k - 1].back()) / (table[k].back() - table[k - 1].back());
  return table[k - 1][column] + t * (table[k][column] - table[k - 1][column]);
}

std::string number_text(const double number)
{
  std::array<char, 32> text = {};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string text_of(const Affine &function)
{
  std::string text = function[0] == 0. ? "" : number_text(function[0]);
  for (std::size_t d = 1; d < 4; ++d) {
    const double a = std::abs(function[d]);
    if (a == 0.)
      continue;
    const bool is_negative = function[d] < 0.;
    text += text.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
    text += (a == 1. ? "" : number_text(a) + "*") + "xyz"[d - 1];
  }
  return text.empty() ? "0" : text;
}

std::optional<Affine> affine_through(const MeshTable &table, const std::vector<std::size_t> &nodes,
                                     const std::vector<double> &values)
{
  // Gauss-Jordan elimination of the equations of all nodes, with the largest pivot of each column
  std::vector<std::array<double, 5>> rows;
  double largest = 0., extent = 0.;
  for (const std::size_t node : nodes) {
    const Position &p = table.points[node], &first = table.points[nodes[0]];
    rows.push_back({1., p[0] - first[0], p[1] - first[1], p[2] - first[2], values[node]});
    largest = std::max(largest, std::abs(values[node]));
    for (std::size_t d = 1; d < 4; ++d)
      extent = std::max(extent, std::abs(rows.back()[d]));
  }
  Affine result = {};
  std::vector<std::pair<std::size_t, std::size_t>> pivots; // row and column
  for (std::size_t column = 0; column < 4; ++column) {
    const std::size_t at = pivots.size();
    const auto is_smaller = [column](const auto &a, const auto &b) {
      return std::abs(a[column]) < std::abs(b[column]);
    };
    if (at == rows.size())
      break;
    const auto pivot =
        std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(at), rows.end(), is_smaller);
    if (std::abs((*pivot)[column]) <= 1e-9 * (column == 0 ? 1. : extent))
      continue;
    std::swap(rows[at], *pivot);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double factor = r == at ? 0. : rows[r][column] / rows[at][column];
      for (std::size_t k = column; k < 5 && factor != 0.; ++k)
        rows[r][k] -= factor * rows[at][k];
    }
    pivots.emplace_back(at, column);
  }
  for (std::size_t r = pivots.size(); r < rows.size(); ++r)
    if (std::abs(rows[r][4]) > 1e-6 * largest)
      return {};
  for (const auto &[row, column] : pivots) {
    const double a = rows[row][4] / rows[row][column];
    const bool is_noise = std::abs(a) * (column == 0 ? 1. : extent) < 1e-10 * largest;
    result[column] = is_noise ? 0. : a;
  }
  for (std::size_t d = 0; d < 3 && !nodes.empty(); ++d)
    result[0] -= result[d + 1] * table.points[nodes[0]][d];
  return result;
}

std::optional<std::string> expression_in_cells(const MeshTable &table, const int dim,
                                               const std::vector<Affine> &functions)
{
  std::vector<Position> centres;
  std::map<Affine, Box> boxes; // of all vertices of the cells with this function
  Box body;
  for (const MeshElement &element : table.elements) {
    if (element.shape->dimension != dim)
      continue;
    Box &box = boxes[functions[centres.size()]];
    for (std::size_t v = 0; v < element.shape->n_nodes; ++v) {
      box.extend(table.points[element.nodes[v]]);
      body.extend(table.points[element.nodes[v]]);
    }
    centres.push_back(centre_of(table, element));
  }
  // One function may remain for the cells outside the boxes of all others.
  std::optional<Affine> other;
  for (const auto &[function, box] : boxes) {
    bool is_alone = true;
    for (std::size_t c = 0; c < centres.size(); ++c)
      is_alone = is_alone && (functions[c] == function || !box.contains(centres[c]));
    if (!is_alone && other)
      return {};
    if (!is_alone)
      other = function;
  }
  if (!other)
    other = boxes.begin()->first;
  std::string text = text_of(*other);
  for (const auto &[function, box] : boxes)
    if (function != *other)
      text = "if(" + box.condition(body) + ", " + text_of(function) + ", " + text + ")";
  return text;
}
} // namespace femgpu
