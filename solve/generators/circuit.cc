#include "solve/generators/circuit.h"

#include "solve/generators/random.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
constexpr int region = 100'000;     ///< number of unknowns that share a rail and a clock
constexpr int source_distance = 32; ///< one in this many unknowns is the current of a source
constexpr int block = 64;           ///< number of consecutive unknowns with similar conductances
constexpr int reach = 40;           ///< largest distance between nodes of most elements

class Circuit
{
public:
  Circuit(const int n, const std::uint64_t seed) : n(n), random(seed), rows(n), loads(n)
  {
    for (int begin = 0; begin < n; begin += block)
      scales.push_back(random.log_uniform(-18, 9));
    regions = std::max(2, n / region);
  }

  void add_elements()
  {
    for (int i = 0; i < n; ++i)
      if (is_source(i))
        add_source(i);
      else
        add_node(i);
    for (int i = 0; i < n; ++i)
      add_load(i);
  }

  HostMatrix matrix()
  {
    HostMatrix A;
    for (std::vector<Entry> &row : rows) {
      // The sort is stable, so that entries in the same column are added in the order of elements.
      std::stable_sort(row.begin(), row.end(),
                       [](const Entry &a, const Entry &b) { return a.first < b.first; });
      for (std::size_t k = 0; k < row.size();) {
        const int column = row[k].first;
        double sum = 0.;
        for (; k < row.size() && row[k].first == column; ++k)
          sum += row[k].second;
        A.add(column, sum);
      }
      A.end_row();
    }
    return A;
  }

private:
  using Entry = std::pair<int, double>;

  /// Returns the first unknown of region @p k: its rail. The next unknown is its clock.
  int first_of(const int k) const
  {
    return static_cast<int>(static_cast<long long>(n) * k / regions);
  }
  int region_of(const int i) const
  {
    int k = static_cast<int>((static_cast<long long>(i) * regions) / n);
    k += k + 1 < regions && first_of(k + 1) <= i ? 1 : 0;
    return k;
  }
  int rail_of(const int i) const
  {
    return first_of(region_of(i));
  }
  int clock_of(const int i) const
  {
    return rail_of(i) + 1;
  }
  bool is_source(const int i) const
  {
    return i - rail_of(i) > 1 && i % source_distance == source_distance - 1;
  }

  /// Returns i, or the node before it if i is a source.
  int node_at(const int i) const
  {
    return is_source(i) ? i - 1 : i;
  }
  /// Returns a random node at most `reach` before @p i; small distances are the most probable.
  int nearby_node(const int i)
  {
    const double u = random.uniform(0., 1.);
    const int distance = 1 + static_cast<int>(reach * u * u * u);
    return node_at(std::max(i - distance, 0));
  }
  int random_node()
  {
    return node_at(random.uniform_int(n));
  }

  /// Returns a random conductance for an element between two nodes.
  double conductance(const int a, const int b)
  {
    return std::sqrt(scales[a / block] * scales[b / block]) * random.log_uniform(-2, 1);
  }

  void couple(const int row, const int column, const double value)
  {
    if (row == column)
      return;
    rows[row].emplace_back(column, value);
    loads[row] += std::abs(value);
  }
  void add_resistor(const int a, const int b)
  {
    const double g = conductance(a, b);
    couple(a, b, -g);
    couple(b, a, -g);
  }
  /// Adds a transistor, whose current from @p drain to @p source is g (v_gate - v_source).
  void add_transistor(const int drain, const int gate, const int source)
  {
    const double g = 0.5 * conductance(drain, source);
    couple(drain, gate, g);
    couple(drain, source, -g);
    couple(source, gate, -g);
  }

  void add_node(const int i)
  {
    if (i > 0)
      add_resistor(i, node_at(i - 1));
    if (i == rail_of(i) || i == clock_of(i))
      return;
    if (random.bernoulli(0.5))
      add_resistor(i, nearby_node(i));
    if (random.bernoulli(0.03))
      add_resistor(i, random_node());
    if (random.bernoulli(0.2)) {
      const int gate = nearby_node(i), source = nearby_node(i);
      if (gate != source) // otherwise no voltage would control the transistor
        add_transistor(i, gate, source);
    }
    if (random.bernoulli(0.2))
      add_resistor(i, rail_of(i));
    else if (random.bernoulli(0.06)) // the node depends on the rail's voltage and takes no current
      couple(i, rail_of(i), -conductance(i, i));
    else if (random.bernoulli(0.1))
      couple(i, clock_of(i), conductance(i, i));
  }

  /// Adds a source between nodes p and q with inner resistance 1/g. Unknown @p current is i/c,
  /// where i is the current that leaves node p. Its row, c (v_p - v_q) = (c²/g) i/c, thus has the
  /// magnitude of the rows of nodes.
  void add_source(const int current)
  {
    const int p = current - 1, q = nearby_node(current - 1);
    const double c = scales[current / block];
    const double g = 5. * c;
    rows[current].emplace_back(current, c * c / g);
    for (const auto &[node, sign] : {Entry(p, 1.), Entry(q, -1.)}) {
      rows[current].emplace_back(node, -sign * c);
      rows[node].emplace_back(current, sign * c);
    }
  }

  /// Adds the diagonal entry of row i: the contributions of all elements at node i, and a
  /// conductance to the ground. Does nothing if i is a source.
  void add_load(const int i)
  {
    if (is_source(i))
      return;
    const double ground = random.log_uniform(-8, -1);
    const double load = loads[i] > 0. ? loads[i] : scales[i / block];
    rows[i].emplace_back(i, (1. + ground) * load);
  }

  int n, regions = 1;
  Random random;
  std::vector<double> scales; ///< typical conductance of each block
  std::vector<std::vector<Entry>> rows;
  std::vector<double> loads; ///< for each row, the sum that its diagonal entry must exceed
};
} // namespace

HostMatrix circuit_matrix(const int n, const std::uint64_t seed)
{
  Circuit circuit(n, seed);
  circuit.add_elements();
  return circuit.matrix();
}
} // namespace femgpu::linalg
