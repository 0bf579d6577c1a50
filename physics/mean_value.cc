#include "physics/mean_value.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_points.h"
#include "physics/residual.h"

#include <deal.II/base/mpi.h>

#include <cmath>

namespace femgpu
{
using namespace dealii;

template <int dim>
Compatibility compatibility(const Problem<dim> &problem, const Discretization<dim> &discretization)
{
  CellPoints<dim> in_cell(discretization, discretization.cell_quadrature()),
      on_face(discretization, discretization.face_quadrature());
  PointTerms terms;
  Compatibility mine;
  const auto add = [&](CellPoints<dim> &points, const auto &function) {
    points.set_zero_solution();
    terms.reinit(1, 1, dim, points.size());
    (problem.*function)(points.batch(), terms);
    for (unsigned int q = 0; q < points.size(); ++q) {
      const double f_JxW = terms.value(0)[q] * points.JxW(q);
      mine.defect += f_JxW;
      mine.magnitude += std::abs(f_JxW);
    }
  };
  const MPI_Comm comm = discretization.communicator();
  rethrow_on_all_ranks<ParameterError>(comm, [&] {
    for (const auto &cell : discretization.owned_cells()) {
      in_cell.reinit(cell);
      add(in_cell, &Problem<dim>::source);
      cell->for_each_side([&](const unsigned int face, const types::boundary_id id) {
        if (!problem.has_boundary_flux(id))
          return;
        on_face.reinit(cell, face);
        add(on_face, &Problem<dim>::boundary_flux);
      });
    }
  });
  return {Utilities::MPI::sum(mine.defect, comm), Utilities::MPI::sum(mine.magnitude, comm)};
}

namespace
{
/// Collective. Returns ∫ d φ_i for every dof i, with the constant d whose integral over the domain
/// is compatibility().defect.
template <int dim>
FeVector defect_of_rhs(const Problem<dim> &problem, const Discretization<dim> &discretization)
{
  FeVector result = shape_integrals(discretization, discretization.cell_quadrature());
  double volume = 0.;
  for (const double integral : result)
    volume += integral;
  result *= compatibility(problem, discretization).defect /
            Utilities::MPI::sum(volume, discretization.communicator());
  return result;
}
} // namespace

template <int dim>
void make_compatible(const Problem<dim> &problem, const Discretization<dim> &discretization,
                     linalg::GroupSystem &system)
{
  const FeVector defect = defect_of_rhs(problem, discretization);
  for (unsigned int i = 0; i < defect.locally_owned_size(); ++i)
    if (!discretization.constraints().is_constrained(system.first_owned() + i))
      system.rhs()[i] -= defect.local_element(i);
}

template <int dim>
double norm_of_all_equations(const Problem<dim> &problem, const Discretization<dim> &discretization,
                             const FeVector &u)
{
  FeVector residual = evaluate(problem, discretization, u).residual;
  residual.zero_out_ghost_values();
  residual -= defect_of_rhs(problem, discretization);
  return residual.l2_norm();
}

template <int dim>
void remove_mean(const Discretization<dim> &discretization, FeVector &u)
{
  const FeVector integrals = shape_integrals(discretization, discretization.cell_quadrature());
  double volume = 0., integral = 0.;
  for (unsigned int i = 0; i < integrals.locally_owned_size(); ++i) {
    volume += integrals.local_element(i);
    integral += integrals.local_element(i) * u.local_element(i);
  }
  const MPI_Comm comm = discretization.communicator();
  const double mean = Utilities::MPI::sum(integral, comm) / Utilities::MPI::sum(volume, comm);
  u.zero_out_ghost_values();
  for (double &u_i : u)
    u_i -= mean;
  u.update_ghost_values();
}

template <int dim>
ReferenceSolution<dim>::ReferenceSolution(const Problem<dim> &problem,
                                          const Discretization<dim> &discretization)
    : problem(problem)
{
  if (!problem.fixes_mean())
    return;
  CellPoints<dim> points(discretization, discretization.cell_quadrature(2));
  std::vector<double> exact;
  double volume = 0., integral = 0.;
  const MPI_Comm comm = discretization.communicator();
  rethrow_on_all_ranks<ParameterError>(comm, [&] {
    for (const auto &cell : discretization.owned_cells()) {
      points.reinit(cell);
      problem.exact_solution()->value_list(points.batch().points(), exact);
      for (unsigned int q = 0; q < points.size(); ++q) {
        volume += points.JxW(q);
        integral += exact[q] * points.JxW(q);
      }
    }
  });
  mean = Utilities::MPI::sum(integral, comm) / Utilities::MPI::sum(volume, comm);
}

template Compatibility compatibility(const Problem<2> &, const Discretization<2> &);
template Compatibility compatibility(const Problem<3> &, const Discretization<3> &);
template void make_compatible(const Problem<2> &, const Discretization<2> &, linalg::GroupSystem &);
template void make_compatible(const Problem<3> &, const Discretization<3> &, linalg::GroupSystem &);
template double norm_of_all_equations(const Problem<2> &, const Discretization<2> &,
                                      const FeVector &);
template double norm_of_all_equations(const Problem<3> &, const Discretization<3> &,
                                      const FeVector &);
template void remove_mean(const Discretization<2> &, FeVector &);
template void remove_mean(const Discretization<3> &, FeVector &);
template class ReferenceSolution<2>;
template class ReferenceSolution<3>;
} // namespace femgpu
