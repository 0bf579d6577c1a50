#include "app/deflate.h"

#include <cstdint>
#include <stdexcept>

#include <isa-l/igzip_lib.h>

namespace femgpu
{
std::vector<unsigned char> deflated(const unsigned char *const bytes, const std::size_t n)
{
  std::vector<unsigned char> result(n + n / 1024 + 1024), tables(ISAL_DEF_LVL1_DEFAULT);
  isal_zstream stream = {}; // not all of it is set by what follows: not how far matches reach back
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_ZLIB;
  stream.level = 1;
  stream.level_buf = tables.data();
  stream.level_buf_size = static_cast<std::uint32_t>(tables.size());
  stream.end_of_stream = 1;
  stream.next_in = const_cast<unsigned char *>(bytes); // only read
  stream.avail_in = static_cast<std::uint32_t>(n);
  stream.next_out = result.data();
  stream.avail_out = static_cast<std::uint32_t>(result.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) // blocks that grow are stored as they are
    throw std::logic_error("ISA-L needs more room than its input");
  result.resize(stream.total_out);
  return result;
}
} // namespace femgpu
