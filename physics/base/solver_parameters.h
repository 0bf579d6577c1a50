#ifndef femgpu_physics_base_solver_parameters_h
#define femgpu_physics_base_solver_parameters_h

#include "linalg/base/choice.h"
#include "linalg/base/host_memory.h"
#include "linalg/dealii/group_solver.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// The data about the unknowns that a preconditioner or ordering needs in addition to the number of
/// unknowns per node.
struct RequiredDofData
{
  bool coordinates = false; ///< the coordinates of the unknowns
  bool coarser = false;     ///< the unknowns of lower degrees and of coarser meshes
};

/// The values of section "Solver".
struct SolverSettings
{
  std::string backend = "auto";
  std::string devices = "auto";
  std::string communicator = "auto";
  unsigned int threads = 0;
  std::string device_memory = "all";
  std::string solver = "auto";
  std::string preconditioner = "auto";
  std::string format = "csr";
  std::string scaling = "none";
  std::string ordering = "none";
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 0.;
  std::string relative_to = "rhs";
  std::string stop_at = "auto";
  double energy_tolerance = 1e-4;
  std::string execution = "auto";
  int max_iterations = 20000;
  std::string fallback = "direct";

  /**
   * Returns these settings with a solver for problems with the given properties instead of the
   * solver `auto`. For convection, this also replaces the preconditioner `auto` if no GPU may be
   * used.
   * @param has_convection whether convection may dominate diffusion
   */
  SolverSettings chosen_for(bool has_symmetric_matrix, bool has_convection) const;

  linalg::Resources resources() const
  {
    return {threads, parse_memory_size(device_memory)};
  }
  linalg::SolveControl control() const;
  /// @pre the solver is not `auto`
  linalg::GroupSolverOptions options() const;

  /// Returns the backend for @p n unknowns. If `backend` is "auto", this is "host" for direct
  /// solvers, and for n <= 10,000 unless another parameter refers to GPUs; otherwise `backend`.
  /// @pre the solver is not `auto`
  std::string groups_backend(double n) const;

  /// Returns whether the energy error is the only stopping criterion of linear solves.
  bool stops_at_energy_error() const
  {
    return stop_at == "energy error" || stops_at_discretisation_error();
  }
  /// Returns whether solutions are also judged by the measures in Accuracy (physics/results.h).
  bool checks_accuracy() const
  {
    return stop_at != "residual";
  }
  /// Returns whether the tolerance is a fraction of the discretisation error. Such a tolerance
  /// differs between refinement cycles.
  bool stops_at_discretisation_error() const
  {
    return stop_at == "discretisation error";
  }

  /// Returns the data that preconditioner and ordering need, for @p n_components unknowns per
  /// node.
  RequiredDofData required_dof_data(unsigned int n_components) const;

private:
  bool has_gpu_settings() const;
};

/// Returns the values of Solver/Solver: `auto` and all solvers.
std::vector<Choice> solver_choices();

/// The parameters in section "Solver".
class SolverParameters : public dealii::ParameterAcceptor, public SolverSettings
{
public:
  SolverParameters();

  /// Throws ParameterError if the name or an option of a method is wrong.
  void parse_parameters(dealii::ParameterHandler &prm) override;

private:
  void declare_stopping_criteria();
};

/// The parameters in section "Nonlinear".
class NonlinearParameters : public dealii::ParameterAcceptor
{
public:
  NonlinearParameters();

  std::string method = "newton";
  double relative_tolerance = 1e-10;
  double absolute_tolerance = 0.;
  int max_iterations = 0; ///< 0: the method's default

  linalg::SolveControl control() const;

  /// Throws ParameterError if the name or an option of the method is wrong.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};

/// The parameters in section "Continuation".
class ContinuationParameters : public dealii::ParameterAcceptor
{
public:
  ContinuationParameters();

  bool enabled = false;
  linalg::ContinuationOptions
      branch_options; ///< options of the branch; in `linear`, only solver and tolerance are set
  /// The value of λ at which the branch ends before (`stop`) and after the fold (`upper_stop`); an
  /// empty vector means no limit.
  std::vector<double> stop, upper_stop;
  unsigned int vtu_interval = 5;

  /// Returns all options. For linear systems, section "Continuation" sets solver and tolerance, and
  /// section "Solver", @p solver_settings, all other options.
  linalg::ContinuationOptions options(const SolverSettings &solver_settings) const;

  /// Throws ParameterError if the largest step is less than the first, or if the name or an option
  /// of the solver is wrong.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};
} // namespace femgpu

#endif
