#ifndef femgpu_benchmarks_sparse_candidate_h
#define femgpu_benchmarks_sparse_candidate_h

#include "linalg/operators/csr_matrix.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * The measured operations, which femgpu and cuSPARSE both implement.
 */
namespace femgpu::linalg::benchmark
{
/// A CSR matrix in host memory, possibly rectangular.
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

/// Copies @p A to the memory of @p executor.
CsrMatrix to_executor(const ExecutorPtr &executor, const SparseArrays &A);
/// Copies @p A to the host and sorts the columns of each row.
SparseArrays to_host(const CsrMatrix &A);

struct SparseSystem
{
  std::string name;
  SparseArrays A, P; ///< a matrix A and a prolongation P for it, by smoothed aggregation
  bool is_symmetric = true;
};

/// Makes a system from the text of a generator or the name of a Matrix Market file.
/// @throws the errors of generate() and read_matrix_market()
SparseSystem make_system(const std::string &text);

enum class Operation
{
  transpose,    ///< Aᵀ
  square,       ///< A A
  interpolated, ///< A P
  coarse        ///< Pᵀ A P
};

/// An implementation of an operation. The constructor performs the operation once; refresh()
/// repeats it for new values.
class Candidate
{
public:
  virtual ~Candidate() = default;
  /// Recomputes the result from the current values of the matrices. The caller synchronises.
  virtual void refresh() = 0;
  virtual const CsrMatrix &result() const = 0;
};

/// The operands of an operation. They must outlive all candidates that use them.
struct Factors
{
  CsrMatrix A, P;
  bool is_symmetric;
};

std::unique_ptr<Candidate> make_femgpu(Operation operation, const Factors &factors);

/// Performs the operation by cuSPARSE. Uses SpGEMMreuse if @p reuses_pattern, otherwise SpGEMM,
/// which recomputes everything. Returns nullptr if the program was built without CUDA or if
/// cuSPARSE lacks the operation.
std::unique_ptr<Candidate> make_cusparse(Operation operation, const Factors &factors,
                                         bool reuses_pattern);
} // namespace femgpu::linalg::benchmark

#endif
