#include "linalg/base/trace_range.h"

#include <cstdlib>
#include <cstring>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define FEMGPU_HAVE_NVTX
#endif

namespace femgpu::linalg
{
#ifdef FEMGPU_HAVE_NVTX
const bool TraceRange::is_enabled = [] {
  const char *const text = std::getenv("FEMGPU_NVTX");
  return text != nullptr && std::strcmp(text, "1") == 0;
}();

void TraceRange::begin(const char *const name)
{
  nvtxRangePushA(name);
}

void TraceRange::end()
{
  nvtxRangePop();
}
#else
const bool TraceRange::is_enabled = false;

void TraceRange::begin(const char * /* name */)
{}

void TraceRange::end()
{}
#endif
} // namespace femgpu::linalg
