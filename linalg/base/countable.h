#ifndef femgpu_linalg_base_countable_h
#define femgpu_linalg_base_countable_h

#include "linalg/base/error.h"
#include "linalg/base/indices.h"

#include <cstddef>
#include <string>

namespace femgpu::linalg
{
/**
 * Throws ParameterError if a matrix has more than max_indices entries, but the method named in
 * @p text counts entries by int (trait `uses_int_offsets`). The message lists the other methods.
 * @param what the kind of method, for messages: "matrix format"
 */
template <class Registry>
void check_countable(const std::string &what, const Registry &methods, const std::string &text,
                     const std::size_t n_entries)
{
  if (n_entries <= static_cast<std::size_t>(max_indices) || !methods.traits(text).uses_int_offsets)
    return;
  throw ParameterError(
      "The " + what + " '" + methods.entry_of(text).name + "' supports at most " +
      std::to_string(max_indices) + " entries, but the matrix has " + std::to_string(n_entries) +
      ". Use fewer unknowns, or the " + what + " " +
      methods.names_with([](const auto &traits) { return !traits.uses_int_offsets; }) + ".");
}
} // namespace femgpu::linalg

#endif
