#include "solve/matrix_market/matrix_market.h"
#include "tests/linalg/on_backend.h"
#include "tests/temporary_directory.h"

#include <zlib.h>

#include <cstdio>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
const std::string coordinate_real = "%%MatrixMarket matrix coordinate real ";

class MatrixMarketTest : public testing::Test
{
protected:
  MatrixMarketMatrix read(const std::string &content) const
  {
    return read_matrix_market(directory.write("A.mtx", content));
  }
  std::vector<double> read_vector(const std::string &content, const int n) const
  {
    return read_matrix_market_vector(directory.write("b.mtx", content), n);
  }

  /// Checks that the error message for @p content begins with "A.mtx:LINE: " and contains all of
  /// @p substrings. @param line number of the line; 0 if the message names no line
  void expect_error(const std::string &content, const int line,
                    const std::vector<std::string> &substrings) const
  {
    const std::string text = text_of<InputError>([&] { read(content); });
    const std::string location = line > 0 ? "A.mtx:" + std::to_string(line) + ": " : "A.mtx'";
    EXPECT_NE(text.find(location), std::string::npos) << text;
    for (const std::string &substring : substrings)
      EXPECT_NE(text.find(substring), std::string::npos) << text << "\nlacks: " << substring;
  }
  void expect_vector_error(const std::string &content, const int n, const int line,
                           const std::string &substring) const
  {
    const std::string text = text_of<InputError>([&] { read_vector(content, n); });
    EXPECT_NE(text.find("b.mtx:" + std::to_string(line) + ": "), std::string::npos) << text;
    EXPECT_NE(text.find(substring), std::string::npos) << text << "\nlacks: " << substring;
  }

  std::string write_compressed(const std::string &name, const std::string &content) const
  {
    std::string file = directory / name;
    gzFile stream = gzopen(file.c_str(), "wb");
    gzwrite(stream, content.data(), static_cast<unsigned int>(content.size()));
    gzclose(stream);
    return file;
  }

  TemporaryDirectory directory;
};

void expect_equal(const HostMatrix &A, const HostMatrix &expected)
{
  check_csr(A.csr());
  EXPECT_EQ(A.n, expected.n);
  EXPECT_EQ(A.row_starts, expected.row_starts);
  EXPECT_EQ(A.columns, expected.columns);
  EXPECT_EQ(A.values, expected.values);
}

/// Returns the text of a Matrix Market file with the entries in scrambled order.
std::string text_of_matrix(const HostMatrix &A, const bool lower_only)
{
  std::vector<std::string> entries;
  char line[80];
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (!lower_only || A.columns[k] <= i) {
        std::snprintf(line, sizeof line, "%d %d %.17g\n", i + 1, A.columns[k] + 1, A.values[k]);
        entries.emplace_back(line);
      }
  std::string text = coordinate_real + (lower_only ? "symmetric\n" : "general\n") +
                     std::to_string(A.n) + " " + std::to_string(A.n) + " " +
                     std::to_string(entries.size()) + "\n";
  const std::size_t step = 7919; // a prime that divides none of the sizes
  for (std::size_t k = 0; k < entries.size(); ++k)
    text += entries[k * step % entries.size()];
  return text;
}

TEST_F(MatrixMarketTest, GeneralMatrixIsThatByHand)
{
  const MatrixMarketMatrix read_back =
      read(coordinate_real + "general\n3 3 5\n3 1 -4\n1 1 1.5\n2 2 2e-3\n3 3 7\n1 3 .25\n");
  expect_equal(read_back.matrix, dense({{1.5, 0., .25}, {0., 2e-3, 0.}, {-4., 0., 7.}}));
  EXPECT_FALSE(read_back.is_symmetric);
}

