#include "physics/cell_equation.h"

#include "physics/curves_and_point_sets.h"

#include <utility>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellEquation<dim>::CellEquation(const Problem<dim> &problem,
                                const Discretization<dim> &discretization)
    : problem(problem), discretization(discretization), n_components(problem.n_components()),
      is_stabilized(problem.traits().is_stabilized),
      in_cell(discretization, discretization.cell_quadrature(),
              /* has_second_derivatives */ is_stabilized && discretization.degree() > 1),
      on_face(discretization, discretization.face_quadrature()),
      cached_K(discretization.element().n_dofs_per_cell(),
               discretization.element().n_dofs_per_cell()),
      u_cell(discretization.element().n_dofs_per_cell()), w_cell(u_cell.size()),
      cell_loads(u_cell.size()), cell_storage(u_cell.size()), cell_exchange(u_cell.size()),
      stiffness_forces(u_cell.size()), loads_by_cell(curve_and_point_loads(problem, discretization))
{
  if (problem.nonlinearity()) {
    cell_nodes.emplace(discretization, discretization.nodal_quadrature());
    face_nodes.emplace(discretization, discretization.nodal_face_quadrature());
  }
}

/// Moves to @p cell and computes flux and source in this cell.
template <int dim>
void CellEquation<dim>::reinit(const ActiveCell<dim> &cell, const FeVector *const u,
                               CellTerms &terms)
{
  cell->get_dof_indices(terms.dofs);
  if (u != nullptr)
    cell->get_dof_values(*u, u_cell);
  in_cell.reinit(cell);
  set_solution(u, in_cell);
  sigma.reinit(n_components * dim, n_components, dim, in_cell.size());
  s.reinit(n_components, n_components, dim, in_cell.size());
  problem.flux(in_cell.batch(), sigma);
  problem.source(in_cell.batch(), s);
  if (const Storage *const storage = problem.storage())
    add_storage(cell, u, *storage);
  if (is_stabilized)
    problem.stabilize(in_cell.batch(), rate, sigma);
}

/// Computes `rate`, −c (u − w)/τ, and adds it to s unless it is lumped. @pre in_cell has the
/// solution
template <int dim>
void CellEquation<dim>::add_storage(const ActiveCell<dim> &cell, const FeVector *const u,
                                    const Storage &storage)
{
  if (storage.is_lumped) {
    if (!lumping_points)
      lumping_points.emplace(discretization, discretization.nodal_quadrature());
    lumping_points->reinit(cell);
    set_solution(u, *lumping_points);
  }
  CellPoints<dim> &points = storage.is_lumped ? *lumping_points : in_cell;
  const PointBatch<dim> &at = points.batch();
  rate.reinit(n_components, n_components, dim, at.size());
  capacity.reinit(1, n_components, dim, at.size());
  problem.capacity(at, capacity);
  w_cell = 0.;
  if (storage.from != nullptr)
    cell->get_dof_values(*storage.from, w_cell);
  points.evaluate(w_cell, w);
  const double *const c = capacity.value(0);
  for (unsigned int r = 0; r < n_components; ++r) {
    double *const value = rate.value(r), *const derivative = rate.u_derivative(r, r);
    for (unsigned int q = 0; q < at.size(); ++q) {
      value[q] = -c[q] * (at.u[r][q] - w[r][q]) / storage.tau;
      derivative[q] = -c[q] / storage.tau;
    }
    for (const unsigned int k : capacity.derivatives.written()) {
      double *const derivative_k = rate.u_derivative(r, k);
      for (unsigned int q = 0; q < at.size(); ++q)
        derivative_k[q] -= capacity.derivatives[k][q] * (at.u[r][q] - w[r][q]) / storage.tau;
    }
  }
  if (storage.is_lumped)
    return;
  const auto add = [&](const PointRows &from, PointRows &to) {
    for (const unsigned int row : from.written()) {
      double *const sum = to[row];
      for (unsigned int q = 0; q < at.size(); ++q)
        sum[q] += from[row][q];
    }
  };
  add(rate.values, s.values);
  add(rate.derivatives, s.derivatives);
}

template <int dim>
void CellEquation<dim>::set_solution(const FeVector *const u, CellPoints<dim> &points) const
{
  if (u != nullptr)
    points.set_solution(u_cell);
  else
    points.set_zero_solution();
}

