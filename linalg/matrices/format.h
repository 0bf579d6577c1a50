#ifndef femgpu_linalg_matrices_format_h
#define femgpu_linalg_matrices_format_h

#include "linalg/base/indices.h"
#include "linalg/base/scalar_types.h"
#include "linalg/execution/this_backend.h"
#include "linalg/matrices/registry.h"

#include <limits>
#include <type_traits>

/**
 * @file
 * The common base of the formats that are made from a CsrMatrix. The host derives their layout from
 * row lengths; kernels fill in the entries in the executor's memory.
 */
namespace femgpu::linalg
{
/// A matrix whose values are stored as @p Value.
template <class Value>
class Format : public Matrix
{
public:
  explicit Format(const CsrMatrix &A) : Matrix(A.range(), A.domain()), source(A)
  {}

  std::size_t n_stored() const override
  {
    return values.size();
  }

  std::size_t n_nonzeros() const override
  {
    return source.n_nonzeros();
  }
  const CsrMatrix *find_csr() const override
  {
    return &source;
  }
  double value_precision() const override
  {
    return std::numeric_limits<Value>::epsilon();
  }

protected:
  /// Returns a description, such as "ellr-t, 4 threads per row, 3.1 % padding, float values"
  std::string describe(const std::string &name, const int threads) const
  {
    return describe(name + ", " + std::to_string(threads) +
                    (threads == 1 ? " thread per row" : " threads per row"));
  }
  std::string describe(const std::string &name) const
  {
    std::string text = name;
    if (const std::size_t padding = n_stored() - n_nonzeros(); padding > 0) {
      const double percent = 100. * static_cast<double>(padding) / static_cast<double>(n_stored());
      text += ", " + std::to_string(percent).substr(0, 4) + " % padding";
    }
    return text + describe_values<Value>();
  }

  const CsrMatrix &source;
  Buffer<Value> values; ///< values of all stored entries, including padding
};

/// Makes a MatrixFormat<Backend, Value> with the type Value that option `values` selects.
template <class Backend, template <class, class> class MatrixFormat, class... Arguments>
std::unique_ptr<Matrix> make_with_values(const CsrMatrix &A, Method &method,
                                         Arguments &&...arguments)
{
  return FormatScalars::choose(method, [&](const auto scalar) -> std::unique_ptr<Matrix> {
    using Value = typename decltype(scalar)::Type;
    return std::make_unique<MatrixFormat<Backend, Value>>(A, method, arguments...);
  });
}

/// Sets to[k] = static_cast<To>(from[k]) for all k < n; n may exceed the limit for one kernel.
template <class Backend, class From, class To>
void convert(const Executor &executor, const From *from, To *to, const std::size_t n)
{
  constexpr std::size_t limit = std::size_t{1} << 30;
  Runner<Backend> runner(executor);
  for (std::size_t begin = 0; begin < n; begin += limit)
    runner.run(rows(static_cast<int>(std::min(limit, n - begin)),
                    [from = from + begin, to = to + begin] FEMGPU_BODY(const int k) {
                      to[k] = static_cast<To>(from[k]);
                    }));
}

/// Reads option `threads` and returns the number of threads per row, a power of two up to 32. The
/// value 0 selects this number by @p mean_length, the mean length of rows. Returns 1 on the host.
int threads_option(Method &method, const Executor &executor, double mean_length);

/// Checks the number of stored entries, including padding.
/// @param limit the maximum number of entries that the format can index
/// @throws ParameterError if there are more than @p limit, or more per entry of A than option
/// `max-padding` permits
void check_stored(Method &method, const CsrMatrix &A, std::size_t n_stored,
                  std::size_t limit = max_indices);

/// Reads option `block` and returns the block size. The value 0 selects the number of unknowns of a
/// node or, if this is unknown, the size that needs the fewest bytes. Collective over all ranks.
/// @throws ParameterError if rows, subdomains or ghosts cannot be divided into blocks of this size
int block_option(Method &method, const CsrMatrix &A);

/// The pattern of the b x b blocks of a matrix whose number of rows is a multiple of b.
struct BlockPattern
{
  BlockPattern(const CsrMatrix &A, int b);
  std::vector<int> row_lengths() const;

  std::vector<int> row_starts, columns;
};
} // namespace femgpu::linalg

#endif
