#ifndef femgpu_physics_base_solver_parameters_h
#define femgpu_physics_base_solver_parameters_h

#include "linalg/base/host_memory.h"
#include "linalg/dealii/group_solver.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// The data on unknowns that a preconditioner needs, besides the node that each belongs to.
struct RequiredDofData
{
  bool coordinates = false;
  bool coarser = false; ///< the unknowns of lower degrees and of coarser meshes
};

/// Section "Solver".
class SolverParameters : public dealii::ParameterAcceptor
{
public:
  SolverParameters();

  std::string backend = "auto";
  std::string devices = "auto";
  std::string communicator = "auto";
  unsigned int threads = 0;
  std::string device_memory = "all";
  std::string solver = "pipelined-cg";
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

  linalg::Resources resources() const
  {
    return {threads, parse_memory_size(device_memory)};
  }
  linalg::SolveControl control() const;
  linalg::GroupSolverOptions options() const;

  /// Returns the backend for solver groups. "auto" selects the host if the solver is direct, or if
  /// @p n unknowns are few and no other parameter refers to GPUs.
  std::string groups_backend(double n) const;

  /// Returns whether the energy error is the only stopping criterion of linear solves.
  bool stops_at_energy_error() const
  {
    return stop_at == "energy error" || stops_at_discretisation_error();
  }
  /// Returns whether solutions must also reach the tolerance in the measures of Accuracy.
  bool checks_accuracy() const
  {
    return stop_at != "residual";
  }
  /// Returns whether the tolerance is a fraction of the discretisation error, different in each
  /// cycle.
  bool stops_at_discretisation_error() const
  {
    return stop_at == "discretisation error";
  }

  /// Returns the data that the preconditioner needs, for @p n_components unknowns in a node.
  RequiredDofData required_dof_data(unsigned int n_components) const;

  /// Throws ParameterError if the name or an option of a method is wrong.
  void parse_parameters(dealii::ParameterHandler &prm) override;

private:
  void declare_stopping_criteria();
  bool has_gpu_settings() const;
};

/// Section "Nonlinear".
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

/// Section "Continuation".
class ContinuationParameters : public dealii::ParameterAcceptor
{
public:
  ContinuationParameters();

  bool enabled = false;
  linalg::ContinuationOptions
      branch_options; ///< without linear systems, of which only two options are set
  std::vector<double> stop, upper_stop; ///< none or one
  unsigned int vtu_interval = 5;

  /// Returns the options. Section "Solver" applies to linear systems, except for the solver and its
  /// tolerance.
  linalg::ContinuationOptions options(const SolverParameters &solver_parameters) const;

  /// Throws ParameterError if step sizes are inconsistent, or if the name or an option of the
  /// solver is wrong.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};
} // namespace femgpu

#endif
