#ifndef femgpu_linalg_base_timing_h
#define femgpu_linalg_base_timing_h

#include <chrono>

namespace femgpu
{
/// Measures wall-clock seconds since its construction or the last lap().
class Stopwatch
{
public:
  double elapsed() const
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Returns elapsed() and restarts the measurement.
  double lap()
  {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin).count();
    begin = now;
    return seconds;
  }

private:
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};
} // namespace femgpu

#endif
