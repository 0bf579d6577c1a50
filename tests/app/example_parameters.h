#ifndef femgpu_tests_app_example_parameters_h
#define femgpu_tests_app_example_parameters_h

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/patterns.h>

namespace femgpu
{
namespace Patterns = dealii::Patterns;

/// Declares example parameters. Root: Dimension. Solver: Method, Tolerance, Iterations, Verbose;
/// Solver/Krylov: Restart. Newton: Steps, Damping. Output: Directory, Levels, Boundary, Pair.
inline void declare(dealii::ParameterHandler &prm)
{
  prm.declare_entry("Dimension", "2", Patterns::Integer(2, 3), "Space dimension d.");
  prm.enter_subsection("Solver");
  prm.declare_entry("Method", "cg", Patterns::Selection("cg|gmres|bicgstab|direct"),
                    "Krylov method | or direct.");
  prm.declare_entry("Tolerance", "1e-8", Patterns::Double(0), "Relative *residual* <= this.");
  prm.declare_entry("Iterations", "1000", Patterns::Integer(1), "Limit.");
  prm.declare_entry("Verbose", "false", Patterns::Bool(), "Print more.");
  prm.enter_subsection("Krylov");
  prm.declare_entry("Restart", "30", Patterns::Integer(1), "Vectors kept by GMRES.");
  prm.leave_subsection();
  prm.leave_subsection();
  prm.enter_subsection("Newton");
  prm.declare_entry("Steps", "20", Patterns::Integer(1), "Limit.");
  prm.declare_entry("Damping", "1", Patterns::Double(0, 1), "First step length.");
  prm.leave_subsection();
  prm.enter_subsection("Output");
  prm.declare_entry("Directory", "results", Patterns::Anything(), "Where results go.");
  prm.declare_entry("Levels", "0,1", Patterns::List(Patterns::Integer(0)), "Levels.");
  prm.declare_entry("Boundary", "0: x*y",
                    Patterns::Map(Patterns::Integer(0), Patterns::Anything(), 0, 10, ";"),
                    "Values.");
  prm.declare_entry("Pair", "1:2", Patterns::Tuple(":", Patterns::Integer(0), Patterns::Integer(0)),
                    "Pair.");
  prm.leave_subsection();
}
} // namespace femgpu

#endif
