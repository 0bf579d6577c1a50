#ifndef femgpu_app_output_array_h
#define femgpu_app_output_array_h

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

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

constexpr std::size_t size_of(const FileNumber type)
{
  return type == FileNumber::uint8                                  ? 1
         : type == FileNumber::float32 || type == FileNumber::int32 ? 4
                                                                    : 8;
}

/// Rows of numbers for a file, in memory as there.
struct OutputArray
{
  std::string name;
  FileNumber type = FileNumber::float32;
  std::size_t n_columns = 1;
  std::vector<unsigned char> bytes = {};

  std::size_t row_bytes() const
  {
    return n_columns * size_of(type);
  }
  std::size_t n_rows() const
  {
    return bytes.size() / row_bytes();
  }

  /// Appends n of @p numbers as the type of the file.
  template <class Number>
  void append(const Number *const numbers, const std::size_t n)
  {
    switch (type) {
    case FileNumber::float32:
      return append_as<float>(numbers, n);
    case FileNumber::float64:
      return append_as<double>(numbers, n);
    case FileNumber::int32:
      return append_as<std::int32_t>(numbers, n);
    case FileNumber::int64:
      return append_as<std::int64_t>(numbers, n);
    case FileNumber::uint8:
      return append_as<std::uint8_t>(numbers, n);
    }
  }

private:
  template <class To, class Number>
  void append_as(const Number *const numbers, const std::size_t n)
  {
    const std::size_t before = bytes.size();
    bytes.resize(before + n * sizeof(To));
    for (std::size_t i = 0; i < n; ++i) {
      const To number = static_cast<To>(numbers[i]);
      std::memcpy(bytes.data() + before + i * sizeof(To), &number, sizeof(To));
    }
  }
};

/// begin, begin + step, …: n numbers.
inline OutputArray arithmetic_sequence(const std::string &name, const FileNumber type,
                                       const std::int64_t begin, const std::int64_t step,
                                       const std::size_t n)
{
  std::vector<std::int64_t> numbers(n, begin);
  for (std::size_t i = 0; i < n; ++i)
    numbers[i] += step * static_cast<std::int64_t>(i);
  OutputArray result = {name, type};
  result.append(numbers.data(), n);
  return result;
}
} // namespace femgpu

#endif
