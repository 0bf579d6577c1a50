#ifndef femgpu_linalg_generators_registry_h
#define femgpu_linalg_generators_registry_h

#include "linalg/base/choice.h"
#include "linalg/generators/grid_matrix.h"

#include <string>
#include <vector>

/// Every model problem: X(name, parameters, function, meaning). The function is called with the
/// parameters that the user gave; as many as here, parted by commas, or without those in [,...].
#define FEMGPU_GENERATORS(X)                                                                       \
  X("poisson2d-p1", "N", make_poisson2d_p1,                                                        \
    "-Δu = 1 in the unit square, N x N squares cut into linear triangles; (N-1)^2 unknowns, "     \
    "7 entries a row of which 2 are zeros")                                                        \
  X("poisson2d-5pt", "NX[xNY]", make_poisson2d_5pt,                                                \
    "-Δu = 1 on NX x NY inner points with spacing 1, differences with 5 points")                   \
  X("poisson2d-9pt", "NX[xNY]", make_poisson2d_9pt,                                                \
    "the same with 9 points: 8, and -1 for each neighbour")                                        \
  X("poisson3d-7pt", "NX[xNYxNZ]", make_poisson3d_7pt,                                             \
    "-Δu = 1 on NX x NY x NZ inner points with spacing 1, differences with 7 points")              \
  X("poisson3d-27pt", "NX[xNYxNZ]", make_poisson3d_27pt,                                           \
    "the same with 27 points: 26, and -1 for each neighbour")                                      \
  X("anisotropic2d", "N,EPS", make_anisotropic2d,                                                  \
    "-EPS u_xx - u_yy = 1 on N x N inner points with spacing 1, 5 points; EPS > 0")                \
  X("anisotropic3d", "N,EPS", make_anisotropic3d,                                                  \
    "-EPS u_xx - u_yy - u_zz = 1 on N x N x N inner points with spacing 1, 7 points; EPS > 0")     \
  X("convection-diffusion2d", "N,PECLET", make_convection_diffusion2d,                             \
    "unsymmetric: -Δu + PECLET (u_x + u_y/2) = 1 on N x N inner points with spacing 1, upwind "   \
    "differences; PECLET = w h / a of a cell with wind w in x and diffusion a")                    \
  X("convection-diffusion3d", "N,PECLET", make_convection_diffusion3d,                             \
    "the same for -Δu + PECLET (u_x + u_y/2 + u_z/4) = 1 on N x N x N inner points")               \
  X("circuit", "N[,SEED]", make_circuit,                                                           \
    "unsymmetric: a random circuit of N unknowns with transistors, sources, two or more power "    \
    "rails with long rows and columns, and conductances from 1e-6 to 1e3; N > 9, SEED 1")          \
  X("elasticity3d-p1", "N", make_elasticity3d_p1,                                                  \
    "linear elasticity in the unit cube, E = 1, nu = 0.3, clamped at x = 0, under its weight; "    \
    "N x N x N cubes cut into 6 linear tetrahedra; 3 N (N+1)^2 unknowns")

namespace femgpu::linalg
{
/// A system A x = b whose size one chooses.
struct ModelProblem
{
  std::string name; ///< the text it was made from
  HostMatrix A;
  std::vector<double> b; ///< n
  bool is_symmetric = true;
  /// What a source f = 1 adds to each b_i where the problem is posed in the unit square or cube: A
  /// is -Δ times that. 0 where it is not, as for grids with different numbers of points.
  double source_weight = 0.;
};

/// What stands after the colon of a generator's text.
class GeneratorArguments
{
public:
  /**
   * @param text the whole text, "NAME:PARAMETERS"
   * @param form what it should look like, "poisson2d-5pt:NX[xNY]"
   * @throws ParameterError if the number of parameters is another
   */
  GeneratorArguments(const std::string &text, const std::string &form);

  /// The first parameter: one size for all of @p dimension directions, or one for each.
  Grid grid(int dimension) const;
  /// The first parameter: one size, at least @p smallest.
  int size(int smallest) const;
  /// The second parameter.
  double number() const;
  /// The second parameter, a whole number that is not negative; 1 without it.
  int seed() const;

  /// @throws ParameterError that names text and form
  [[noreturn]] void fail(const std::string &reason) const;

private:
  int parse_size(const std::string &word, int smallest) const;

  std::string text, form;
  std::vector<std::string> words;
};

#define FEMGPU_DECLARE(name, parameters, make, meaning)                                            \
  ModelProblem make(const GeneratorArguments &arguments);
FEMGPU_GENERATORS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

/// "NAME:PARAMETERS" and meaning of all.
std::vector<Choice> generator_choices();

/**
 * Makes the model problem that @p text says, as in "poisson2d-5pt:100x50".
 * @throws ParameterError naming the valid forms; or the numbers, if the matrix has more than
 * most_indices rows or entries
 */
ModelProblem generate(const std::string &text);
} // namespace femgpu::linalg

#endif
