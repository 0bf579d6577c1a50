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
  std::string name;      ///< the generator's text, "NAME:PARAMETERS"
  HostMatrix A;          ///< the rows of the system or of the share, with global column numbers
  std::vector<double> b; ///< right-hand side of these rows
  bool is_symmetric = true;
  /// The contribution of a source f = 1 to each b_i if the problem is posed in the unit square or
  /// cube, where A is -Δ times this weight; 0 otherwise, as for a grid with nx ≠ ny.
  double source_weight = 0.;
};

/// The parameters after the colon of a generator's text.
class GeneratorArguments
{
public:
  /**
   * @param text the whole text, "NAME:PARAMETERS"
   * @param form the expected form for messages, such as "poisson2d-5pt:NX[xNY]"
   * @param share the share of the rows to be made
   * @throws ParameterError if the number of parameters is wrong
   */
  GeneratorArguments(const std::string &text, const std::string &form, const RowShare &share);

  const RowShare &share() const
  {
    return rows;
  }

  /// Returns the grid that the first parameter defines by one size for all @p dimension directions
  /// or by one size for each direction.
  Grid grid(int dimension) const;
  /// Returns the first parameter: one size, at least @p smallest.
  int size(int smallest) const;
  /// Returns the second parameter: one size, at least @p smallest.
  int second_size(int smallest) const;
  /// Returns the second parameter, a finite number.
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
  /// The parameters in a generator's text, separated by commas; those in [,...] are optional.
  const char *parameters;
};

extern const Registry<GeneratorTraits, ModelProblem(const GeneratorArguments &)> generators;

/// Returns "NAME:PARAMETERS" and the meaning of all generators.
std::vector<Choice> generator_choices();

/**
 * Makes the model problem that @p text names, such as "poisson2d-5pt:100x50", or a share of its
 * rows.
 * @throws ParameterError for an invalid text, with the valid forms
 * @throws ParameterError with the numbers if the matrix has more than max_indices rows or the
 *         result more than RowStarts::max_entries entries
 */
ModelProblem generate(const std::string &text, const RowShare &share = {});
} // namespace femgpu::linalg

#endif
