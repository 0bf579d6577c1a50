#include "physics/discretization.h"

#include "linalg/base/error.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/base/parameters.h"
#include "physics/mesh/mesh_check.h"
#include "physics/mesh/mesh_mapping.h"
#include "physics/problem.h"

#include <deal.II/base/utilities.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_q_iso_q1.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <iterator>

namespace femgpu
{
using namespace dealii;

DiscretizationParameters::DiscretizationParameters() : ParameterAcceptor("/Discretization")
{
  add_parameter(
      "Degree", degree,
      "Polynomial degree p of the finite elements: 1 to 4 on quadrilaterals and hexahedra "
      "(FE_Q), 1 or 2 on triangles and tetrahedra (FE_SimplexP). The error falls like "
      "h^(p+1) where the solution is smooth. auto: the order of the cells of a mesh file, or the "
      "highest degree that the physics supports on them; 1 for generators.",
      prm, Patterns::Selection("auto|1|2|3|4"));
}

namespace
{
template <int dim>
std::unique_ptr<FiniteElement<dim>> make_element(const bool is_simplex, const unsigned int degree,
                                                 const unsigned int n_components)
{
  const unsigned int highest = is_simplex ? 2 : 4;
  if (degree < 1 || degree > highest)
    throw ParameterError(
        "Degree " + std::to_string(degree) + " is not available on " +
            (is_simplex ? "triangles and tetrahedra" : "quadrilaterals and hexahedra") +
            "; choose 1 to " + std::to_string(highest) + ".",
        "Discretization/Degree");
  std::unique_ptr<FiniteElement<dim>> scalar;
  if (is_simplex)
    scalar = std::make_unique<FE_SimplexP<dim>>(degree);
  else
    scalar = std::make_unique<FE_Q<dim>>(degree);
  if (n_components == 1)
    return scalar;
  return std::make_unique<FESystem<dim>>(*scalar, n_components);
}
} // namespace

template <int dim>
unsigned int degree_of(const DiscretizationParameters &parameters, const Mesh<dim> &mesh,
                       const Problem<dim> &problem)
{
  if (parameters.degree == "auto")
    return std::min(mesh.order, problem.highest_degree(mesh.is_simplex));
  return static_cast<unsigned int>(Utilities::string_to_int(parameters.degree));
}

template <int dim>
Discretization<dim>::Discretization(const Mesh<dim> &mesh, const unsigned int degree,
                                    const unsigned int n_components)
    : the_mesh(&mesh), fe(make_element<dim>(mesh.is_simplex, degree, n_components)),
      the_mapping(make_mapping(mesh, degree)), dof_handler(*mesh.triangulation)
{}

namespace
{
/// For renumber_dofs(): the components of a node one after the other, also from degree 3 on, where
/// a line has several nodes and deal.II numbers all of one component before the next.
template <int dim>
std::vector<types::global_dof_index> numbers_by_nodes(const DoFHandler<dim> &dof_handler)
{
  const FiniteElement<dim> &element = dof_handler.get_fe();
  const IndexSet &owned = dof_handler.locally_owned_dofs();
  using ComponentOfNode =
      std::pair<types::global_dof_index, unsigned int>; // named by its first dof
  std::vector<std::pair<ComponentOfNode, types::global_dof_index>> in_order(owned.n_elements());
  std::vector<types::global_dof_index> dofs(element.n_dofs_per_cell());
  for (const auto &cell : dof_handler.active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_indices(dofs);
    for (unsigned int i = 0; i < dofs.size(); ++i) {
      if (!owned.is_element(dofs[i]))
        continue;
      const auto [component, node] = element.system_to_component_index(i);
      const auto place = owned.index_within_set(dofs[i]);
      in_order[place] = {{dofs[element.component_to_system_index(0, node)], component}, place};
    }
  }
  std::sort(in_order.begin(), in_order.end());
  std::vector<types::global_dof_index> result(in_order.size());
  for (std::size_t k = 0; k < in_order.size(); ++k)
    result[in_order[k].second] = owned.nth_index_in_set(k);
  return result;
}
} // namespace

template <int dim>
double Discretization<dim>::largest_diameter() const
{
  if (!the_blocks)
    return GridTools::maximal_cell_diameter(*the_mesh->triangulation, *the_mapping);
  double largest = 0.;
  for (const auto &block : dof_handler.active_cell_iterators())
    if (block->is_locally_owned())
      largest = std::max(largest, the_blocks->largest_diameter(block));
  return Utilities::MPI::max(largest, communicator());
}

template <int dim>
std::size_t Discretization<dim>::n_owned_cells() const
{
  return the_mesh->triangulation->n_locally_owned_active_cells() *
         Utilities::pow(the_mesh->cells_per_block, dim);
}

template <int dim>
unsigned int Discretization<dim>::n_cell_indices() const
{
  return the_mesh->triangulation->n_active_cells() * Utilities::pow(the_mesh->cells_per_block, dim);
}

template <int dim>
void Discretization<dim>::distribute_dofs()
{
  const unsigned int n = the_mesh->cells_per_block, n_components = fe->n_components();
  if (n == 1)
    dof_handler.distribute_dofs(*fe);
  else if (n_components == 1)
    dof_handler.distribute_dofs(FE_Q_iso_Q1<dim>(n));
  else
    dof_handler.distribute_dofs(FESystem<dim>(FE_Q_iso_Q1<dim>(n), n_components));
  if (n_components > 1 && std::max(fe->degree, n) > 2)
    dof_handler.renumber_dofs(numbers_by_nodes(dof_handler));
  if (n > 1)
    the_blocks = std::make_unique<Blocks<dim>>(n, dof_handler, *fe);
  relevant_dofs = dofs_of(cells(), fe->n_dofs_per_cell(), owned());
}

template <int dim>
MPI_Comm Discretization<dim>::communicator() const
{
  return compat::communicator(*the_mesh->triangulation);
}

template <int dim>
unsigned int Discretization<dim>::geometry_degree() const
{
  if (const auto *const of_cubes = dynamic_cast<const MappingQ<dim> *>(the_mapping.get()))
    return of_cubes->get_degree();
  return dynamic_cast<const MappingFE<dim> &>(*the_mapping).get_degree();
}

template <int dim>
FeVector Discretization<dim>::make_vector() const
{
  return FeVector(owned(), relevant(), communicator());
}

template <int dim>
void Discretization<dim>::check_cells() const
{
  check_curved_cells(*the_mesh, *the_mapping, cell_quadrature(), degree());
}

template <int dim>
Quadrature<dim> Discretization<dim>::cell_quadrature(const unsigned int more) const
{
  unsigned int n_points = fe->degree + more;
  if (the_mesh->is_simplex)
    n_points = std::min(n_points, 4U); // the largest rule that deal.II 9.4 has
  return fe->reference_cell().template get_gauss_type_quadrature<dim>(n_points);
}

template <int dim>
Quadrature<dim - 1> Discretization<dim>::face_quadrature() const
{
  return fe->reference_cell().face_reference_cell(0).template get_gauss_type_quadrature<dim - 1>(
      fe->degree + 1);
}

namespace
{
/// The nodes of @p element with the integrals of their shape functions.
template <int dim>
Quadrature<dim> nodes_with_weights(const FiniteElement<dim> &element, const Quadrature<dim> &exact)
{
  std::vector<double> weights(element.n_dofs_per_cell(), 0.);
  for (unsigned int i = 0; i < weights.size(); ++i)
    for (unsigned int q = 0; q < exact.size(); ++q)
      weights[i] += element.shape_value(i, exact.point(q)) * exact.weight(q);
  return Quadrature<dim>(element.get_unit_support_points(), weights);
}
} // namespace

template <int dim>
Quadrature<dim> Discretization<dim>::nodal_quadrature() const
{
  return nodes_with_weights(fe->base_element(0), cell_quadrature(1));
}

template <int dim>
Quadrature<dim - 1> Discretization<dim>::nodal_face_quadrature() const
{
  return nodes_with_weights(*make_element<dim - 1>(the_mesh->is_simplex, fe->degree, 1),
                            face_quadrature());
}

template unsigned int degree_of(const DiscretizationParameters &, const Mesh<2> &,
                                const Problem<2> &);
template unsigned int degree_of(const DiscretizationParameters &, const Mesh<3> &,
                                const Problem<3> &);
template class Discretization<2>;
template class Discretization<3>;
} // namespace femgpu
