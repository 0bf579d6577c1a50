#ifndef references_cg_h
#define references_cg_h

#include "benchmarks/speed/candidate.h"

#include <deal.II/base/index_set.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/vector_operation.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Runs Jacobi-preconditioned conjugate gradients of other libraries on the CPU, for the systems of
 * femgpu_speed. From femgpu, the programs use only the generators and the time measurement.
 */
namespace references
{
using femgpu::linalg::benchmark::Candidate;
using femgpu::linalg::benchmark::ReportedResult;
using femgpu::linalg::benchmark::SpeedSystem;

/// A library that one of the programs measures.
struct Library
{
  std::string name;
  bool has_threads = false; ///< does it run as one process with threads instead of MPI ranks?
  femgpu::linalg::benchmark::ResidualNorm norm; ///< the norm that its conjugate gradients monitor
  std::function<std::unique_ptr<Candidate>(const SpeedSystem &)> make;
};

/// Implements main() with the options of femgpu_speed. @return the exit code
int run(int argc, char **argv, const Library &library);

/// Returns the contiguous range of rows that this MPI rank owns.
dealii::IndexSet local_rows(const SpeedSystem &system);

/// Returns the sparsity pattern of the rows of this rank.
dealii::DynamicSparsityPattern pattern_of(const SpeedSystem &system, const dealii::IndexSet &rows);

/// Calls set(row, columns, values) for each row of this rank.
void for_rows(const SpeedSystem &system, const dealii::IndexSet &rows,
              const std::function<void(unsigned int, const std::vector<unsigned int> &,
                                       const std::vector<double> &)> &set);

/// Fills a distributed matrix of PETSc or Trilinos with all entries of the system, including zeros.
template <class Matrix>
void fill(Matrix &matrix, const SpeedSystem &system, const dealii::IndexSet &rows)
{
  for_rows(system, rows, [&](const unsigned int row, const auto &columns, const auto &values) {
    matrix.set(row, static_cast<unsigned int>(columns.size()), columns.data(), values.data(),
               /* elide zeros */ false);
  });
  matrix.compress(dealii::VectorOperation::insert);
}

/// Fills a distributed vector of PETSc or Trilinos with b.
template <class Vector>
void fill_with_b(Vector &vector, const SpeedSystem &system, const dealii::IndexSet &rows)
{
  for (const auto i : rows)
    vector[i] = system.b[i];
  vector.compress(dealii::VectorOperation::insert);
}
} // namespace references

#endif
