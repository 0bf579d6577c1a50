#ifndef femgpu_linalg_base_trace_range_h
#define femgpu_linalg_base_trace_range_h

#include <cstddef>
#include <string>

namespace femgpu::linalg
{
/**
 * A named range on the timeline of a profiler (NVTX), from construction to destruction. Ranges of a
 * thread are nested. They are recorded only if the environment variable FEMGPU_NVTX is 1 and CUDA's
 * NVTX header was found at compile time; otherwise a range costs one branch. A range covers the
 * work of the host, which may end before the kernels that it launches.
 */
class TraceRange
{
public:
  explicit TraceRange(const char *name) : is_open(is_enabled)
  {
    if (is_open)
      begin(name);
  }
  /// Names the range "@p name @p number".
  TraceRange(const char *name, const std::size_t number) : is_open(is_enabled)
  {
    if (is_open)
      begin((std::string(name) + ' ' + std::to_string(number)).c_str());
  }
  ~TraceRange()
  {
    if (is_open)
      end();
  }
  TraceRange(const TraceRange &) = delete;
  TraceRange &operator=(const TraceRange &) = delete;

private:
  static void begin(const char *name);
  static void end();

  static const bool is_enabled;
  bool is_open;
};
} // namespace femgpu::linalg

#endif
