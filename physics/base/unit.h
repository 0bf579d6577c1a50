#ifndef femgpu_physics_base_unit_h
#define femgpu_physics_base_unit_h

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// A product of powers of units that have symbols, as N/m².
class Unit
{
public:
  Unit() = default; ///< that of a number
  explicit Unit(std::string symbol) : powers{{std::move(symbol), 1}}
  {}

  friend Unit operator*(Unit a, const Unit &b);
  friend Unit operator/(Unit a, const Unit &b);

  /// "N/m²"; empty for that of a number.
  std::string text() const;

private:
  void multiply(const Unit &other, int sign);

  std::vector<std::pair<std::string, int>> powers; ///< none is 0
};
} // namespace femgpu

#endif