/// Calls use(id) for each face with a boundary term, after computing g on the face.
template <int dim>
template <class Use>
void CellEquation<dim>::for_each_boundary_term(const ActiveCell<dim> &cell, const FeVector *const u,
                                               const Use &use)
{
  cell->for_each_side([&](const unsigned int face, const types::boundary_id id) {
    if (!problem.has_boundary_flux(id))
      return;
    on_face.reinit(cell, face);
    set_solution(u, on_face);
    g.reinit(n_components, n_components, dim, on_face.size());
    problem.boundary_flux(on_face.batch(), g);
    use(id);
  });
}

/// Computes the weights of the reaction, terms.w.
/// @param accumulates_flows whether to add weights on the boundary to `flows`, too
template <int dim>
void CellEquation<dim>::add_weights(const ActiveCell<dim> &cell, CellTerms &terms,
                                    const bool accumulates_flows)
{
  const auto add = [&](const CellPoints<dim> &points, Vector<double> &w) {
    c.assign(points.size(), 0.);
    problem.reaction_weight(points.batch(), c);
    points.add_nodal_weights(c.data(), w);
  };
  terms.w = 0.;
  cell_nodes->reinit(cell);
  add(*cell_nodes, terms.w);
  cell->for_each_side([&](const unsigned int face, const types::boundary_id id) {
    if (!problem.has_boundary_flux(id))
      return;
    face_nodes->reinit(cell, face);
    w_face.reinit(terms.w.size());
    add(*face_nodes, w_face);
    terms.w += w_face;
    for (unsigned int i = 0; accumulates_flows && i < w_face.size(); ++i)
      if (w_face(i) != 0.)
        flows[id].weights[terms.dofs[i]] += w_face(i);
  });
}

/// Makes cached_K the matrix of the current cell, without boundary terms.
template <int dim>
void CellEquation<dim>::update_matrix()
{
  const bool is_cached = has_cached_K && in_cell.is_translation() &&
                         cached_sigma.gradient_derivatives == sigma.gradient_derivatives &&
                         cached_sigma.derivatives == sigma.derivatives &&
                         cached_sigma.second_derivatives == sigma.second_derivatives &&
                         cached_s.gradient_derivatives == s.gradient_derivatives &&
                         cached_s.derivatives == s.derivatives &&
                         (!lumping_points || cached_rate.derivatives == rate.derivatives);
  if (is_cached)
    return;
  cached_K = 0.;
  in_cell.subtract_derivatives(&sigma, s, cached_K);
  if (lumping_points)
    lumping_points->subtract_derivatives(nullptr, rate, cached_K);
  std::swap(cached_sigma, sigma);
  std::swap(cached_s, s);
  std::swap(cached_rate, rate);
  has_cached_K = true;
}

template <int dim>
void CellEquation<dim>::linearize(const ActiveCell<dim> &cell, const FeVector *const u,
                                  CellTerms &terms, const bool has_matrix)
{
  reinit(cell, u, terms);
  terms.f = 0.;
  in_cell.add_source(s, terms.f);
  in_cell.subtract_flux(sigma, terms.f);
  if (lumping_points)
    lumping_points->add_source(rate, terms.f);
  if (has_matrix) {
    update_matrix();
    terms.K = cached_K;
  }
  else
    has_cached_K = has_cached_K && in_cell.is_translation();
  for_each_boundary_term(cell, u, [&](types::boundary_id /* id */) {
    on_face.add_source(g, terms.f);
    if (has_matrix)
      on_face.subtract_derivatives(nullptr, g, terms.K);
  });
  if (const auto load = loads_by_cell.find(cell->active_cell_index()); load != loads_by_cell.end())
    terms.f += load->second;
  if (u != nullptr)
    terms.K.vmult_add(terms.f, u_cell);
  if (cell_nodes)
    add_weights(cell, terms, /* accumulates_flows */ false);
}

