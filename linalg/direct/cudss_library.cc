#include "linalg/direct/cudss_library.h"

#include "linalg/base/error.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

namespace femgpu::linalg
{
namespace
{
constexpr const char *cure =
    " Install cuDSS 1.0, for example by 'pip install nvidia-cudss-cu13', and set FEMGPU_CUDSS to "
    "the path of libcudss.so.1 or add its directory to LD_LIBRARY_PATH; or use backend host or "
    "another solver.";

/// Returns the version of the library. @throws DeviceError if it is not the supported one
std::string version_of(const CudssLibrary &library, const std::string &file)
{
  int major = 0, minor = 0, patch = 0;
  library.get_property(MAJOR_VERSION, &major);
  library.get_property(MINOR_VERSION, &minor);
  library.get_property(PATCH_LEVEL, &patch);
  std::string version =
      std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
  if (major != cudss::major_version || minor != cudss::minor_version)
    throw DeviceError("Solver 'direct' on a GPU needs cuDSS 1.0, but " + file + " has version " +
                      version + "." + cure);
  return version;
}
} // namespace

CudssLibrary::CudssLibrary(const std::string &file)
{
  void *const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw DeviceError(
        std::string("Solver 'direct' on a GPU needs cuDSS, which cannot be loaded: ") + dlerror() +
        "." + cure);
  const auto find = [&](const char *const name, auto &function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr)
      throw DeviceError("Solver 'direct' on a GPU needs cuDSS, but " + file + " has no function " +
                        name + "." + cure);
  };
  find("cudssGetProperty", get_property);
  version = version_of(*this, file);
  find("cudssCreate", create);
  find("cudssDestroy", destroy);
  find("cudssSetStream", set_stream);
  find("cudssSetDeviceMemHandler", set_memory_handler);
  find("cudssConfigCreate", config_create);
  find("cudssConfigDestroy", config_destroy);
  find("cudssConfigSet", config_set);
  find("cudssDataCreate", data_create);
  find("cudssDataDestroy", data_destroy);
  find("cudssDataGet", data_get);
  find("cudssMatrixCreateDn", create_dense);
  find("cudssMatrixCreateCsr", create_csr);
  find("cudssMatrixDestroy", matrix_destroy);
  find("cudssExecute", execute);
}

const CudssLibrary &CudssLibrary::get()
{
  const char *const path = std::getenv("FEMGPU_CUDSS");
  static const CudssLibrary library(path != nullptr && *path != '\0' ? path : "libcudss.so.1");
  return library;
}
} // namespace femgpu::linalg
