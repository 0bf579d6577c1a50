#include "app/vtkhdf_output.h"

#include "app/node_fields.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
/// The datasets of a file, in the order of VTK's documentation.
template <int dim>
std::vector<CompressedDataset> datasets_of(const NodeFields<dim> &fields, const FileNumber real,
                                           const bool has_converged, MPI_Comm comm)
{
  std::vector<CompressedDataset> all;
  const auto add = [&](const std::string &path, const FileNumber type, const std::size_t n_columns,
                       const auto &numbers) {
    all.push_back(collect_dataset(path, type, n_columns, bytes_of(numbers, type), comm));
  };
  using Count = std::vector<std::int64_t>;
  const auto n_cells = static_cast<std::int64_t>(fields.n_cells());
  add("NumberOfConnectivityIds", FileNumber::int64, 1,
      Count{static_cast<std::int64_t>(fields.nodes_of_cells.size())});
  add("NumberOfPoints", FileNumber::int64, 1, Count{static_cast<std::int64_t>(fields.n_nodes())});
  add("NumberOfCells", FileNumber::int64, 1, Count{n_cells});
  add("Points", real, 3, fields.places);
  add("Connectivity", FileNumber::int64, 1, fields.nodes_of_cells);
  Count offsets;
  for (std::int64_t cell = 0; cell <= n_cells; ++cell)
    offsets.push_back(cell * fields.n_nodes_of_cell);
  add("Offsets", FileNumber::int64, 1, offsets);
  add("Types", FileNumber::uint8, 1, Count(fields.n_cells(), fields.cell_type));
  for (const OutputField &field : fields.at_nodes)
    add("PointData/" + field.name, real, field.n_components, field.values);
  for (const OutputField &field : fields.in_cells)
    add("CellData/" + field.name, field.name == "error_indicator" ? real : FileNumber::int32,
        field.n_components, field.values);
  if (!has_converged)
    add("FieldData/converged", FileNumber::int32, 1,
        Utilities::MPI::this_mpi_process(comm) == 0 ? Count{0} : Count{});
  return all;
}

/// A list of files with times, as ParaView reads it.
std::string series_text(const std::vector<std::pair<double, std::string>> &series)
{
  nlohmann::ordered_json list;
  list["file-series-version"] = "1.0";
  for (const auto &[time, file] : series)
    list["files"].push_back({{"name", file}, {"time", time}});
  return list.dump(2) + "\n";
}
} // namespace

template <int dim>
void VtkHdfOutput<dim>::write(const unsigned int index, const double time,
                              DiscreteSolution<dim> &solution, const Vector<float> &indicators,
                              const bool has_converged)
{
  const MPI_Comm comm = solution.discretization().communicator();
  const NodeFields<dim> fields(this->problem, solution, this->has_nodal_fields, indicators);
  const FileNumber real =
      this->parameters.precision == "double" ? FileNumber::float64 : FileNumber::float32;
  auto datasets = datasets_of(fields, real, has_converged, comm);
  finish(comm); // the file before
  const std::string file = this->base_name(index) + ".vtkhdf", list = this->name + ".vtkhdf.series";
  series.emplace_back(time, file);
  this->names.push_back(file);
  if (series.size() == 1)
    this->names.push_back(list);
  if (Utilities::MPI::this_mpi_process(comm) > 0)
    return;
  const std::string directory = this->parameters.directory + "/";
  writing = std::async(std::launch::async, [datasets = std::move(datasets), name = directory + file,
                                            list = directory + list, text = series_text(series)] {
    write_vtkhdf(name, datasets);
    write_file(list, text);
  });
}

template <int dim>
void VtkHdfOutput<dim>::finish(MPI_Comm communicator)
{
  std::string error;
  try {
    if (writing.valid())
      writing.get();
  }
  catch (const OutputError &e) {
    error = e.what();
  }
  throw_together(error, communicator);
}

template class VtkHdfOutput<2>;
template class VtkHdfOutput<3>;
} // namespace femgpu
