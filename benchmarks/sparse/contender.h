#ifndef femgpu_benchmarks_sparse_contender_h
#define femgpu_benchmarks_sparse_contender_h

#include "linalg/operators/csr_matrix.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * What is measured: the same operations by femgpu and by cuSPARSE.
 */
namespace femgpu::linalg::benchmark
{
/// A CSR matrix in host memory, perhaps rectangular.
struct SparseArrays
{
  int n_columns = 0;
  std::vector<int> row_starts = {0}, columns;
  std::vector<double> values;

  int n() const
  {
    return static_cast<int>(row_starts.size()) - 1;
  }
};

/// A in the memory of @p executor.
CsrMatrix to_executor(const ExecutorPtr &executor, const SparseArrays &A);
/// With ascending columns, whatever the order of those of @p A.
SparseArrays to_host(const CsrMatrix &A);

struct SparseSystem
{
  std::string name;
  SparseArrays A, P; ///< P: smoothed aggregates
  bool is_symmetric = true;
};

/// A generator's text, or a Matrix Market file. @throws as generate() and read_matrix_market()
SparseSystem make_system(const std::string &text);

enum class Operation
{
  transpose,    ///< Aᵀ
  square,       ///< A A
  interpolated, ///< A P
  coarse        ///< Pᵀ A P
};

/// An operation, done once when it is made, and again for new values.
class Contender
{
public:
  virtual ~Contender() = default;
  /// Takes over the values of its matrices once more; waiting is the caller's.
  virtual void refresh() = 0;
  virtual const CsrMatrix &result() const = 0;
};

/// What an operation is done with; it stays while its contenders are there.
struct Factors
{
  CsrMatrix A, P;
  bool is_symmetric;
};

std::unique_ptr<Contender> make_femgpu(Operation operation, const Factors &factors);

/// By cuSPARSE: SpGEMMreuse, or SpGEMM, which is done as a whole again; nullptr where the program
/// has no CUDA or cuSPARSE has no such operation.
std::unique_ptr<Contender> make_cusparse(Operation operation, const Factors &factors,
                                         bool keeps_pattern);
} // namespace femgpu::linalg::benchmark

#endif
