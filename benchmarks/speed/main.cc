/**
 * @file
 * Times iterations of femgpu and of other libraries on one GPU, in the same run, for the systems of
 * speed_bars.csv. `speed.py` runs this program and turns its output into tables and plots.
 */
#include "benchmarks/measure.h"
#include "benchmarks/speed/comparison.h"
#include "linalg/base/error.h"
#include "linalg/execution/make_executor.h"

#include "femgpu_version.h"

#include <algorithm>
#include <string>

namespace femgpu::linalg::benchmark
{
namespace
{
ComparisonOptions parse(const int argc, const char *const *const argv)
{
  return parse_comparison_options(
      "femgpu_speed",
      "Times iterations of femgpu and of other libraries for model problems, on one GPU.", argc,
      argv);
}

int run(const ComparisonOptions &options)
{
  const ExecutorPtr executor = make_executor(options.on_host ? "host" : "cuda");
  const std::size_t copied = options.on_host ? 1'000'000'000 : 3'000'000'000;
  const std::string device = (options.on_host ? "host, " : "") + executor->description();
  SpeedComparison comparison(options,
                             {device, version::git_revision, copy_bandwidth(*executor, copied)});
  for (const TableSystem &line : options.systems) {
    if (comparison.skips(line))
      continue;
    const SpeedSystem system = make_system(line);
    const CsrMatrix A(executor, system.A.csr());
    CandidateSpecs specs;
    const std::vector<std::string> &methods = options.methods;
    add_femgpu(specs, A, system.b, methods, options.formats, options.executions);
    if (!options.only_femgpu) {
      if (std::find(methods.begin(), methods.end(), "cg") != methods.end())
        add_cublas(specs, A, system.b);
      add_viennacl(specs, *executor, system, methods);
    }
    comparison.measure(system, specs);
  }
  comparison.finish();
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  using namespace femgpu::linalg::benchmark;
  return run_program(argc, argv, parse, run);
}
