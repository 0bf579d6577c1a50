#include "app/run_checks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace femgpu
{
namespace
{
const SystemSize ten_by_ten{2, 100., false, false, 1, 1, 1, 1};

TEST(RunChecks, MostDofsAreThoseOfTheLastCycleWhereItIsKnown)
{
  Parameters parameters;
  EXPECT_EQ(max_dofs(parameters, ten_by_ten), 100.);
  parameters.study.cycles = 3;
  EXPECT_EQ(max_dofs(parameters, ten_by_ten), 1600.);
  parameters.study.refinement = "adaptive";
  EXPECT_TRUE(std::isinf(max_dofs(parameters, ten_by_ten)));
  parameters.study.maximum_dofs = 5000;
  EXPECT_EQ(max_dofs(parameters, ten_by_ten), 5000.);
  parameters.study.cycles = 1;
  EXPECT_EQ(max_dofs(parameters, ten_by_ten), 100.);
  parameters.mesh.refinement_where = "x < 0.5";
  EXPECT_EQ(max_dofs(parameters, ten_by_ten), 5000.);
}

TEST(RunChecks, AutoTakesTheHostForFewUnknownsUnlessGpusAreSpokenOf)
{
  SolverParameters solver;
  solver.solver = "pipelined-cg";
  EXPECT_EQ(solver.groups_backend(10000), "host");
  EXPECT_EQ(solver.groups_backend(10001), "auto");
  for (const auto member : {&SolverParameters::format, &SolverParameters::preconditioner,
                            &SolverParameters::devices, &SolverParameters::communicator,
                            &SolverParameters::device_memory, &SolverParameters::execution}) {
    const std::string before = solver.*member;
    solver.*member = "cusparse-csr"; // any non-default value, or one that only a GPU has
    EXPECT_EQ(solver.groups_backend(1), "auto");
    solver.*member = before;
  }
  solver.backend = "cuda";
  EXPECT_EQ(solver.groups_backend(1), "cuda");
  solver.backend = "auto";
  solver.solver = "direct";
  EXPECT_EQ(solver.groups_backend(1e6), "host");
}

TEST(RunChecks, AutoChoosesASolverForTheMatrix)
{
  SolverParameters parameters;
  const auto chosen = [&](const bool is_symmetric, const bool has_convection) {
    const SolverSettings settings = parameters.chosen_for(is_symmetric, has_convection);
    return settings.solver + "; " + settings.preconditioner;
  };
  EXPECT_EQ(chosen(true, false), "pipelined-cg; auto");
  EXPECT_EQ(chosen(false, false), "pipelined-bicgstab; auto");
  parameters.backend = "host"; // on a GPU, ilu does not pay off
  EXPECT_EQ(chosen(false, true), "idr s=8; ilu level=1");
  parameters.preconditioner = "sai";
  EXPECT_EQ(chosen(false, true), "idr s=8; sai");
  parameters.solver = "gmres";
  parameters.preconditioner = "auto";
  EXPECT_EQ(chosen(false, true), "gmres; auto");
}
} // namespace
} // namespace femgpu
