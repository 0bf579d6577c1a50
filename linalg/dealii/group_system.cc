#include "linalg/dealii/group_system.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/base/parallel.h"
#include "linalg/mpi/long_messages.h"
#include "linalg/mpi/mpi_communicator.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace femgpu::linalg
{
namespace
{
// Column numbers, not used by any matrix, that denote contributions to b and w.
constexpr auto rhs_column = dealii::numbers::invalid_dof_index;
constexpr auto weight_column = rhs_column - 1;
} // namespace

GroupSystem::GroupSystem(const SolverGroups &groups)
    : solver_groups(groups), my_rank(dealii::Utilities::MPI::this_mpi_process(groups.ranks())),
      n_ranks(dealii::Utilities::MPI::n_mpi_processes(groups.ranks())),
      off_rank_contributions(n_ranks)
{
  rank_starts.assign(n_ranks + 1, 0);
}

GroupSystem::~GroupSystem()
{
  const SolverGroups::ScopedLeaderAffinity cores(solver_groups);
  columns = {};
  values = {};
}

void GroupSystem::count_rows(const std::size_t my_rows, const std::size_t my_nonzeros)
{
  const auto rows = dealii::Utilities::MPI::all_gather(communicator(), my_rows);
  const auto nonzeros = dealii::Utilities::MPI::all_gather(communicator(), my_nonzeros);
  const auto group = static_cast<std::size_t>(solver_groups.number());
  const auto first_rank = static_cast<unsigned int>(solver_groups.first_ranks()[group]),
             last_rank = static_cast<unsigned int>(solver_groups.first_ranks()[group + 1]);
  first_nonzero = group_nonzeros = all_nonzeros = 0;
  for (unsigned int rank = 0; rank < n_ranks; ++rank) {
    rank_starts[rank + 1] = rank_starts[rank] + static_cast<Index>(rows[rank]);
    all_nonzeros += nonzeros[rank];
    if (rank < first_rank || rank >= last_rank)
      continue;
    first_nonzero += rank < my_rank ? nonzeros[rank] : 0;
    group_nonzeros += nonzeros[rank];
  }
  first_of_group = rank_starts[first_rank];
  first_in_group = rank_starts[my_rank] - first_of_group;
  n_group_rows = static_cast<int>(rank_starts[last_rank] - first_of_group);
  const std::vector<int> &first = solver_groups.first_ranks();
  for (std::size_t k = 0; k + 1 < first.size(); ++k) { // all ranks get the same result
    const auto n_rows = static_cast<std::size_t>(rank_starts[first[k + 1]] - rank_starts[first[k]]);
    const auto n_entries = std::accumulate(nonzeros.begin() + first[k],
                                           nonzeros.begin() + first[k + 1], std::size_t(0));
    if (n_rows > static_cast<std::size_t>(max_indices) || n_entries > RowStarts::max_entries)
      throw ParameterError("A solver group has " + std::to_string(n_rows) + " rows and " +
                           std::to_string(n_entries) + " entries, but the limits are " +
                           std::to_string(max_indices) + " rows and " +
                           std::to_string(RowStarts::max_entries) +
                           " entries. Use more solver groups, refine less or lower the degree.");
  }
}

void GroupSystem::reinit(const std::vector<unsigned int> &row_lengths,
                         const RowColumns &row_columns)
{
  static std::size_t n_patterns = 0;
  number = ++n_patterns;
  const auto my_nonzeros = std::accumulate(row_lengths.begin(), row_lengths.end(), std::size_t(0));
  count_rows(row_lengths.size(), my_nonzeros);

  MPI_Comm group = solver_groups.group();
  const std::size_t rows = n_owned();
  const bool is_last = dealii::Utilities::MPI::this_mpi_process(group) + 1 ==
                       dealii::Utilities::MPI::n_mpi_processes(group);
  low_starts = NodeArray<int>(group, rows + (is_last ? 1 : 0));
  columns = NodeArray<int>(group, my_nonzeros);
  values = {};
  unknowns_info = default_unknowns;

  number_ghosts(fill_pattern(rows, row_columns), my_nonzeros);
  if (is_last)
    low_starts.data()[n_group_rows] = low_bits(group_nonzeros);
  x = NodeArray<double>(group, rows + (is_last ? ghosts.size() : 0));
  NodeMemory::synchronize(group); // the end of the last row is the next rank's first row start
  row_starts = RowStarts(low_starts.data(), n_group_rows, group_nonzeros);
}

/// Stores the columns of each row: first the columns of the group, then the columns of other
/// groups, which get numbers in the order in which they occur.
/// @return the columns of other groups, in the order of their numbers
std::vector<GroupSystem::Index> GroupSystem::fill_pattern(const std::size_t n_rows,
                                                          const RowColumns &row_columns)
{
  std::vector<Index> others;
  std::unordered_map<Index, int> numbers;
  int *next = columns.data() + first_nonzero;
  for (std::size_t row = 0; row < n_rows; ++row) {
    low_starts.data()[first_in_group + row] =
        low_bits(static_cast<std::size_t>(next - columns.data()));
    const std::vector<Index> &global_columns = row_columns(row);
    const auto begin =
                   std::lower_bound(global_columns.begin(), global_columns.end(), first_of_group),
               end = std::lower_bound(begin, global_columns.end(), first_of_group + n_group_rows);
    next = std::transform(begin, end, next, [this](const Index column) {
      return static_cast<int>(column - first_of_group);
    });
    const auto add_other = [&](const Index column) {
      const auto [found, is_new] = numbers.emplace(column, static_cast<int>(others.size()));
      if (is_new)
        others.push_back(column);
      *next++ = n_group_rows + found->second;
    };
    std::for_each(global_columns.begin(), begin, add_other);
    std::for_each(end, global_columns.end(), add_other);
  }
  return others;
}

/// Renumbers the columns of other groups by ascending global numbers, the same on all ranks of the
/// group. Collective.
/// @param rank_entries the result of fill_pattern() for this rank's @p n_nonzeros entries
void GroupSystem::number_ghosts(const std::vector<Index> &rank_entries,
                                const std::size_t n_nonzeros)
{
  ghosts.clear();
  plan = {};
  if (solver_groups.n_groups() == 1)
    return;
  ghosts = allgather(std::vector<long long>(rank_entries.begin(), rank_entries.end()),
                     solver_groups.group());
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  if (ghosts.size() > static_cast<std::size_t>(max_indices - n_group_rows))
    throw ParameterError("A solver group has " + std::to_string(n_group_rows) + " rows and " +
                         std::to_string(ghosts.size()) +
                         " ghost rows, together more than the limit of " +
                         std::to_string(max_indices) + ". Use more solver groups, or refine less.");
  std::vector<int> final_numbers;
  for (const Index column : rank_entries)
    final_numbers.push_back(local_number(column, first_of_group, n_group_rows, ghosts));
  int *const mine = columns.data() + first_nonzero;
  std::for_each(mine, mine + n_nonzeros, [&](int &column) {
    if (column >= n_group_rows)
      column = final_numbers[column - n_group_rows];
  });
  if (!solver_groups.is_leader())
    return;
  std::vector<long long> starts;
  for (const int rank : solver_groups.first_ranks())
    starts.push_back(rank_starts[rank]);
  plan = MpiCommunicator(solver_groups.leaders()).plan(ghosts, starts);
}

std::vector<std::size_t> GroupSystem::rows_of_groups() const
{
  std::vector<std::size_t> rows;
  const std::vector<int> &first = solver_groups.first_ranks();
  for (std::size_t group = 0; group + 1 < first.size(); ++group)
    rows.push_back(rank_starts[first[group + 1]] - rank_starts[first[group]]);
  return rows;
}

template <class List>
List GroupSystem::gather_on_leader(List mine) const
{
  MPI_Comm group = solver_groups.group();
  if (dealii::Utilities::MPI::n_mpi_processes(group) == 1)
    return mine;
  const auto rank_in_group = dealii::Utilities::MPI::this_mpi_process(group);
  const std::vector<std::size_t> sizes = dealii::Utilities::MPI::all_gather(group, mine.size());
  const auto begin = std::accumulate(sizes.begin(), sizes.begin() + rank_in_group, std::size_t(0));
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
  using Value = typename List::value_type;
  List all(rank_in_group == 0 ? total : 0);
  constexpr std::size_t at_once = 1 << 20;
  if (total < at_once) { // a message is faster than mapping memory on all ranks
    const std::vector<int> counts(sizes.begin(), sizes.end());
    std::vector<int> offsets(counts.size(), 0);
    std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
    MPI_Gatherv(mine.data(), counts[rank_in_group], mpi_type<Value>(), all.data(), counts.data(),
                offsets.data(), mpi_type<Value>(), 0, group);
    return all;
  }
  NodeArray<Value> shared(group, mine.size());
  std::copy(mine.begin(), mine.end(), shared.data() + begin);
  NodeMemory::synchronize(group);
  const SolverGroups::ScopedLeaderAffinity cores(solver_groups);
  const auto n_blocks = all.size() / at_once + 1;
  parallel_for(n_blocks, [&](const std::size_t block) {
    const std::size_t first = block * at_once;
    std::copy_n(shared.data() + first, std::min(at_once, all.size() - first), all.data() + first);
  });
  shared = {};
  return all;
}

template std::vector<int> GroupSystem::gather_on_leader(std::vector<int>) const;
template std::vector<double> GroupSystem::gather_on_leader(std::vector<double>) const;
template RawVector<unsigned char> GroupSystem::gather_on_leader(RawVector<unsigned char>) const;
template RawVector<int> GroupSystem::gather_on_leader(RawVector<int>) const;
template RawVector<double> GroupSystem::gather_on_leader(RawVector<double>) const;

void GroupSystem::set_zero(const bool has_weights)
{
  for (auto &rank_entries : off_rank_contributions) // left over from a failed assembly
    rank_entries.clear();
  const auto first = static_cast<int>(first_in_group), rows = static_cast<int>(n_owned());
  const std::size_t begin = row_starts[first], end = row_starts[first + rows];
  if (values.data() == nullptr) { // new memory is zero
    values = NodeArray<double>(solver_groups.group(), end - begin);
    b = NodeArray<double>(solver_groups.group(), n_owned());
    w = NodeArray<double>(solver_groups.group(), has_weights ? n_owned() : 0);
    return;
  }
  std::fill(values.data() + begin, values.data() + end, 0.);
  std::fill_n(rhs(), rows, 0.);
  if (has_weights)
    std::fill_n(weights(), rows, 0.);
}

void GroupSystem::set_rhs_zero()
{
  for (auto &rank_entries : off_rank_contributions)
    rank_entries.clear();
  std::fill_n(rhs(), n_owned(), 0.);
}

unsigned int GroupSystem::owner_of(const Index row) const
{
  const auto next = std::upper_bound(rank_starts.begin(), rank_starts.end(), row);
  return static_cast<unsigned int>(next - rank_starts.begin()) - 1;
}

void GroupSystem::add_owned_row(const Index row, const unsigned int n, const Index *added_columns,
                                const double *added_values)
{
  const auto i = static_cast<int>(row - first_of_group);
  const std::size_t begin = row_starts[i], end = row_starts[i + 1];
  std::size_t k = begin;
  for (unsigned int entry = 0; entry < n; ++entry, ++k) {
    const int column = local_number(added_columns[entry], first_of_group, n_group_rows, ghosts);
    if (k > begin && columns.data()[k - 1] >= column)
      k = begin; // columns of the group precede ghosts with smaller global numbers
    while (k < end && columns.data()[k] < column) // rows are similar, so branches are predictable
      ++k;
    AssertThrow(k < end && columns.data()[k] == column,
                dealii::ExcMessage("An entry was added that is not in the sparsity pattern."));
    values.data()[k] += added_values[entry];
  }
}

void GroupSystem::add_row(const Index row, const unsigned int n, const Index *added_columns,
                          const double *added_values)
{
  if (owns(row)) {
    add_owned_row(row, n, added_columns, added_values);
    return;
  }
  std::vector<Contribution> &contributions = off_rank_contributions[owner_of(row)];
  for (unsigned int entry = 0; entry < n; ++entry)
    contributions.push_back({row, added_columns[entry], added_values[entry]});
}

void GroupSystem::add_rhs(const Index row, const double value)
{
  if (owns(row))
    rhs()[row - first_owned()] += value;
  else
    off_rank_contributions[owner_of(row)].push_back({row, rhs_column, value});
}

void GroupSystem::add_weight(const Index row, const double value)
{
  if (owns(row))
    weights()[row - first_owned()] += value;
  else
    off_rank_contributions[owner_of(row)].push_back({row, weight_column, value});
}

void GroupSystem::compress()
{
  std::vector<int> send_counts(n_ranks), receive_counts(n_ranks);
  std::vector<int> send_offsets(n_ranks), receive_offsets(n_ranks);
  std::vector<Contribution> sent;
  for (unsigned int rank = 0; rank < n_ranks; ++rank) {
    send_offsets[rank] = static_cast<int>(sent.size());
    send_counts[rank] = static_cast<int>(off_rank_contributions[rank].size());
    sent.insert(sent.end(), off_rank_contributions[rank].begin(),
                off_rank_contributions[rank].end());
    std::vector<Contribution>().swap(off_rank_contributions[rank]); // otherwise the entries would
                                                                    // be in memory twice
  }
  MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, communicator());
  int n_received = 0;
  for (unsigned int rank = 0; rank < n_ranks; ++rank) {
    receive_offsets[rank] = n_received;
    n_received += receive_counts[rank];
  }
  std::vector<Contribution> received(static_cast<std::size_t>(n_received));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Contribution), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(sent.data(), send_counts.data(), send_offsets.data(), type, received.data(),
                receive_counts.data(), receive_offsets.data(), type, communicator());
  MPI_Type_free(&type);
  std::vector<Contribution>().swap(sent);
  std::vector<Index> row_columns;
  std::vector<double> row_values;
  for (auto entry = received.cbegin(); entry != received.cend();) {
    const Index row = entry->row;
    row_columns.clear();
    row_values.clear();
    for (; entry != received.cend() && entry->row == row; ++entry)
      if (entry->column == rhs_column)
        add_rhs(row, entry->value);
      else if (entry->column == weight_column)
        add_weight(row, entry->value);
      else {
        row_columns.push_back(entry->column);
        row_values.push_back(entry->value);
      }
    add_owned_row(row, static_cast<unsigned int>(row_columns.size()), row_columns.data(),
                  row_values.data());
  }
  synchronize();
}

