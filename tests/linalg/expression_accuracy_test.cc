// Compares the functions of expressions with MPFR, for every vector instruction set of this
// machine.
#include "expressions/expression_operation.h"
#include "expressions/vector_instruction.h"
#include "linalg/base/error.h"
#include "tests/linalg/exact_number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
using Operation = ExpressionOperation;
using Exact = ExactNumber<128>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Arguments a and b of unary and binary functions.
class Arguments
{
public:
  /// Generates arguments. @param n a multiple of vector_width
  explicit Arguments(const std::size_t n)
  {
    add_extremes();
    while (a.size() < n)
      add_any();
    a.resize(n);
    b.resize(n);
  }

  std::vector<double> a, b;

private:
  void add(const double of_a, const double of_b)
  {
    a.push_back(of_a);
    b.push_back(of_b);
  }

  /// Adds the ends of domains and ranges, overflow thresholds, infinity and NaN.
  void add_extremes()
  {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double of_a :
         {0.,       5e-324, 2.2e-308, 1e-300, 1e-17, 1e-8, 0.25, 0.5,   1.,
          2.,       3.,     10.,      709.,   710.,  745., 746., 1e300, 1.7976931348623157e308,
          infinity, nan})
      for (const double of_b : {0., 1e-310, 0.5, 1., 2., 3., 1e300, infinity, nan})
        for (const double sign_of_a : {1., -1.})
          for (const double sign_of_b : {1., -1.})
            add(sign_of_a * of_a, sign_of_b * of_b);
  }

  void add_any()
  {
    switch (random() % 8) {
    case 0:
      return add(of_all(), of_all());
    case 1:
      return add(small(), small());
    case 2:
      return add(between(-1., 1.), between(-2., 2.));
    case 3:
      return add(between(-20., 20.), between(-20., 20.));
    case 4:
      return add(between(-750., 750.), between(-750., 750.));
    case 5: // near roots and poles of sin, cos and tan
      return add(near_multiple(std::acos(0.)), near_multiple(1.));
    case 6: // near roots of log and acosh and ends of asin, acos and atanh
      return add((random() % 2 == 0 ? 1. : -1.) + std::ldexp(between(-0.5, 0.5), -power_of_two(54)),
                 std::ldexp(between(-0.5, 0.5), power_of_two(64)));
    default: { // powers of moderate size
      const double base = std::ldexp(between(0.5, 1.5), power_of_two(16));
      return add(base, between(-750., 750.) / std::log2(base + 1e-9));
    }
    }
  }

  double between(const double low, const double high)
  {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  int power_of_two(const unsigned int below)
  {
    return static_cast<int>(random() % below);
  }
  /// Returns random bits: all exponents are equally likely.
  double of_all()
  {
    const std::uint64_t bits = random();
    double value = 0.;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double small()
  {
    return std::ldexp(between(-0.5, 0.5), power_of_two(120) - 100);
  }
  double near_multiple(const double unit)
  {
    double value = static_cast<double>(random() % 20001) * unit - 10000. * unit;
    for (std::uint64_t steps = random() % 4; steps > 0; --steps)
      value = std::nextafter(value, infinity);
    return value;
  }

  std::mt19937_64 random{1};
};

/// Returns |@p found - @p exact| in units in the last place of @p exact; returns infinity if only
/// one of the numbers is infinite or NaN.
double units_of_error(const double found, const Exact &exact)
{
  const auto rounded = static_cast<double>(exact);
  if (std::isnan(rounded) || std::isnan(found))
    return std::isnan(rounded) == std::isnan(found) ? 0. : infinity;
  if (std::isinf(rounded) || std::isinf(found))
    return rounded == found ? 0. : infinity;
  constexpr double smallest = std::numeric_limits<double>::min();
  const int exponent = std::ilogb(std::max(std::abs(rounded), smallest));
  const Exact difference = apply(Operation::subtract, exact, Exact(found));
  return std::abs(static_cast<double>(difference.scaled(52 - exponent)));
}

/// Returns the values of an operation by each vector instruction set and, last, by scalar code.
std::vector<std::vector<double>> values_of(const Operation operation, const Arguments &arguments)
{
  const std::vector<double> &a = arguments.a, &b = arguments.b;
  std::vector<std::vector<double>> values;
  for (VectorInstruction instruction = vector_instruction();;
       instruction = vector_instruction(static_cast<int>(values.size()))) {
    std::vector<double> &found = values.emplace_back(a.size());
    if (instruction == nullptr || !instruction(operation, a.data(), b.data(), b.data(),
                                               found.data(), static_cast<int>(a.size())))
      for (std::size_t i = 0; i < a.size(); ++i)
        found[i] = linalg::apply(operation, a[i], b[i]);
    if (instruction == nullptr)
      return values;
  }
}

/// Checks that the errors of an operation are below @p units units in the last place.
/// @param of_reciprocal check 1/operation instead
void expect_errors_below(const double units, const Operation operation, const std::size_t n,
                         const bool of_reciprocal = false)
{
  const Arguments arguments(n);
  const std::vector<std::vector<double>> values = values_of(operation, arguments);
  for (std::size_t i = 0; i < n; ++i) {
    const double a = arguments.a[i], b = arguments.b[i];
    Exact exact = apply(operation, Exact(a), Exact(b));
    if (of_reciprocal)
      exact = apply(Operation::divide, Exact(1.), exact);
    for (std::size_t kind = 0; kind < values.size(); ++kind) {
      const double found = of_reciprocal ? 1. / values[kind][i] : values[kind][i];
      ASSERT_LE(units_of_error(found, exact), units)
          << "operation " << static_cast<int>(operation) << " of " << a << " and " << b << ": "
          << found << " for " << static_cast<double>(exact) << " by vectors of kind " << kind;
    }
  }
}

// For a million arguments, the errors of vector code are up to 3.3 units (3.8 for sec and csc). The
// errors of the GNU C library are mostly up to 2 units, and up to 3.3 for erfc.
TEST(FunctionsOfExpressions, HaveErrorsOfAtMostFourUnitsOfTheLastPlace)
{
  for (const Operation operation :
       {Operation::exp,  Operation::log,         Operation::log2,  Operation::log10,
        Operation::sin,  Operation::cos,         Operation::tan,   Operation::asin,
        Operation::acos, Operation::atan,        Operation::sinh,  Operation::cosh,
        Operation::tanh, Operation::asinh,       Operation::acosh, Operation::atanh,
        Operation::erf,  Operation::erfc,        Operation::power, Operation::atan2,
        Operation::cube, Operation::fourth_power})
    expect_errors_below(4., operation, 40000);
  for (const Operation operation :
       {Operation::tan, Operation::cos, Operation::sin}) // cot, sec, csc
    expect_errors_below(4., operation, 40000, true);
}

TEST(FunctionsOfExpressions, AreExactUpToRoundingWhereArithmeticIs)
{
  for (const Operation operation :
       {Operation::negate, Operation::add, Operation::subtract, Operation::multiply,
        Operation::divide, Operation::square, Operation::sqrt})
    expect_errors_below(0.5, operation, 8000);
  for (const Operation operation :
       {Operation::abs, Operation::floor, Operation::ceil, Operation::round, Operation::less,
        Operation::less_equal, Operation::equal, Operation::not_equal})
    expect_errors_below(0., operation, 8000);
}
} // namespace
} // namespace femgpu::linalg::test
