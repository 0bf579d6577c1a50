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
 * What programs that measure share.
 */
namespace femgpu::linalg::benchmark
{
/// Calls @p run with the options that @p parse makes of the command line, or prints their help if
/// it is asked for. Returns the exit code; errors are printed and have codes of their own.
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

/// Writes a line for each row, as @p print(stream, row) does, below the names of the columns;
/// nothing without a name of the file. @throws OutputError
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

/// Between -1 and 1 with mean 0: a smooth one would end in rounding errors before 1e-12.
std::vector<double> right_hand_side(int n);

/// Bytes per second, read and written, of a copy of @p bytes inside the memory of @p executor.
double copy_bandwidth(const Executor &executor, std::size_t bytes = 3'000'000'000);
} // namespace femgpu::linalg::benchmark

#endif
