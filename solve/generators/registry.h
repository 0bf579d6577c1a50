#ifndef femgpu_solve_generators_registry_h
#define femgpu_solve_generators_registry_h

#include "linalg/base/registry.h"
#include "solve/generators/grid_matrix.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// A system A x = b of selectable size, or a share of its rows.
struct ModelProblem
{
  std::string name;      ///< the text it was made from
  HostMatrix A;          ///< of a share: with global column numbers
  std::vector<double> b; ///< n
  bool is_symmetric = true;
  /// Contribution of a source f = 1 to each b_i if the problem is posed in the unit square or cube:
  /// A is -Δ times this. 0 otherwise, as for grids with different numbers of points.
  double source_weight = 0.;
};

/// The parameters after the colon of a generator's text.
class GeneratorArguments
{
public:
  /**
   * @param text the whole text, "NAME:PARAMETERS"
   * @param form the expected form, "poisson2d-5pt:NX[xNY]"
   * @param share of the rows to be made
   * @throws ParameterError if the number of parameters is wrong
   */
  GeneratorArguments(const std::string &text, const std::string &form, const RowShare &share);

  const RowShare &share() const
  {
    return rows;
  }

  /// Returns the first parameter: one size for all of @p dimension directions, or one for each.
  Grid grid(int dimension) const;
  /// Returns the first parameter: one size, at least @p smallest.
  int size(int smallest) const;
  /// Returns the second parameter: one size, at least @p smallest.
  int second_size(int smallest) const;
  /// Returns the second parameter.
  double number() const;
  /// Returns the second parameter, a non-negative integer; 1 if it is missing.
  int seed() const;

  /// Throws a ParameterError with the text, @p reason and the form.
  [[noreturn]] void fail(const std::string &reason) const;

private:
  int parse_size(const std::string &token, int smallest) const;

  std::string text, form;
  RowShare rows;
  std::vector<std::string> tokens;
};

struct GeneratorTraits
{
  /// Parameters, separated by commas; those in [,...] are optional.
  const char *parameters;
};

extern const Registry<GeneratorTraits, ModelProblem(const GeneratorArguments &)> generators;

/// Returns "NAME:PARAMETERS" and the meaning of all generators.
std::vector<Choice> generator_choices();

/**
 * Makes the model problem that @p text names, such as "poisson2d-5pt:100x50", or a share of
 * consecutive rows.
 * @throws ParameterError with the valid forms; or with the numbers, if the matrix has more than
 * max_indices rows, or the result more than RowStarts::max_entries entries
 */
ModelProblem generate(const std::string &text, const RowShare &share = {});
} // namespace femgpu::linalg

#endif
