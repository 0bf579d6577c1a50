#include "linalg/base/parallel.h"
#include "linalg/dealii/group_solver.h"

#include "linalg/dealii/leader.h"

#include <deal.II/base/mpi.h>

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <vector>

/**
 * @file
 * Tests systems that the ranks of a group assemble together: what is copied to the leader's device,
 * and when.
 */
namespace
{
using namespace femgpu;
using namespace femgpu::linalg;

/// Makes the pattern of 1D finite differences; each rank owns @p rows rows.
void make_pattern(GroupSystem &system, const std::size_t rows)
{
  const auto rank = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
  const auto ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const auto first = static_cast<int>(rank * rows), last = static_cast<int>(ranks * rows) - 1;
  std::vector<unsigned int> lengths(rows, 3);
  lengths.front() -= rank == 0 ? 1 : 0;
  lengths.back() -= rank == ranks - 1 ? 1 : 0;
  std::vector<GroupSystem::Index> columns;
  system.reinit(
      lengths, [&](const std::size_t row) -> const auto & {
        const int i = first + static_cast<int>(row);
        columns.clear();
        for (int j = std::max(0, i - 1); j <= std::min(last, i + 1); ++j)
          columns.push_back(static_cast<GroupSystem::Index>(j));
        return columns;
      });
}

/// Assembles @p scale times the matrix, with contributions of neighbouring ranks, and b = 1.
void assemble(GroupSystem &system, const double scale)
{
  system.set_zero(/* has weights */ false);
  for (auto i = system.first_owned(); i < system.first_owned() + system.n_owned(); ++i) {
    system.add_rhs(i, 1.);
    const double diagonal = 2.5 * scale, other = -scale;
    system.add_row(i, 1, &i, &diagonal);
    if (const auto next = i + 1; next < system.n()) {
      system.add_row(i, 1, &next, &other);
      system.add_row(next, 1, &i, &other);
    }
  }
  system.compress();
  std::fill_n(system.solution(), system.n_owned(), 0.);
}

std::vector<double> solution(const GroupSystem &system)
{
  const double *const x = system.block().x;
  return {x, x + system.n()};
}

SolverGroups one_group()
{
  return {MPI_COMM_WORLD, "auto", "1", "auto"};
}

SolveControl tight()
{
  SolveControl control;
  control.relative_tolerance = 1e-12;
  return control;
}

/// Returns how many of @p bytes of a matrix are copied: none on the host, which reads it in place.
std::size_t moved(GroupSolver &solver, const std::size_t bytes)
{
  return solver.locations().front().backend == "host" ? 0 : bytes;
}

TEST(GroupSolver, moves_a_pattern_once_and_then_values_alone)
{
  GroupSystem system{SolverGroups(MPI_COMM_WORLD)};
  GroupSolver solver(one_group(), 2, LinearSolverOptions());
  for (const std::size_t rows : {50, 20}) {
    make_pattern(system, rows);
    const std::size_t vectors = 3 * system.n() * sizeof(double),
                      values = moved(solver, system.n_nonzeros() * sizeof(double)),
                      pattern = moved(solver, (system.n_nonzeros() + system.n() + 1) * sizeof(int));
    assemble(system, 1.);
    EXPECT_EQ(solver.solve(system, tight()).costs.transfer.bytes, pattern + values + vectors);
    const std::vector<double> x = solution(system);
    assemble(system, 2.);
    const SolveReport report = solver.solve(system, tight());
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(report.costs.transfer.bytes, values + vectors);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(2. * solution(system)[i], x[i], 1e-11);
  }
}

TEST(GroupSystem, forgets_an_assembly_that_has_failed)
{
  GroupSystem system{SolverGroups(MPI_COMM_WORLD)};
  GroupSolver solver(one_group(), 2, LinearSolverOptions());
  make_pattern(system, 20);
  assemble(system, 1.);
  solver.solve(system, tight());
  const std::vector<double> x = solution(system);
  for (GroupSystem::Index i = 0; i < system.n(); ++i) { // an assembly that ends without compress()
    const double diagonal = 1.;
    system.add_row(i, 1, &i, &diagonal);
    system.add_rhs(i, 1.);
  }
  assemble(system, 1.);
  solver.solve(system, tight());
  EXPECT_EQ(x, solution(system));
}

TEST(GroupSolver, that_begins_with_the_pattern_gives_the_same_bits)
{
  GroupSystem system{SolverGroups(MPI_COMM_WORLD)};
  LinearSolverOptions options;
  options.ordering = "rcm";
  GroupSolver early(one_group(), 2, options), late(one_group(), 2, options);
  for (const std::size_t rows : {50, 20}) {
    make_pattern(system, rows);
    early.begin_pattern(system);
    assemble(system, 1.);
    const SolveReport report = early.solve(system, tight());
    const std::vector<double> x = solution(system);
    assemble(system, 1.);
    EXPECT_EQ(report.costs.transfer.bytes, late.solve(system, tight()).costs.transfer.bytes);
    EXPECT_EQ(x, solution(system));
    EXPECT_GE(report.costs.transfer.overlapped_seconds, 0.);
    early.begin_pattern(system); // the solver already has this pattern
    assemble(system, 1.);
    EXPECT_EQ(early.solve(system, tight()).costs.transfer.bytes,
              moved(early, system.n_nonzeros() * sizeof(double)) + 3 * system.n() * sizeof(double));
    EXPECT_EQ(x, solution(system));
  }
}

TEST(GroupSolver, moves_all_again_after_a_release)
{
  GroupSystem system{SolverGroups(MPI_COMM_WORLD)};
  GroupSolver solver(one_group(), 2, LinearSolverOptions());
  make_pattern(system, 30);
  assemble(system, 1.);
  const std::size_t bytes = solver.solve(system, tight()).costs.transfer.bytes;
  const std::vector<double> x = solution(system);
  for (const bool begins_early : {false, true}) {
    solver.release();
    if (begins_early)
      solver.begin_pattern(system);
    assemble(system, 1.);
    EXPECT_EQ(solver.solve(system, tight()).costs.transfer.bytes, bytes);
    EXPECT_EQ(x, solution(system));
  }
}

cpu_set_t cores()
{
  cpu_set_t now;
  CPU_ZERO(&now);
  sched_getaffinity(0, sizeof(now), &now);
  return now;
}

TEST(SolverGroups, a_leader_has_the_cores_of_its_group_while_it_leads)
{
  const auto rank = static_cast<int>(dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD));
  const auto ranks = static_cast<int>(dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD));
  const cpu_set_t all = cores();
  const int threads = n_loop_threads();
  cpu_set_t mine;
  CPU_ZERO(&mine);
  for (int core = 0, before = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &all) && before++ == rank % CPU_COUNT(&all))
      CPU_SET(core, &mine);
  ASSERT_EQ(sched_setaffinity(0, sizeof(mine), &mine), 0);
  {
    const SolverGroups groups(MPI_COMM_WORLD);
    run_on_leaders(groups, [&] {
      const cpu_set_t now = cores();
      EXPECT_EQ(CPU_COUNT(&now), std::min(ranks, CPU_COUNT(&all)));
      EXPECT_EQ(n_loop_threads(), static_cast<int>(groups.n_threads()));
    });
    const cpu_set_t now = cores();
    EXPECT_TRUE(CPU_EQUAL(&now, &mine));
    EXPECT_EQ(n_loop_threads(), 1);
  }
  sched_setaffinity(0, sizeof(all), &all);
  set_n_loop_threads(threads);
}

TEST(GroupSolver, moves_another_systems_pattern_again)
{
  GroupSystem a{SolverGroups(MPI_COMM_WORLD)}, b{SolverGroups(MPI_COMM_WORLD)};
  GroupSolver solver(one_group(), 2, LinearSolverOptions());
  make_pattern(a, 30);
  make_pattern(b, 30);
  EXPECT_NE(a.pattern_number(), b.pattern_number());
  assemble(a, 1.);
  assemble(b, 1.);
  const std::size_t bytes = solver.solve(a, tight()).costs.transfer.bytes;
  EXPECT_EQ(solver.solve(b, tight()).costs.transfer.bytes, bytes);
  EXPECT_EQ(solution(a), solution(b));
}
} // namespace
