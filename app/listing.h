#ifndef femgpu_app_listing_h
#define femgpu_app_listing_h

#include <string>

namespace femgpu
{
/// What `--list` prints: everything that parameters can name, and the devices that are there.
std::string listing();
} // namespace femgpu

#endif
