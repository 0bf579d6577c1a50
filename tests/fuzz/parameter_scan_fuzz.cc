// Fuzzes the scanner of parameter files. Any input must give statements or errors that name their
// lines.
#include "app/parameter_scan.h"
#include "linalg/base/text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, const std::size_t size)
{
  const std::string text(reinterpret_cast<const char *>(data), size);
  std::size_t n_lines = 1;
  for (const char c : text)
    n_lines += c == '\n' ? 1 : 0;
  femgpu::ParameterProblems problems;
  const auto statements = femgpu::scan_parameter_text(text, problems);
  for (const auto &[line, problem] : problems)
    if (line < 1 || line > n_lines || problem.empty())
      std::abort();
  for (const auto &statement : statements)
    if (statement.line < 1 || statement.line > n_lines ||
        femgpu::trimmed(statement.value) != statement.value)
      std::abort();
  return 0;
}
