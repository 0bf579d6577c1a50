#ifndef femgpu_solve_generators_registry_h
#define femgpu_solve_generators_registry_h

#include "linalg/base/registry.h"
#include "solve/generators/grid_matrix.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// A system A x = b whose size one chooses, or a share of its rows.
struct ModelProblem
{
  std::string name;      ///< the text it was made from
  HostMatrix A;          ///< of a share with columns by their numbers in all of it
  std::vector<double> b; ///< n
  bool is_symmetric = true;
  /// What a source f = 1 adds to each b_i where the problem is posed in the unit square or cube: A
  /// is -Δ times that. 0 where it is not, as for grids with different numbers of points.
  double source_weight = 0.;
};

/// What stands after the colon of a generator's text.
class GeneratorArguments
{
public:
  /**
   * @param text the whole text, "NAME:PARAMETERS"
   * @param form what it should look like, "poisson2d-5pt:NX[xNY]"
   * @param share of the rows, that are to be made
   * @throws ParameterError if the number of parameters is another
   */
  GeneratorArguments(const std::string &text, const std::string &form, const RowShare &share);

  const RowShare &share() const
  {
    return rows;
  }

  /// The first parameter: one size for all of @p dimension directions, or one for each.
  Grid grid(int dimension) const;
  /// The first parameter: one size, at least @p smallest.
  int size(int smallest) const;
  /// The same of the second parameter.
  int second_size(int smallest) const;
  /// The second parameter.
  double number() const;
  /// The second parameter, a whole number that is not negative; 1 without it.
  int seed() const;

  /// @throws ParameterError that names text and form
  [[noreturn]] void fail(const std::string &reason) const;

private:
  int parse_size(const std::string &word, int smallest) const;

  std::string text, form;
  RowShare rows;
  std::vector<std::string> words;
};

struct GeneratorTraits
{
  /// As many as here, parted by commas, or without those in [,...].
  const char *parameters;
};

extern const Registry<GeneratorTraits, ModelProblem(const GeneratorArguments &)> generators;

/// "NAME:PARAMETERS" and meaning of all.
std::vector<Choice> generator_choices();

/**
 * Makes the model problem that @p text says, as in "poisson2d-5pt:100x50", or a share of its rows
 * that follow each other.
 * @throws ParameterError naming the valid forms; or the numbers, if the matrix has more than
 * most_indices rows, or what is made more than RowStarts::most_entries entries
 */
ModelProblem generate(const std::string &text, const RowShare &share = {});
} // namespace femgpu::linalg

#endif
