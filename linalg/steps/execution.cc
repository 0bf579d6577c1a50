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
                       "execution");
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

void throw_not_resident(const int n)
{
  throw ParameterError(
      "Execution 'resident' needs a solver that can keep its vectors on the chip (a form of CG or "
      "BiCGStab, minres, or pipelined-gmres), preconditioner identity or jacobi, and a system that "
      "fits (this one has " +
          std::to_string(n) +
          " rows). Use execution auto, or save space with format sell or a shorter restart.",
      "execution");
}
} // namespace femgpu::linalg
