#ifndef femgpu_common_partial_name_h
#define femgpu_common_partial_name_h

#include <string>

namespace femgpu
{
/// Of this machine, or container.
std::string host_name();

/**
 * Where @p file is written before it gets its name: FILE.HOST.PROCESS.partial beside it, which no
 * other process writes to.
 */
std::string partial_name(const std::string &file);
} // namespace femgpu

#endif
