#include "app/hdf5_datasets.h"

#include "app/deflate.h"
#include "app/gather.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "linalg/io/partial_name.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <utility>

#include <hdf5.h>

namespace femgpu
{
namespace
{
constexpr std::size_t bytes_of_chunk = std::size_t{1} << 20;

/// The bytes of all numbers by their place in the number, as HDF5's filter "shuffle" has them, and
/// these deflated.
std::vector<unsigned char> compress(const unsigned char *const rows, const std::size_t n_bytes,
                                    const std::size_t size)
{
  const std::size_t n = n_bytes / size;
  std::vector<unsigned char> planes(n_bytes);
  for (std::size_t byte = 0; byte < size; ++byte)
    for (std::size_t i = 0; i < n; ++i)
      planes[byte * n + i] = rows[i * size + byte];
  return deflated(planes.data(), n_bytes);
}

/// Rows of this rank that belong to a chunk which begins on an earlier rank go there, and those of
/// later ranks come: afterwards @p rows are whole chunks, but for the end of the dataset.
void move_to_beginnings_of_chunks(const std::vector<std::size_t> &begins, const std::size_t chunk,
                                  const std::size_t row_bytes, std::vector<unsigned char> &rows,
                                  MPI_Comm communicator)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &n_ranks);
  const auto first_kept = [&](const int r) { // the first row of the first chunk that begins there
    return std::min((begins[r] + chunk - 1) / chunk * chunk, begins.back());
  };
  const auto owner_of = [&](const std::size_t row) {
    const std::size_t begin = row / chunk * chunk;
    return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), begin) -
                            begins.begin()) -
           1;
  };
  constexpr int tag = 4712;
  std::vector<MPI_Request> requests;
  const std::size_t mine = begins[rank], end = begins[rank + 1];
  const std::size_t kept = std::min(first_kept(rank), end);
  const std::vector<unsigned char> sent(rows.begin(), rows.begin() + (kept - mine) * row_bytes);
  if (!sent.empty()) {
    requests.emplace_back();
    MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, owner_of(mine), tag,
              communicator, &requests.back());
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(sent.size()));
  if (!rows.empty())
    for (int r = rank + 1; r < n_ranks; ++r) {
      const std::size_t n = std::min(first_kept(r), begins[r + 1]) - begins[r];
      if (begins[r] == begins[r + 1])
        continue;
      if (n == 0 || owner_of(begins[r]) != rank)
        break;
      const std::size_t before = rows.size();
      rows.resize(before + n * row_bytes);
      MPI_Recv(rows.data() + before, static_cast<int>(n * row_bytes), MPI_BYTE, r, tag,
               communicator, MPI_STATUS_IGNORE);
      if (n < begins[r + 1] - begins[r])
        break;
    }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}
} // namespace

CompressedDataset collect_dataset(const std::string &path, OutputArray array, MPI_Comm communicator)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &n_ranks);
  const std::size_t row_bytes = array.row_bytes();
  const unsigned long long n = array.n_rows();
  std::vector<unsigned long long> lengths(n_ranks);
  MPI_Allgather(&n, 1, MPI_UNSIGNED_LONG_LONG, lengths.data(), 1, MPI_UNSIGNED_LONG_LONG,
                communicator);
  std::vector<std::size_t> begins(n_ranks + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), begins.begin() + 1);

  CompressedDataset result = {path, array.type, begins.back(), array.n_columns, 1, {}, {}};
  result.rows_of_chunk =
      std::max<std::size_t>(1, std::min(result.n_rows, bytes_of_chunk / row_bytes));
  const std::size_t chunk = result.rows_of_chunk;
  std::vector<unsigned char> &rows = array.bytes;
  move_to_beginnings_of_chunks(begins, chunk, row_bytes, rows, communicator);
  linalg::RawVector<unsigned char> bytes;
  std::vector<unsigned long long> headers; // row and length of each chunk
  std::size_t row = (begins[rank] + chunk - 1) / chunk * chunk;
  for (std::size_t begin = 0; begin < rows.size(); begin += chunk * row_bytes, row += chunk) {
    std::vector<unsigned char> part(chunk * row_bytes, 0); // HDF5's last chunk is as long as others
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                std::min(part.size(), rows.size() - begin), part.begin());
    const auto compressed = compress(part.data(), part.size(), size_of(array.type));
    headers.insert(headers.end(), {row, compressed.size()});
    bytes.insert(bytes.end(), compressed.begin(), compressed.end());
  }
  headers = gather(std::move(headers), MPI_UNSIGNED_LONG_LONG, communicator);
  for (std::size_t k = 0; k < headers.size(); k += 2)
    result.chunks.push_back({headers[k], headers[k + 1]});
  result.bytes = gather(std::move(bytes), MPI_BYTE, communicator);
  return result;
}

