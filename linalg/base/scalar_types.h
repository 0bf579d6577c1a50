#ifndef femgpu_linalg_base_scalar_types_h
#define femgpu_linalg_base_scalar_types_h

#include "linalg/base/bfloat16.h"
#include "linalg/base/method.h"

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

/**
 * @file
 * The types in which values of matrices can be stored. Users select a type by values=NAME. Sums are
 * always in double precision. A new type needs conversions from and to double on the host and on a
 * GPU, std::numeric_limits, a name below, and an entry in the lists of types below.
 */
namespace femgpu::linalg
{
/// The name of @p T for users and in reports.
template <class T>
inline constexpr const char *scalar_name = nullptr;
template <>
inline constexpr const char *scalar_name<double> = "double";
template <>
inline constexpr const char *scalar_name<float> = "float";
template <>
inline constexpr const char *scalar_name<BFloat16> = "bfloat16";

/// An empty object that passes the type T to a function.
template <class T>
struct Scalar
{
  using Type = T;
};

/// A list of types; the first one is the default.
template <class First, class... Others>
struct ScalarTypes
{
  static std::vector<std::string> names()
  {
    return {scalar_name<First>, scalar_name<Others>...};
  }

  /// Returns the option for listings, for example "values=double|float".
  static std::string option()
  {
    std::string text = std::string("values=") + scalar_name<First>;
    ((text += std::string("|") + scalar_name<Others>), ...);
    return text;
  }

  /// Calls f(Scalar<T>()), where T is the type that option `values` of @p method names.
  template <class Function>
  static auto choose(Method &method, const Function &f)
  {
    return with_name<Function, First, Others...>(method.word("values", names()[0], names()), f);
  }

private:
  template <class Function, class T, class... Rest>
  static auto with_name(const std::string &name, const Function &f)
  {
    if constexpr (sizeof...(Rest) > 0)
      if (name != scalar_name<T>)
        return with_name<Function, Rest...>(name, f);
    return f(Scalar<T>());
  }
};

/// Returns the suffix that describes T in reports, such as ", float values"; empty for double.
template <class T>
std::string describe_values()
{
  return std::is_same_v<T, double> ? "" : std::string(", ") + scalar_name<T> + " values";
}

/// The value types that every matrix format supports. Each kernel with a matrix-vector product is
/// instantiated for each format with each of these types.
using FormatScalars = ScalarTypes<double, float>;

/// The value types for factors of approximate inverses. Products with such factors are separate
/// kernels, so that the kernels of solvers are not instantiated for these types.
using FactorScalars = ScalarTypes<double, float, BFloat16>;
} // namespace femgpu::linalg

#endif
