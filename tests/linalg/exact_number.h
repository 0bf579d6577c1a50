#ifndef femgpu_tests_linalg_exact_number_h
#define femgpu_tests_linalg_exact_number_h

#include "expressions/expression_operation.h"

#include <mpfr.h>

namespace femgpu::linalg::test
{
/// A floating-point number with @p n_bits bits. MPFR computes its functions with correct rounding.
template <int n_bits>
class ExactNumber
{
public:
  explicit ExactNumber(const double value = 0.)
  {
    mpfr_init2(number, n_bits);
    mpfr_set_d(number, value, MPFR_RNDN);
  }
  ExactNumber(const ExactNumber &other)
  {
    mpfr_init2(number, n_bits);
    mpfr_set(number, other.number, MPFR_RNDN);
  }
  ExactNumber &operator=(const ExactNumber &other)
  {
    mpfr_set(number, other.number, MPFR_RNDN);
    return *this;
  }
  ~ExactNumber()
  {
    mpfr_clear(number);
  }

  explicit operator double() const
  {
    return mpfr_get_d(number, MPFR_RNDN);
  }
  /// Returns this × 2^@p exponent.
  ExactNumber scaled(const long exponent) const
  {
    ExactNumber result;
    mpfr_mul_2si(result.number, number, exponent, MPFR_RNDN);
    return result;
  }

  /// Returns the result of @p operation, which must not be `load` or `select`. Unary operations
  /// ignore @p b.
  friend ExactNumber apply(const ExpressionOperation operation, const ExactNumber &a,
                           const ExactNumber &b)
  {
    ExactNumber result;
    if (!a.apply_function(operation, result.number))
      a.apply_to_two(operation, b.number, result.number);
    return result;
  }

private:
  bool apply_function(const ExpressionOperation operation, mpfr_t result) const
  {
    using Operation = ExpressionOperation;
    using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
    const auto by = [&](const Function function) {
      function(result, number, MPFR_RNDN);
      return true;
    };
    switch (operation) {
    case Operation::negate:
      return by(mpfr_neg);
    case Operation::square:
      return by(mpfr_sqr);
    case Operation::cube:
      return mpfr_pow_ui(result, number, 3, MPFR_RNDN), true;
    case Operation::fourth_power:
      return mpfr_pow_ui(result, number, 4, MPFR_RNDN), true;
    case Operation::abs:
      return mpfr_abs(result, number, MPFR_RNDN), true;
    case Operation::sign:
      return mpfr_set_si(result, mpfr_sgn(number), MPFR_RNDN), true;
    case Operation::floor:
      return mpfr_floor(result, number), true;
    case Operation::ceil:
      return mpfr_ceil(result, number), true;
    case Operation::round:
      return mpfr_round(result, number), true;
    case Operation::sqrt:
      return by(mpfr_sqrt);
    case Operation::exp:
      return by(mpfr_exp);
    case Operation::log:
      return by(mpfr_log);
    case Operation::log2:
      return by(mpfr_log2);
    case Operation::log10:
      return by(mpfr_log10);
    case Operation::sin:
      return by(mpfr_sin);
    case Operation::cos:
      return by(mpfr_cos);
    case Operation::tan:
      return by(mpfr_tan);
    case Operation::asin:
      return by(mpfr_asin);
    case Operation::acos:
      return by(mpfr_acos);
    case Operation::atan:
      return by(mpfr_atan);
    case Operation::sinh:
      return by(mpfr_sinh);
    case Operation::cosh:
      return by(mpfr_cosh);
    case Operation::tanh:
      return by(mpfr_tanh);
    case Operation::asinh:
      return by(mpfr_asinh);
    case Operation::acosh:
      return by(mpfr_acosh);
    case Operation::atanh:
      return by(mpfr_atanh);
    case Operation::erf:
      return by(mpfr_erf);
    case Operation::erfc:
      return by(mpfr_erfc);
    default:
      return false;
    }
  }

  void apply_to_two(const ExpressionOperation operation, const mpfr_t b, mpfr_t result) const
  {
    using Operation = ExpressionOperation;
    const auto is = [&](const bool truth) { mpfr_set_si(result, truth ? 1 : 0, MPFR_RNDN); };
    switch (operation) {
    case Operation::add:
      mpfr_add(result, number, b, MPFR_RNDN);
      break;
    case Operation::subtract:
      mpfr_sub(result, number, b, MPFR_RNDN);
      break;
    case Operation::multiply:
      mpfr_mul(result, number, b, MPFR_RNDN);
      break;
    case Operation::divide:
      mpfr_div(result, number, b, MPFR_RNDN);
      break;
    case Operation::power:
      mpfr_pow(result, number, b, MPFR_RNDN);
      break;
    case Operation::atan2:
      mpfr_atan2(result, number, b, MPFR_RNDN);
      break;
    case Operation::min:
      mpfr_min(result, number, b, MPFR_RNDN);
      break;
    case Operation::max:
      mpfr_max(result, number, b, MPFR_RNDN);
      break;
    case Operation::less:
      is(mpfr_less_p(number, b) != 0);
      break;
    case Operation::less_equal:
      is(mpfr_lessequal_p(number, b) != 0);
      break;
    case Operation::equal:
      is(mpfr_equal_p(number, b) != 0);
      break;
    case Operation::not_equal:
      is(mpfr_equal_p(number, b) == 0);
      break;
    case Operation::logical_and:
      is(mpfr_zero_p(number) == 0 && mpfr_zero_p(b) == 0);
      break;
    case Operation::logical_or:
      is(mpfr_zero_p(number) == 0 || mpfr_zero_p(b) == 0);
      break;
    default:
      mpfr_set_nan(result);
    }
  }

  mpfr_t number;
};
} // namespace femgpu::linalg::test

#endif
