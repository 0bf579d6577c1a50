#include "physics/mesh/abaqus_elements.h"

#include "physics/mesh/abaqus_sets.h"

#include <map>
#include <regex>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
constexpr std::size_t longest_type = 20; // std::regex may fail on long strings

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
  if (type.size() > longest_type)
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
} // namespace

bool is_special_type(const std::string &type)
{
  static const std::regex special("MASS|ROTARYI|HEATCAP|D|(SPRING|DASHPOT)[A12]|(DCOUP|CONN|DRAG)["
                                  "23]D2?|D?GAP[A-Z]*|JOINT[A-Z0-9]+");
  return type.size() <= longest_type && std::regex_match(type, special);
}

const ElementType &find_element_type(const std::string &type, const AbaqusText &text)
{
  if (type.find("AX") != std::string::npos)
    text.fail_at_keyword(
        "elements of TYPE=" + type +
        " are axisymmetric, which is not supported. Mesh a sector of the body in 3D with "
        "symmetry planes at its sides, or use CPS or CPE elements for a plane body.");
  const auto [dimension, n_nodes] = size_of_type(type);
  for (const ElementType &candidate : element_types())
    if (candidate.is_of_abaqus && candidate.shape->dimension == dimension &&
        candidate.n_nodes() == n_nodes)
      return candidate;
  text.fail_at_keyword(
      "elements of TYPE=" + in_quotes(type) +
      " are not supported. Remove the block, or use elements of solids (such as C3D4, C3D8, "
      "C3D10, C3D20), planes, shells and membranes (CPS3, CPE4, S4R, M3D4), trusses and "
      "beams (T3D2, B31).");
}

std::size_t side_number(const AbaqusText &text, const std::string &shape, const bool is_shell)
{
  const std::string side = upper(text.field(1));
  if (side == "SPOS" || side == "SNEG")
    return AbaqusSet::element_itself;
  if (side.empty())
    return AbaqusSet::all_free;
  const char letter = is_shell ? 'E' : 'S';
  if (side.size() != 2 || side[0] != letter || side[1] < '1' || side[1] > '6')
    text.fail(in_quotes(text.field(1)) + " is not a side of a " + shape +
              (is_shell ? ", a shell or membrane: its edges are E1 to E4, its faces SPOS and SNEG."
                        : ": they are S1 to S6."));
  return static_cast<std::size_t>(side[1] - '1');
}

std::optional<std::size_t> side_of_load(const std::string &keyword, const std::string &label)
{
  static const std::map<std::string, char> letters = {
      {"DLOAD", 'P'}, {"DFLUX", 'S'}, {"FILM", 'F'}, {"RADIATE", 'R'}};
  const auto letter = letters.find(keyword);
  if (letter == letters.end() || label.empty() || label[0] != letter->second)
    return {};
  if (label.size() > 1 && label[1] >= '1' && label[1] <= '6')
    return static_cast<std::size_t>(label[1] - '1');
  const std::string rest = label.substr(1, 3);
  if (rest == "POS" || rest == "NEG" || label == "P" || label == "PNU")
    return AbaqusSet::element_itself;
  return {};
}
} // namespace femgpu
