#include "app/deflate.h"
#include "app/output_format.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "linalg/base/raw_vector.h"
#include "physics/base/collective.h"

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <hdf5.h>

#include <boost/serialization/vector.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
/// A dataset on the first rank. Its chunks are shuffled and deflated, as HDF5 stores them.
struct CompressedDataset
{
  std::string path; ///< in the group VTKHDF: "PointData/u"
  NumberType type;
  std::size_t n_rows = 0, n_columns = 1, rows_per_chunk = 1;
  std::vector<std::size_t> chunk_sizes;
  linalg::RawVector<unsigned char> bytes; ///< bytes of all chunks, concatenated
};

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

/// Applies HDF5's filters "shuffle" and "deflate" to numbers of @p size bytes. "Shuffle" groups the
/// bytes by their position in a number.
std::vector<unsigned char> compress(const std::vector<unsigned char> &bytes, const std::size_t size)
{
  const std::size_t n = bytes.size() / size;
  std::vector<unsigned char> planes(bytes.size());
  for (std::size_t byte = 0; byte < size; ++byte)
    for (std::size_t i = 0; i < n; ++i)
      planes[byte * n + i] = bytes[i * size + byte];
  return deflated(planes.data(), planes.size());
}

/// Collective. Sends rows to the rank on which their chunk begins. Afterwards @p rows consists of
/// complete chunks; only the last chunk of the dataset may be shorter.
void move_to_chunk_starts(const std::vector<std::size_t> &first_rows, const std::size_t chunk,
                          const std::size_t row_bytes, std::vector<unsigned char> &rows,
                          MPI_Comm communicator)
{
  const std::size_t begin = first_rows[Utilities::MPI::this_mpi_process(communicator)],
                    chunk_begin = begin / chunk * chunk;
  std::map<unsigned int, std::vector<unsigned char>> sent;
  if (chunk_begin < begin && !rows.empty()) {
    const auto owner = std::upper_bound(first_rows.begin(), first_rows.end(), chunk_begin) - 1;
    const std::size_t n_bytes = std::min(rows.size(), (chunk_begin + chunk - begin) * row_bytes);
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(n_bytes);
    sent[static_cast<unsigned int>(owner - first_rows.begin())].assign(rows.begin(), end);
    rows.erase(rows.begin(), end);
  }
  for (const auto &[rank, received] : Utilities::MPI::some_to_some(communicator, sent))
    rows.insert(rows.end(), received.begin(), received.end());
}

/**
 * Collective. Gathers the rows of all ranks, in rank order, as one dataset on the first rank. Each
 * rank compresses the chunks that begin in its rows, so that the first rank only has to write.
 */
CompressedDataset collect_dataset(const std::string &path, OutputArray array, MPI_Comm communicator)
{
  const std::size_t row_bytes = array.row_bytes();
  std::vector<std::size_t> first_rows = {0};
  for (const std::size_t n : Utilities::MPI::all_gather(communicator, array.n_rows()))
    first_rows.push_back(first_rows.back() + n);

  CompressedDataset result = {path, array.type, first_rows.back(), array.n_columns, 1, {}, {}};
  result.rows_per_chunk =
      std::max<std::size_t>(1, std::min(result.n_rows, chunk_bytes / row_bytes));
  const std::size_t chunk = result.rows_per_chunk;
  std::vector<unsigned char> &rows = array.bytes;
  move_to_chunk_starts(first_rows, chunk, row_bytes, rows, communicator);
  for (std::size_t begin = 0; begin < rows.size(); begin += chunk * row_bytes) {
    std::vector<unsigned char> padded(chunk * row_bytes, 0); // HDF5 pads the last chunk
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                std::min(padded.size(), rows.size() - begin), padded.begin());
    const auto compressed = compress(padded, size_of(array.type));
    result.chunk_sizes.push_back(compressed.size());
    result.bytes.insert(result.bytes.end(), compressed.begin(), compressed.end());
  }
  result.chunk_sizes = gather(std::move(result.chunk_sizes), communicator);
  result.bytes = gather(std::move(result.bytes), communicator);
  return result;
}

