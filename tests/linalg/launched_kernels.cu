/**
 * @file
 * Finds the kernels of linalg that the tests do not launch. The linker's option --wrap replaces
 * functions of the CUDA runtime by the functions below. When the program ends, it writes the names
 * of all kernels that were not launched to the file that an environment variable names:
 *
 *     FEMGPU_UNLAUNCHED_KERNELS=unlaunched.txt bin/femgpu_linalg_tests
 */
#include <cuda_runtime_api.h>

#include <cxxabi.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace
{
class Kernels
{
public:
  static Kernels &instance()
  {
    static Kernels kernels;
    return kernels;
  }

  void add(const void *function, const char *name)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    names[function] = name;
  }
  void note_launch(const void *function)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const auto found = names.find(function); found != names.end())
      launched.insert(found->second);
  }

  ~Kernels()
  {
    const char *const path = std::getenv("FEMGPU_UNLAUNCHED_KERNELS");
    if (path == nullptr)
      return;
    std::set<std::string> ours, missing;
    for (const auto &[function, name] : names)
      if (name.find("femgpu") != std::string::npos && name.find("cub") == std::string::npos) {
        ours.insert(name);
        if (launched.count(name) == 0)
          missing.insert(name);
      }
    std::ofstream file(path);
    for (const std::string &name : missing)
      file << demangled(name) << '\n';
    std::cout << ours.size() << " kernels, " << missing.size() << " of them not launched\n";
  }

private:
  static std::string demangled(const std::string &name)
  {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : name;
  }

  std::mutex mutex;
  std::map<const void *, std::string> names; // mangled names by kernel
  std::set<std::string> launched;
};
} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker and the CUDA runtime define these names
extern "C" {
void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *,
                                   uint3 *, dim3 *, dim3 *, int *);
void __wrap___cudaRegisterFunction(void **binary, const char *function, char *stub,
                                   const char *name, int limit, uint3 *tid, uint3 *bid, dim3 *block,
                                   dim3 *grid, int *warp)
{
  Kernels::instance().add(function, name);
  __real___cudaRegisterFunction(binary, function, stub, name, limit, tid, bid, block, grid, warp);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                       void **arguments)
{
  Kernels::instance().note_launch(function);
  return __real_cudaLaunchKernelExC(config, function, arguments);
}
}
// NOLINTEND(bugprone-reserved-identifier)
