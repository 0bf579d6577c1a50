#include "physics/base/unit.h"

#include <algorithm>
#include <cstdlib>

namespace femgpu
{
namespace
{
std::string power_text(const std::string &symbol, const int power)
{
  return symbol + (power == 1   ? ""
                   : power == 2 ? "²"
                   : power == 3 ? "³"
                                : "^" + std::to_string(power));
}
} // namespace

void Unit::multiply(const Unit &other, const int sign)
{
  for (const auto &[symbol, power] : other.powers) {
    const auto same = std::find_if(powers.begin(), powers.end(),
                                   [&s = symbol](const auto &own) { return own.first == s; });
    if (same == powers.end())
      powers.emplace_back(symbol, sign * power);
    else if ((same->second += sign * power) == 0)
      powers.erase(same);
  }
}

Unit operator*(Unit a, const Unit &b)
{
  a.multiply(b, 1);
  return a;
}

Unit operator/(Unit a, const Unit &b)
{
  a.multiply(b, -1);
  return a;
}

std::string Unit::text() const
{
  std::string above, below;
  for (const auto &[symbol, power] : powers)
    if (power > 0)
      above += (above.empty() ? "" : " ") + power_text(symbol, power);
    else
      below += "/" + power_text(symbol, std::abs(power));
  return above.empty() && !below.empty() ? "1" + below : above + below;
}
} // namespace femgpu
