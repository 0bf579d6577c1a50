#include "physics/time/time_scheme.h"
#include "physics/time/time_stepper.h"

#include <deal.II/base/mpi.h>

#include <array>
#include <cmath>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;
using linalg::Outcome;

namespace
{
/// Returns x + factor y, with ghost values.
FeVector sum(const FeVector &x, const double factor, const FeVector &y)
{
  FeVector result = x;
  result.add(factor, y);
  result.update_ghost_values();
  return result;
}

/**
 * Makes steps of a SecondOrderScheme for M ü + C u̇ + K u = f with C = α M + β K. The unknown of a
 * step is y = u_f + β v_f, because with it the equation of the step is that of a stage,
 *
 *   M (y − w)/τ + K y = f(t_f),   (y − w)/τ = a_m + α v_f.
 *
 * Newmark's relations make both sides functions of a_1: y = y_0 + η a_1 and
 * (y − w)/τ = m_0 + μ a_1, so that τ = η/μ and w = y_0 − τ m_0.
 *
 * Constrained dofs with prescribed displacement g(t) get g and ∂g/∂t at the end of the step, and
 * ∂²g/∂t² at the time that a_1 refers to. Newmark's relations would make their velocity and
 * acceleration oscillate forever if the scheme damps nothing.
 */
template <int dim>
class SecondOrderStepper final : public TimeStepper<dim>
{
public:
  SecondOrderStepper(const TimeParameters &parameters, Discretization<dim> &discretization,
                     StageSolver<dim> &stages, TimeState &state)
      : TimeStepper<dim>(parameters, discretization, stages, state), discretization(discretization),
        scheme(parameters.scheme_for(2) == "newmark"
                   ? SecondOrderScheme{0., 0., parameters.newmark_beta, parameters.newmark_gamma}
                   : generalised_alpha(parameters.spectral_radius)),
        alpha(parameters.mass_damping), beta(parameters.stiffness_damping)
  {}

  /// Computes the acceleration at t = 0 from the equation. On later meshes, the acceleration was
  /// interpolated, as the velocity.
  linalg::SolveReport start(const double stop, std::map<std::string, double> &seconds) override
  {
    const double length = (stop - state.t) / this->n_steps_to(stop), tau = length * length;
    motion = motion_at(state.t, length / 3., 0.);
    const bool is_initial = state.n_steps == 0;
    if (is_initial) {
      state.acceleration = discretization.make_vector();
      constrain_initial("Initial displacement", state.u, motion.displacement, 0.);
      constrain_initial("Initial velocity", state.rate, motion.velocity, motion.change / length);
    }
    discretization.constrain(state.u, motion.displacement);
    discretization.constrain(state.rate, motion.velocity);
    discretization.constrain(state.acceleration, motion.acceleration);
    const FeVector y = sum(state.u, beta, state.rate);
    linalg::SolveReport report;
    report.outcome = Outcome::converged;
    if (is_initial) {
      report = stages.solve_mass(state.t, tau, y, inertia(state.acceleration), state.acceleration,
                                 seconds);
      discretization.constrain(state.acceleration, motion.acceleration);
    }
    else
      stages.update_forces(state.t, tau, y, inertia(state.acceleration));
    stage = y;
    stage_inertia = inertia(state.acceleration);
    finish(state.t, state.t);
    state.has_rates = report.converged();
    if (is_initial && report.converged()) {
      u = state.u;
      next_rate = state.rate;
      u.update_ghost_values();
      next_rate.update_ghost_values();
      update_energy(0.);
      state.energy.initial = state.energy.kinetic + state.energy.strain;
    }
    return report;
  }

  /// Extrapolates the accelerations of the last two steps from the times to which they refer.
  FeVector acceleration() const override
  {
    if (state.earlier_step == 0.)
      return sum(state.acceleration, 0., state.acceleration);
    const double shift = scheme.alpha_f - scheme.alpha_m;
    return sum(sum(state.acceleration, shift, state.acceleration), -shift, state.earlier_rate);
  }
  FeVector inertia(const FeVector &acceleration) const override
  {
    return sum(acceleration, alpha, state.rate);
  }

private:
  using TimeStepper<dim>::parameters;
  using TimeStepper<dim>::stages;
  using TimeStepper<dim>::state;
  using TimeStepper<dim>::u;

  /// The inhomogeneities of the constraints of displacement, velocity and acceleration.
  struct Motion
  {
    FeVector displacement, velocity, acceleration;
    double change = 0.; ///< of the displacement over the interval of interpolation
  };

  int order() const override
  {
    return scheme.gamma == 0.5 + scheme.alpha_f - scheme.alpha_m ? 2 : 1;
  }

