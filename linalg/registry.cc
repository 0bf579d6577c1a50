#include "linalg/matrices/registry.h"
#include "linalg/base/error.h"
#include "linalg/base/registry_entry.h"
#include "linalg/nonlinear/branch_corrector.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/powers/forms.h"
#include "linalg/preconditioners/apply.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/backward_error.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
/// A line of a registry: how to make something on either backend.
template <class Function>
struct Entry
{
  Choice choice;
  Function *make_host;
  Function *make_cuda; ///< nullptr in a program without CUDA
};

#ifdef FEMGPU_HAVE_CUDA
#define FEMGPU_ENTRY(name, make, meaning) {{name, meaning}, make<HostBackend>, make<CudaBackend>},
#else
#define FEMGPU_ENTRY(name, make, meaning) {{name, meaning}, make<HostBackend>, nullptr},
#endif

using MakeSolver = std::unique_ptr<Solver>(Method &);
using MakePreconditioner = std::unique_ptr<Preconditioner>(Method &);
using MakeNonlinearMethod = std::unique_ptr<NonlinearMethod>(Method &, const LinearSolverOptions &);
using MakeFormat = std::unique_ptr<Matrix>(const CsrMatrix &, Method &);

const std::vector<Entry<MakeSolver>> &solvers()
{
  static const std::vector<Entry<MakeSolver>> entries = {FEMGPU_SOLVERS(FEMGPU_ENTRY)};
  return entries;
}

const std::vector<Entry<MakePreconditioner>> &preconditioners()
{
  static const std::vector<Entry<MakePreconditioner>> entries = {
      FEMGPU_PRECONDITIONERS(FEMGPU_ENTRY)};
  return entries;
}

const std::vector<Entry<MakeNonlinearMethod>> &nonlinear_methods()
{
  static const std::vector<Entry<MakeNonlinearMethod>> entries = {
      FEMGPU_NONLINEAR_METHODS(FEMGPU_ENTRY)};
  return entries;
}

const std::vector<Entry<MakeFormat>> &formats()
{
  static const std::vector<Entry<MakeFormat>> entries = {FEMGPU_FORMATS(FEMGPU_ENTRY)};
  return entries;
}

template <class Function>
Function *find(const std::vector<Entry<Function>> &entries, const std::string &what,
               const std::string &name, const BackendKind backend)
{
  const Entry<Function> &entry = find_entry(entries, what, name);
  if (backend == BackendKind::host)
    return entry.make_host;
  if (entry.make_cuda == nullptr)
    throw DeviceError("This femgpu was built without CUDA; use the host backend.");
  return entry.make_cuda;
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

std::vector<Choice> nonlinear_method_choices()
{
  return choices_of(nonlinear_methods());
}

std::vector<Choice> format_choices()
{
  return choices_of(formats());
}

std::unique_ptr<Solver> make_solver(const std::string &text, const BackendKind backend)
{
  Method method("solver", text);
  auto solver = find(solvers(), "solver", method.name(), backend)(method);
  method.finish();
  return solver;
}

std::unique_ptr<Preconditioner> make_preconditioner(const std::string &text,
                                                    const BackendKind backend)
{
  Method method("preconditioner", text);
  auto M = find(preconditioners(), "preconditioner", method.name(), backend)(method);
  method.finish();
  return M;
}

std::unique_ptr<NonlinearMethod> make_nonlinear_method(const std::string &text,
                                                       const LinearSolverOptions &linear,
                                                       const BackendKind backend)
{
  Method method("nonlinear method", text);
  auto result =
      find(nonlinear_methods(), "nonlinear method", method.name(), backend)(method, linear);
  method.finish();
  return result;
}

std::unique_ptr<BranchCorrector> make_branch_corrector(const NonlinearSystem &system,
                                                       const double metric,
                                                       const LinearSolverOptions &linear)
{
  using Make = std::unique_ptr<BranchCorrector>(const NonlinearSystem &, double,
                                                const LinearSolverOptions &);
  static const std::vector<Entry<Make>> entries = {FEMGPU_ENTRY("", make_branch_corrector, "")};
  return find(entries, "corrector", "", system.A.executor()->backend())(system, metric, linear);
}

std::unique_ptr<Matrix> make_format(const std::string &text, const CsrMatrix &A)
{
  Method method("matrix format", text);
  auto matrix = find(formats(), "matrix format", method.name(), A.executor()->backend())(A, method);
  method.finish();
  return matrix;
}

void check_format(const std::string &text)
{
  const std::string name = Method("matrix format", text).name();
  find_entry(formats(), "matrix format", name);
  if (name.rfind("cusparse", 0) == 0) // refused by the host, and the device may not be there yet
    return;
  const HostMatrix empty;
  make_format(text, CsrMatrix(std::make_shared<HostExecutor>(1), empty.csr()));
}

void apply(const Preconditioner &M, const Executor &executor, Buffer<double> &r, Buffer<double> &z)
{
#ifdef FEMGPU_HAVE_CUDA
  if (executor.backend() == BackendKind::cuda)
    return apply_on<CudaBackend>(M, executor, r, z);
#endif
  apply_on<HostBackend>(M, executor, r, z);
}

SystemNorms measure(const RowSpace &space, const MeasuredSystem &system)
{
#ifdef FEMGPU_HAVE_CUDA
  if (space.executor()->backend() == BackendKind::cuda)
    return measure_on<CudaBackend>(space, system);
#endif
  return measure_on<HostBackend>(space, system);
}

PowersForms powers_forms(const BackendKind backend)
{
  if (backend == BackendKind::host)
    return powers_forms_of<HostBackend>();
#ifdef FEMGPU_HAVE_CUDA
  return powers_forms_of<CudaBackend>();
#else
  throw DeviceError("This femgpu was built without CUDA; use the host backend.");
#endif
}
} // namespace femgpu::linalg
