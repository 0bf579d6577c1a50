#include "physics/mesh/mesh_generator.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"

#include <deal.II/grid/grid_generator.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>

namespace femgpu
{
using namespace dealii;

const std::vector<std::string> &generator_names()
{
  static const std::vector<std::string> names = split_expressions(
      "channel_with_cylinder, cheese, concentric_hyper_shells, cylinder, "
      "eccentric_hyper_shell, enclosed_hyper_cube, general_cell, half_hyper_ball, "
      "half_hyper_shell, hyper_L, hyper_ball, hyper_ball_balanced, hyper_cross, hyper_cube, "
      "hyper_cube_slit, hyper_cube_with_cylindrical_hole, hyper_rectangle, hyper_shell, "
      "moebius, plate_with_a_hole, quarter_hyper_ball, quarter_hyper_shell, simplex, "
      "subdivided_hyper_L, subdivided_hyper_cube, subdivided_hyper_rectangle, torus, "
      "truncated_cone",
      ',');
  return names;
}

namespace
{
/// Returns the numbers in each argument; other words count as 0.
std::vector<std::vector<double>> numbers_of(const std::string &arguments)
{
  std::vector<std::vector<double>> all;
  for (const std::string &argument : split_expressions(arguments, ':')) {
    all.emplace_back();
    for (const std::string &word : split_expressions(argument, ','))
      all.back().push_back(finite_number(word).value_or(0.));
  }
  return all;
}

double product(const std::vector<double> &numbers)
{
  return std::accumulate(numbers.begin(), numbers.end(), 1., std::multiplies<double>());
}
} // namespace

double generated_cells(const std::string &generator, const std::string &arguments, const int dim)
{
  // For each generator, the index of the argument that is the number of cells.
  static const std::map<std::string, std::size_t> numbers_of_cells = {
      {"channel_with_cylinder", 1},
      {"eccentric_hyper_shell", 4},
      {"half_hyper_shell", 3},
      {"hyper_cube_with_cylindrical_hole", 3},
      {"hyper_shell", 3},
      {"moebius", 0},
      {"plate_with_a_hole", 10},
      {"quarter_hyper_shell", 3},
      {"torus", 2}};
  std::vector<std::vector<double>> values = numbers_of(arguments);
  values.resize(16);
  const auto number = [&](const std::size_t i) {
    return values[i].empty() ? 0. : values[i].front();
  };
  if (generator == "subdivided_hyper_cube")
    return std::pow(number(0), dim);
  if (generator == "subdivided_hyper_rectangle")
    return product(values[0]);
  if (generator == "subdivided_hyper_L")
    return product(values[0]) - product(values[3]);
  if (generator == "cheese") { // the holes and the spaces between them, in each direction
    std::vector<double> cells;
    for (const double holes : values[0])
      cells.push_back(2. * holes + 1.);
    return product(cells) - product(values[0]);
  }
  if (generator == "hyper_cross")
    return std::accumulate(values[0].begin(), values[0].end(), 1.);
  if (generator == "concentric_hyper_shells")
    return number(4) * std::max(number(6), 1.);
  const auto entry = numbers_of_cells.find(generator);
  return entry != numbers_of_cells.end() ? number(entry->second) : 0.;
}

std::string message_of(const ExceptionBase &error)
{
  std::ostringstream all;
  error.print_info(all);
  std::istringstream words(all.str());
  std::string word, text;
  while (words >> word)
    text += (text.empty() ? "" : " ") + word;
  return text.size() > 400 ? text.substr(0, 400) + " ..." : text;
}

template <int dim>
void generate_mesh(const MeshParameters &parameters, Triangulation<dim> &coarse)
{
  const auto &names = generator_names();
  if (std::find(names.begin(), names.end(), parameters.generator) == names.end())
    throw ParameterError("Unknown mesh generator '" + parameters.generator +
                             "'; `femgpu --list` shows the names.",
                         "Mesh/Generator");
  try {
    GridGenerator::generate_from_name_and_arguments(coarse, parameters.generator,
                                                    parameters.arguments);
  }
  catch (const ExceptionBase &error) {
    throw ParameterError("The mesh generator '" + parameters.generator + "' cannot be called in " +
                             std::to_string(dim) + "D with the arguments '" + parameters.arguments +
                             "': " + message_of(error) +
                             " Give all its arguments after the triangulation, separated by ':'.",
                         "Mesh/Arguments");
  }
}

template void generate_mesh(const MeshParameters &, Triangulation<2> &);
template void generate_mesh(const MeshParameters &, Triangulation<3> &);
} // namespace femgpu
