#include "reference.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace references
{
namespace
{
template <class Value>
void read(const std::string &word, const std::string &text, Value &value)
{
  std::istringstream stream(text);
  if (!(stream >> value) || !stream.eof())
    throw std::invalid_argument("The value of '" + word + "' is not a number; write KEY=NUMBER.");
}

std::string joined(const std::vector<std::string> &words)
{
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : "|") + word;
  return text;
}
} // namespace

Options parse(const int argc, char **argv, const std::vector<std::string> &preconditioners)
{
  Options options;
  options.preconditioner = preconditioners.front();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word[0] == '-') // PETSc's options and their values
      break;
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "dimension")
      read(word, value, options.dimension);
    else if (key == "degree")
      read(word, value, options.degree);
    else if (key == "cells")
      read(word, value, options.cells);
    else if (key == "refinements")
      read(word, value, options.refinements);
    else if (key == "lambda")
      read(word, value, options.lambda);
    else if (key == "tolerance")
      read(word, value, options.tolerance);
    else if (key == "linear_tolerance")
      read(word, value, options.linear_tolerance);
    else if (key == "preconditioner")
      options.preconditioner = value;
    else if (key == "write")
      options.write = value;
    else
      throw std::invalid_argument(
          "Option '" + word +
          "' is unknown; use dimension, degree, cells, refinements, lambda, tolerance, "
          "linear_tolerance, "
          "preconditioner and write as KEY=VALUE, followed by options of PETSc.");
  }
  if (options.dimension != 2 && options.dimension != 3)
    throw std::invalid_argument("The dimension is " + std::to_string(options.dimension) +
                                "; use dimension=2 or 3.");
  if (std::find(preconditioners.begin(), preconditioners.end(), options.preconditioner) ==
      preconditioners.end())
    throw std::invalid_argument("Preconditioner '" + options.preconditioner +
                                "' is unknown; use preconditioner=" + joined(preconditioners) +
                                ".");
  return options;
}

void print(const Report &report)
{
  const nlohmann::ordered_json values = {{"program", report.program},
                                         {"preconditioner", report.preconditioner},
                                         {"ranks", report.ranks},
                                         {"dimension", report.dimension},
                                         {"degree", report.degree},
                                         {"dofs", report.dofs},
                                         {"converged", report.converged},
                                         {"reason", report.reason},
                                         {"newton_iterations", report.newton_iterations},
                                         {"linear_iterations", report.linear_iterations},
                                         {"max_u", report.max_u},
                                         {"initial_residual", report.initial_residual},
                                         {"residual", report.residual},
                                         {"seconds",
                                          {{"setup", report.setup_seconds},
                                           {"assembly", report.assembly_seconds},
                                           {"preconditioner", report.preconditioner_seconds},
                                           {"linear_solve", report.linear_seconds},
                                           {"nonlinear_solve", report.nonlinear_seconds},
                                           {"total", report.total_seconds}}}};
  std::cout << values.dump(2) << std::endl;
}

void write_sorted(const std::string &file, std::vector<NodalValue> values)
{
  // Coordinates that differ only by rounding must compare equal.
  const auto position = [](const NodalValue &v) {
    return std::array<long long, 3>{std::llround(v[0] * 1e9), std::llround(v[1] * 1e9),
                                    std::llround(v[2] * 1e9)};
  };
  std::sort(values.begin(), values.end(),
            [&](const NodalValue &a, const NodalValue &b) { return position(a) < position(b); });
  std::ofstream stream(file);
  stream.precision(17);
  for (const auto &[x, y, z, u] : values)
    stream << x << ' ' << y << ' ' << z << ' ' << u << '\n';
  if (!stream.flush())
    throw std::runtime_error("The file '" + file + "' cannot be written; choose another name.");
}

int exit_code(const Report &report)
{
  return report.converged ? 0 : 3;
}
} // namespace references
