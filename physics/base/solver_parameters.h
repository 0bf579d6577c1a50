#ifndef femgpu_physics_base_solver_parameters_h
#define femgpu_physics_base_solver_parameters_h

#include "linalg/base/host_memory.h"
#include "linalg/dealii/group_solver.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// What a preconditioner wants to know of the unknowns, besides which belong to a node.
struct WantedOfUnknowns
{
  bool coordinates = false;
  bool coarser = false; ///< those of lower degrees and coarser meshes
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
    return {threads, bytes_of(device_memory)};
  }
  linalg::SolveControl control() const;
  linalg::GroupSolverOptions options() const;

  /// Of solver groups: the host where auto may choose and the direct solver is asked for, or no
  /// more than @p n unknowns are few and no other parameter speaks of GPUs.
  std::string groups_backend(double n) const;

  /// Does the energy error end linear solves, and nothing else?
  bool stops_at_energy_error() const
  {
    return stop_at == "energy error" || stops_at_discretisation_error();
  }
  /// Must solutions reach the tolerance in the measures of Accuracy, too?
  bool checks_accuracy() const
  {
    return stop_at != "residual";
  }
  /// Is the tolerance a part of the discretisation error, different in each cycle?
  bool stops_at_discretisation_error() const
  {
    return stop_at == "discretisation error";
  }

  /// What the preconditioner wants to know of unknowns, @p n_components of them in a node.
  WantedOfUnknowns wanted(unsigned int n_components) const;

  /// Throws ParameterError for methods with wrong names or options.
  void parse_parameters(dealii::ParameterHandler &prm) override;

private:
  void declare_ends();
  bool asks_for_gpus() const;
};

/// Section "Nonlinear".
class NonlinearParameters : public dealii::ParameterAcceptor
{
public:
  NonlinearParameters();

  std::string method = "newton";
  double relative_tolerance = 1e-10;
  double absolute_tolerance = 0.;
  int max_iterations = 0; ///< 0: by the method

  linalg::SolveControl control() const;

  /// Throws ParameterError for a method with a wrong name or options.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};

/// Section "Continuation".
class ContinuationParameters : public dealii::ParameterAcceptor
{
public:
  ContinuationParameters();

  bool enabled = false;
  linalg::ContinuationOptions given; ///< but for linear systems, of which it has two things alone
  std::vector<double> stop, upper_stop; ///< none or one
  unsigned int vtu_every = 5;

  /// What is said of linear systems in section "Solver" holds but for the solver and its tolerance.
  linalg::ContinuationOptions options(const SolverParameters &solver_parameters) const;

  /// Throws ParameterError for steps that do not fit together, and for a solver with a wrong name
  /// or options.
  void parse_parameters(dealii::ParameterHandler &prm) override;
};
} // namespace femgpu

#endif
