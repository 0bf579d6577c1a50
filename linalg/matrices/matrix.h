#ifndef femgpu_linalg_matrices_matrix_h
#define femgpu_linalg_matrices_matrix_h

#include "linalg/execution/executor.h"
#include "linalg/matrices/csr_view.h"

#include <string>
#include <type_traits>
#include <variant>

namespace femgpu::linalg
{
/**
 * A square sparse matrix in the memory of an executor. Solvers see it through its view, a plain
 * struct with `n`, `lanes`, `row_product(i, lane, v)` and `diagonal(i)`; a format is a class that
 * derives from this one, and one line in View.
 */
class Matrix
{
public:
  using View =
      std::variant<CsrView<1>, CsrView<2>, CsrView<4>, CsrView<8>, CsrView<16>, CsrView<32>>;

  virtual ~Matrix() = default;

  virtual int n() const = 0;
  virtual std::size_t n_nonzeros() const = 0;
  virtual std::size_t bytes() const = 0; ///< that a product reads of the matrix
  virtual ExecutorPtr executor() const = 0;
  virtual std::string format() const = 0; ///< for people: "csr, 4 threads a row"
  virtual View view() const = 0;

  /// New values for the same pattern; @p values is in host memory, in the order of the CSR given.
  virtual void update_values(const double *values) = 0;
};

/// Calls @p f with the view of @p A. On the host one thread takes a row, so other views never come.
template <class Backend, class Function>
void visit_matrix(const Matrix &A, const Function &f)
{
  std::visit(
      [&](const auto &view) {
        if constexpr (Backend::kind == BackendKind::cuda ||
                      std::decay_t<decltype(view)>::lanes == 1)
          f(view);
      },
      A.view());
}
} // namespace femgpu::linalg

#endif