TEST_F(MatrixMarketTest, SymmetricMatrixGetsBothTriangles)
{
  const MatrixMarketMatrix read_back = read(
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n2 1 5\n1 1 2\n3 2 -1\n3 3 4\n");
  expect_equal(read_back.matrix, dense({{2., 5., 0.}, {5., 0., -1.}, {0., -1., 4.}}));
  EXPECT_TRUE(read_back.is_symmetric);
}

TEST_F(MatrixMarketTest, SkewSymmetricMatrixGetsTheNegativeUpperTriangle)
{
  const auto read_back = read(coordinate_real + "skew-symmetric\n3 3 2\n2 1 5\n3 1 -2\n");
  expect_equal(read_back.matrix, dense({{0., -5., 2.}, {5., 0., 0.}, {-2., 0., 0.}}));
  EXPECT_FALSE(read_back.is_symmetric);
}

TEST_F(MatrixMarketTest, PatternHasOnes)
{
  expect_equal(read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n").matrix,
               dense({{1., 1.}, {1., 0.}}));
}

TEST_F(MatrixMarketTest, ZerosOfTheFileAreEntries)
{
  const HostMatrix A = read(coordinate_real + "general\n2 2 3\n1 1 0\n1 2 -0.0\n2 2 1\n").matrix;
  EXPECT_EQ(A.columns, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(A.values, (std::vector<double>{0., 0., 1.}));
}

TEST_F(MatrixMarketTest, EveryFormOfNumbersAndLinesIsRead)
{
  const HostMatrix A = read("  \r\n%%matrixmarket MATRIX Coordinate REAL General \r\n% one\r\n\r\n"
                            "  3\t3 4\r\n%two\n\n +1 1 +1.5D+3\r\n2 2 -1d-2\n   % three\n"
                            "\t3 +3 1E2  \n1 2 1e-400\n\n% four")
                           .matrix;
  EXPECT_EQ(A.values, (std::vector<double>{1500., 0., -0.01, 100.}));
}

TEST_F(MatrixMarketTest, LastLineNeedsNoEnd)
{
  expect_equal(read(coordinate_real + "general\n1 1 1\n1 1 3").matrix, dense({{3.}}));
}

TEST_F(MatrixMarketTest, MatrixWithoutRowsIsRead)
{
  expect_equal(read(coordinate_real + "general\n0 0 0\n").matrix, HostMatrix());
}

TEST_F(MatrixMarketTest, RandomMatricesAreReadAsTheyAre)
{
  for (const int n : {1, 31, 32, 33, 2000}) {
    const HostMatrix spd = random_spd(n, 6, 1), unsymmetric = random_dominant(n, 6, 2);
    expect_equal(read(text_of_matrix(spd, true)).matrix, spd);
    expect_equal(read(text_of_matrix(unsymmetric, false)).matrix, unsymmetric);
  }
}

// The text is longer than the buffer of the reader, so that some lines cross the end of the buffer.
TEST_F(MatrixMarketTest, LargePlainAndCompressedFilesAreTheSame)
{
  const HostMatrix A = random_dominant(36000, 6, 3);
  const std::string text = text_of_matrix(A, false);
  ASSERT_GT(text.size(), std::size_t(5) << 20);
  expect_equal(read(text).matrix, A);
  // The names of these files contradict their contents.
  expect_equal(read_matrix_market(write_compressed("compressed.mtx", text)).matrix, A);
  expect_equal(read_matrix_market(directory.write("plain.mtx.gz", text)).matrix, A);
}

TEST_F(MatrixMarketTest, FilesThatCannotBeReadAreRefused)
{
  const auto text = [&](const std::string &file) {
    return text_of<InputError>([&] { read_matrix_market(file); });
  };
  EXPECT_NE(text(directory / "none.mtx").find("No such file"), std::string::npos);
  EXPECT_NE(text(directory / "").find("is a directory"), std::string::npos);
  EXPECT_NE(text(directory.write("empty.mtx", "")).find("empty.mtx' is empty"), std::string::npos);
}

TEST_F(MatrixMarketTest, TruncatedCompressedFileIsRefused)
{
  const std::string full_text =
      content_of(write_compressed("A.gz", text_of_matrix(random_spd(500, 6, 1), false)));
  for (const std::size_t length : {std::size_t(5), full_text.size() / 2, full_text.size() - 1})
    expect_error(full_text.substr(0, length), 0, {"unexpected end of file", "fetch it again"});
  std::string damaged = full_text;
  damaged[full_text.size() - 6] ^= 1; // changes the checksum
  expect_error(damaged, 0, {"incorrect data check"});
}

TEST_F(MatrixMarketTest, WrongHeadersAreRefused)
{
  const auto header = [](const std::string &words) { return "%%MatrixMarket " + words + "\n"; };
  expect_error("1 1 2.5\n", 1, {"not a Matrix Market file", "'1 1 2.5'"});
  expect_error("\n\n% comment\n", 3, {"not a Matrix Market file"});
  expect_error(std::string("\x7f"
                           "ELF\x02\x00\x1b",
                           7),
               1, {"not a Matrix Market file", "'?ELF?"});
  expect_error("\n", 1, {"not a Matrix Market file"});
  expect_error(std::string(5 << 20, 'x'), 1, {"longer than 4 MiB"});
  expect_error(header("tensor coordinate real general"), 1, {"'tensor'", "use 'matrix'"});
  expect_error(header("matrix sparse real general"), 1, {"'sparse'", "'coordinate'"});
  expect_error(header("matrix coordinate double general"), 1, {"'double'", "'real', 'integer'"});
  expect_error(header("matrix coordinate real lower"), 1, {"'lower'", "skew-symmetric"});
  expect_error(header("matrix coordinate real"), 1, {"'' where the symmetry"});
  expect_error(header("matrix coordinate real general 7"), 1, {"'7'", "remove"});
  expect_error(header("matrix coordinate complex general"), 1, {"complex", "[Re -Im; Im Re]"});
  expect_error(header("matrix coordinate real hermitian"), 1, {"hermitian", "symmetric"});
  expect_error(header("matrix coordinate pattern skew-symmetric"), 1, {"pattern"});
  expect_error(header("matrix array real general") + "1 1\n2\n", 1, {"array", "coordinate"});
}

TEST_F(MatrixMarketTest, WrongSizesAreRefused)
{
  const std::string head = coordinate_real + "general\n";
  expect_error(head, 1, {"file ends before", "rows, columns and entries"});
  expect_error(head + "% c\n3 3\n", 3, {"'3 3'", "rows, columns and entries"});
  expect_error(head + "3 3 x\n", 2, {"'3 3 x'"});
  expect_error(head + "3 3 1 1\n", 2, {"'3 3 1 1'"});
  expect_error(head + "3 3 -1\n", 2, {"'3 3 -1'"});
  expect_error(head + "3 3 1.5\n", 2, {"'3 3 1.5'"});
  expect_error(head + "3 4 1\n", 2, {"3 rows and 4 columns", "square"});
  expect_error(head + "2147483648 2147483648 1\n", 2, {"2147483648", "2146435071"});
  expect_error(head + "2146435072 2146435072 1\n", 2, {"2146435072", "2146435071"});
  expect_error(head + "3 3 99999999999999999999\n", 2, {"99999999999999999999", "too large"});
}

TEST_F(MatrixMarketTest, WrongNumbersOfEntriesAreRefused)
{
  const std::string head = coordinate_real + "general\n2 2 2\n";
  expect_error(head + "1 1 1\n", 3, {"after 1 of 2 entries"});
  expect_error(head, 2, {"after 0 of 2 entries"});
  expect_error(head + "1 1 1\n% c\n2 2 1\n1 2 1\n", 6, {"one entry more than the 2"});
  expect_error(coordinate_real + "general\n9 9 20000000\n1 1 1\n", 3,
               {"after 1 of 20000000 entries"});
}

TEST_F(MatrixMarketTest, WrongEntriesAreRefused)
{
  const std::string head = coordinate_real + "general\n3 3 3\n1 1 1\n";
  expect_error(head + "4 1 1\n", 4, {"row 4 is out of range", "1 to 3"});
  expect_error(head + "1 9 1\n", 4, {"column 9 is out of range", "1 to 3"});
  expect_error(head + "0 1 1\n", 4, {"row 0 is out of range", "begin with 1"});
  expect_error(head + "1 -2 1\n", 4, {"column -2 is out of range"});
  expect_error(head + "1 99999999999999999999 1\n", 4, {"99999999999999999999 is out of range"});
  expect_error(head + "1.0 1 1\n", 4, {"'1.0' is not a valid row"});
  expect_error(head + "1\n", 4, {"ends where the column"});
  expect_error(head + "1 2\n", 4, {"value of the entry is missing", "pattern"});
  expect_error(head + "1 2 x\n", 4, {"'x' is not a number"});
  expect_error(head + "1 2 +-3\n", 4, {"'+-3' is not a number"});
  expect_error(head + "1 2 1.5d\n", 4, {"'1.5d' is not a number"});
  expect_error(head + "1 2 1 # c\n", 4, {"'#' after the numbers"});
  for (const char *const value : {"nan", "-inf", "+Infinity", "1e400", "1D400"})
    expect_error(head + "1 2 " + value + "\n", 4, {"not finite", value});
  expect_error("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", 3,
               {"'1.5' is not an integer", "'real'"});
  expect_error("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1.5\n", 3,
               {"'1.5' after the numbers", "no values"});
}

TEST_F(MatrixMarketTest, EntriesThatAreThereTwiceAreRefusedWithBothLines)
{
  expect_error(coordinate_real + "general\n3 3 4\n2 1 1\n% c\n1 1 1\n\n3 3 3\n2 1 5\n", 8,
               {"(2, 1)", "duplicate of the entry in line 3"});
  expect_error(coordinate_real + "symmetric\n3 3 3\n% c\n3 1 1\n2 2 1\n3 1 1\n", 6,
               {"(3, 1)", "duplicate of the entry in line 4"});
}

TEST_F(MatrixMarketTest, UpperTriangleOfSymmetricFilesIsMirrored)
{
  const MatrixMarketMatrix upper =
      read(coordinate_real + "symmetric\n3 3 4\n1 1 1\n1 3 5\n2 2 2\n3 3 4\n");
  expect_equal(upper.matrix, dense({{1., 0., 5.}, {0., 2., 0.}, {5., 0., 4.}}));
  EXPECT_FALSE(upper.has_both_triangles);
  expect_equal(read(coordinate_real + "skew-symmetric\n2 2 1\n1 2 3\n").matrix,
               dense({{0., 3.}, {-3., 0.}}));
  expect_error(coordinate_real + "skew-symmetric\n3 3 2\n2 2 1\n", 3,
               {"(2, 2) is on the diagonal"});
}

TEST_F(MatrixMarketTest, BothTrianglesOfSymmetricFilesMustAgree)
{
  const std::string head = coordinate_real + "symmetric\n3 3 6\n1 1 1\n";
  const MatrixMarketMatrix both =
      read(head + "1 3 0.30000000000000004\n3 1 0.3\n2 2 2\n3 3 4\n2 1 7\n");
  expect_equal(both.matrix, dense({{1., 7., 0.3}, {7., 2., 0.}, {0.3, 0., 4.}}));
  EXPECT_TRUE(both.has_both_triangles);
  expect_error(head + "1 3 5\n% c\n2 2 2\n3 1 5.1\n3 3 4\n2 1 7\n", 7,
               {"(3, 1) differs", "line 4", "'general'"});
  expect_error(head + "1 3 5\n2 2 2\n3 1 5\n3 3 4\n3 1 5\n", 8, {"(3, 1)", "in line 6"});
  const std::string skew = coordinate_real + "skew-symmetric\n2 2 2\n1 2 3\n";
  expect_equal(read(skew + "2 1 -3\n").matrix, dense({{0., 3.}, {-3., 0.}}));
  expect_error(skew + "2 1 3\n", 4, {"(2, 1) differs"});
}

TEST_F(MatrixMarketTest, ByteOrderMarkIsSkipped)
{
  expect_equal(read("\xEF\xBB\xBF" + coordinate_real + "general\n1 1 1\n1 1 3\n").matrix,
               dense({{3.}}));
}

TEST_F(MatrixMarketTest, LinesMayEndInCarriageReturnsOnly)
{
  const std::string head = coordinate_real + "general\r% c\r2 2 2\r";
  expect_equal(read(head + "1 1 3\r2 2 4").matrix, dense({{3., 0.}, {0., 4.}}));
  expect_error(head + "1 1 3\r2 9 4\r", 5, {"column 9"});
}

// Without a check of the sizes, arrays for 2e9 rows would be filled before the reader reaches the
// end of the file.
TEST_F(MatrixMarketTest, SizesAreCheckedBeforeMemoryIsTaken)
{
  expect_error(coordinate_real + "general\n2000000000 2000000000 1\n1 1 1\n", 2,
               {"2000000000 rows, but only 1 entries", "singular"});
  expect_error(coordinate_real + "general\n3 3 2\n1 1 1\n2 2 1\n", 2, {"3 rows, but only 2"});
  expect_error(coordinate_real + "symmetric\n3 3 1\n2 1 1\n", 2,
               {"only 1 entries, even with mirror images too few"});
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string file = directory.write("b.mtx", array + "2000 2000000000\n1\n");
  const std::string error = text_of<InputError>([&] { read_matrix_market_vectors(file, 2000); });
  EXPECT_NE(error.find("b.mtx:2: a vector of 4000000000000 entries needs"), std::string::npos)
      << error;
}

TEST_F(MatrixMarketTest, VectorsAreReadFromArraysAndCoordinates)
{
  const std::vector<double> v = {1.5, -2., 0.};
  EXPECT_EQ(read_vector("%%MatrixMarket matrix array real general\n% c\n3 1\n1.5\n-2\n\n0\n", 3),
            v);
  EXPECT_EQ(read_vector(coordinate_real + "general\n3 1 2\n2 1 -2\n1 1 1.5\n", 3), v);
  EXPECT_TRUE(read_vector("%%MatrixMarket matrix array integer general\n0 1\n", 0).empty());
}

TEST_F(MatrixMarketTest, WrongVectorsAreRefused)
{
  const std::string array = "%%MatrixMarket matrix array real general\n";
  expect_vector_error(array + "3 1\n1\n2\n3\n", 4, 2, "vector of 4 x 1 is expected");
  expect_vector_error(coordinate_real + "general\n3 3 1\n1 1 1\n", 3, 2, "file holds 3 x 3");
  expect_vector_error(coordinate_real + "symmetric\n1 1 1\n1 1 1\n", 1, 1, "'symmetric'");
  expect_vector_error("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", 1, 1,
                      "pattern");
  expect_vector_error(array + "3 1\n1\n2\n", 3, 4, "after 2 of 3 entries");
  expect_vector_error(array + "1 1\n1\n2\n", 1, 4, "one entry more than the 1");
  expect_vector_error(array + "1 1\n1 2\n", 1, 3, "'2' after the numbers");
  expect_vector_error(array + "1 1\nnan\n", 1, 3, "not finite");
  expect_vector_error(coordinate_real + "general\n3 1 2\n2 1 1\n2 1 1\n", 3, 4, "in line 3");
  expect_vector_error(coordinate_real + "general\n3 1 1\n2 2 1\n", 3, 3,
                      "column 2 is out of range");
}

TEST_F(MatrixMarketTest, WrittenVectorIsReadBackBitForBit)
{
  std::vector<double> v = random_vector(1000, 1);
  v[0] = std::numeric_limits<double>::denorm_min();
  v[1] = -std::numeric_limits<double>::max();
  v[2] = 1. / 3.;
  const std::string file = directory / "x.mtx";
  write_matrix_market_vectors(file, v, 1, "the solution\nof A x = b");
  EXPECT_EQ(read_matrix_market_vector(file, 1000), v);
  EXPECT_EQ(content_of(file).find("%%MatrixMarket matrix array real general\n% the solution\n"
                                  "% of A x = b\n1000 1\n5e-324\n"),
            0U);
}

TEST_F(MatrixMarketTest, SeveralVectorsAreColumns)
{
  const std::string file = directory / "x.mtx";
  const std::vector<double> vectors = {1., 2., 3., 4., 5., 6.};
  write_matrix_market_vectors(file, vectors, 2);
  EXPECT_EQ(content_of(file), "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n");
  const MatrixMarketVectors array = read_matrix_market_vectors(file, 3);
  EXPECT_EQ(array.count, 2);
  EXPECT_EQ(array.values, vectors);
  const MatrixMarketVectors coordinate = read_matrix_market_vectors(
      directory.write("c.mtx", coordinate_real + "general\n3 2 2\n1 2 4\n3 1 3\n"), 3);
  EXPECT_EQ(coordinate.values, (std::vector<double>{0., 0., 3., 4., 0., 0.}));

  expect_vector_error(content_of(file), 3, 2, "3 x 1 is expected, but the file holds 3 x 2");
  const auto refusal = [&](const std::string &size) {
    const std::string name =
        directory.write("d.mtx", "%%MatrixMarket matrix array real general\n" + size + "\n");
    return text_of<InputError>([&] { read_matrix_market_vectors(name, 3); });
  };
  EXPECT_NE(refusal("2 2").find("3 x k is expected"), std::string::npos);
  EXPECT_NE(refusal("3 0").find("3 x k is expected"), std::string::npos);
  EXPECT_NE(refusal("3 2").find("after 0 of 6 entries"), std::string::npos);
}

TEST_F(MatrixMarketTest, VectorThatCannotBeWrittenIsAnOutputError)
{
  const std::string text =
      text_of<OutputError>([&] { write_matrix_market_vectors(directory / "none/x.mtx", {1.}, 1); });
  EXPECT_NE(text.find("none/x.mtx' could not be written"), std::string::npos) << text;
  EXPECT_NE(text.find("No such file"), std::string::npos) << text;
}
} // namespace
} // namespace femgpu::linalg::test
