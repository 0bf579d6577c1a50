#include "physics/mesh/mesh_generator.h"

#include "linalg/base/error.h"
#include "physics/expressions.h"

#include <deal.II/grid/grid_generator.h>

#include <algorithm>
#include <cmath>
#include <functional>
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
/// Of each argument, its numbers.
using Numbers = std::vector<std::vector<double>>;

Numbers numbers_of(const std::string &arguments)
{
  Numbers all;
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

/// Holes and what is between them, in each direction, without the holes.
double cells_of_cheese(const std::vector<double> &holes)
{
  double n = 1.;
  for (const double k : holes)
    n *= 2. * k + 1.;
  return n - product(holes);
}
} // namespace

double generated_cells(const std::string &generator, const std::string &arguments, const int dim)
{
  Numbers given = numbers_of(arguments);
  given.resize(16);
  const auto number = [&](const std::size_t i) { return given[i].empty() ? 0. : given[i].front(); };
  if (generator == "subdivided_hyper_cube")
    return std::pow(number(0), dim);
  if (generator == "subdivided_hyper_rectangle")
    return product(given[0]);
  if (generator == "subdivided_hyper_L")
    return product(given[0]) - product(given[3]);
  if (generator == "cheese")
    return cells_of_cheese(given[0]);
  if (generator == "hyper_cross")
    return std::accumulate(given[0].begin(), given[0].end(), 1.);
  if (generator == "concentric_hyper_shells")
    return number(4) * std::max(number(6), 1.);
  if (generator == "eccentric_hyper_shell")
    return number(4);
  if (generator == "hyper_shell" || generator == "half_hyper_shell" ||
      generator == "quarter_hyper_shell" || generator == "hyper_cube_with_cylindrical_hole")
    return number(3);
  if (generator == "moebius")
    return number(0);
  if (generator == "torus")
    return number(2);
  if (generator == "channel_with_cylinder")
    return number(1);
  return generator == "plate_with_a_hole" ? number(10) : 0.;
}

std::string words_of(const ExceptionBase &error)
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
    throw ParameterError("There is no mesh generator '" + parameters.generator +
                             "'; `femgpu --list` shows the names.",
                         "Mesh/Generator");
  try {
    GridGenerator::generate_from_name_and_arguments(coarse, parameters.generator,
                                                    parameters.arguments);
  }
  catch (const ExceptionBase &error) {
    throw ParameterError("The mesh generator '" + parameters.generator + "' cannot be called in " +
                             std::to_string(dim) + "D with the arguments '" + parameters.arguments +
                             "': " + words_of(error) +
                             " Give all its arguments after the triangulation, separated by ':'.",
                         "Mesh/Arguments");
  }
}

template void generate_mesh(const MeshParameters &, Triangulation<2> &);
template void generate_mesh(const MeshParameters &, Triangulation<3> &);
} // namespace femgpu