void GroupSystem::synchronize() const
{
  NodeMemory::synchronize(solver_groups.group());
}

GroupSystem::Block GroupSystem::block() const
{
  HostCsr A{n_group_rows, group_nonzeros, row_starts, columns.data(), values.data(), unknowns_info};
  A.ghosts = solver_groups.n_groups() > 1 ? &plan : nullptr;
  return {A, b.data(), w.data(), x.data()};
}

template <class F>
void GroupSystem::for_each_row_with_x(const F &f) const
{
  synchronize();
  if (solver_groups.n_groups() > 1) {
    if (solver_groups.is_leader()) {
      std::vector<double> sent;
      for (const GhostPlan::Neighbour &neighbour : plan.neighbours)
        for (const int row : neighbour.sent_rows)
          sent.push_back(x.data()[row]);
      MpiCommunicator(solver_groups.leaders())
          .exchange(plan.counts(), sizeof(double), sent.data(), x.data() + n_group_rows);
    }
    synchronize();
  }
  const auto first = static_cast<int>(first_in_group), rows = static_cast<int>(n_owned());
  for (int i = first; i < first + rows; ++i)
    f(i);
  synchronize(); // all ranks have read x
}

std::vector<double> GroupSystem::vmult(const double *const B) const
{
  std::vector<double> Bx;
  Bx.reserve(n_owned());
  for_each_row_with_x([&](const int i) {
    double sum = 0.;
    for (std::size_t k = row_starts[i]; k < row_starts[i + 1]; ++k)
      sum += B[k - first_nonzero] * x.data()[columns.data()[k]];
    Bx.push_back(sum);
  });
  return Bx;
}

