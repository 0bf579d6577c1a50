#ifndef femgpu_solve_matrix_market_matrix_market_h
#define femgpu_solve_matrix_market_matrix_market_h

#include "linalg/base/host_matrix.h"

#include <string>
#include <vector>

/**
 * @file
 * Matrices and vectors in the Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR
 * 5935, 1996): text, plain or compressed by gzip, whatever the file is called. Comments and blank
 * lines may stand anywhere after the header, lines may end in CRLF or CR and begin with blanks,
 * numbers may begin with + and have the exponents of Fortran (1.5D-3), and the file may begin with
 * a byte order mark.
 *
 * What is wrong in the text is an InputError that begins with FILE:LINE: and names the cure.
 */
namespace femgpu::linalg
{
struct MatrixMarketMatrix
{
  HostMatrix matrix;               ///< all entries: both triangles, and zeros that the file gives
  bool has_both_triangles = false; ///< the file does, though it is (skew-)symmetric
};

/**
 * Reads a square sparse matrix: coordinate; real, integer or pattern; general, symmetric or
 * skew-symmetric. The values of a pattern are 1. Symmetric files hold one triangle, the lower one
 * in the standard; in those that hold both, entries opposite to each other must agree but for
 * rounding. Needs 40 bytes an entry while it reads.
 * @throws InputError for anything else, for indices out of range, entries that are there twice, too
 *         few or too many entries, values that are not finite, more than most_indices rows or
 *         entries, more entries than the memory holds, or so few that a row has none
 */
MatrixMarketMatrix read_matrix_market(const std::string &file);

/**
 * Reads a vector of @p n elements: array or coordinate (elements not given are 0); real or integer;
 * general; n x 1. @throws InputError as above, and if the file has another size
 */
std::vector<double> read_matrix_market_vector(const std::string &file, int n);

/// Vectors of the same length, one behind the other.
struct MatrixMarketVectors
{
  int count = 0;
  std::vector<double> values;
};

/// The same for one or several vectors of @p n elements, the columns of an n x k file.
MatrixMarketVectors read_matrix_market_vectors(const std::string &file, int n);

/**
 * Writes @p count vectors of the same length, one behind the other in @p vectors, as the columns of
 * an array, with as many digits as reading needs to find the same numbers. @p comment may have
 * several lines. @throws OutputError as write_file()
 */
void write_matrix_market_vectors(const std::string &file, const std::vector<double> &vectors,
                                 int count, const std::string &comment = "");
} // namespace femgpu::linalg

#endif
