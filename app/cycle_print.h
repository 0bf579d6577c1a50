#ifndef femgpu_app_cycle_print_h
#define femgpu_app_cycle_print_h

#include "app/cycle_record.h"

#include <string>

namespace femgpu
{
/// What everybody reads of a cycle: one line.
std::string cycle_line(const CycleRecord &record);

/// What --verbose adds: how the solve ended, seconds by phase, what was transferred.
std::string cycle_details(const CycleRecord &record);
} // namespace femgpu

#endif
