#define VIENNACL_WITH_CUDA

#include "benchmarks/speed/systems.h"

#include <viennacl/compressed_matrix.hpp>
#include <viennacl/ell_matrix.hpp>
#include <viennacl/linalg/bicgstab.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/sliced_ell_matrix.hpp>
#include <viennacl/vector.hpp>

#include <memory>
#include <type_traits>

namespace femgpu::linalg::benchmark
{
namespace
{
/// A scaled system as viennacl::copy() wants to read it: rows, and entries of a row.
class RowAdapter
{
public:
  using size_type = std::size_t;

  class const_iterator2
  {
  public:
    const_iterator2(const ScaledSystem &system, const int row, const int entry)
        : system(&system), row(row), entry(entry)
    {}
    double operator*() const
    {
      return system->values[entry];
    }
    std::size_t index1() const
    {
      return row;
    }
    std::size_t index2() const
    {
      return system->A.columns[entry];
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
    const ScaledSystem *system;
    int row, entry;
  };

  class const_iterator1
  {
  public:
    const_iterator1(const ScaledSystem &system, const int row) : system(&system), row(row)
    {}
    std::size_t index1() const
    {
      return row;
    }
    const_iterator2 begin() const
    {
      return {*system, row, system->A.row_starts[row]};
    }
    const_iterator2 end() const
    {
      return {*system, row, system->A.row_starts[row + 1]};
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
    const ScaledSystem *system;
    int row;
  };

  explicit RowAdapter(const ScaledSystem &system) : system(system)
  {}
  std::size_t size1() const
  {
    return system.A.n;
  }
  std::size_t size2() const
  {
    return system.A.n;
  }
  const_iterator1 begin1() const
  {
    return {system, 0};
  }
  const_iterator1 end1() const
  {
    return {system, system.A.n};
  }

private:
  const ScaledSystem &system;
};

/// The matrix, the right-hand side and D^-1/2, which both solvers share.
template <class Matrix>
struct Operands
{
  Matrix A;
  viennacl::vector<double> b;
  std::vector<double> inverse_roots;

  explicit Operands(const SpeedSystem &system) : b(system.b.size())
  {
    ScaledSystem scaled(system);
    if constexpr (std::is_same_v<Matrix, viennacl::compressed_matrix<double>>)
      A.set(system.A.row_starts.data(), system.A.columns.data(), scaled.values.data(), system.A.n,
            system.A.n, system.A.columns.size());
    else
      viennacl::copy(RowAdapter(scaled), A);
    viennacl::copy(scaled.b, b);
    inverse_roots = std::move(scaled.inverse_roots);
  }
};

template <class Matrix, class Tag>
class ViennaCL final : public Contender
{
public:
  explicit ViennaCL(std::shared_ptr<const Operands<Matrix>> operands)
      : operands(std::move(operands))
  {}

  void reset() override // it begins with 0 by itself, and makes its vectors in each solve
  {
    y.reset();
    viennacl::backend::finish();
  }
  Claim solve(const int iterations) override
  {
    const Tag tag(0., static_cast<unsigned int>(iterations), iterations); // never restarts
    y.reset(new viennacl::vector<double>( // without a copy, which make_unique() would make
        viennacl::linalg::solve(operands->A, operands->b, tag)));
    viennacl::backend::finish();
    return {static_cast<int>(tag.iters()), tag.error()};
  }
  std::vector<double> solution() const override
  {
    std::vector<double> x(operands->inverse_roots.size());
    viennacl::copy(*y, x);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] *= operands->inverse_roots[i];
    return x;
  }

private:
  std::shared_ptr<const Operands<Matrix>> operands;
  std::unique_ptr<viennacl::vector<double>> y;
};

/// cg_tag with the constructor of bicgstab_tag.
struct CgTag : viennacl::linalg::cg_tag
{
  CgTag(const double tolerance, const unsigned int iterations, const int /* before_restart */)
      : cg_tag(tolerance, iterations)
  {}
};

template <class Matrix>
void add(Entrants &entrants, const SpeedSystem &system, const std::string &format)
{
  // Made by the first of the two that has its turn.
  const auto shared = std::make_shared<std::shared_ptr<const Operands<Matrix>>>();
  const auto operands = [shared, &system] {
    if (!*shared)
      *shared = std::make_shared<Operands<Matrix>>(system);
    return *shared;
  };
  const std::string preconditioner = "jacobi (scaled beforehand)";
  entrants.push_back(
      {"ViennaCL 1.7.1", format, "pipelined-cg", preconditioner, ResidualNorm::scaled,
       [operands] { return std::make_unique<ViennaCL<Matrix, CgTag>>(operands()); }});
  entrants.push_back({"ViennaCL 1.7.1", format, "pipelined-bicgstab", preconditioner,
                      ResidualNorm::scaled, [operands] {
                        return std::make_unique<ViennaCL<Matrix, viennacl::linalg::bicgstab_tag>>(
                            operands());
                      }});
}
} // namespace

void add_viennacl(Entrants &entrants, const Executor &executor, const SpeedSystem &system)
{
  if (executor.backend() != BackendKind::cuda)
    return;
  add<viennacl::compressed_matrix<double>>(entrants, system, "CSR");
  // Its conversions take one core of the host many seconds.
  if (system.A.columns.size() > 300'000'000)
    return;
  add<viennacl::ell_matrix<double>>(entrants, system, "ELL");
  add<viennacl::sliced_ell_matrix<double>>(entrants, system, "sliced ELL");
}
} // namespace femgpu::linalg::benchmark
