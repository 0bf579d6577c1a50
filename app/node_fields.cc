#include "app/node_fields.h"

#include "physics/cell_points.h"
#include "physics/mean_value.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
using Indices = std::array<unsigned int, 3>;

/// The places (i, j, k) of the nodes of a quadrilateral or hexahedron of degree p, 0 <= i, j, k <=
/// p, in the order of VTK's Lagrange cells: corners, edges, faces, interior.
std::vector<Indices> vtk_order_of_hypercube(const unsigned int dim, const unsigned int p)
{
  std::vector<Indices> order;
  const unsigned int layers = dim == 3 ? 2 : 1; // of corners, along z
  for (unsigned int k = 0; k < layers; ++k)
    for (const auto &[i, j] : {std::pair(0U, 0U), {1U, 0U}, {1U, 1U}, {0U, 1U}})
      order.push_back({i * p, j * p, k * p});
  for (unsigned int k = 0; k < layers; ++k) {
    for (unsigned int i = 1; i < p; ++i)
      order.push_back({i, 0, k * p});
    for (unsigned int j = 1; j < p; ++j)
      order.push_back({p, j, k * p});
    for (unsigned int i = 1; i < p; ++i)
      order.push_back({i, p, k * p});
    for (unsigned int j = 1; j < p; ++j)
      order.push_back({0, j, k * p});
  }
  if (dim == 2) {
    for (unsigned int j = 1; j < p; ++j)
      for (unsigned int i = 1; i < p; ++i)
        order.push_back({i, j, 0});
    return order;
  }
  for (const auto &[i, j] : {std::pair(0U, 0U), {1U, 0U}, {1U, 1U}, {0U, 1U}})
    for (unsigned int k = 1; k < p; ++k)
      order.push_back({i * p, j * p, k});
  const auto add_faces = [&](const unsigned int normal, const unsigned int fast,
                             const unsigned int slow) {
    for (unsigned int side = 0; side < 2; ++side)
      for (unsigned int b = 1; b < p; ++b)
        for (unsigned int a = 1; a < p; ++a) {
          Indices node{};
          node[normal] = side * p;
          node[fast] = a;
          node[slow] = b;
          order.push_back(node);
        }
  };
  add_faces(0, 1, 2);
  add_faces(1, 0, 2);
  add_faces(2, 0, 1);
  for (unsigned int k = 1; k < p; ++k)
    for (unsigned int j = 1; j < p; ++j)
      for (unsigned int i = 1; i < p; ++i)
        order.push_back({i, j, k});
  return order;
}

/// Which node of @p scalar has the place (i, j, k) among all: nodes are closer to the ends of edges
/// than those of VTK, but in the same order.
template <int dim>
unsigned int node_at(const FiniteElement<dim> &scalar, const Indices &indices)
{
  std::vector<double> along; // an edge
  for (const Point<dim> &p : scalar.get_unit_support_points())
    if (std::none_of(along.begin(), along.end(),
                     [&](const double x) { return std::abs(x - p[0]) < 1e-10; }))
      along.push_back(p[0]);
  std::sort(along.begin(), along.end());
  for (unsigned int node = 0; node < scalar.n_dofs_per_cell(); ++node) {
    bool is_it = true;
    for (unsigned int d = 0; d < dim; ++d)
      is_it = is_it && std::abs(scalar.unit_support_point(node)[d] - along[indices[d]]) < 1e-10;
    if (is_it)
      return node;
  }
  AssertThrow(false, ExcInternalError());
}

/// The nodes of a cell in VTK's order: each node of the element, and where VTK has it.
template <int dim>
struct VtkCell
{
  VtkCell(const FiniteElement<dim> &scalar, const bool is_simplex)
  {
    const unsigned int p = scalar.degree;
    if (is_simplex) { // the orders are the same
      type = dim == 2 ? (p == 1 ? 5 : 22) : (p == 1 ? 10 : 24);
      for (unsigned int node = 0; node < scalar.n_dofs_per_cell(); ++node)
        nodes.push_back(node);
      points = scalar.get_unit_support_points();
      return;
    }
    type = dim == 2 ? (p == 1 ? 9 : 70) : (p == 1 ? 12 : 72);
    for (const Indices &indices : vtk_order_of_hypercube(dim, p)) {
      nodes.push_back(node_at(scalar, indices));
      Point<dim> point;
      for (unsigned int d = 0; d < dim; ++d)
        point[d] = static_cast<double>(indices[d]) / p;
      points.push_back(point);
    }
  }

