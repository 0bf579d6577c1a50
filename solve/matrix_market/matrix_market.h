#ifndef femgpu_solve_matrix_market_matrix_market_h
#define femgpu_solve_matrix_market_matrix_market_h

#include "linalg/base/host_matrix.h"

#include <string>
#include <vector>

/**
 * @file
 * Matrices and vectors in the Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR
 * 5935, 1996). Files are text, which may be compressed by gzip whatever the file is called.
 * Comments and blank lines may occur anywhere after the header. Lines may end in CRLF or CR and
 * begin with blanks. Numbers may begin with + and have Fortran exponents (1.5D-3). A file may begin
 * with a byte order mark.
 *
 * Errors in the text are InputErrors that begin with FILE:LINE: and name the remedy.
 */
namespace femgpu::linalg
{
struct MatrixMarketMatrix
{
  HostMatrix matrix;               ///< all entries of both triangles, including stored zeros
  bool has_both_triangles = false; ///< does a (skew-)symmetric file contain both triangles?
  bool is_symmetric = false;       ///< does the header of the file say "symmetric"?
};

/**
 * Reads a square sparse matrix of format coordinate, of field real, integer or pattern, and of
 * symmetry general, symmetric or skew-symmetric. The values of a pattern are 1. A symmetric file
 * should contain the lower triangle, but may contain the upper one or both; in a file with both,
 * opposite entries must agree up to rounding. Reading needs 40 bytes of memory per entry.
 * @throws InputError for any other kind of matrix
 * @throws InputError for indices out of range, duplicate entries, values that are not finite, a
 *         number of entries that differs from the size line, fewer entries than rows, more entries
 *         than fit into memory, or more than max_indices rows or RowStarts::max_entries entries
 */
MatrixMarketMatrix read_matrix_market(const std::string &file);

/**
 * Reads a vector of @p n elements from a general n x 1 file of format array or coordinate (missing
 * elements are 0) and field real or integer.
 * @throws InputError if the file is invalid, or its size is not n x 1
 */
std::vector<double> read_matrix_market_vector(const std::string &file, int n);

/// Vectors of the same length, concatenated.
struct MatrixMarketVectors
{
  int count = 0;
  std::vector<double> values;
};

/// Reads one or several vectors of @p n elements, the columns of an n x k file.
/// @throws InputError if the file is invalid, or does not have @p n rows
MatrixMarketVectors read_matrix_market_vectors(const std::string &file, int n);

/**
 * Writes vectors as the columns of an array, with enough digits to read back the same numbers.
 * @param vectors @p count vectors of the same length, concatenated
 * @param comment comment at the beginning of the file; may have several lines
 * @throws OutputError if the file cannot be written
 */
void write_matrix_market_vectors(const std::string &file, const std::vector<double> &vectors,
                                 int count, const std::string &comment = "");
} // namespace femgpu::linalg

#endif
