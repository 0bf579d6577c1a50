#include "solve/generators/circuit.h"
#include "solve/generators/elasticity.h"
#include "solve/generators/random.h"
#include "solve/generators/registry.h"
#include "solve/generators/stencils.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Makes a problem with the matrix of @p stencil and the right-hand side @p b at every point.
ModelProblem on_grid(const RowShare &share, const Grid &grid, Stencil stencil, const double b = 1.)
{
  ModelProblem problem;
  problem.A = stencil_matrix(grid, std::move(stencil), share);
  problem.b.assign(static_cast<std::size_t>(problem.A.n), b);
  return problem;
}

/// Returns h² if @p grid is an N x N or N x N x N grid in the unit square or cube, else 0.
double spacing_squared(const Grid &grid)
{
  const bool is_cut_evenly = grid.nx == grid.ny && (grid.nz == 1 || grid.nz == grid.nx);
  const double h = 1. / (grid.nx + 1.);
  return is_cut_evenly ? h * h : 0.;
}

/// Makes a Poisson problem with spacing 1 and b = 1. The matrix of @p stencil represents -c Δ.
ModelProblem poisson(const RowShare &share, const Grid &grid, Stencil stencil, const double c = 1.)
{
  ModelProblem problem = on_grid(share, grid, std::move(stencil));
  problem.source_weight = c * spacing_squared(grid);
  return problem;
}

ModelProblem convection_diffusion(const RowShare &share, const Grid &grid, const double peclet,
                                  const std::vector<double> &wind)
{
  ModelProblem problem = on_grid(share, grid, upwind_stencil(wind));
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
ModelProblem poisson2d_p1(const GeneratorArguments &arguments)
{
  const int N = arguments.size(2);
  // The integral of the linear shape function of a node, which is 1 at the node, is h².
  const double h_2 = 1. / (static_cast<double>(N) * N);
  ModelProblem problem = on_grid(arguments.share(), {N - 1, N - 1, 1}, triangle_stencil(), h_2);
  problem.source_weight = h_2;
  return problem;
}

ModelProblem poisson2d_5pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.share(), arguments.grid(2), cross_stencil({1., 1.}));
}

ModelProblem poisson2d_9pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.share(), arguments.grid(2), box_stencil(2), 3.);
}

ModelProblem poisson3d_7pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.share(), arguments.grid(3), cross_stencil({1., 1., 1.}));
}

ModelProblem poisson3d_27pt(const GeneratorArguments &arguments)
{
  return poisson(arguments.share(), arguments.grid(3), box_stencil(3), 9.);
}

ModelProblem anisotropic2d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  return on_grid(arguments.share(), {N, N, 1}, cross_stencil({positive_number(arguments), 1.}));
}

ModelProblem anisotropic3d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  return on_grid(arguments.share(), {N, N, N}, cross_stencil({positive_number(arguments), 1., 1.}));
}

ModelProblem convection_diffusion2d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  const double peclet = arguments.number();
  return convection_diffusion(arguments.share(), {N, N, 1}, peclet, {peclet, peclet / 2.});
}

ModelProblem convection_diffusion3d(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  const double peclet = arguments.number();
  return convection_diffusion(arguments.share(), {N, N, N}, peclet,
                              {peclet, peclet / 2., peclet / 4.});
}

ModelProblem banded(const GeneratorArguments &arguments)
{
  const int N = arguments.size(2), W = arguments.second_size(1);
  if (W >= N)
    arguments.fail("W must be less than N");
  return on_grid(arguments.share(), {N, 1, 1}, band_stencil(W));
}

/// Returns a share of a problem, for generators that cannot make a share of the rows alone.
ModelProblem share_of(ModelProblem all, const RowShare &share)
{
  if (share.is_all())
    return all;
  ModelProblem problem;
  problem.is_symmetric = all.is_symmetric;
  problem.source_weight = all.source_weight;
  const int first = share.first(all.A.n), end = share.end(all.A.n);
  for (int i = first; i < end; ++i) {
    for (int k = all.A.row_starts[i]; k < all.A.row_starts[i + 1]; ++k)
      problem.A.add(all.A.columns[k], all.A.values[k]);
    problem.A.end_row();
  }
  problem.b.assign(all.b.begin() + first, all.b.begin() + end);
  return problem;
}

