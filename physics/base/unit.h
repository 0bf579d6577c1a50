#ifndef femgpu_physics_base_unit_h
#define femgpu_physics_base_unit_h

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// A product of powers of named units, such as N/m².
class Unit
{
public:
  Unit() = default; ///< dimensionless
  explicit Unit(std::string symbol) : powers{{std::move(symbol), 1}}
  {}

  friend Unit operator*(Unit a, const Unit &b);
  friend Unit operator/(Unit a, const Unit &b);

  /// Returns the unit as text, such as "N/m²"; empty if dimensionless.
  std::string text() const;

private:
  void multiply(const Unit &other, int sign);

  std::vector<std::pair<std::string, int>> powers; ///< symbols with nonzero exponents
};
} // namespace femgpu

#endif
