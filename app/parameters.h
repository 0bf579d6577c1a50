#ifndef femgpu_app_parameters_h
#define femgpu_app_parameters_h

#include "app/command_line.h"
#include "app/parameter_file.h"
#include "physics/base/expression_parameters.h"
#include "physics/base/solver_parameters.h"
#include "physics/discretization.h"
#include "physics/measurements/measurements.h"
#include "physics/physics.h"
#include "physics/time/time_parameters.h"

#include <deal.II/base/parameter_acceptor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/// The parameters outside all sections.
class RunParameters : public dealii::ParameterAcceptor
{
public:
  RunParameters();

  unsigned int dimension = 2;
  std::string physics = "poisson";
  std::string analysis = "stationary";
};

/// The parameters of section "Study".
class StudyParameters : public dealii::ParameterAcceptor
{
public:
  StudyParameters();

  unsigned int cycles = 1;
  std::string refinement = "global";
  std::string estimator = "kelly";
  std::string strategy = "fixed_number";
  double refine_fraction = 0.3;
  double coarsen_fraction = 0.03;
  std::string refine_where;
  std::string cell_size;
  unsigned int maximum_level = 30;
  std::size_t maximum_dofs = 0; ///< 0: no limit
  double target_error = 0.;     ///< relative error at which the study stops; 0: none
  std::string target_norm = "H1";

  bool is_adaptive() const
  {
    return refinement == "adaptive";
  }
  /// Is a new mesh made for each cycle?
  bool is_by_remeshing() const
  {
    return refinement == "remesh";
  }
  /// Are cells chosen for refinement by an error estimate?
  bool is_by_estimate() const
  {
    return is_adaptive() && estimator != "expression";
  }
};

/// The parameters of section "Output".
class OutputParameters : public dealii::ParameterAcceptor
{
public:
  OutputParameters();

  std::string path_of(const std::string &file) const
  {
    return directory + "/" + file;
  }

  std::string directory = "output";
  std::string name = "solution";
  bool write_vtu = true;
  std::string format = "vtu";
  std::string precision = "float";
  bool error_indicator = false;
  unsigned int files_per_cycle = 0;
  std::string units;
  std::string checkpoint_every = "none";
};

/// All parameters of the program. The constructor declares them; there can be one object only.
struct Parameters
{
  Parameters();

  RunParameters run;
  ExpressionParameters expressions;
  MeshParameters mesh;
  DiscretizationParameters discretization;
  StudyParameters study;
  std::map<std::string, std::unique_ptr<Physics>> physics;
  SolverParameters solver;
  NonlinearParameters nonlinear;
  ContinuationParameters continuation;
  TimeParameters time;
  MeasurementParameters measurements;
  OutputParameters output;

  /// The locations that set the values; filled by apply().
  ParameterLocations locations;

  /**
   * Sets the parameters that @p source and @p overrides name; other parameters are unchanged.
   * @param other_physics physics whose data are allowed too, because other runs of a study use them
   * @throws ParameterError for invalid values, if data of the chosen physics are missing, if there
   *         are data of a physics that is not used, or if Continuation/Enabled contradicts Analysis
   */
  void apply(const ParameterSource &source, const std::vector<std::string> &overrides,
             const std::vector<std::string> &other_physics = {});

  /// Is the error estimate needed, for refinement, a target error or the output?
  bool needs_estimate() const
  {
    return study.is_by_estimate() || (study.target_error > 0. && study.target_norm == "estimate") ||
           (output.error_indicator && study.estimator != "expression");
  }
};

/// Collective. Reads the parameter file on the first rank and broadcasts it. @throws InputError
ParameterSource read_source(const CommandLine &command_line);
} // namespace femgpu

#endif
