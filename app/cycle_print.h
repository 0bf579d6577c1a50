#ifndef femgpu_app_cycle_print_h
#define femgpu_app_cycle_print_h

#include "app/cycle_record.h"

#include <cstddef>
#include <string>

namespace femgpu
{
/// Of more quantities than these the line has the number only; the table has them all.
constexpr std::size_t quantities_in_a_line = 6;

/// What everybody reads of a cycle: one line.
std::string cycle_line(const CycleRecord &record);

/// What --verbose adds: how the solve ended, seconds by phase, what was transferred.
std::string cycle_details(const CycleRecord &record);
} // namespace femgpu

#endif