  /// Collective. Returns the motion of the supports: displacement and velocity at @p t, and the
  /// acceleration at t + @p shift, by the cubic polynomial through the displacements at t, t + h,
  /// t + 2h and t + 3h. Changes the time of the problem.
  Motion motion_at(const double t, const double h, const double shift)
  {
    const auto displacement_at = [&](const double time) {
      stages.move_to(time);
      FeVector result = discretization.make_vector();
      discretization.constraints().distribute(result); // free dofs are zero
      result.update_ghost_values();
      return result;
    };
    if (!stages.has_moving_supports()) {
      if (!steady) {
        steady = {displacement_at(t), discretization.make_vector(), discretization.make_vector(),
                  0.};
        is_inhomogeneous = largest_magnitude(steady->displacement) > 0.;
      }
      return *steady;
    }
    is_inhomogeneous = true;
    std::array<FeVector, 4> g; // then its divided differences, without their denominators
    for (unsigned int k = 0; k < 4; ++k)
      g[k] = displacement_at(t + k * h);
    const double change = largest_magnitude(sum(g[3], -1., g[0]));
    for (unsigned int order = 1; order < 4; ++order)
      for (unsigned int k = 3; k >= order; --k)
        g[k].add(-1., g[k - 1]);
    Motion result = {g[0], g[1], g[2], change};
    result.velocity.add(-1. / 2., g[2], 1. / 3., g[3]);
    result.velocity *= 1. / h;
    result.acceleration.add(shift / h - 1., g[3]);
    result.acceleration *= 1. / (h * h);
    for (FeVector *const x : {&result.displacement, &result.velocity, &result.acceleration})
      x->update_ghost_values();
    return result;
  }

  /// Applies the constraints of supports to initial data, and warns if they contradict each other.
  /// Ignores values below a fraction of @p scale.
  void constrain_initial(const std::string &key, FeVector &x, const FeVector &inhomogeneities,
                         const double scale)
  {
    FeVector change = x;
    discretization.constrain(x, inhomogeneities);
    change -= x;
    for (const auto &line : discretization.conformity().get_lines()) // interpolation causes these
      if (discretization.owned().is_element(line.index))
        change(line.index) = 0.;
    const double largest = largest_magnitude(change), size = largest_magnitude(x);
    if (!(largest > 1e-3 * std::max(size, scale)))
      return;
    std::ostringstream text;
    text
        << "Elasticity/" << key << " contradicts the supports by up to " << largest
        << ", compared with a largest value of " << size
        << ". At supports, femgpu uses their motion at t = 0. Change the expression unless this is "
           "intended.";
    this->all_warnings.push_back(text.str());
  }

  /// Stores the last stage, and sets the time and the constraints to those of @p t.
  void finish(const double t, const double stage_time)
  {
    state.forces = discretization.make_vector();
    std::copy(stages.forces().begin(), stages.forces().end(), state.forces.begin());
    state.stage.swap(stage);
    state.stage_inertia.swap(stage_inertia);
    state.stage_time = stage_time;
    stages.move_to(t, motion.displacement);
  }

  /// Computes the displacement, velocity and acceleration at the end of a step.
  linalg::SolveReport attempt(const double length, StepRecord &record,
                              std::map<std::string, double> &seconds) override
  {
    const double h = length, of_f = 1. - scheme.alpha_f;
    const double eta = of_f * h * (scheme.beta * h + beta * scheme.gamma);
    const double mu = 1. - scheme.alpha_m + alpha * of_f * scheme.gamma * h;
    const double tau = eta / mu;
    motion = motion_at(record.t, -h / 3., (scheme.alpha_m - scheme.alpha_f) * h);

    // u_1 = u + βh² a_1 and v_1 = v + γh a_1, with u and v before a_1 is known
    u = state.u;
    u.add(h, state.rate, h * h * (0.5 - scheme.beta), state.acceleration);
    discretization.constrain(u,
                             sum(motion.displacement, -scheme.beta * h * h, motion.acceleration));
    next_rate = sum(state.rate, h * (1. - scheme.gamma), state.acceleration);
    discretization.constrain(next_rate,
                             sum(motion.velocity, -scheme.gamma * h, motion.acceleration));

    FeVector y_0 = state.u;
    y_0.sadd(scheme.alpha_f, of_f, u);
    y_0.add(of_f * beta, next_rate, scheme.alpha_f * beta, state.rate);
    y_0.update_ghost_values();
    FeVector w = y_0;
    w.add(-tau * scheme.alpha_m, state.acceleration);
    w.add(-tau * alpha * of_f, next_rate, -tau * alpha * scheme.alpha_f, state.rate);
    w.update_ghost_values();
    const FeVector prescribed =
        sum(discretization.inhomogeneous_part(y_0), eta, motion.acceleration);

    next_acceleration = discretization.make_vector(); // y at first
    linalg::SolveReport report = stages.solve(record.t - scheme.alpha_f * h, tau, w,
                                              next_acceleration, seconds, &prescribed);
    record.linear_iterations += report.iterations;
    stage = next_acceleration;
    stage_inertia = sum(stage, -1., w);
    stage_inertia *= 1. / tau;
    next_acceleration.sadd(1. / eta, -1. / eta, y_0);
    next_acceleration.update_ghost_values();
    u.add(scheme.beta * h * h, next_acceleration);
    discretization.constrain(u, motion.displacement);
    next_rate.add(scheme.gamma * h, next_acceleration);
    next_rate.update_ghost_values();
    return report;
  }

