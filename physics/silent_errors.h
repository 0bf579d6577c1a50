#ifndef femgpu_physics_silent_errors_h
#define femgpu_physics_silent_errors_h

#include <iostream>

namespace femgpu
{
/// Keeps standard error silent while it lives, for parts of deal.II that print what they also
/// throw.
class SilentErrors
{
public:
  SilentErrors() : before(std::cerr.rdbuf(nullptr))
  {}
  ~SilentErrors()
  {
    std::cerr.rdbuf(before);
    std::cerr.clear();
  }
  SilentErrors(const SilentErrors &) = delete;
  SilentErrors &operator=(const SilentErrors &) = delete;

private:
  std::streambuf *before;
};
} // namespace femgpu

#endif