namespace
{
/// Closes what HDF5 has opened.
class Handle
{
public:
  Handle(const hid_t id, herr_t (*const close)(hid_t)) : id(id), close(close)
  {
    if (id < 0)
      throw OutputError("");
  }
  ~Handle()
  {
    if (id >= 0)
      close(id);
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;

  operator hid_t() const
  {
    return id;
  }
  void close_now()
  {
    const hid_t closed = std::exchange(id, -1);
    if (close(closed) < 0)
      throw OutputError("");
  }

private:
  hid_t id;
  herr_t (*close)(hid_t);
};

void require(const herr_t status)
{
  if (status < 0)
    throw OutputError("");
}

hid_t hdf5_type(const FileNumber type)
{
  switch (type) {
  case FileNumber::float32:
    return H5T_IEEE_F32LE;
  case FileNumber::float64:
    return H5T_IEEE_F64LE;
  case FileNumber::int32:
    return H5T_STD_I32LE;
  case FileNumber::int64:
    return H5T_STD_I64LE;
  case FileNumber::uint8:
    break;
  }
  return H5T_STD_U8LE;
}

void write_dataset(const hid_t group, const CompressedDataset &data)
{
  const hsize_t sizes[2] = {data.n_rows, data.n_columns},
                chunk[2] = {data.rows_of_chunk, data.n_columns};
  const int rank = data.n_columns == 1 ? 1 : 2;
  const Handle space(H5Screate_simple(rank, sizes, nullptr), H5Sclose);
  const Handle options(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  require(H5Pset_create_intermediate_group(links, 1));
  require(H5Pset_obj_track_times(options, false)); // the same run writes the same bytes
  if (data.n_rows > 0) {
    require(H5Pset_chunk(options, rank, chunk));
    require(H5Pset_shuffle(options));
    require(H5Pset_deflate(options, 1));
  }
  const Handle set(H5Dcreate2(group, data.path.c_str(), hdf5_type(data.type), space, links, options,
                              H5P_DEFAULT),
                   H5Dclose);
  const unsigned char *bytes = data.bytes.data();
  for (const Chunk &part : data.chunks) {
    const hsize_t offset[2] = {part.first_row, 0};
    require(H5Dwrite_chunk(set, H5P_DEFAULT, 0, offset, part.n_bytes, bytes));
    bytes += part.n_bytes;
  }
}

void write_attributes(const hid_t group)
{
  const hsize_t two = 2;
  const int version[2] = {1, 0};
  const Handle pair(H5Screate_simple(1, &two, nullptr), H5Sclose),
      scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle of_version(
      H5Acreate2(group, "Version", H5T_STD_I32LE, pair, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require(H5Awrite(of_version, H5T_NATIVE_INT, version));
  const std::string grid = "UnstructuredGrid";
  const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  require(H5Tset_size(text, grid.size()));
  const Handle of_type(H5Acreate2(group, "Type", text, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require(H5Awrite(of_type, text, grid.data()));
}

void write_partial(const std::string &name, const std::vector<CompressedDataset> &datasets)
{
  Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  {
    const Handle group(H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    write_attributes(group);
    for (const CompressedDataset &data : datasets)
      write_dataset(group, data);
  }
  require(H5Fflush(file, H5F_SCOPE_GLOBAL));
  file.close_now();
}
} // namespace

void write_vtkhdf(const std::string &name, const std::vector<CompressedDataset> &datasets)
{
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // we say ourselves what went wrong
  const std::string partial = partial_name(name);
  const PartialFile registered(partial);
  std::error_code error;
  try {
    write_partial(partial, datasets);
    std::filesystem::rename(partial, name, error);
  }
  catch (const OutputError &) {
    error = std::make_error_code(std::errc::io_error);
  }
  if (!error)
    return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw OutputError("The file '" + name +
                    "' could not be written. Check the permissions and the free space of its "
                    "directory.");
}
} // namespace femgpu