  std::uint8_t type;
  std::vector<unsigned int> nodes;
  std::vector<Point<dim>> points;
};
} // namespace

template <int dim>
class NodeFields<dim>::Builder
{
public:
  Builder(NodeFields &fields, const Problem<dim> &problem, DiscreteSolution<dim> &solution)
      : fields(fields), problem(problem), solution(solution),
        discretization(solution.discretization()), n_components(problem.n_components()),
        vtk(discretization.element().base_element(0), discretization.mesh().is_simplex),
        points(discretization, Quadrature<dim>(vtk.points)),
        dofs(discretization.element().n_dofs_per_cell()), cell_values(dofs.size()),
        partitioner(*solution.u().get_partitioner())
  {
    first_node.assign(partitioner.locally_owned_size() + partitioner.n_ghost_indices(), none);
    fields.n_nodes_of_cell = static_cast<unsigned int>(vtk.nodes.size());
    fields.cell_type = vtk.type;
  }

  void number_nodes();
  void add_function(const std::vector<std::string> &names, const FeVector &v);
  void add_exact_solution();
  void add_postprocessors();
  void add_cell_fields(const Vector<float> &indicators);

private:
  static constexpr std::int64_t none = -1;

  /// The number of node @p k of a cell, in VTK's order, whose dofs are in `dofs`; none if this
  /// rank's cells do not have it.
  std::int64_t find_node(const unsigned int k, const types::material_id material) const
  {
    const std::size_t i = local_dof(k);
    if (first_node[i] == none || material_of_node[first_node[i]] == material)
      return first_node[i];
    const auto found = other_nodes.find({i, material});
    return found == other_nodes.end() ? none : found->second;
  }
  std::size_t local_dof(const unsigned int k) const
  {
    return partitioner.global_to_local(
        dofs[discretization.element().component_to_system_index(0, vtk.nodes[k])]);
  }
  OutputField &add_field(std::vector<OutputField> &to, const std::string &name,
                         const unsigned int components, const std::size_t n)
  {
    to.push_back({name, components, std::vector<double>(n * components, 0.)});
    return to.back();
  }
  template <class Add>
  void for_each_owned_cell(const Add &add)
  {
    std::size_t number = 0;
    for (const auto &cell : discretization.dofs().active_cell_iterators())
      if (cell->is_locally_owned())
        add(cell, number++);
  }
  void set_input(const ActiveCell<dim> &cell);

  NodeFields &fields;
  const Problem<dim> &problem;
  DiscreteSolution<dim> &solution;
  const Discretization<dim> &discretization;
  unsigned int n_components;
  VtkCell<dim> vtk;
  CellPoints<dim> points;
  std::vector<types::global_dof_index> dofs;
  Vector<double> cell_values;
  const Utilities::MPI::Partitioner &partitioner;

  std::vector<std::int64_t>
      first_node; ///< of a dof that is here: its node, or the first of several
  std::vector<types::material_id> material_of_node;
  std::map<std::pair<std::size_t, types::material_id>, std::int64_t> other_nodes;

  DataPostprocessorInputs::Scalar<dim> scalar_input;
  DataPostprocessorInputs::Vector<dim> vector_input;
};

template <int dim>
void NodeFields<dim>::Builder::number_nodes()
{
  for_each_owned_cell([&](const ActiveCell<dim> &cell, std::size_t) {
    cell->get_dof_indices(dofs);
    points.reinit(cell);
    for (unsigned int k = 0; k < vtk.nodes.size(); ++k) {
      std::int64_t node = find_node(k, cell->material_id());
      if (node == none) {
        node = static_cast<std::int64_t>(material_of_node.size());
        const std::size_t i = local_dof(k);
        if (first_node[i] == none)
          first_node[i] = node;
        else
          other_nodes[{i, cell->material_id()}] = node;
        material_of_node.push_back(cell->material_id());
        const Point<dim> &place = points.batch().points()[k];
        for (unsigned int d = 0; d < 3; ++d)
          fields.places.push_back(d < dim ? place[d] : 0.);
      }
      fields.nodes_of_cells.push_back(node);
    }
  });
}

