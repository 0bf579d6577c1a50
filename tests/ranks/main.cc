#include <gtest/gtest.h>

#include <mpi.h>

#include <iostream>
#include <sstream>

/**
 * @file
 * Runs all tests on every rank. A test that fails on one rank has failed; the ranks print in turn.
 */
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0)
    testing::GTEST_FLAG(brief) = true;
  const int failed = RUN_ALL_TESTS();
  int have_failed = 0;
  MPI_Allreduce(&failed, &have_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return have_failed;
}
