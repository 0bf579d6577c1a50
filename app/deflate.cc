#include "app/deflate.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <isa-l/igzip_lib.h>

namespace femgpu
{
std::vector<unsigned char> deflated(const unsigned char *const bytes, const std::size_t n)
{
  std::vector<unsigned char> result(n + n / 1024 + 1024), tables(ISAL_DEF_LVL1_DEFAULT);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_ZLIB;
  stream.level = 1;
  stream.level_buf = tables.data();
  stream.level_buf_size = static_cast<std::uint32_t>(tables.size());
  stream.next_in = const_cast<unsigned char *>(bytes); // only read
  stream.next_out = result.data();
  stream.avail_out = static_cast<std::uint32_t>(result.size());
  // If the first block has more than 16 bytes, ISA-L up to 2.32 computes a hash table index from an
  // address, so that the output varies between runs. A first block of 8 bytes avoids this.
  const std::size_t begin = std::min<std::size_t>(n, 8);
  const auto add = [&stream](const std::size_t n_bytes, const bool is_last) {
    stream.avail_in = static_cast<std::uint32_t>(n_bytes);
    stream.flush = is_last ? NO_FLUSH : SYNC_FLUSH;
    stream.end_of_stream = is_last ? 1 : 0;
    return isal_deflate(&stream) == COMP_OK;
  };
  // Cannot happen: blocks that would grow are stored uncompressed.
  if (!add(begin, false) || !add(n - begin, true) || stream.internal_state.state != ZSTATE_END)
    throw std::logic_error("ISA-L did not compress all bytes");
  result.resize(stream.total_out);
  return result;
}
} // namespace femgpu
