#ifndef femgpu_linalg_preconditioners_factorised_operator_h
#define femgpu_linalg_preconditioners_factorised_operator_h

#include "linalg/base/atomic.h"
#include "linalg/base/error.h"
#include "linalg/base/scalar_types.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/steps/row_bodies.h"

#include <limits>
#include <memory>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
/// Rounds row i, and finds the first row whose largest rounded entry is not a normal number: the
/// entry is too large, or so small that the row has lost its digits.
template <class Value>
struct RoundRow
{
  CsrView<double> F;
  Value *values;
  int *first_bad;

  FEMGPU_HD
  void operator()(const int i) const
  {
    using Limits = std::numeric_limits<Value>;
    const RowEntries<double> row = F.entries(i);
    Value *const rounded = values + F.row_starts[i];
    double largest = 0.;
    bool is_zero = true;
    for (int k = 0; k < row.length; ++k) {
      rounded[k] = static_cast<Value>(row.values[k]);
      largest = fmax(largest, fabs(static_cast<double>(rounded[k])));
      is_zero = is_zero && row.values[k] == 0.;
    }
    if (!is_zero && !(largest >= static_cast<double>(Limits::min()) &&
                      largest <= static_cast<double>(Limits::max())))
      atomic_min(first_bad, i);
  }
};

/// A factor of M⁻¹, with its original values or a rounded copy of them.
template <class Backend, class Value>
class Factor final : public ViewedOperator<CsrView<Value>>
{
public:
  /// @throws SolverError if Value cannot represent the largest entry of a row
  explicit Factor(std::shared_ptr<const CsrMatrix> F_)
      : ViewedOperator<CsrView<Value>>(F_->range(), F_->domain()), F(std::move(F_)),
        rounded(F->executor(), is_rounded ? F->n_nonzeros() : 0)
  {
    if constexpr (is_rounded)
      round();
  }

  CsrView<Value> csr_view() const
  {
    const CsrView<double> csr = F->csr_view();
    if constexpr (is_rounded)
      return {csr.n, csr.lanes, csr.row_starts, csr.columns, rounded.data()};
    else
      return csr;
  }
  std::variant<CsrView<Value>> view() const override
  {
    return csr_view();
  }
  std::size_t bytes() const
  {
    return F->bytes() - F->n_nonzeros() * (sizeof(double) - sizeof(Value));
  }

private:
  static constexpr bool is_rounded = !std::is_same_v<Value, double>;

  void round()
  {
    const int n = F->n();
    Buffer<int> first_bad(F->executor(), &n, 1);
    Runner<Backend>(*F->executor())
        .run(rows(n, RoundRow<Value>{F->csr_view(), rounded.data(), first_bad.data()}));
    if (const int row = first_bad.to_host()[0]; row < n) {
      std::ostringstream text;
      text << "The approximate inverse cannot use values="
           << scalar_name<Value> << ": the largest entry of row " << F->range()->first() + row
           << " of a factor is out of range, "
           << static_cast<double>(std::numeric_limits<Value>::min()) << " to "
           << static_cast<double>(std::numeric_limits<Value>::max())
           << ". Use values=double, or scale the system.";
      throw SolverError(text.str());
    }
  }

  std::shared_ptr<const CsrMatrix> F;
  Buffer<Value> rounded;
};

/// M⁻¹ as a product of sparse factors, see FactorisedOperator.
class FactorisedInverse : public PreconditionerOperator
{
public:
  using PreconditionerOperator::PreconditionerOperator;

  virtual std::size_t bytes() const = 0; ///< bytes that one application reads and writes
};

/**
 * The operator M⁻¹ = H F: the product with F is a separate kernel, the product with H is fused into
 * the solver's kernel that needs M⁻¹ r. H is Fᵀ if M is symmetric; without F, M⁻¹ is H alone. In
 * distributed systems, the factors update the ghosts of the vectors that they multiply.
 *
 * With rounded values, both products are separate kernels, so that no solver kernel is compiled for
 * another type. Compared with fusing H in double precision, each row costs 16 bytes more, but each
 * entry 4 or 6 bytes less.
 */
template <class Backend, class Value>
class FactorisedOperator final : public FactorisedInverse
{
public:
  /// @param vectors row space of the vectors r that M⁻¹ multiplies
  FactorisedOperator(const RowSpacePtr &vectors, std::shared_ptr<const CsrMatrix> F_,
                     std::shared_ptr<const CsrMatrix> H_)
      : FactorisedInverse(H_->range(), H_->range()),
        has_ghost_space(has_ghosts_of(F_ ? *F_ : *H_, vectors)),
        x(H_->executor(), has_ghost_space ? 0 : (F_ ? F_ : H_)->domain()->n_with_ghosts()),
        y(H_->executor(), F_ ? H_->domain()->n_with_ghosts() : 0),
        z(H_->executor(), is_fused ? 0 : static_cast<std::size_t>(H_->n())), H(std::move(H_))
  {
    if (F_)
      F = std::make_unique<Factor<Backend, Value>>(std::move(F_));
  }

  View view() const override
  {
    if constexpr (is_fused)
      return H.csr_view();
    else
      return StoredView{this->n(), z.data()};
  }
  const double *prepare(StepRunner &runner, double *r) const override
  {
    auto &on = static_cast<Runner<Backend> &>(runner);
    double *v = r;
    if (!has_ghost_space) {
      on.run(rows(this->n(), [r, x = x.data()] FEMGPU_BODY(const int i) { x[i] = r[i]; }));
      v = x.data();
    }
    if (F) {
      on.run(product(*F, v, StoreProduct{y.data()}));
      v = y.data();
    }
    if constexpr (is_fused)
      H.domain()->update_ghost_values(runner, v);
    else
      on.run(product(H, v, StoreProduct{z.data()}));
    return v;
  }
  std::size_t bytes() const override
  {
    return (F ? F->bytes() : 0) + H.bytes() + 2 * (x.bytes() + y.bytes() + z.bytes());
  }

private:
  static constexpr bool is_fused = std::is_same_v<Value, double>;

  /// Returns whether vectors of the row space @p vectors have memory for the ghosts that F reads.
  static bool has_ghosts_of(const CsrMatrix &F, const RowSpacePtr &vectors)
  {
    return F.domain()->ghost_plan() == nullptr || F.domain() == vectors;
  }

  bool has_ghost_space;
  mutable Buffer<double> x, y, z; // a preconditioner is used by one solver at a time
  std::unique_ptr<Factor<Backend, Value>> F;
  Factor<Backend, Value> H;
};

/// Makes M⁻¹ = H F from its factors; F may be nullptr.
/// @param vectors row space of the vectors that M⁻¹ multiplies
using MakeFactorised = std::unique_ptr<FactorisedInverse> (*)(const RowSpacePtr &vectors,
                                                              std::shared_ptr<const CsrMatrix> F,
                                                              std::shared_ptr<const CsrMatrix> H);

/// Reads option `values`. Returns a function that makes M⁻¹ with factors whose values have the type
/// that the option selects.
template <class Backend>
MakeFactorised factorised_maker(Method &method)
{
  return FactorScalars::choose(method, [](const auto scalar) -> MakeFactorised {
    using Value = typename decltype(scalar)::Type;
    return [](const RowSpacePtr &vectors, std::shared_ptr<const CsrMatrix> F,
              std::shared_ptr<const CsrMatrix> H) {
      return std::unique_ptr<FactorisedInverse>(
          std::make_unique<FactorisedOperator<Backend, Value>>(vectors, std::move(F),
                                                               std::move(H)));
    };
  });
}
} // namespace femgpu::linalg

#endif
