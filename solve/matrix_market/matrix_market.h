#ifndef femgpu_solve_matrix_market_matrix_market_h
#define femgpu_solve_matrix_market_matrix_market_h

#include "linalg/base/host_matrix.h"

#include <string>
#include <vector>

/**
 * @file
 * Matrices and vectors in the Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR
 * 5935, 1996): text, plain or compressed by gzip, whatever the file is called. Comments and blank
 * lines may occur anywhere after the header; lines may end in CRLF or CR and begin with blanks;
 * numbers may begin with + and have Fortran exponents (1.5D-3); the file may begin with a byte
 * order mark.
 *
 * Errors in the text are InputErrors that begin with FILE:LINE: and name the remedy.
 */
namespace femgpu::linalg
{
struct MatrixMarketMatrix
{
  HostMatrix matrix;               ///< all entries: of both triangles, and explicit zeros
  bool has_both_triangles = false; ///< in the file, although it is (skew-)symmetric
  bool is_symmetric = false;       ///< by the header of the file
};

/**
 * Reads a square sparse matrix: coordinate; real, integer or pattern; general, symmetric or
 * skew-symmetric. The values of a pattern are 1. Symmetric files contain one triangle, by the
 * standard the lower one; if they contain both, opposite entries must agree up to rounding. Needs
 * 40 bytes per entry while it reads.
 * @throws InputError for anything else, for indices out of range, duplicate entries, too few or too
 * many entries, values that are not finite, more than max_indices rows or RowStarts::max_entries
 * entries, more entries than fit into memory, or so few that a row has none
 */
MatrixMarketMatrix read_matrix_market(const std::string &file);

/**
 * Reads a vector of @p n elements: array or coordinate (missing elements are 0); real or integer;
 * general; n x 1. @throws InputError as read_matrix_market(), and if the file has another size
 */
std::vector<double> read_matrix_market_vector(const std::string &file, int n);

/// Vectors of the same length, one after the other.
struct MatrixMarketVectors
{
  int count = 0;
  std::vector<double> values;
};

/// Reads one or several vectors of @p n elements, the columns of an n x k file. @throws InputError
/// as read_matrix_market_vector()
MatrixMarketVectors read_matrix_market_vectors(const std::string &file, int n);

/**
 * Writes @p count vectors of the same length, one after the other in @p vectors, as the columns of
 * an array, with enough digits to read back the same numbers. @p comment may have several lines.
 * @throws OutputError as write_file()
 */
void write_matrix_market_vectors(const std::string &file, const std::vector<double> &vectors,
                                 int count, const std::string &comment = "");
} // namespace femgpu::linalg

#endif
