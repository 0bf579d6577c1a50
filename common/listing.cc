#include "common/listing.h"

#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace femgpu
{
std::string listing_of(const std::string &title, const std::vector<Choice> &choices)
{
  std::size_t width = 14;
  for (const Choice &choice : choices)
    width = std::max(width, choice.name.size());
  std::ostringstream out;
  out << title << '\n';
  for (const Choice &choice : choices)
    out << "  " << std::left << std::setw(static_cast<int>(width)) << choice.name << ' '
        << choice.meaning << '\n';
  out << '\n';
  return out.str();
}

std::string listing_of_backends(const std::string &title)
{
  std::ostringstream out;
  const linalg::HostExecutor host;
  out << title << "\n  host    " << host.description() << ", " << std::fixed << std::setprecision(1)
      << static_cast<double>(host.memory().free) / (1ULL << 30) << " GiB free\n";
  const auto devices = linalg::describe_cuda_devices();
  for (const std::string &device : devices)
    out << "  " << device << '\n';
  if (devices.empty())
    out << "  cuda    "
#ifdef FEMGPU_HAVE_CUDA
        << "no usable device (a driver for CUDA >= 12.4 and compute capability >= 8.0)\n";
#else
        << "not built in\n";
#endif
  return out.str();
}
} // namespace femgpu