namespace
{
/// Returns ∫ Σ_r v_r (t_r − L_r/2), where L_r is the part of t_r that is linear in u and ∇u.
template <int dim>
double energy(const CellPoints<dim> &points, const PointTerms &t, const PointRows &v)
{
  const PointBatch<dim> &at = points.batch();
  double sum = 0.;
  for (const unsigned int r : t.values.written())
    for (unsigned int q = 0; q < points.size(); ++q)
      sum += v[r][q] * t.values[r][q] * points.JxW(q);
  const auto subtract_linear = [&](const PointRows &derivatives, const PointRows &state,
                                   const unsigned int per_row) {
    for (const unsigned int k : derivatives.written()) {
      const double *const left = v[k / per_row], *const right = state[k % per_row];
      for (unsigned int q = 0; q < points.size(); ++q)
        sum -= 0.5 * left[q] * derivatives[k][q] * right[q] * points.JxW(q);
    }
  };
  subtract_linear(t.derivatives, at.u, t.n_components);
  subtract_linear(t.gradient_derivatives, at.gradients, t.n_components * dim);
  subtract_linear(t.second_derivatives, at.second_derivatives, t.n_components * dim);
  return sum;
}

/// Stores in @p linear the part of @p t that is linear in u and ∇u.
template <int dim>
void store_linear_part(const CellPoints<dim> &points, const PointTerms &t,
                       const unsigned int n_rows, PointTerms &linear)
{
  const PointBatch<dim> &at = points.batch();
  linear.reinit(n_rows, t.n_components, dim, points.size());
  const auto add = [&](const PointRows &derivatives, const PointRows &state,
                       const unsigned int per_row) {
    for (const unsigned int k : derivatives.written()) {
      double *const value = linear.value(k / per_row);
      for (unsigned int q = 0; q < points.size(); ++q)
        value[q] += derivatives[k][q] * state[k % per_row][q];
    }
  };
  add(t.derivatives, at.u, t.n_components);
  add(t.gradient_derivatives, at.gradients, t.n_components * dim);
  add(t.second_derivatives, at.second_derivatives, t.n_components * dim);
}
} // namespace

template <int dim>
const Vector<double> &CellEquation<dim>::internal_forces()
{
  store_linear_part(in_cell, sigma, n_components * dim, linear_sigma);
  store_linear_part(in_cell, s, n_components, linear_s);
  stiffness_forces = 0.;
  in_cell.add_source(linear_s, stiffness_forces);
  in_cell.subtract_flux(linear_sigma, stiffness_forces);
  stiffness_forces *= -1.;
  return stiffness_forces;
}

template <int dim>
double CellEquation<dim>::evaluate(const ActiveCell<dim> &cell, const FeVector &u, CellTerms &terms)
{
  reinit(cell, &u, terms);
  cell_loads = 0.;
  cell_exchange = 0.;
  cell_storage = 0.;
  in_cell.add_source(s, cell_loads);
  CellPoints<dim> &storage_points = lumping_points ? *lumping_points : in_cell;
  const PointRows &rates = rate.values;
  for (const unsigned int r : rates.written())
    for (unsigned int q = 0; q < storage_points.size(); ++q)
      stored -= rates[r][q] * storage_points.JxW(q);
  if (!rates.written().empty())
    storage_points.add_source(rate, cell_storage);
  if (lumping_points)
    cell_loads += cell_storage;
  double result =
      energy(in_cell, sigma, in_cell.batch().gradients) - energy(in_cell, s, in_cell.batch().u);
  if (lumping_points)
    result -= energy(*lumping_points, rate, lumping_points->batch().u);
  for_each_boundary_term(cell, &u, [&](const types::boundary_id id) {
    on_face.add_source(g, cell_loads);
    if (!g.derivatives.written().empty())
      on_face.add_source(g, cell_exchange);
    result -= energy(on_face, g, on_face.batch().u);
    if (n_components > 1)
      return;
    double &inflow = flows[id].integral;
    for (const unsigned int r : g.values.written())
      for (unsigned int q = 0; q < on_face.size(); ++q)
        inflow += g.values[r][q] * on_face.JxW(q);
  });
  if (const auto load = loads_by_cell.find(cell->active_cell_index());
      load != loads_by_cell.end()) {
    cell_loads += load->second;
    result -= load->second * u_cell;
  }
  terms.f = cell_loads;
  in_cell.subtract_flux(sigma, terms.f);
  if (cell_nodes)
    add_weights(cell, terms, /* accumulates_flows */ true);
  return result;
}

template class CellEquation<2>;
template class CellEquation<3>;
} // namespace femgpu
