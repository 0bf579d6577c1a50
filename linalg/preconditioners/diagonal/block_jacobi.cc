#include "linalg/base/error.h"
#include "linalg/matrices/format.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/row_workspace.h"

namespace femgpu::linalg
{
namespace
{
constexpr int largest_block = 16;

/// Inverts the diagonal block of a node by Gauss-Jordan elimination with row pivoting.
struct InvertBlock
{
  CsrView<double> A;
  int b;
  double *inverses; ///< b² per node, row by row
  int *is_singular; ///< for each node: 1 if its block is singular, else 0
  int *row_starts, *columns;

  FEMGPU_HD
  void operator()(const int node) const
  {
    double a[largest_block][2 * largest_block];
    for (int i = 0; i < b; ++i)
      for (int j = 0; j < 2 * b; ++j)
        a[i][j] = j == b + i ? 1. : 0.;
    for (int i = 0; i < b; ++i) {
      const RowEntries<double> row = A.entries(node * b + i);
      for (int k = 0; k < row.length; ++k)
        if (row.columns[k] / b == node)
          a[i][row.columns[k] % b] = row.values[k];
    }
    is_singular[node] = eliminate(a) ? 0 : 1;
    double *const inverse = inverses + static_cast<std::size_t>(node) * b * b;
    for (int i = 0; i < b; ++i)
      for (int j = 0; j < b; ++j)
        inverse[i * b + j] = a[i][b + j];
    columns[node] = node;
    row_starts[node] = node;
    row_starts[node + 1] = node + 1;
  }

  /// Transforms (a, I) to (I, a⁻¹). Returns false if a is singular.
  FEMGPU_HD
  bool eliminate(double (&a)[largest_block][2 * largest_block]) const
  {
    for (int c = 0; c < b; ++c) {
      int pivot = c;
      for (int i = c + 1; i < b; ++i)
        if (fabs(a[i][c]) > fabs(a[pivot][c]))
          pivot = i;
      if (!(fabs(a[pivot][c]) > 0.))
        return false;
      for (int j = 0; j < 2 * b; ++j) {
        const double pivot_j = a[pivot][j];
        a[pivot][j] = a[c][j];
        a[c][j] = pivot_j;
      }
      const double scale = 1. / a[c][c];
      for (int j = 0; j < 2 * b; ++j)
        a[c][j] *= scale;
      for (int i = 0; i < b; ++i) {
        const double factor = i == c ? 0. : a[i][c];
        for (int j = 0; j < 2 * b; ++j)
          a[i][j] -= factor * a[c][j];
      }
    }
    return true;
  }
};

/// The inverted diagonal blocks as an operator.
class BlockDiagonal final : public PreconditionerOperator
{
public:
  BlockDiagonal(const RowSpacePtr &space, const int b)
      : PreconditionerOperator(space), b(b),
        row_starts(executor(), static_cast<std::size_t>(n() / b) + 1),
        columns(executor(), static_cast<std::size_t>(n() / b)),
        inverses(executor(), static_cast<std::size_t>(n()) * b)
  {}

  View view() const override
  {
    return BsrView<double>{n(), 1, b, row_starts.data(), columns.data(), inverses.data()};
  }
  std::size_t bytes() const
  {
    return inverses.bytes() + columns.bytes() + row_starts.bytes();
  }

  int b;
  Buffer<int> row_starts, columns;
  Buffer<double> inverses;
};

/**
 * Block Jacobi: M consists of the diagonal blocks of A, one per node.
 *
 * Use: systems with several unknowns per node, such as elasticity; an application costs 8 b bytes
 * per row and an additional kernel. Needs: A symmetric positive definite for PCG. Fails: setup()
 * throws SolverError if a block is singular.
 */
template <class Backend>
class BlockJacobi final : public OperatorPreconditioner<BlockDiagonal>
{
public:
  explicit BlockJacobi(Method &method) : OperatorPreconditioner(method, true), options(method)
  {
    method.integer("block", 0, 0, largest_block); // only validated here; setup() reads the option
                                                  // for its matrix
  }

  void setup(const Matrix &A) override
  {
    const int b = block_option(options, A.csr());
    inverse = std::make_unique<BlockDiagonal>(A.range(), b);
    report = {inverse->inverses.size(), "blocks of " + std::to_string(b)};
    update(A);
  }

  void update(const Matrix &A) override
  {
    const BlockDiagonal &blocks = *inverse;
    Buffer<int> is_singular(A.executor(), blocks.columns.size());
    Runner<Backend>(*A.executor())
        .run(rows(static_cast<int>(is_singular.size()),
                  InvertBlock{A.csr().csr_view(), blocks.b, inverse->inverses.data(),
                              is_singular.data(), inverse->row_starts.data(),
                              inverse->columns.data()}));
    if (const int node = first_flagged<Backend>(A.executor(), is_singular); node >= 0)
      throw SolverError("The block Jacobi preconditioner cannot be set up: the " +
                        std::to_string(blocks.b) + " x " + std::to_string(blocks.b) +
                        " diagonal block that starts at row " +
                        std::to_string(static_cast<long long>(node) * blocks.b) +
                        " is singular. Use preconditioner jacobi, or ilu with scaling matching.");
  }

private:
  Method options;
};
} // namespace

template <>
std::unique_ptr<Preconditioner>
make_on<class BlockJacobiPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<BlockJacobi<ThisBackend>>(method);
}
} // namespace femgpu::linalg
