#ifndef femgpu_app_hdf5_datasets_h
#define femgpu_app_hdf5_datasets_h

#include "app/output_array.h"
#include "linalg/base/raw_vector.h"

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

namespace femgpu
{
/// Part of a dataset as HDF5 keeps it: shuffled and deflated.
struct Chunk
{
  std::size_t first_row, n_bytes;
};

/// A dataset with all its chunks, on the first rank.
struct CompressedDataset
{
  std::string path;
  FileNumber type;
  std::size_t n_rows = 0, n_columns = 1, rows_of_chunk = 1;
  std::vector<Chunk> chunks;
  linalg::RawVector<unsigned char> bytes; ///< of the chunks, one behind the other
};

/**
 * Collective. The rows of all ranks, one rank after the other, as one dataset: each rank compresses
 * the chunks that begin in its rows, and the first gets them, so that only it writes, with no more
 * to do than that.
 * @param path "PointData/u"
 */
CompressedDataset collect_dataset(const std::string &path, OutputArray array,
                                  MPI_Comm communicator);

/**
 * Writes a file for ParaView by VTK's format of HDF5, version 1.0, for unstructured grids.
 * @param datasets in the group VTKHDF
 * @throws OutputError that names @p name
 */
void write_vtkhdf(const std::string &name, const std::vector<CompressedDataset> &datasets);
} // namespace femgpu

#endif
