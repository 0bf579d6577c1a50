#include "common/atomic_file.h"
#include "solve/matrix_market/matrix_market.h"
#include "solve/matrix_market/matrix_market_text.h"

#include <charconv>

namespace femgpu::linalg
{
namespace
{
void check_header(const MatrixMarketText &text)
{
  if (text.header().symmetry != "general")
    text.fail("a vector is expected, but the file says '" + text.header().symmetry +
                  "'; write 'general'.",
              1);
  if (text.header().field == "pattern")
    text.fail("a vector is expected, but a pattern has no values; write 'real' and the values.", 1);
}

/// Checks the size of a file. @param columns expected number of columns, "1" or "k" (any)
void check_size(const MatrixMarketText &text, const int n, const std::string &columns)
{
  const MatrixMarketSize &size = text.size();
  if (size.rows == n && size.columns > 0 && (columns == "k" || size.columns == 1))
    return;
  text.fail("a vector of " + std::to_string(n) + " x " + columns +
            " is expected, but the file holds " + std::to_string(size.rows) + " x " +
            std::to_string(size.columns) + "; it does not belong to the matrix.");
}

/// Reads the columns of a file whose header and size are valid.
MatrixMarketVectors read_columns(MatrixMarketText &text)
{
  const std::int64_t rows = text.size().rows, columns = text.size().columns;
  const bool is_array = text.header().format == "array";
  text.check_memory(rows * columns, is_array ? 8 : 16, "vector"); // 16: value and line number
  MatrixMarketVectors vectors{static_cast<int>(columns), {}};
  std::vector<double> &v = vectors.values;
  v.resize(static_cast<std::size_t>(rows * columns));
  std::vector<std::size_t> lines(is_array ? 0 : v.size()); // line of each element; 0: missing
  for (std::size_t found = 0; text.next_entry(found); ++found) {
    std::size_t at = found;
    if (!is_array) {
      const std::int64_t i = text.index("row", rows), j = text.index("column", columns);
      at = static_cast<std::size_t>(i + j * rows);
      if (lines[at] != 0)
        text.fail("entry (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
                  ") is a duplicate of the entry in line " + std::to_string(lines[at]) +
                  "; remove one.");
      lines[at] = text.line_number();
    }
    v[at] = text.value();
    text.end_of_line();
  }
  return vectors;
}

/// Reads vectors. @param columns expected number of columns, "1" or "k" (any)
MatrixMarketVectors read(const std::string &file, const int n, const std::string &columns)
{
  MatrixMarketText text(file);
  check_header(text);
  check_size(text, n, columns);
  return read_columns(text);
}

/// Returns @p text as comment lines of a Matrix Market file.
std::string comment_lines(const std::string &text)
{
  std::string lines;
  for (const char c : text) {
    if (lines.empty() || lines.back() == '\n')
      lines += "% ";
    lines += c;
  }
  return lines.empty() || lines.back() == '\n' ? lines : lines + '\n';
}
} // namespace

std::vector<double> read_matrix_market_vector(const std::string &file, const int n)
{
  return read(file, n, "1").values;
}

MatrixMarketVectors read_matrix_market_vectors(const std::string &file, const int n)
{
  return read(file, n, "k");
}

void write_matrix_market_vectors(const std::string &file, const std::vector<double> &v,
                                 const int count, const std::string &comment)
{
  std::string content = "%%MatrixMarket matrix array real general\n" + comment_lines(comment) +
                        std::to_string(v.size() / static_cast<std::size_t>(count)) + ' ' +
                        std::to_string(count) + '\n';
  content.reserve(content.size() + 25 * v.size());
  char digits[32];
  for (const double v_i : v) {
    content.append(digits, std::to_chars(digits, digits + sizeof digits, v_i).ptr);
    content += '\n';
  }
  write_file(file, content);
}
} // namespace femgpu::linalg
