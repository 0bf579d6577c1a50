#define VIENNACL_WITH_CUDA

#include "benchmarks/speed/systems.h"

#include <viennacl/compressed_matrix.hpp>
#include <viennacl/ell_matrix.hpp>
#include <viennacl/linalg/bicgstab.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/gmres.hpp>
#include <viennacl/sliced_ell_matrix.hpp>
#include <viennacl/vector.hpp>

#include <memory>
#include <type_traits>

namespace viennacl::linalg::cuda
{
// Host functions of ViennaCL 1.7.1 select a kernel template for long CSR rows by __CUDA_ARCH__.
// nvcc therefore compiles <8> for the device, but the host launches <16> ("invalid device
// function"). These explicit instantiations provide <16>. Remove them when ViennaCL selects the
// kernel otherwise.
template __global__ void
pipelined_cg_csr_vec_mul_blocked_kernel<16, double>(const unsigned int *, const unsigned int *,
                                                    const double *, const double *, double *,
                                                    unsigned int, double *, unsigned int);
template __global__ void pipelined_bicgstab_csr_vec_mul_blocked_kernel<16, double>(
    const unsigned int *, const unsigned int *, const double *, const double *, double *,
    const double *, unsigned int, double *, unsigned int, unsigned int);
} // namespace viennacl::linalg::cuda

namespace femgpu::linalg::benchmark
{
namespace
{
/// Presents a pattern and its values as the rows and entries that viennacl::copy() reads.
class RowAdapter
{
public:
  using size_type = std::size_t;

  class const_iterator2
  {
  public:
    const_iterator2(const RowAdapter &rows, const int row, const int entry)
        : rows(&rows), row(row), entry(entry)
    {}
    double operator*() const
    {
      return rows->values[entry];
    }
    std::size_t index1() const
    {
      return row;
    }
    std::size_t index2() const
    {
      return rows->A.columns[entry];
    }
    const_iterator2 &operator++()
    {
      ++entry;
      return *this;
    }
    bool operator!=(const const_iterator2 &other) const
    {
      return entry != other.entry;
    }

  private:
    const RowAdapter *rows;
    int row, entry;
  };

  class const_iterator1
  {
  public:
    const_iterator1(const RowAdapter &rows, const int row) : rows(&rows), row(row)
    {}
    std::size_t index1() const
    {
      return row;
    }
    const_iterator2 begin() const
    {
      return {*rows, row, rows->A.row_starts[row]};
    }
    const_iterator2 end() const
    {
      return {*rows, row, rows->A.row_starts[row + 1]};
    }
    const_iterator1 &operator++()
    {
      ++row;
      return *this;
    }
    bool operator!=(const const_iterator1 &other) const
    {
      return row != other.row;
    }

  private:
    const RowAdapter *rows;
    int row;
  };

  RowAdapter(const HostMatrix &A, const std::vector<double> &values) : A(A), values(values)
  {}
  std::size_t size1() const
  {
    return A.n;
  }
  std::size_t size2() const
  {
    return A.n;
  }
  const_iterator1 begin1() const
  {
    return {*this, 0};
  }
  const_iterator1 end1() const
  {
    return {*this, A.n};
  }

private:
  const HostMatrix &A;
  const std::vector<double> &values;
};

/// The system that a solver without a preconditioner gets: the original one, or one that is scaled
/// symmetrically by the diagonal.
enum class Scaling
{
  none,
  diagonal
};

/// The matrix, the right-hand side and D^-1/2, shared by several solvers.
template <class Matrix>
struct Operands
{
  Matrix A;
  viennacl::vector<double> b;
  std::vector<double> inverse_roots; ///< D^-1/2; empty without scaling

  Operands(const SpeedSystem &system, const Scaling scaling) : b(system.b.size())
  {
    if (scaling == Scaling::none) {
      move(system.A, system.A.values, system.b);
    }
    else {
      ScaledSystem scaled(system);
      move(scaled.A, scaled.values, scaled.b);
      inverse_roots = std::move(scaled.inverse_roots);
    }
  }

private:
  void move(const HostMatrix &pattern, const std::vector<double> &values,
            const std::vector<double> &rhs)
  {
    if constexpr (std::is_same_v<Matrix, viennacl::compressed_matrix<double>>)
      A.set(pattern.row_starts.data(), pattern.columns.data(), values.data(), pattern.n, pattern.n,
            pattern.columns.size());
    else
      viennacl::copy(RowAdapter(pattern, values), A);
    viennacl::copy(rhs, b);
  }
};

template <class Matrix, class Tag>
class ViennaCL final : public Candidate
{
public:
  explicit ViennaCL(std::shared_ptr<const Operands<Matrix>> operands)
      : operands(std::move(operands))
  {}

