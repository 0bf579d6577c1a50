#include "benchmarks/speed/systems.h"

#include "benchmarks/measure.h"
#include "linalg/base/error.h"
#include "linalg/base/parallel.h"
#include "solve/generators/registry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg::benchmark
{
const std::vector<TableSystem> &table_systems()
{
  static const std::vector<TableSystem> systems = {
      {"p2d", "poisson2d-p1:16", 225},        {"p2d", "poisson2d-p1:32", 961},
      {"p2d", "poisson2d-p1:64", 3969},       {"p2d", "poisson2d-p1:128", 16129},
      {"p2d", "poisson2d-p1:256", 65025},     {"p2d", "poisson2d-p1:512", 261121},
      {"p2d", "poisson2d-p1:1024", 1046529},  {"p2d", "poisson2d-p1:2048", 4190209},
      {"e3d", "elasticity3d-p1:5", 540},      {"e3d", "elasticity3d-p1:11", 4752},
      {"e3d", "elasticity3d-p1:23", 39744},   {"e3d", "elasticity3d-p1:47", 324864},
      {"e3d", "elasticity3d-p1:95", 2626560}, {"fd3", "poisson3d-7pt:72", 373248},
      {"fd3", "poisson3d-7pt:96", 884736},    {"fd3", "poisson3d-7pt:144", 2985984},
      {"fd3", "poisson3d-7pt:256", 16777216}, {"q1", "poisson3d-27pt:100", 1000000},
      {"q1", "poisson3d-27pt:200", 8000000},  {"q1", "poisson3d-27pt:252", 16003008},
  };
  return systems;
}

std::vector<TableSystem> choose_systems(const std::vector<std::string> &families,
                                        const int smallest, const int largest)
{
  const std::vector<TableSystem> &all = table_systems();
  for (const std::string &family : families)
    if (std::none_of(all.begin(), all.end(),
                     [&](const TableSystem &line) { return line.family == family; }))
      throw ParameterError("Systems '" + family + "' are unknown; use p2d, e3d, fd3 or q1.");
  std::vector<TableSystem> chosen;
  for (const TableSystem &line : all)
    if (smallest <= line.n && line.n <= largest &&
        (families.empty() ||
         std::find(families.begin(), families.end(), line.family) != families.end()))
      chosen.push_back(line);
  return chosen;
}

SpeedSystem make_system(const TableSystem &line)
{
  ModelProblem problem = generate(line.generator);
  if (problem.A.n != line.n)
    throw SolverError("In the table, '" + line.generator + "' has " + std::to_string(line.n) +
                      " unknowns, but it has " + std::to_string(problem.A.n) +
                      ". Correct table_systems().");
  return {line.family, std::move(problem.A), right_hand_side(line.n)};
}

std::size_t floor_bytes(const HostMatrix &A)
{
  const auto n = static_cast<std::size_t>(A.n), n_nonzeros = A.columns.size();
  const auto b = static_cast<std::size_t>(std::max(A.unknowns->per_node, 1)); // block size
  const std::size_t indices = sizeof(int) * (n_nonzeros / (b * b) + n / b + 1);
  return sizeof(double) * n_nonzeros + indices + 72 * n;
}

std::size_t gmres_floor_bytes(const HostMatrix &A)
{
  const auto n = static_cast<std::size_t>(A.n);
  // An iteration reads the earlier basis vectors twice, on average 2 * (0 + ... + 29) / 30 vectors.
  // The doc comment of this function explains the other 8.
  constexpr std::size_t n_vectors = gmres_restart - 1 + 8;
  return floor_bytes(A) - 72 * n + sizeof(double) * n_vectors * n;
}

double diagonal(const HostMatrix &A, const int row)
{
  const int *const begin = A.columns.data() + A.row_starts[row];
  const int *const end = A.columns.data() + A.row_starts[row + 1];
  return A.values[std::lower_bound(begin, end, row) - A.columns.data()];
}

ScaledSystem::ScaledSystem(const SpeedSystem &system)
    : A(system.A), inverse_roots(system.b.size()), values(A.columns.size()), b(system.b)
{
  parallel_for(A.n, [&](const int i) {
    inverse_roots[i] = 1. / std::sqrt(diagonal(A, i));
    b[i] *= inverse_roots[i];
  });
  parallel_for(A.n, [&](const int i) {
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      values[k] = inverse_roots[i] * A.values[k] * inverse_roots[A.columns[k]];
  });
}
} // namespace femgpu::linalg::benchmark
