#ifndef femgpu_linalg_execution_backends_h
#define femgpu_linalg_execution_backends_h

#include "linalg/base/registry.h"
#include "linalg/memory/executor.h"

#include <memory>

/**
 * @file
 * Dispatch from the backend that is chosen at run time to functions that are compiled for each
 * backend. Such a function is declared as a template on the backend, without a definition; a file
 * that is compiled once per backend specialises it for ThisBackend (this_backend.h).
 */
namespace femgpu::linalg
{
struct HostBackend;
struct CudaBackend;

/// An empty object that passes a backend to a function.
template <class Type>
struct On
{
  using Backend = Type;
};

/**
 * Calls f(On<Backend>()) for the backend of @p kind. No other function converts a BackendKind to a
 * type.
 * @throws DeviceError if @p kind is CUDA and the program was built without CUDA
 */
template <class Function>
auto on_backend(const BackendKind kind, const Function &f)
{
  if (kind == BackendKind::host)
    return f(On<HostBackend>());
#ifdef FEMGPU_HAVE_CUDA
  return f(On<CudaBackend>());
#else
  throw DeviceError("This femgpu was built without CUDA. Use backend host.");
#endif
}

/// Makes the method with the tag class @p Name (see Registry). The method's source file, which is
/// compiled for each backend, specialises this template for ThisBackend.
template <class Name, class Backend, class Product, class... Arguments>
std::unique_ptr<Product> make_on(Method &method, Arguments... arguments);

/// Makes a method on a backend chosen at run time. Registry entries of methods that are compiled
/// for each backend point to this function.
template <class Name, class Product, class... Arguments>
std::unique_ptr<Product> make_on_any(Method &method, const BackendKind backend,
                                     Arguments... arguments)
{
  return on_backend(backend, [&](const auto on) {
    return make_on<Name, typename decltype(on)::Backend, Product, Arguments...>(method,
                                                                                arguments...);
  });
}

/// The registry of methods that are compiled for each backend.
template <class Traits, class Product, class... Arguments>
using BackendRegistry =
    Registry<Traits, std::unique_ptr<Product>(Method &, BackendKind, Arguments...)>;
} // namespace femgpu::linalg

#endif
