#ifndef femgpu_linalg_operators_matrix_h
#define femgpu_linalg_operators_matrix_h

#include "linalg/base/scalar_types.h"
#include "linalg/memory/executor.h"
#include "linalg/operators/linear_operator.h"

#include <string>

namespace femgpu::linalg
{
class CsrMatrix;

/// Defines Operator, whose view can have any format with any value type in @p Scalars.
template <class Scalars>
struct FormatViews;
template <class... Values>
struct FormatViews<ScalarTypes<Values...>>
{
  using Operator = ViewedOperator<CsrView<Values>..., EllView<Values>..., SellView<Values>...,
                                  BsrView<Values>..., BlockSellView<Values>..., StoredView>;
};

/**
 * A sparse matrix in the memory of an executor, in the format that products read. It is converted
 * from a CsrMatrix, to which it keeps a reference and which must therefore outlive it.
 */
class Matrix : public FormatViews<FormatScalars>::Operator
{
public:
  using FormatViews<FormatScalars>::Operator::ViewedOperator;

  virtual std::size_t n_nonzeros() const = 0;  ///< entries of the original CSR matrix
  virtual std::size_t n_stored() const = 0;    ///< stored entries, including padding
  virtual std::size_t bytes() const = 0;       ///< bytes of the matrix that a product reads
  virtual std::string description() const = 0; ///< for reports: "csr, 4 threads per row"

  /// Describes the format and why it was chosen, for reports.
  std::string format() const
  {
    return description() + (reason.empty() ? "" : "; " + reason);
  }
  std::string reason;

  /// Returns the CSR matrix in double precision; nullptr if the entries are not stored.
  virtual const CsrMatrix *find_csr() const = 0;

  /// The CSR matrix in double precision, from which preconditioners are made.
  /// @throws SolverError if the entries are not stored
  const CsrMatrix &csr() const;

  bool get_diagonal(Vector<double> &d) const override;

  /// Updates the values after the values of csr() have changed.
  virtual void update() = 0;

  /// Relative rounding error of the stored values.
  virtual double value_precision() const = 0;

protected:
  /// Returns whether the matrix fills at most half of the L2 cache, so that it stays there between
  /// products although vectors use the cache, too.
  bool fits_in_cache() const
  {
    return bytes() <= executor()->resident_limits().cache_bytes / 2;
  }
};
} // namespace femgpu::linalg

#endif
