#include "linalg/execution/execution.h"

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
} // namespace femgpu::linalg
