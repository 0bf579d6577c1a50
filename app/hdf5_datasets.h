#ifndef femgpu_app_hdf5_datasets_h
#define femgpu_app_hdf5_datasets_h

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace femgpu
{
/// Types of numbers in a file.
enum class FileNumber
{
  float32,
  float64,
  int32,
  int64,
  uint8
};

/// Part of a dataset as HDF5 keeps it: shuffled and deflated.
struct Chunk
{
  std::size_t first_row;
  std::vector<unsigned char> bytes;
};

/// A dataset with all its chunks, on the first rank.
struct CompressedDataset
{
  std::string path; ///< "PointData/u"
  FileNumber type;
  std::size_t n_rows = 0, n_columns = 1, rows_of_chunk = 1;
  std::vector<Chunk> chunks;
};

/**
 * Collective. The rows of all ranks, one rank after the other, as one dataset: each rank compresses
 * the chunks that begin in its rows, and the first gets them, so that only it writes, with no more
 * to do than that.
 * @param rows of this rank, @p n_columns numbers each, in memory as in the file
 */
CompressedDataset collect_dataset(const std::string &path, FileNumber type, std::size_t n_columns,
                                  const std::vector<unsigned char> &rows, MPI_Comm communicator);

/// The bytes of @p numbers as @p type.
template <class Number>
std::vector<unsigned char> bytes_of(const std::vector<Number> &numbers, FileNumber type);

/**
 * Writes a file for ParaView by VTK's format of HDF5, version 1.0, for unstructured grids.
 * @param datasets in the group VTKHDF
 * @throws OutputError that names @p name
 */
void write_vtkhdf(const std::string &name, const std::vector<CompressedDataset> &datasets);
} // namespace femgpu

#endif
