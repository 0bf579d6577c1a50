#include "linalg/dealii/node_system.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace femgpu::linalg
{
namespace
{
// Columns of contributions that are none of the matrix.
constexpr auto rhs_column = dealii::numbers::invalid_dof_index;
constexpr auto weight_column = rhs_column - 1;
} // namespace

NodeSystem::NodeSystem(MPI_Comm communicator)
    : comm(communicator), my_rank(dealii::Utilities::MPI::this_mpi_process(communicator)),
      n_ranks(dealii::Utilities::MPI::n_mpi_processes(communicator)), for_others(n_ranks)
{
  require_one_node(comm);
  row_begins.assign(n_ranks + 1, 0);
}

void NodeSystem::count_rows(const std::size_t my_rows, const std::size_t my_nonzeros)
{
  const auto rows = dealii::Utilities::MPI::all_gather(comm, my_rows);
  const auto nonzeros = dealii::Utilities::MPI::all_gather(comm, my_nonzeros);
  first_nonzero = total_nonzeros = 0;
  for (unsigned int rank = 0; rank < n_ranks; ++rank) {
    row_begins[rank + 1] = row_begins[rank] + static_cast<Index>(rows[rank]);
    first_nonzero += rank < my_rank ? nonzeros[rank] : 0;
    total_nonzeros += nonzeros[rank];
  }
  if (n() > static_cast<std::size_t>(most_indices) || total_nonzeros > RowStarts::most_entries)
    throw ParameterError("The system has " + std::to_string(n()) + " rows and " +
                         std::to_string(total_nonzeros) + " entries, but no more than " +
                         std::to_string(most_indices) + " rows and " +
                         std::to_string(RowStarts::most_entries) +
                         " entries can be counted. Refine less or lower the degree.");
}

void NodeSystem::reinit(const std::vector<unsigned int> &row_lengths, const FillRow &fill_row)
{
  static std::size_t n_patterns = 0;
  number = ++n_patterns;
  const auto my_nonzeros = std::accumulate(row_lengths.begin(), row_lengths.end(), std::size_t(0));
  count_rows(row_lengths.size(), my_nonzeros);

  const std::size_t rows = n_owned();
  const bool is_last = my_rank == n_ranks - 1;
  low_starts = NodeArray<int>(comm, rows + (is_last ? 1 : 0));
  columns = NodeArray<int>(comm, my_nonzeros);
  values = NodeArray<double>(comm, my_nonzeros);
  b = NodeArray<double>(comm, rows);
  w = NodeArray<double>(comm, rows);
  x = NodeArray<double>(comm, rows);
  known = nothing_known;

  std::size_t k = first_nonzero;
  for (std::size_t row = 0; row < rows; ++row) {
    low_starts.data()[first_owned() + row] = low_bits(k);
    fill_row(row, columns.data() + k);
    k += row_lengths[row];
  }
  if (is_last)
    low_starts.data()[n()] = low_bits(k);
  low_starts.synchronize();
  columns.synchronize();
  std::fill_n(x.data() + first_owned(), rows, 0.);
  // A row's end is the next rank's first row start.
  MPI_Barrier(comm);
  low_starts.synchronize();
  columns.synchronize();
  row_starts = RowStarts(low_starts.data(), static_cast<int>(n()), total_nonzeros);
  set_zero();
}

template <class T>
std::vector<T> NodeSystem::gather_on_leader(std::vector<T> mine) const
{
  if (n_ranks == 1)
    return mine;
  const std::vector<std::size_t> sizes = dealii::Utilities::MPI::all_gather(comm, mine.size());
  const auto begin = std::accumulate(sizes.begin(), sizes.begin() + my_rank, std::size_t(0));
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
  const NodeArray<T> all(comm, mine.size());
  std::copy(mine.begin(), mine.end(), all.data() + begin);
  all.synchronize();
  MPI_Barrier(comm);
  all.synchronize();
  return my_rank == 0 ? std::vector<T>(all.data(), all.data() + total) : std::vector<T>();
}

template std::vector<int> NodeSystem::gather_on_leader(std::vector<int>) const;
template std::vector<double> NodeSystem::gather_on_leader(std::vector<double>) const;

void NodeSystem::set_zero()
{
  const auto first = static_cast<int>(first_owned()), rows = static_cast<int>(n_owned());
  std::fill(values.data() + row_starts[first], values.data() + row_starts[first + rows], 0.);
  std::fill_n(b.data() + first_owned(), n_owned(), 0.);
  std::fill_n(w.data() + first_owned(), n_owned(), 0.);
}

unsigned int NodeSystem::owner_of(const Index row) const
{
  const auto next = std::upper_bound(row_begins.begin(), row_begins.end(), row);
  return static_cast<unsigned int>(next - row_begins.begin()) - 1;
}

void NodeSystem::add_owned_row(const Index row, const unsigned int n, const Index *added_columns,
                               const double *added_values)
{
  const auto i = static_cast<int>(row);
  std::size_t k = row_starts[i];
  const std::size_t end = row_starts[i + 1];
  for (unsigned int entry = 0; entry < n; ++entry, ++k) {
    const int column = static_cast<int>(added_columns[entry]);
    while (k < end && columns.data()[k] < column)
      ++k;
    AssertThrow(k < end && columns.data()[k] == column,
                dealii::ExcMessage("An entry was added that is not in the sparsity pattern."));
    values.data()[k] += added_values[entry];
  }
}

void NodeSystem::add_row(const Index row, const unsigned int n, const Index *added_columns,
                         const double *added_values)
{
  if (owns(row))
    add_owned_row(row, n, added_columns, added_values);
  else
    for (unsigned int entry = 0; entry < n; ++entry)
      for_others[owner_of(row)].push_back({row, added_columns[entry], added_values[entry]});
}

void NodeSystem::add_rhs(const Index row, const double value)
{
  if (owns(row))
    b.data()[row] += value;
  else
    for_others[owner_of(row)].push_back({row, rhs_column, value});
}

void NodeSystem::add_weight(const Index row, const double value)
{
  if (owns(row))
    w.data()[row] += value;
  else
    for_others[owner_of(row)].push_back({row, weight_column, value});
}

void NodeSystem::compress()
{
  std::vector<int> send_counts(n_ranks), receive_counts(n_ranks);
  std::vector<int> send_begins(n_ranks), receive_begins(n_ranks);
  std::vector<Contribution> sent;
  for (unsigned int rank = 0; rank < n_ranks; ++rank) {
    send_begins[rank] = static_cast<int>(sent.size());
    send_counts[rank] = static_cast<int>(for_others[rank].size());
    sent.insert(sent.end(), for_others[rank].begin(), for_others[rank].end());
    for_others[rank].clear();
  }
  MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, comm);
  int n_received = 0;
  for (unsigned int rank = 0; rank < n_ranks; ++rank) {
    receive_begins[rank] = n_received;
    n_received += receive_counts[rank];
  }
  std::vector<Contribution> received(static_cast<std::size_t>(n_received));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Contribution), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(sent.data(), send_counts.data(), send_begins.data(), type, received.data(),
                receive_counts.data(), receive_begins.data(), type, comm);
  MPI_Type_free(&type);
  for (const Contribution &entry : received)
    if (entry.column == rhs_column)
      add_rhs(entry.row, entry.value);
    else if (entry.column == weight_column)
      add_weight(entry.row, entry.value);
    else
      add_owned_row(entry.row, 1, &entry.column, &entry.value);
  values.synchronize();
  synchronize();
}

void NodeSystem::synchronize() const
{
  const auto synchronize_all = [this] {
    for (const NodeArray<double> *vector : {&b, &w, &x})
      vector->synchronize();
  };
  synchronize_all();
  MPI_Barrier(comm);
  synchronize_all();
}

HostCsr NodeSystem::matrix() const
{
  values.synchronize();
  return {static_cast<int>(n()), total_nonzeros, row_starts, columns.data(), values.data(), known};
}

std::size_t NodeSystem::bytes() const
{
  return (n() + 1) * sizeof(int) + total_nonzeros * (sizeof(int) + sizeof(double)) +
         3 * n() * sizeof(double);
}
} // namespace femgpu::linalg