template <int dim>
void NodeFields<dim>::Builder::add_function(const std::vector<std::string> &names,
                                            const FeVector &v)
{
  OutputField &field =
      add_field(fields.at_nodes, names.front(), n_components == 1 ? 1 : 3, fields.n_nodes());
  for_each_owned_cell([&](const ActiveCell<dim> &cell, const std::size_t number) {
    cell->get_dof_values(v, cell_values);
    points.reinit(cell);
    points.set_solution(cell_values);
    for (unsigned int k = 0; k < vtk.nodes.size(); ++k) {
      const auto node = fields.nodes_of_cells[number * vtk.nodes.size() + k];
      for (unsigned int c = 0; c < n_components; ++c)
        field.values[node * field.n_components + c] = points.batch().u[c][k];
    }
  });
}

/// The exact solution at the nodes, and what the solution differs from it.
template <int dim>
void NodeFields<dim>::Builder::add_exact_solution()
{
  if (problem.exact_solution() == nullptr)
    return;
  const ComparableSolution<dim> function(problem, discretization);
  std::vector<Point<dim>> nodes(fields.n_nodes());
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (unsigned int d = 0; d < dim; ++d)
      nodes[node][d] = fields.places[3 * node + d];
  const OutputField u = fields.at_nodes.front();
  OutputField exact = {"exact_" + u.name, u.n_components, std::vector<double>(u.values.size(), 0.)};
  OutputField error = {"error_" + u.name, u.n_components, exact.values};
  std::vector<double> values;
  for (unsigned int c = 0; c < n_components; ++c) {
    function.value_list(nodes, values, c);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const std::size_t i = node * u.n_components + c;
      exact.values[i] = values[node];
      error.values[i] = u.values[i] - values[node];
    }
  }
  fields.at_nodes.push_back(std::move(exact));
  fields.at_nodes.push_back(std::move(error));
}

/// What postprocessors see at the points of @p cell.
template <int dim>
void NodeFields<dim>::Builder::set_input(const ActiveCell<dim> &cell)
{
  cell->get_dof_values(solution.u(), cell_values);
  points.reinit(cell);
  points.set_solution(cell_values);
  const PointBatch<dim> &at = points.batch();
  const unsigned int n = at.size();
  if (n_components == 1) {
    scalar_input.evaluation_points = at.points();
    scalar_input.template set_cell<dim>(cell);
    scalar_input.solution_values.assign(at.u[0], at.u[0] + n);
    scalar_input.solution_gradients.resize(n);
    for (unsigned int q = 0; q < n; ++q)
      for (unsigned int d = 0; d < dim; ++d)
        scalar_input.solution_gradients[q][d] = at.gradient(0, d)[q];
    return;
  }
  vector_input.evaluation_points = at.points();
  vector_input.template set_cell<dim>(cell);
  vector_input.solution_values.resize(n, Vector<double>(n_components));
  vector_input.solution_gradients.resize(n, std::vector<Tensor<1, dim>>(n_components));
  for (unsigned int q = 0; q < n; ++q)
    for (unsigned int c = 0; c < n_components; ++c) {
      vector_input.solution_values[q](c) = at.u[c][q];
      for (unsigned int d = 0; d < dim; ++d)
        vector_input.solution_gradients[q][c][d] = at.gradient(c, d)[q];
    }
}

namespace
{
using Kind = DataComponentInterpretation::DataComponentInterpretation;

/// Where a field of a postprocessor is among its numbers, and in files.
struct DerivedField
{
  std::string name;
  unsigned int first, n_components;
  std::vector<unsigned int> sources; ///< of each number in files that the field has
  std::vector<unsigned int> targets; ///< the component in files
};

template <int dim>
std::vector<DerivedField> fields_of(const DataPostprocessor<dim> &postprocessor)
{
  const auto names = postprocessor.get_names();
  const auto kinds = postprocessor.get_data_component_interpretation();
  std::vector<DerivedField> result;
  for (unsigned int i = 0; i < names.size();) {
    DerivedField field = {names[i], i, 1, {0}, {0}};
    unsigned int length = 1;
    if (kinds[i] == DataComponentInterpretation::component_is_part_of_vector) {
      length = dim;
      field.n_components = 3;
      field.sources = field.targets = {0, 1};
      if (dim == 3)
        field.sources = field.targets = {0, 1, 2};
    }
    else if (kinds[i] == DataComponentInterpretation::component_is_part_of_tensor) {
      length = dim * dim;
      field.n_components = 6;
      field.sources = dim == 2 ? std::vector<unsigned int>{0, 3, 1}
                               : std::vector<unsigned int>{0, 4, 8, 1, 5, 2};
      field.targets = dim == 2 ? std::vector<unsigned int>{0, 1, 3}
                               : std::vector<unsigned int>{0, 1, 2, 3, 4, 5};
    }
    result.push_back(field);
    i += length;
  }
  return result;
}
} // namespace