void require(const herr_t status)
{
  if (status < 0)
    throw OutputError("HDF5 could not create a file for ParaView in memory. Use a machine with "
                      "more memory, or set Output/Format to vtu.");
}

/// An HDF5 identifier that is closed by its destructor.
class Handle
{
public:
  Handle(const hid_t id, herr_t (*const close)(hid_t)) : id(id), close(close)
  {
    require(id < 0 ? -1 : 0);
  }
  ~Handle()
  {
    close(id);
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;

  operator hid_t() const
  {
    return id;
  }

private:
  hid_t id;
  herr_t (*close)(hid_t);
};

hid_t hdf5_type(const NumberType type)
{
  const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64LE,
                         H5T_STD_U8LE};
  return types[static_cast<int>(type)];
}

void write_dataset(const hid_t group, const CompressedDataset &data)
{
  const hsize_t sizes[2] = {data.n_rows, data.n_columns},
                chunk[2] = {data.rows_per_chunk, data.n_columns};
  const int rank = data.n_columns == 1 ? 1 : 2;
  const Handle space(H5Screate_simple(rank, sizes, nullptr), H5Sclose);
  const Handle options(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  require(H5Pset_create_intermediate_group(links, 1));
  require(H5Pset_obj_track_times(options, false)); // for reproducible files
  if (data.n_rows > 0) {
    require(H5Pset_chunk(options, rank, chunk));
    require(H5Pset_shuffle(options));
    require(H5Pset_deflate(options, 1));
  }
  const Handle set(H5Dcreate2(group, data.path.c_str(), hdf5_type(data.type), space, links, options,
                              H5P_DEFAULT),
                   H5Dclose);
  const unsigned char *bytes = data.bytes.data();
  hsize_t begin[2] = {0, 0};
  for (const std::size_t n_bytes : data.chunk_sizes) {
    require(H5Dwrite_chunk(set, H5P_DEFAULT, 0, begin, n_bytes, bytes));
    begin[0] += chunk[0];
    bytes += n_bytes;
  }
}

void write_attributes(const hid_t group)
{
  const hsize_t two = 2;
  const int version[2] = {1, 0};
  const Handle pair(H5Screate_simple(1, &two, nullptr), H5Sclose),
      scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle version_attribute(
      H5Acreate2(group, "Version", H5T_STD_I32LE, pair, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require(H5Awrite(version_attribute, H5T_NATIVE_INT, version));
  const std::string grid = "UnstructuredGrid";
  const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  require(H5Tset_size(text, grid.size()));
  const Handle type_attribute(H5Acreate2(group, "Type", text, scalar, H5P_DEFAULT, H5P_DEFAULT),
                              H5Aclose);
  require(H5Awrite(type_attribute, text, grid.data()));
}

/// The image of a closed HDF5 file in memory.
using FileImage = std::unique_ptr<char, decltype(&std::free)>;

/// Makes HDF5 pass the memory of a file with the access list @p in_memory to @p closed when the
/// file is closed, instead of freeing the memory. This avoids a copy of the open file.
void capture_file_image(const hid_t in_memory, FileImage &closed)
{
  H5FD_file_image_callbacks_t callbacks = {};
  callbacks.image_realloc = [](void *memory, const std::size_t size, H5FD_file_image_op_t, void *) {
    return std::realloc(memory, size);
  };
  callbacks.image_free = [](void *memory, H5FD_file_image_op_t, void *closed) -> herr_t {
    static_cast<FileImage *>(closed)->reset(static_cast<char *>(memory));
    return 0;
  };
  callbacks.udata = &closed;
  callbacks.udata_copy = [](void *same) { return same; };
  callbacks.udata_free = [](void *) -> herr_t { return 0; };
  require(H5Pset_file_image_callbacks(in_memory, &callbacks));
}

/**
 * Writes an unstructured grid in the VTKHDF format, version 1.0. HDF5 creates the file in memory
 * only: if HDF5 itself failed to write a file to disk, it would try to close the file again in
 * MPI_Finalize() and abort the program there.
 * @throws OutputError as write_file() throws
 */
void write_vtkhdf(const std::string &name, const std::vector<CompressedDataset> &datasets)
{
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // errors are reported by exceptions
  std::size_t increment = chunk_bytes;         // for data outside of chunks
  for (const CompressedDataset &data : datasets)
    increment += data.bytes.size();
  const Handle in_memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  require(H5Pset_fapl_core(in_memory, increment, /* on the disk too */ 0));
  static FileImage closed(nullptr, &std::free); // static: MPI_Finalize() may close the file
  capture_file_image(in_memory, closed);
  ssize_t size = 0;
  {
    const Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, in_memory), H5Fclose);
    const Handle group(H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    write_attributes(group);
    for (const CompressedDataset &data : datasets)
      write_dataset(group, data);
    require(H5Fflush(file, H5F_SCOPE_GLOBAL));
    size = H5Fget_file_image(file, nullptr, 0);
    require(size < 0 ? -1 : 0);
  }
  const FileImage image = std::move(closed);
  require(image ? 0 : -1);
  AtomicFile on_disk(name);
  on_disk.stream().write(image.get(), size);
  on_disk.commit();
}

/// Collective. Returns the datasets of a file, on the first rank. Node numbers and offsets of each
/// rank's part start at 0, so that 32 bits suffice.
std::vector<CompressedDataset> datasets_of(NodeFields &&fields, const bool has_converged,
                                           MPI_Comm comm)
{
  std::vector<CompressedDataset> all;
  const auto add = [&](const std::string &path, OutputArray &&array) {
    all.push_back(collect_dataset(path, std::move(array), comm));
  };
  const auto add_count = [&](const std::string &path, const std::size_t n) {
    add(path, arithmetic_sequence(path, NumberType::int64, static_cast<std::int64_t>(n), 0, 1));
  };
  const std::size_t n_cells = fields.n_cells();
  add_count("NumberOfConnectivityIds", fields.connectivity.n_rows());
  add_count("NumberOfPoints", fields.points.n_rows());
  add_count("NumberOfCells", n_cells);
  add("Points", std::move(fields.points));
  add("Offsets",
      arithmetic_sequence("Offsets", NumberType::int32, 0,
                          static_cast<std::int64_t>(fields.n_nodes_of_cell), n_cells + 1));
  add("Types", fields.types());
  add("Connectivity", std::move(fields.connectivity));
  for (OutputArray &field : fields.point_data)
    add("PointData/" + field.name, std::move(field));
  for (OutputArray &field : fields.cell_data)
    add("CellData/" + field.name, std::move(field));
  if (!has_converged)
    add("FieldData/converged",
        arithmetic_sequence("converged", NumberType::int32, 0, 0,
                            Utilities::MPI::this_mpi_process(comm) == 0 ? 1 : 0));
  return all;
}

/// Returns the text of a .series file for ParaView.
std::string series_text(const OutputSeries &series)
{
  nlohmann::ordered_json list;
  list["file-series-version"] = "1.0";
  for (const auto &[time, file] : series)
    list["files"].push_back({{"name", file}, {"time", time}});
  return list.dump(2) + "\n";
}

SolutionFiles vtkhdf_files(const OutputParameters &parameters, NodeFields &&fields,
                           const std::string &base, const bool has_converged, MPI_Comm comm)
{
  auto datasets = datasets_of(std::move(fields), has_converged, comm);
  SolutionFiles files;
  if (Utilities::MPI::this_mpi_process(comm) == 0)
    files.write = [datasets = std::move(datasets), path = parameters.path_of(base + ".vtkhdf")] {
      write_vtkhdf(path, datasets);
    };
  return files;
}
} // namespace

const OutputFormat vtkhdf_format = {true, ".vtkhdf", ".vtkhdf.series", vtkhdf_files, series_text};
} // namespace femgpu
