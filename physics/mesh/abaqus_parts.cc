#include "physics/mesh/abaqus_parts.h"

#include <cmath>

namespace femgpu
{
AbaqusMotion::AbaqusMotion(AbaqusText &text)
{
  if (!text.next_data())
    return;
  text.require_fields(3);
  for (std::size_t d = 0; d < 3; ++d)
    shift[d] = text.number(d, "a component of the translation of an instance");
  if (!text.next_data())
    return;
  text.require_fields(7);
  double length = 0.;
  for (std::size_t d = 0; d < 3; ++d) {
    origin[d] = text.number(d, "a coordinate of the axis of an instance");
    axis[d] = text.number(d + 3, "a coordinate of the axis of an instance") - origin[d];
    length = std::hypot(length, axis[d]);
  }
  const double degrees = text.number(6, "the angle of an instance");
  if (!(length > 0.) || !std::isfinite(length))
    text.fail("the axis of rotation needs two different points. Write x1, y1, z1, x2, y2, z2, "
              "angle.");
  for (double &component : axis)
    component /= length;
  const auto exact = [](const double value) { return std::abs(value) < 1e-15 ? 0. : value; };
  const double radians = std::fmod(degrees, 360.) * std::acos(-1.) / 180.;
  cosine = exact(std::cos(radians)); // a quarter turn keeps zeros
  sine = exact(std::sin(radians));
  if (text.next_data())
    text.fail("an instance has at most two data lines, a translation and a rotation.");
}

std::array<double, 3> AbaqusMotion::operator()(const std::array<double, 3> &point) const
{
  std::array<double, 3> v = {}, result = {}; // Rodrigues' formula for v
  double along = 0.;
  for (std::size_t d = 0; d < 3; ++d) {
    v[d] = point[d] + shift[d] - origin[d];
    along += axis[d] * v[d];
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
    result[d] = origin[d] + cosine * v[d] + sine * (axis[e] * v[f] - axis[f] * v[e]) +
                (1. - cosine) * along * axis[d];
  }
  return result;
}

AbaqusParts::AbaqusParts(AbaqusText begin) : text(std::move(begin))
{
  if (text.next_data() || text.at_end())
    text.reject_first_line();
  while (text.next_keyword())
    add_block();
  if (instances.size() == 1) // no assembly: a file of parts
    for (const auto &part : parts) {
      begin_instance(part.second.value_of("NAME"));
      add_part(part.second);
    }
}

/// Adds the current block. Skips a part, which add_instance() adds.
void AbaqusParts::add_block()
{
  if (is_one_of(text.keyword(), "|NGEN|NFILL|NCOPY|NMAP|ELGEN|ELCOPY|SYSTEM|PARAMETER|"))
    text.fail_at_keyword("*" + text.keyword() + " is not supported." + explicit_nodes_advice);
  if (text.keyword() == "INSTANCE")
    add_instance();
  else if (text.keyword() != "PART")
    blocks.emplace_back(text, instance);
  else if (parts.emplace(upper(text.value_of("NAME")), text).second)
    walk_to_end(AbaqusText(text), false);
  else
    text.fail_at_keyword("the part " + in_quotes(text.value_of("NAME")) + " is defined twice.");
}

/// Adds, or skips, the blocks up to *END PART or *END INSTANCE.
/// @param begin stands at *PART or *INSTANCE
void AbaqusParts::walk_to_end(const AbaqusText &begin, const bool adds)
{
  while (text.next_keyword() &&
         !is_one_of(text.keyword(), "|PART|INSTANCE|ASSEMBLY|END ASSEMBLY|STEP|"))
    if (text.keyword() == "END " + begin.keyword())
      return;
    else if (adds)
      add_block();
  begin.fail_at_keyword("*" + begin.keyword() + " has no *END " + begin.keyword() +
                        ". Is the file truncated?");
}

/// Adds the blocks of @p part to the current instance.
void AbaqusParts::add_part(const AbaqusText &part)
{
  AbaqusText position = std::exchange(text, part);
  walk_to_end(part, true);
  text = std::move(position);
}

void AbaqusParts::begin_instance(const std::string &name)
{
  const auto [added, is_new] = instances.try_emplace(upper(name), AbaqusInstance{name});
  if (!is_new)
    text.fail_at_keyword("the instance " + in_quotes(name) + " is defined twice.");
  instance = &added->second;
}

void AbaqusParts::add_instance()
{
  const AbaqusText begin = text;
  const auto part = parts.find(upper(text.value_of("PART")));
  if (part == parts.end())
    text.fail_at_keyword("there is no part " + in_quotes(text.value_of("PART")) +
                         " before this line.");
  begin_instance(text.value_of("NAME"));
  instance->motion = AbaqusMotion(text);
  add_part(part->second);
  walk_to_end(begin, true);
  instance = &instances.at("");
}
} // namespace femgpu
