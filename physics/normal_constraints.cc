#include "physics/normal_constraints.h"

#include "physics/constraints/row_reduction.h"

#include <deal.II/base/tensor.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
using Index = types::global_dof_index;

// Normals that differ by less than this count as equal, and components of at most this size count
// as zero, because the vertices of mesh files are rounded.
constexpr double rounding = 1e-6;

/// The normals at each node, which is identified by the dofs of its components.
template <int dim>
using NodeNormals = std::map<std::array<Index, dim>, std::vector<Tensor<1, dim>>>;

template <int dim>
void add_normal(const Tensor<1, dim> &n, std::vector<Tensor<1, dim>> &normals)
{
  const bool is_known = std::any_of(normals.begin(), normals.end(), [&](const auto &known) {
    return (n - (n * known) * known).norm() < rounding;
  });
  if (!is_known)
    normals.push_back(n);
}

template <int dim>
NodeNormals<dim> find_normals(const Discretization<dim> &discretization,
                              const std::set<types::boundary_id> &planes)
{
  const FiniteElement<dim> &fe = discretization.dofs().get_fe();
  FEFaceValues<dim> values(discretization.mapping(), fe, discretization.face_quadrature(),
                           update_normal_vectors);
  NodeNormals<dim> result;
  for_each_face_with_id(
      discretization, planes,
      [&](const auto &cell, const unsigned int face, const auto &dofs, const auto &on_face) {
        values.reinit(cell, face);
        for (const unsigned int i : on_face) {
          const auto [component, node] = fe.system_to_component_index(i);
          if (component != 0)
            continue;
          std::array<Index, dim> key;
          for (unsigned int c = 0; c < dim; ++c)
            key[c] = dofs[fe.component_to_system_index(c, node)];
          add_normal(values.normal_vector(0), result[key]);
        }
      });
  return result;
}

/// Adds n·u = 0 for all @p normals at the node with the dofs @p dofs.
template <int dim>
void constrain_node(const std::array<Index, dim> &dofs, const std::vector<Tensor<1, dim>> &normals,
                    AffineConstraints<double> &constraints)
{
  std::vector<unsigned int> free;
  for (unsigned int c = 0; c < dim; ++c)
    if (!constraints.is_constrained(dofs[c]))
      free.push_back(c);
    else if (!constraints.get_constraint_entries(dofs[c])->empty())
      return; // a hanging node, whose masters are in the plane
  const auto n_free = static_cast<unsigned int>(free.size());
  if (n_free == 0)
    return;
  // for each normal n: Σ n_c u_c over the free c equals −Σ n_c u_c over the prescribed c
  FullMatrix<double> with_rhs(static_cast<unsigned int>(normals.size()), n_free + 1);
  for (unsigned int row = 0; row < with_rhs.m(); ++row) {
    for (unsigned int j = 0; j < n_free; ++j)
      with_rhs(row, j) = normals[row][free[j]];
    for (unsigned int c = 0; c < dim; ++c)
      if (constraints.is_constrained(dofs[c]))
        with_rhs(row, n_free) -= normals[row][c] * constraints.get_inhomogeneity(dofs[c]);
  }
  const auto pivots = row_reduce(with_rhs, n_free, Pivots::by_size, rounding);
  for (unsigned int row = 0; row < pivots.size(); ++row) {
    const Index dof = dofs[free[pivots[row]]];
    constraints.add_line(dof);
    constraints.set_inhomogeneity(dof, with_rhs(row, n_free));
    for (unsigned int j = 0; j < n_free; ++j)
      if (std::find(pivots.begin(), pivots.end(), j) == pivots.end() &&
          std::abs(with_rhs(row, j)) > rounding)
        constraints.add_entry(dof, dofs[free[j]], -with_rhs(row, j));
  }
}
} // namespace

template <int dim>
void add_normal_constraints(const Discretization<dim> &discretization,
                            const std::set<types::boundary_id> &planes,
                            AffineConstraints<double> &constraints)
{
  for (const auto &[dofs, normals] : find_normals(discretization, planes))
    if (constraints.can_store_line(dofs[0]))
      constrain_node<dim>(dofs, normals, constraints);
}

template void add_normal_constraints(const Discretization<2> &,
                                     const std::set<types::boundary_id> &,
                                     AffineConstraints<double> &);
template void add_normal_constraints(const Discretization<3> &,
                                     const std::set<types::boundary_id> &,
                                     AffineConstraints<double> &);
} // namespace femgpu
