/**
 * @file
 * Counts the redundant work and the communication of the subdomains of a matrix for s steps of a
 * Krylov basis: rows that are computed redundantly, and vector elements that are exchanged. See
 * --help.
 */
#include "benchmarks/measure.h"
#include "benchmarks/ordered_system.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/partitions/partition.h"
#include "linalg/powers/cache_blocks.h"
#include "solve/generators/registry.h"
#include "solve/matrix_market/matrix_market.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
const char *const footer =
    "Columns:\n"
    "  surface  entries of rows of other parts that a part stores and computes redundantly,\n"
    "           divided by the entries of its own rows: mean and maximum over the parts\n"
    "  work     entries multiplied for s steps at once, divided by the entries of s products\n"
    "  volume   elements exchanged for s steps at once, divided by those for s products\n";

struct Options
{
  std::vector<int> parts = {2, 3, 4}, steps = {1, 2, 5, 10, 15, 20};
  std::vector<std::string> orders = {"none", "rcm", "kway"}, systems;
  std::string help, csv;
};

Options parse(const int argc, const char *const *const argv)
{
  CommandLineReader reader(
      "femgpu_surfaces", "SYSTEM... [OPTIONS]",
      "Counts the redundant work and the communication of the parts of a matrix "
      "for s steps of a Krylov basis (Yamazaki et al. 2014, figures 6 and 7), "
      "for several orderings of the rows.",
      footer);
  Options options;
  reader.positional("SYSTEM",
                    "Matrix Market file, or model problem as for femgpu-solve --generate");
  reader.option("--parts", "P", "Number of parts (repeatable); default: 2, 3 and 4");
  reader.option("--steps", "S", "Number of steps (repeatable); default: 1, 2, 5, 10, 15 and 20");
  reader.option("--order", "NAME",
                "Ordering (repeatable): none or rcm, with parts of equal numbers of rows; kway or "
                "geometry, with the parts of the ordering; default: none, rcm and kway");
  reader.option("--csv", "FILE", "Also write the table to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  if (!options.help.empty())
    return options;
  options.systems = reader.values("SYSTEM");
  if (options.systems.empty())
    reader.fail("SYSTEM is missing");
  const auto read = [&](const char *const name, std::vector<int> &numbers) {
    if (reader.has(name))
      numbers.clear();
    for (const std::string &word : reader.values(name))
      numbers.push_back(reader.parse_positive(word, name, 9999));
  };
  read("--parts", options.parts);
  read("--steps", options.steps);
  if (const auto &orders = reader.values("--order"); !orders.empty())
    options.orders = orders;
  return options;
}

/// The result for one ordering, one number of subdomains and one s.
struct Surface
{
  std::string system, order;
  int n, parts, steps;
  /// The mean and the maximum, over the subdomains, of entries computed redundantly / own entries.
  double mean = 0., largest = 0.;
  double work = 0., volume = 0.;
};

bool is_file(const std::string &system)
{
  return std::ifstream(system).good();
}

/// The subdomains of an ordered matrix and their neighbourhoods up to the largest distance.
class Surfaces
{
public:
  Surfaces(HostMatrix ordered, const int n_parts, const int deepest)
      : matrix(std::move(ordered)), A(matrix.csr()), starts(starts_of(A, n_parts)),
        neighbourhood(A), is_ghost(static_cast<std::size_t>(A.n))
  {
    for (int part = 0; part < n_parts; ++part) {
      neighbourhood.find(starts[part], starts[part + 1], deepest,
                         std::numeric_limits<std::size_t>::max());
      counts.push_back(neighbourhood.counts());
      ghosts.push_back(neighbourhood.ghosts());
    }
  }

  Surface measure(const int s)
  {
    Surface result{"", "", A.n, static_cast<int>(counts.size()), s};
    double own_entries = 0., computed = 0.;
    for (std::size_t part = 0; part < counts.size(); ++part) {
      const auto own =
          static_cast<double>(A.row_starts[starts[part + 1]] - A.row_starts[starts[part]]);
      double surface = 0., of_steps = s * own; // rows at distances 1 … s − 1 are computed, too
      for (int distance = 1; distance < s; ++distance) {
        const double entries = entries_at(part, distance);
        surface += entries;
        of_steps += (s - distance) * entries;
      }
      own_entries += own;
      computed += of_steps;
      result.mean += surface / own / static_cast<double>(counts.size());
      result.largest = std::max(result.largest, surface / own);
    }
    result.work = computed / (s * own_entries);
    const double of_products = elements(1);
    result.volume = of_products > 0. ? elements(s) / (s * of_products) : 1.;
    return result;
  }

private:
  static std::vector<int> starts_of(const HostCsr &A, const int n_parts)
  {
    const std::vector<int> &known = A.unknowns->part_starts;
    return static_cast<int>(known.size()) == n_parts + 1
               ? known
               : make_partition("contiguous", A, n_parts).starts;
  }

  /// Returns the index in ghosts[part] of the first ghost at @p distance.
  std::size_t first_at(const std::size_t part, const int distance) const
  {
    return static_cast<std::size_t>(counts[part][static_cast<std::size_t>(distance) - 1] -
                                    counts[part][0]);
  }
  double entries_at(const std::size_t part, const int distance) const
  {
    double sum = 0.;
    for (std::size_t k = first_at(part, distance); k < first_at(part, distance + 1); ++k)
      sum += A.row_starts.length(ghosts[part][k]);
    return sum;
  }

  /// Returns the number of exchanged elements, |∪ δ| sent and Σ |δ| received, where δ are the
  /// ghosts of a subdomain within distance s.
  double elements(const int s)
  {
    double received = 0., sent = 0.;
    std::fill(is_ghost.begin(), is_ghost.end(), false);
    for (std::size_t part = 0; part < counts.size(); ++part)
      for (std::size_t k = 0; k < first_at(part, s + 1); ++k) {
        ++received;
        sent += is_ghost[ghosts[part][k]] ? 0. : 1.;
        is_ghost[ghosts[part][k]] = true;
      }
    return sent + received;
  }

  HostMatrix matrix;
  HostCsr A;
  std::vector<int> starts;
  Neighbourhood neighbourhood;
  std::vector<std::vector<int>> counts, ghosts; ///< one list per subdomain
  std::vector<bool> is_ghost;                   ///< is the row a ghost in any subdomain?
};

void print(const Surface &s)
{
  std::printf("%-28s %-6s %5d %3d %9.3g %9.3g %7.3f %7.3f\n", s.system.c_str(), s.order.c_str(),
              s.parts, s.steps, s.mean, s.largest, s.work, s.volume);
}

int run(const Options &options)
{
  std::printf("%-28s %-6s %5s %3s %9s %9s %7s %7s\n", "system", "order", "parts", "s", "surface",
              "largest", "work", "volume");
  std::vector<Surface> surfaces;
  for (const std::string &name : options.systems) {
    const HostMatrix A = is_file(name) ? read_matrix_market(name).matrix : generate(name).A;
    for (const std::string &order : options.orders)
      for (const int parts : options.parts) {
        const bool by_parts = order == "kway" || order == "geometry";
        Surfaces of_order(in_order(A, by_parts ? order + " parts=" + std::to_string(parts) : order),
                          parts, *std::max_element(options.steps.begin(), options.steps.end()));
        for (const int s : options.steps) {
          Surface surface = of_order.measure(s);
          surface.system = name.substr(name.find_last_of('/') + 1);
          surface.order = order;
          print(surface);
          surfaces.push_back(std::move(surface));
        }
      }
  }
  write_csv(options.csv, "system,n,order,parts,steps,surface_mean,surface_largest,work,volume",
            surfaces, [](std::ostream &file, const Surface &s) {
              file << '"' << s.system << "\"," << s.n << ',' << s.order << ',' << s.parts << ','
                   << s.steps << ',' << s.mean << ',' << s.largest << ',' << s.work << ','
                   << s.volume;
            });
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  using namespace femgpu::linalg::benchmark;
  return run_program(argc, argv, parse, run);
}
