#ifndef femgpu_linalg_matrices_operator_h
#define femgpu_linalg_matrices_operator_h

#include "linalg/execution/steps.h"
#include "linalg/matrices/views.h"

#include <variant>

namespace femgpu::linalg
{
/**
 * Anything that maps a vector v to A v row by row, in the memory of an executor. Product steps see
 * it through its view, a plain struct. Where a row of A v is no function of v alone, prepare() runs
 * what comes before, by steps of its own.
 */
class Operator
{
public:
  using View = std::variant<CsrView<double>, CsrView<float>, EllView<double>, EllView<float>,
                            SellView<double>, SellView<float>, ShortSellView<double>,
                            ShortSellView<float>, BsrView<double>, BsrView<float>,
                            BlockSellView<double>, BlockSellView<float>, StoredView>;

  virtual ~Operator() = default;

  virtual View view() const = 0;

  /// So many positions from a multiple of this number on have the rows of these numbers, in some
  /// order.
  virtual int rows_together() const
  {
    return 1;
  }

  /**
   * Is called before a product step with @p v, in order with it, also inside the loop of a solver.
   * @return the vector that the view multiplies: v, or what was made of it
   */
  virtual const double *prepare(StepRunner & /* runner */, const double *v) const
  {
    return v;
  }
};
} // namespace femgpu::linalg

#endif
