#ifndef femgpu_physics_expression_text_h
#define femgpu_physics_expression_text_h

#include <string>

namespace femgpu
{
/// Does @p expression have coordinates, or anything else that is not the same at each evaluation?
bool depends_on_position(const std::string &expression);
} // namespace femgpu

#endif