ModelProblem circuit(const GeneratorArguments &arguments)
{
  constexpr int smallest = 10;
  const int N = arguments.size(smallest);
  const auto seed = static_cast<std::uint64_t>(arguments.seed());
  ModelProblem problem;
  problem.A = circuit_matrix(N, seed);
  problem.is_symmetric = false;
  std::vector<double> v; // the solution, with entries between 0 and 1
  for (Random random(seed + 1); v.size() < static_cast<std::size_t>(N);)
    v.push_back(random.uniform(0., 1.));
  const HostCsr A = problem.A.csr();
  for (int i = 0; i < N; ++i) {
    double b_i = 0.;
    const RowEntries<double> row = A.entries(i);
    for (int k = 0; k < row.length; ++k)
      b_i += row.values[k] * v[row.columns[k]];
    problem.b.push_back(b_i);
  }
  return share_of(std::move(problem), arguments.share());
}

ModelProblem elasticity3d_p1(const GeneratorArguments &arguments)
{
  const int N = arguments.size(1);
  ModelProblem problem;
  problem.A = elasticity_matrix(N, 1., 0.3, arguments.share());
  problem.b = elasticity_load(N, arguments.share());
  return problem;
}
} // namespace

constexpr decltype(generators)::Entry generator_table[] = {
    {"poisson2d-p1",
     "-Δu = 1 in the unit square, N x N squares, each split into two linear triangles; (N-1)^2 "
     "unknowns, 7 entries per row, 2 of them zero",
     poisson2d_p1,
     {"N"}},
    {"poisson2d-5pt",
     "-Δu = 1 on NX x NY inner points with spacing 1, 5-point finite differences",
     poisson2d_5pt,
     {"NX[xNY]"}},
    {"poisson2d-9pt",
     "-Δu = 1 on NX x NY inner points, 9-point stencil: 8 on the diagonal, -1 for each neighbour",
     poisson2d_9pt,
     {"NX[xNY]"}},
    {"poisson3d-7pt",
     "-Δu = 1 on NX x NY x NZ inner points with spacing 1, 7-point finite differences",
     poisson3d_7pt,
     {"NX[xNYxNZ]"}},
    {"poisson3d-27pt",
     "-Δu = 1 on NX x NY x NZ inner points, 27-point stencil: 26 on the diagonal, -1 for each "
     "neighbour",
     poisson3d_27pt,
     {"NX[xNYxNZ]"}},
    {"anisotropic2d",
     "-EPS u_xx - u_yy = 1 on N x N inner points with spacing 1, 5-point finite differences; EPS > "
     "0",
     anisotropic2d,
     {"N,EPS"}},
    {"anisotropic3d",
     "-EPS u_xx - u_yy - u_zz = 1 on N x N x N inner points with spacing 1, 7-point finite "
     "differences; EPS > 0",
     anisotropic3d,
     {"N,EPS"}},
    {"convection-diffusion2d",
     "unsymmetric: -Δu + PECLET (u_x + u_y/2) = 1 on N x N inner points with spacing 1, upwind "
     "differences; PECLET = w h / a, the cell Peclet number with wind w in x and diffusion a",
     convection_diffusion2d,
     {"N,PECLET"}},
    {"convection-diffusion3d",
     "unsymmetric: -Δu + PECLET (u_x + u_y/2 + u_z/4) = 1 on N x N x N inner points with spacing "
     "1, upwind differences",
     convection_diffusion3d,
     {"N,PECLET"}},
    {"banded",
     "N rows with W < N neighbours on each side: -1/d^2 at distance d, 1.01 times the sum of their "
     "magnitudes on the diagonal",
     banded,
     {"N,W"}},
    {"circuit",
     "unsymmetric: a random circuit of N unknowns with transistors, sources, two or more power "
     "rails with long rows and columns, and conductances from 1e-6 to 1e3; N > 9, SEED 1",
     circuit,
     {"N[,SEED]"}},
    {"elasticity3d-p1",
     "linear elasticity in the unit cube, E = 1, nu = 0.3, clamped at x = 0, under its own weight; "
     "N x N x N cubes, each split into 6 linear tetrahedra; 3 N (N+1)^2 unknowns",
     elasticity3d_p1,
     {"N"}}};

constexpr decltype(generators) generators("model problem", generator_table);
} // namespace femgpu::linalg
