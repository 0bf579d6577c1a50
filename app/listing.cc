#include "app/listing.h"

#include "linalg/dealii/node_solver.h"
#include "linalg/execution/executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/transformations/registry.h"
#include "physics/mesh.h"
#include "physics/registry.h"

#include <iomanip>
#include <sstream>

namespace femgpu
{
namespace
{
void add(std::ostream &out, const std::string &title, const std::vector<Choice> &choices)
{
  constexpr int width = 14;
  out << title << '\n';
  for (const Choice &choice : choices)
    out << "  " << std::left << std::setw(width) << choice.name << ' ' << choice.meaning << '\n';
  out << '\n';
}
} // namespace

std::string listing()
{
  std::ostringstream out;
  add(out, "Physics", physics_choices());
  add(out, "Solver/Solver", linalg::node_solver_choices());
  add(out, "Solver/Preconditioner", linalg::preconditioner_choices());
  add(out, "Solver/Format", linalg::format_choices());
  add(out, "Solver/Scaling", linalg::scaling_choices());
  add(out, "Solver/Ordering", linalg::ordering_choices());

  out << "Mesh/Generator\n ";
  std::size_t column = 0;
  for (const std::string &name : generator_names()) {
    if (column + name.size() > 88) {
      out << "\n ";
      column = 0;
    }
    out << ' ' << name;
    column += name.size() + 1;
  }
  out << "\n\nSolver/Backend\n";
  const linalg::HostExecutor host;
  out << "  host    " << host.description() << ", " << std::fixed << std::setprecision(1)
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
