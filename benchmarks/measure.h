#ifndef femgpu_benchmarks_measure_h
#define femgpu_benchmarks_measure_h

#include "linalg/base/error.h"
#include "linalg/memory/executor.h"

#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

/**
 * @file
 * Functions shared by the benchmark programs.
 */
namespace femgpu::linalg::benchmark
{
/// Parses the command line with @p parse and calls @p run with the options, or prints the help text
/// if the options contain one. Prints the message of an Error.
/// @return the exit code of @p run, 0 after the help text, or the code of the Error
template <class Parse, class Run>
int run_program(const int argc, const char *const *const argv, const Parse &parse, const Run &run)
{
  try {
    const auto options = parse(argc, argv);
    if (options.help.empty())
      return run(options);
    std::cout << options.help;
    return 0;
  }
  catch (const femgpu::Error &error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

/// Writes the column names and one line for each row, formatted by @p print(stream, row). Does
/// nothing if @p name is empty. @throws OutputError
template <class Row, class Print>
void write_csv(const std::string &name, const char *const columns, const std::vector<Row> &rows,
               const Print &print)
{
  if (name.empty())
    return;
  std::ofstream file(name);
  file << columns << '\n';
  for (const Row &row : rows) {
    print(file, row);
    file << '\n';
  }
  if (!file.flush())
    throw OutputError("The table could not be written to '" + name + "'.");
}

double median(std::vector<double> values);

/// Returns @p n values between -1 and 1 with mean 0. They are not smooth, because with a smooth
/// right-hand side rounding errors would end a solve before its relative residual reaches 1e-12.
std::vector<double> right_hand_side(int n);

/// Returns the rate, in bytes read and written per second, of a copy of @p bytes within the memory
/// of @p executor.
double copy_bandwidth(const Executor &executor, std::size_t bytes = 3'000'000'000);
} // namespace femgpu::linalg::benchmark

#endif