  void reset() override // each solve allocates its vectors and starts from 0
  {
    y.reset();
    viennacl::backend::finish();
  }
  ReportedResult solve(const int iterations) override
  {
    const Tag tag(0., static_cast<unsigned int>(iterations), iterations); // BiCGStab never restarts
    y.reset(new viennacl::vector<double>( // make_unique() would copy
        viennacl::linalg::solve(operands->A, operands->b, tag)));
    viennacl::backend::finish();
    return {static_cast<int>(tag.iters()), tag.error()};
  }
  std::vector<double> solution() const override
  {
    std::vector<double> x(y->size());
    viennacl::copy(*y, x);
    for (std::size_t i = 0; i < operands->inverse_roots.size(); ++i)
      x[i] *= operands->inverse_roots[i];
    return x;
  }

private:
  std::shared_ptr<const Operands<Matrix>> operands;
  std::unique_ptr<viennacl::vector<double>> y;
};

/// A cg_tag with the constructor of bicgstab_tag, so that templates can create either tag.
struct CgTag : viennacl::linalg::cg_tag
{
  CgTag(const double tolerance, const unsigned int iterations, const int /* before_restart */)
      : cg_tag(tolerance, iterations)
  {}
};

/// A gmres_tag that restarts after gmres_restart iterations.
struct GmresTag : viennacl::linalg::gmres_tag
{
  GmresTag(const double tolerance, const unsigned int iterations, const int /* before_restart */)
      : gmres_tag(tolerance, iterations, gmres_restart)
  {}
};

/// Returns the description of ViennaCL's variant of @p method.
/// @param get function that makes the operands
template <class Matrix, class Get>
CandidateSpec spec_of(const std::string &method, const std::string &format, const Get &get)
{
  const std::string scaled = "jacobi (scaled beforehand)";
  const std::string restart = "(" + std::to_string(gmres_restart) + ")";
  const std::string program = "ViennaCL 1.7.1";
  if (method == "gmres")
    return {
        program, format, "pipelined-gmres" + restart, "identity", ResidualNorm::euclidean, [get] {
          return std::make_unique<ViennaCL<Matrix, GmresTag>>(get(Scaling::none));
        }};
  if (method == "cg")
    return {program, format, "pipelined-cg", scaled, ResidualNorm::scaled, [get] {
              return std::make_unique<ViennaCL<Matrix, CgTag>>(get(Scaling::diagonal));
            }};
  using Tag = viennacl::linalg::bicgstab_tag;
  return {program, format, "pipelined-bicgstab", scaled, ResidualNorm::scaled, [get] {
            return std::make_unique<ViennaCL<Matrix, Tag>>(get(Scaling::diagonal));
          }};
}

template <class Matrix>
void add(CandidateSpecs &specs, const SpeedSystem &system, const std::vector<std::string> &methods,
         const std::string &format)
{
  // The first candidate makes the operands; the next one reuses them if it needs the same scaling.
  using CachedOperands = std::pair<Scaling, std::shared_ptr<const Operands<Matrix>>>;
  const auto last = std::make_shared<CachedOperands>();
  const auto get = [last, &system](const Scaling scaling) {
    if (!last->second || last->first != scaling) {
      last->second.reset(); // frees them before the next ones are allocated
      *last = {scaling, std::make_shared<Operands<Matrix>>(system, scaling)};
    }
    return last->second;
  };
  for (const std::string &method : methods)
    specs.push_back(spec_of<Matrix>(method, format, get));
}
} // namespace

void add_viennacl(CandidateSpecs &specs, const Executor &executor, const SpeedSystem &system,
                  const std::vector<std::string> &methods)
{
  if (executor.backend() != BackendKind::cuda)
    return;
  add<viennacl::compressed_matrix<double>>(specs, system, methods, "CSR");
  // ViennaCL's conversions occupy one core of the host for many seconds.
  if (system.A.columns.size() > 300'000'000)
    return;
  add<viennacl::ell_matrix<double>>(specs, system, methods, "ELL");
  add<viennacl::sliced_ell_matrix<double>>(specs, system, methods, "sliced ELL");
}
} // namespace femgpu::linalg::benchmark
