#include "linalg/preconditioners/registry.h"
#include "linalg/base/error.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
/// A line of a registry: how to make a Product on either backend.
template <class Product>
struct Entry
{
  Choice choice;
  std::unique_ptr<Product> (*make_host)();
  std::unique_ptr<Product> (*make_cuda)();
};

#ifdef FEMGPU_HAVE_CUDA
#define FEMGPU_ENTRY(name, make, meaning) {{name, meaning}, make<HostBackend>, make<CudaBackend>},
#else
#define FEMGPU_ENTRY(name, make, meaning) {{name, meaning}, make<HostBackend>, nullptr},
#endif

const std::vector<Entry<Solver>> &solvers()
{
  static const std::vector<Entry<Solver>> entries = {FEMGPU_SOLVERS(FEMGPU_ENTRY)};
  return entries;
}

const std::vector<Entry<Preconditioner>> &preconditioners()
{
  static const std::vector<Entry<Preconditioner>> entries = {FEMGPU_PRECONDITIONERS(FEMGPU_ENTRY)};
  return entries;
}

template <class Product>
std::vector<Choice> choices_of(const std::vector<Entry<Product>> &entries)
{
  std::vector<Choice> choices;
  for (const auto &entry : entries)
    choices.push_back(entry.choice);
  return choices;
}

template <class Product>
std::unique_ptr<Product> make(const std::vector<Entry<Product>> &entries, const std::string &what,
                              const std::string &name, const BackendKind backend)
{
  for (const auto &entry : entries) {
    if (entry.choice.name != name)
      continue;
    if (backend == BackendKind::host)
      return entry.make_host();
    if (entry.make_cuda == nullptr)
      throw DeviceError("This femgpu was built without CUDA; use the host backend.");
    return entry.make_cuda();
  }
  throw ParameterError("There is no " + what + " '" + name + "'; use " +
                       names_of(choices_of(entries)) + ".");
}
} // namespace

std::vector<Choice> solver_choices()
{
  return choices_of(solvers());
}

std::vector<Choice> preconditioner_choices()
{
  return choices_of(preconditioners());
}

std::unique_ptr<Solver> make_solver(const std::string &name, const BackendKind backend)
{
  return make(solvers(), "solver", name, backend);
}

std::unique_ptr<Preconditioner> make_preconditioner(const std::string &name,
                                                    const BackendKind backend)
{
  return make(preconditioners(), "preconditioner", name, backend);
}
} // namespace femgpu::linalg