std::vector<double> GroupSystem::magnitudes() const
{
  std::vector<double> result;
  result.reserve(n_owned());
  for_each_row_with_x([&](const int i) {
    double sum = std::abs(b.data()[i]);
    for (std::size_t k = row_starts[i]; k < row_starts[i + 1]; ++k)
      sum += std::abs(values.data()[k] * x.data()[columns.data()[k]]);
    result.push_back(sum);
  });
  return result;
}

std::vector<double> GroupSystem::row_scales() const
{
  const auto first = static_cast<int>(first_in_group), rows = static_cast<int>(n_owned());
  std::vector<double> scales;
  scales.reserve(n_owned());
  for (int i = first; i < first + rows; ++i) {
    double diagonal = 0., squares = 0.;
    for (std::size_t k = row_starts[i]; k < row_starts[i + 1]; ++k) {
      squares += values.data()[k] * values.data()[k];
      if (columns.data()[k] == i)
        diagonal = values.data()[k];
    }
    scales.push_back(diagonal > 0. ? diagonal : std::sqrt(squares));
  }
  return scales;
}

int GroupSystem::longest_row() const
{
  const auto first = static_cast<int>(first_in_group), rows = static_cast<int>(n_owned());
  int longest = 0;
  for (int i = first; i < first + rows; ++i)
    longest = std::max(longest, row_starts.length(i));
  return dealii::Utilities::MPI::max(longest, communicator());
}
} // namespace femgpu::linalg
