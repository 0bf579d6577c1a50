#include "app/hdf5_datasets.h"
#include "app/output_format.h"

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
/// The datasets of a file. Numbers of nodes and offsets count from the first of each rank, so that
/// 32 bits suffice.
template <int dim>
std::vector<CompressedDataset> datasets_of(NodeFields<dim> &&fields, const bool has_converged,
                                           MPI_Comm comm)
{
  std::vector<CompressedDataset> all;
  const auto add = [&](const std::string &path, OutputArray &&array) {
    all.push_back(collect_dataset(path, std::move(array), comm));
  };
  const auto add_count = [&](const std::string &path, const std::size_t n) {
    add(path, arithmetic_sequence(path, FileNumber::int64, static_cast<std::int64_t>(n), 0, 1));
  };
  const std::size_t n_cells = fields.n_cells();
  add_count("NumberOfConnectivityIds", fields.connectivity.n_rows());
  add_count("NumberOfPoints", fields.points.n_rows());
  add_count("NumberOfCells", n_cells);
  add("Points", std::move(fields.points));
  add("Offsets",
      arithmetic_sequence("Offsets", FileNumber::int32, 0,
                          static_cast<std::int64_t>(fields.n_nodes_of_cell), n_cells + 1));
  add("Types", fields.types());
  add("Connectivity", std::move(fields.connectivity));
  for (OutputArray &field : fields.at_nodes)
    add("PointData/" + field.name, std::move(field));
  for (OutputArray &field : fields.in_cells)
    add("CellData/" + field.name, std::move(field));
  if (!has_converged)
    add("FieldData/converged",
        arithmetic_sequence("converged", FileNumber::int32, 0, 0,
                            Utilities::MPI::this_mpi_process(comm) == 0 ? 1 : 0));
  return all;
}

/// As ParaView reads it.
std::string series_text(const OutputSeries &series)
{
  nlohmann::ordered_json list;
  list["file-series-version"] = "1.0";
  for (const auto &[time, file] : series)
    list["files"].push_back({{"name", file}, {"time", time}});
  return list.dump(2) + "\n";
}
} // namespace

template <int dim>
OutputFormat<dim> vtkhdf_format(const OutputParameters &parameters)
{
  const auto files_of = [&parameters](NodeFields<dim> &&fields, const std::string &base,
                                      const bool has_converged, MPI_Comm communicator) {
    auto datasets = datasets_of(std::move(fields), has_converged, communicator);
    SolutionFiles files;
    if (Utilities::MPI::this_mpi_process(communicator) == 0)
      files.write = [datasets = std::move(datasets), path = parameters.path_of(base + ".vtkhdf")] {
        write_vtkhdf(path, datasets);
      };
    return files;
  };
  return {true, ".vtkhdf", ".vtkhdf.series", files_of, series_text};
}

template OutputFormat<2> vtkhdf_format(const OutputParameters &);
template OutputFormat<3> vtkhdf_format(const OutputParameters &);
} // namespace femgpu
