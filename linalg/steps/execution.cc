#include "linalg/steps/execution.h"

#include "linalg/base/error.h"

namespace femgpu::linalg
{
Execution execution_of(const std::string &word)
{
  for (const Execution execution : {Execution::automatic, Execution::graph, Execution::resident})
    if (word == to_string(execution))
      return execution;
  throw ParameterError("Execution '" + word + "' is unknown; use auto, graph or resident.",
                       "Solver/Execution");
}

std::string to_string(const Execution execution)
{
  switch (execution) {
  case Execution::graph:
    return "graph";
  case Execution::resident:
    return "resident";
  default:
    return "auto";
  }
}

void refuse_resident(const int n)
{
  throw ParameterError("Execution 'resident' needs a method that can keep its vectors on the "
                       "chip (a form of CG or BiCGStab, minres, or pipelined-gmres), "
                       "preconditioner identity or jacobi, and a system that fits (this has " +
                           std::to_string(n) +
                           " rows); format sell, or a short restart, fits more. Use auto.",
                       "Solver/Execution");
}
} // namespace femgpu::linalg