  /// Returns the local error of u by Zienkiewicz and Xie (Earthquake Engineering and Structural
  /// Dynamics 20, 1991), relative to the largest component of u; nullopt in the first step of a
  /// body without displacement, which has no scale.
  std::optional<double> estimated_error(const double length) const override
  {
    if (state.n_steps == 0 && largest_magnitude(state.u) == 0.)
      return {};
    FeVector change = next_acceleration;
    change -= state.acceleration;
    const double error =
        std::abs(scheme.beta - 1. / 6.) * length * length * largest_magnitude(change);
    return error == 0. ? 0. : error / std::max(state.highest, -state.lowest);
  }

  void accept(const double length, StepRecord &record) override
  {
    update_energy(length);
    record.energy = state.energy;
    finish(record.t, record.t - scheme.alpha_f * length);
    state.rate = next_rate;
    state.earlier_rate.swap(state.acceleration);
    state.acceleration = next_acceleration;
    state.rate.update_ghost_values();
    state.acceleration.update_ghost_values();
  }

  /// Collective. Returns yᵀ A x, given the rows @p Ax of A x̂, with the free dofs x̂ of x, and the
  /// share of this rank's cells with prescribed dofs.
  double form(const std::vector<double> &Ax, const FeVector &y, const double of_prescribed) const
  {
    double result = of_prescribed;
    for (std::size_t i = 0; i < Ax.size(); ++i)
      result += Ax[i] * y.local_element(static_cast<unsigned int>(i));
    return Utilities::MPI::sum(result, discretization.communicator());
  }

  /// Updates the energies to the end of the step that was tried. The work is Δu·f for free dofs,
  /// and Δu·(M (y − w)/τ + K y) for supports; f, y and (y − w)/τ are those at the middle of the
  /// step, by linear interpolation between the last two stages, which are in equilibrium. With the
  /// mean rate over the step, V = Δu/Δt, damping takes Δu·C V. If @p length is 0, there is no step.
  void update_energy(const double length)
  {
    EnergyBalance &energy = state.energy;
    const FeVector change = sum(u, -1., state.u);
    const double rate = length > 0. ? 1. / length : 0.;
    const double distance = (0.5 - scheme.alpha_f) * length; // from the middle to the last stage
    const double stage_time = state.t + (1. - scheme.alpha_f) * length;
    const double share = length > 0. ? distance / (stage_time - state.stage_time) : 0.;
    std::vector<double> prescribed(6, 0.);
    if (is_inhomogeneous) {
      const auto at_middle = [&](const FeVector &x, const FeVector &before) {
        return sum(sum(x, -share, x), share, before);
      };
      const FeVector y = at_middle(length > 0. ? stage : state.stage, state.stage);
      const FeVector of_mass =
          at_middle(length > 0. ? stage_inertia : state.stage_inertia, state.stage_inertia);
      prescribed = stages.prescribed_products(
          {{&u, &u}, {&change, &y}, {&change, &change}},
          {{&next_rate, &next_rate}, {&change, &of_mass}, {&change, &change}});
    }
    energy.strain = 0.5 * form(stages.times_stiffness(u), u, prescribed[0]);
    energy.kinetic = 0.5 * form(stages.times_mass(next_rate), next_rate, prescribed[3]);
    if (length == 0.)
      return;
    if (beta > 0.)
      energy.dissipated +=
          beta * rate * form(stages.times_stiffness(change), change, prescribed[2]);
    if (alpha > 0.)
      energy.dissipated += alpha * rate * form(stages.times_mass(change), change, prescribed[5]);
    std::vector<double> forces = stages.forces();
    for (std::size_t i = 0; i < forces.size(); ++i)
      forces[i] -= share * (forces[i] - state.forces.local_element(static_cast<unsigned int>(i)));
    energy.work += form(forces, change, prescribed[1] + prescribed[4]);
  }

  Discretization<dim> &discretization;
  SecondOrderScheme scheme;
  double alpha, beta;                    ///< of the damping
  bool is_inhomogeneous = false;         ///< whether a support has a displacement other than zero
  std::optional<Motion> steady;          ///< the motion of supports that do not move
  Motion motion;                         ///< at the end of the step that is tried
  FeVector next_rate, next_acceleration; ///< at the end of the step that is tried
  FeVector stage, stage_inertia;         ///< y and (y − w)/τ of the step that is tried
};
} // namespace

template <int dim>
std::unique_ptr<TimeStepper<dim>>
make_second_order_stepper(const TimeParameters &parameters, Discretization<dim> &discretization,
                          StageSolver<dim> &stages, TimeState &state)
{
  return std::make_unique<SecondOrderStepper<dim>>(parameters, discretization, stages, state);
}

template std::unique_ptr<TimeStepper<2>> make_second_order_stepper(const TimeParameters &,
                                                                   Discretization<2> &,
                                                                   StageSolver<2> &, TimeState &);
template std::unique_ptr<TimeStepper<3>> make_second_order_stepper(const TimeParameters &,
                                                                   Discretization<3> &,
                                                                   StageSolver<3> &, TimeState &);
} // namespace femgpu
