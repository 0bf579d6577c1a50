#include "app/refinement_control.h"

#include "linalg/base/error.h"
#include "physics/mesh/refinement.h"
#include "physics/problem_tools.h"

#include <sstream>

namespace femgpu
{
using namespace dealii;

template <int dim>
RefinementControl<dim>::RefinementControl(const Parameters &parameters, const Mesh<dim> &mesh,
                                          const Problem<dim> &problem)
    : study(parameters.study), problem(problem),
      where(make_optional_field<dim>("Study/Refine where", study.refine_where, 1, mesh.regions)),
      size(make_optional_field<dim>("Study/Cell size", study.cell_size, 1, mesh.regions))
{
  check(mesh);
  check_target();
  initial_refinement(mesh, parameters.mesh.refinement_where); // throws if it is impossible
  wants_estimate = study.is_by_estimate() ||
                   (study.target_error > 0. && study.target_norm == "estimate") ||
                   (parameters.output.error_indicator && study.estimator != "expression");
}

template <int dim>
void RefinementControl<dim>::check(const Mesh<dim> &mesh) const
{
  if (study.is_adaptive() && mesh.is_simplex)
    throw ParameterError("Triangles and tetrahedra can be refined globally only. Set "
                         "Study/Refinement to global, or use quadrilaterals or hexahedra.",
                         "Study/Refinement");
  if (study.refine_fraction + study.coarsen_fraction > 1.)
    throw ParameterError("Study/Refine fraction and Study/Coarsen fraction add up to more than 1.",
                         "Study/Refine fraction");
  if (study.is_adaptive() && study.estimator == "expression" && !where && !size)
    throw ParameterError("Study/Estimator is expression, but there is none. Set Study/Refine where "
                         "or Study/Cell size.",
                         "Study/Estimator");
  if (!study.is_adaptive() && (where || size))
    throw ParameterError(
        "Study/Refine where and Study/Cell size choose cells, but Study/Refinement "
        "is global. Set it to adaptive.",
        where ? "Study/Refine where" : "Study/Cell size");
}

template <int dim>
void RefinementControl<dim>::check_target() const
{
  if (!(study.target_error > 0.))
    return;
  if (study.target_norm == "estimate") {
    if (study.estimator == "expression")
      throw ParameterError("The error cannot be estimated here: Study/Estimator is expression. "
                           "Set it to kelly.",
                           "Study/Target norm");
  }
  else if (problem.exact_solution() == nullptr)
    throw ParameterError("Without an exact solution the error in " + study.target_norm +
                             " is not known. Set Study/Target norm to estimate, or give the exact "
                             "solution.",
                         "Study/Target norm");
}

template <int dim>
std::optional<ErrorEstimate>
RefinementControl<dim>::estimate(const Discretization<dim> &discretization, const FeVector &u,
                                 Vector<float> &indicators) const
{
  if (!wants_estimate)
    return {};
  return estimate_error(study.estimator == "residual" ? Estimator::residual : Estimator::kelly,
                        problem, discretization, u, indicators);
}

template <int dim>
std::optional<Stop> RefinementControl<dim>::reached_target(const CycleRecord &record) const
{
  if (!(study.target_error > 0.))
    return {};
  double error = 0.;
  if (study.target_norm == "estimate")
    error = record.estimate->relative();
  else if (study.target_norm == "L2")
    error = record.errors->L2 / record.errors->exact_L2;
  else
    error = record.errors->H1 / record.errors->exact_H1;
  if (!(error <= study.target_error))
    return {};
  std::ostringstream text;
  text.precision(3);
  text << "Stopped after cycle " << record.cycle << ": the error, "
       << (study.target_norm == "estimate" ? "estimated" : "in " + study.target_norm)
       << " and relative, is " << error << ", at most Study/Target error = " << study.target_error
       << ".";
  return Stop{"target_error", text.str()};
}

template <int dim>
std::optional<Stop> RefinementControl<dim>::flag(Mesh<dim> &mesh, const Vector<float> &indicators,
                                                 const unsigned int n_refinements) const
{
  bool any = n_refinements < study.maximum_level;
  if (!mesh.is_simplex) {
    if (study.is_by_estimate())
      flag_by_indicators(mesh, indicators,
                         {study.strategy == "fixed_number" ? RefinementRule::Fraction::of_cells
                                                           : RefinementRule::Fraction::of_error,
                          study.refine_fraction, study.coarsen_fraction});
    if (!study.is_adaptive())
      flag_if(mesh, [](const auto & /* cell */) { return true; });
    if (where)
      flag_if(mesh, [&](const auto &cell) { return where->value(cell->center()) != 0.; });
    if (size)
      flag_if(mesh,
              [&](const auto &cell) { return cell->diameter() > size->value(cell->center()); });
    any = limit_level(mesh, study.maximum_level);
  }
  if (any)
    return {};
  std::string text = "Stopped: no cell is to be refined any more: Study/Maximum level is " +
                     std::to_string(study.maximum_level);
  if (study.is_adaptive())
    text += ", and the rest is as fine as Study/Estimator, Refine where and Cell size ask for";
  return Stop{"nothing_to_refine", text + "."};
}

template <int dim>
std::optional<Stop> RefinementControl<dim>::too_many(const std::size_t n_dofs) const
{
  if (study.maximum_dofs == 0 || n_dofs <= study.maximum_dofs)
    return {};
  return Stop{"maximum_dofs",
              "Stopped: the next cycle would have at least " + std::to_string(n_dofs) +
                  " dofs, more than Study/Maximum dofs = " + std::to_string(study.maximum_dofs) +
                  "."};
}

template class RefinementControl<2>;
template class RefinementControl<3>;
} // namespace femgpu