template <int dim>
void NodeFields<dim>::Builder::add_postprocessors()
{
  const auto postprocessors = problem.postprocessors();
  std::vector<unsigned int> n_cells_around(fields.n_nodes(), 0);
  std::vector<std::vector<DerivedField>> derived;
  const std::size_t first_field = fields.at_nodes.size();
  for (const auto &postprocessor : postprocessors) {
    derived.push_back(fields_of(*postprocessor));
    for (const DerivedField &field : derived.back())
      add_field(fields.at_nodes, field.name, field.n_components, fields.n_nodes());
  }
  if (postprocessors.empty())
    return;
  std::vector<Vector<double>> computed;
  std::vector<std::int64_t> nodes(vtk.nodes.size());
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (cell->is_artificial())
      continue;
    cell->get_dof_indices(dofs);
    for (unsigned int k = 0; k < nodes.size(); ++k)
      nodes[k] = find_node(k, cell->material_id());
    if (std::all_of(nodes.begin(), nodes.end(), [](const auto node) { return node == none; }))
      continue;
    set_input(cell);
    for (const auto node : nodes)
      if (node != none)
        ++n_cells_around[node];
    std::size_t next = first_field;
    for (std::size_t p = 0; p < postprocessors.size(); ++p) {
      computed.assign(nodes.size(), Vector<double>(static_cast<unsigned int>(
                                        postprocessors[p]->get_names().size())));
      if (n_components == 1)
        postprocessors[p]->evaluate_scalar_field(scalar_input, computed);
      else
        postprocessors[p]->evaluate_vector_field(vector_input, computed);
      for (const DerivedField &field : derived[p]) {
        std::vector<double> &values = fields.at_nodes[next++].values;
        for (unsigned int k = 0; k < nodes.size(); ++k)
          for (std::size_t s = 0; nodes[k] != none && s < field.sources.size(); ++s)
            values[nodes[k] * field.n_components + field.targets[s]] +=
                computed[k](field.first + field.sources[s]);
      }
    }
  }
  for (std::size_t f = first_field; f < fields.at_nodes.size(); ++f) {
    OutputField &field = fields.at_nodes[f];
    for (std::size_t i = 0; i < field.values.size(); ++i)
      field.values[i] /= n_cells_around[i / field.n_components];
  }
}

template <int dim>
void NodeFields<dim>::Builder::add_cell_fields(const Vector<float> &indicators)
{
  OutputField material = {"material_id", 1, {}}, subdomain = {"subdomain", 1, {}},
              indicator = {"error_indicator", 1, {}};
  const unsigned int rank = Utilities::MPI::this_mpi_process(discretization.communicator());
  for_each_owned_cell([&](const ActiveCell<dim> &cell, std::size_t) {
    material.values.push_back(cell->material_id());
    subdomain.values.push_back(rank);
    if (indicators.size() > 0)
      indicator.values.push_back(indicators(cell->active_cell_index()));
  });
  fields.in_cells = {std::move(material), std::move(subdomain)};
  if (Utilities::MPI::logical_or(indicators.size() > 0, discretization.communicator()))
    fields.in_cells.push_back(std::move(indicator));
}

template <int dim>
NodeFields<dim>::NodeFields(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                            const bool has_nodal_fields, const Vector<float> &indicators)
{
  Builder builder(*this, problem, solution);
  builder.number_nodes();
  builder.add_function(problem.component_names(), solution.u());
  builder.add_exact_solution();
  if (has_nodal_fields)
    for (const NodalField &field : problem.nodal_fields(solution))
      builder.add_function({field.name}, field.values);
  builder.add_postprocessors();
  builder.add_cell_fields(indicators);
}

template class NodeFields<2>;
template class NodeFields<3>;
} // namespace femgpu
