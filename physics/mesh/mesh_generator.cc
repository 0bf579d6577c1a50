#include "physics/mesh/mesh_generator.h"

#include "linalg/base/error.h"

#include <deal.II/grid/grid_generator.h>

#include <algorithm>
#include <sstream>

namespace femgpu
{
using namespace dealii;

const std::vector<std::string> &generator_names()
{
  static const std::vector<std::string> names = {"channel_with_cylinder",
                                                 "cheese",
                                                 "concentric_hyper_shells",
                                                 "cylinder",
                                                 "eccentric_hyper_shell",
                                                 "enclosed_hyper_cube",
                                                 "general_cell",
                                                 "half_hyper_ball",
                                                 "half_hyper_shell",
                                                 "hyper_L",
                                                 "hyper_ball",
                                                 "hyper_ball_balanced",
                                                 "hyper_cross",
                                                 "hyper_cube",
                                                 "hyper_cube_slit",
                                                 "hyper_cube_with_cylindrical_hole",
                                                 "hyper_rectangle",
                                                 "hyper_shell",
                                                 "moebius",
                                                 "plate_with_a_hole",
                                                 "quarter_hyper_ball",
                                                 "quarter_hyper_shell",
                                                 "simplex",
                                                 "subdivided_hyper_L",
                                                 "subdivided_hyper_cube",
                                                 "subdivided_hyper_rectangle",
                                                 "torus",
                                                 "truncated_cone"};
  return names;
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
