#include "linalg/base/indices.h"
#include "linalg/generators/circuit.h"
#include "linalg/generators/elasticity.h"
#include "linalg/generators/random.h"
#include "linalg/generators/registry.h"
#include "linalg/generators/stencils.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
/// With the right-hand side 1, or @p b, everywhere.
ModelProblem on_grid(const Grid &grid, Stencil stencil, const double b = 1.)
{
  ModelProblem problem;
  problem.A = stencil_matrix(grid, std::move(stencil));
  problem.b.assign(static_cast<std::size_t>(problem.A.n), b);
  return problem;
}

/// h² of a grid that divides the unit square or cube, 0 of one with different numbers of points.
double spacing_squared(const Grid &grid)
{
  const bool is_cut_evenly = grid.nx == grid.ny && (grid.nz == 1 || grid.nz == grid.nx);
  const double h = 1. / (grid.nx + 1.);
  return is_cut_evenly ? h * h : 0.;
}

/// -Δu = f with spacing 1, where @p stencil stands for -c Δ.
ModelProblem poisson(const Grid &grid, Stencil stencil, const double c = 1.)
{
  ModelProblem problem = on_grid(grid, std::move(stencil));
  problem.source_weight = c * spacing_squared(grid);
  return problem;
}

ModelProblem convection_diffusion(const Grid &grid, const double peclet,
                                  const std::vector<double> &wind)
{
  ModelProblem problem = on_grid(grid, upwind_stencil(wind));
  problem.is_symmetric = peclet == 0.;
  return problem;
}

double positive_number(const GeneratorArguments &arguments)
{
  const double eps = arguments.number();
  if (eps <= 0.)
    arguments.fail("EPS must be positive");
  return eps;
}
} // namespace

ModelProblem make_poisson2d_p1(const GeneratorArguments &arguments)
{
  const int N = arguments.size(2);
  // The integral of a linear function that is 1 at a node is h².
  const double h_2 = 1. / (static_cast<double>(N) * N);
  ModelProblem problem = on_grid({N - 1, N - 1, 1}, triangle_stencil(), h_2);
  problem.source_weight = h_2;
  return problem;
}

ModelProblem make_poisson2d_5pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.grid(2), cross_stencil({1., 1.}));
}

ModelProblem make_poisson2d_9pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.grid(2), box_stencil(2), 3.);
}

ModelProblem make_poisson3d_7pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.grid(3), cross_stencil({1., 1., 1.}));
}

ModelProblem make_poisson3d_27pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.grid(3), box_stencil(3), 9.);
}

ModelProblem make_anisotropic2d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  return on_grid({N, N, 1}, cross_stencil({positive_number(arguments), 1.}));
}

ModelProblem make_anisotropic3d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  return on_grid({N, N, N}, cross_stencil({positive_number(arguments), 1., 1.}));
}

ModelProblem make_convection_diffusion2d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  const double peclet = arguments.number();
  return convection_diffusion({N, N, 1}, peclet, {peclet, peclet / 2.});
}

ModelProblem make_convection_diffusion3d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  const double peclet = arguments.number();
  return convection_diffusion({N, N, N}, peclet, {peclet, peclet / 2., peclet / 4.});
}

ModelProblem make_circuit(const GeneratorArguments &arguments)
{
  constexpr int smallest = 10;
  constexpr int largest = 300'000'000; // has nearly five entries a row
  const int N = arguments.size(smallest);
  if (N > largest)
    arguments.fail("more than " + std::to_string(largest) + " unknowns would have more than " +
                   std::to_string(most_indices) + " entries");
  const auto seed = static_cast<std::uint64_t>(arguments.seed());
  ModelProblem problem;
  problem.A = circuit_matrix(N, seed);
  problem.is_symmetric = false;
  std::vector<double> v; // voltages between 0 and 1 are the solution
  for (Random random(seed + 1); v.size() < static_cast<std::size_t>(N);)
    v.push_back(random.uniform(0., 1.));
  for (int i = 0; i < N; ++i) {
    double b_i = 0.;
    for (int k = problem.A.row_starts[i]; k < problem.A.row_starts[i + 1]; ++k)
      b_i += problem.A.values[k] * v[problem.A.columns[k]];
    problem.b.push_back(b_i);
  }
  return problem;
}

ModelProblem make_elasticity3d_p1(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  ModelProblem problem;
  problem.A = elasticity_matrix(N, 1., 0.3);
  problem.b = elasticity_load(N);
  return problem;
}
} // namespace femgpu::linalg
