#include "common/partial_name.h"

#include <array>
#include <unistd.h>

namespace femgpu
{
std::string host_name()
{
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data()
                                                                             : "localhost";
}

std::string partial_name(const std::string &file)
{
  return file + '.' + host_name() + '.' + std::to_string(::getpid()) + ".partial";
}
} // namespace femgpu
