#ifndef femgpu_physics_expression_text_h
#define femgpu_physics_expression_text_h

#include <string>

namespace femgpu
{
/// Is there nothing in @p text but blanks?
inline bool is_blank(const std::string &text)
{
  return text.find_first_not_of(" \t") == std::string::npos;
}
} // namespace femgpu

#endif
