#ifndef femgpu_physics_expression_text_h
#define femgpu_physics_expression_text_h

#include "linalg/base/text.h"

#include <string>
#include <vector>

/**
 * @file
 * What the values of parameters are made of.
 */
namespace femgpu
{
/// Is there nothing in @p text but blanks?
inline bool is_blank(const std::string &text)
{
  return text.find_first_not_of(" \t") == std::string::npos;
}

/// Splits at @p separator outside of parentheses, and trims blanks.
std::vector<std::string> split_expressions(const std::string &text, char separator);

/// The same without parts that are empty.
std::vector<std::string> entries_of(const std::string &text, char separator = ';');
} // namespace femgpu

#endif
