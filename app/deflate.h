#ifndef femgpu_app_deflate_h
#define femgpu_app_deflate_h

#include <cstddef>
#include <vector>

namespace femgpu
{
/// Compresses bytes to zlib's format (RFC 1950) with ISA-L, which is several times as fast as
/// zlib's fastest level.
/// @param n number of bytes, less than 2^32
std::vector<unsigned char> deflated(const unsigned char *bytes, std::size_t n);
} // namespace femgpu

#endif
