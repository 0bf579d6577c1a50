#include "app/node_fields.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_points.h"
#include "physics/mean_value.h"

#include <deal.II/base/mpi.h>
#include <deal.II/fe/fe_tools.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
using Indices = std::array<unsigned int, 3>;

/// Returns the indices (i, j, k), 0 <= i, j, k <= p, of the nodes of a quadrilateral or hexahedron
/// of degree @p p in the order of VTK's Lagrange cells: corners, edges, faces, interior. Within
/// each edge, face and interior, x runs fastest.
std::vector<Indices> vtk_order_of_hypercube(const unsigned int dim, const unsigned int p)
{
  // around[side in y][side in x]: the number of a corner or edge on a circuit around the z axis. A
  // side is 0 if the node's index in that direction is 0, 1 if the index is p, and 2 otherwise.
  constexpr unsigned int around[3][3] = {{0, 1, 0}, {3, 2, 2}, {3, 1, 0}};
  std::multimap<std::pair<unsigned int, unsigned int>, Indices> order; // key: dimension, entity
  for (unsigned int k = 0; k <= (dim == 3 ? p : 0); ++k)
    for (unsigned int j = 0; j <= p; ++j)
      for (unsigned int i = 0; i <= p; ++i) {
        const Indices node = {i, j, k};
        Indices side{};
        unsigned int dimension = 0, face = 0;
        for (unsigned int d = 0; d < 3; ++d) {
          side[d] = node[d] == 0 ? 0 : node[d] == p ? 1 : 2;
          if (side[d] == 2)
            ++dimension;
          else
            face += 2 * d + side[d]; // inside a face, only one direction d has side[d] != 2
        }
        const unsigned int edge = 4 * side[2] + around[side[1]][side[0]];
        order.emplace(std::pair(dimension, dimension < 2 ? edge : face), node);
      }
  std::vector<Indices> nodes;
  for (const auto &entry : order)
    nodes.push_back(entry.second);
  return nodes;
}

/// The nodes of a cell in VTK's order, as element node numbers and reference points.
template <int dim>
struct VtkCell
{
  explicit VtkCell(const FiniteElement<dim> &scalar)
  {
    const unsigned int p = scalar.degree;
    const ReferenceCell cell = scalar.reference_cell();
    if (cell.is_simplex()) { // deal.II and VTK use the same order
      type = p == 1 ? cell.vtk_linear_type() : cell.vtk_quadratic_type();
      for (unsigned int node = 0; node < scalar.n_dofs_per_cell(); ++node)
        nodes.push_back(node);
      points = scalar.get_unit_support_points();
      return;
    }
    type = p == 1 ? cell.vtk_linear_type() : cell.vtk_lagrange_type();
    const auto numbering = FETools::lexicographic_to_hierarchic_numbering<dim>(p);
    for (const Indices &indices : vtk_order_of_hypercube(dim, p)) {
      const auto &[i, j, k] = indices;
      nodes.push_back(numbering[i + (p + 1) * (j + (p + 1) * k)]);
      Point<dim> point;
      for (unsigned int d = 0; d < dim; ++d)
        point[d] = static_cast<double>(indices[d]) / p;
      points.push_back(point);
    }
  }

  unsigned int type;
  std::vector<unsigned int> nodes;
  std::vector<Point<dim>> points;
};

/// The number of columns of a derived field in a file, and pairs of component and column.
struct FileColumns
{
  std::size_t n;
  std::vector<std::pair<unsigned int, unsigned int>> numbers;
};

FileColumns columns_of(const DerivedField &field, const unsigned int dim)
{
  if (field.rank == 0)
    return {1, {{0, 0}}};
  if (field.rank == 2 && dim == 2)
    return {6, {{0, 0}, {3, 1}, {1, 3}}};
  if (field.rank == 2)
    return {6, {{0, 0}, {4, 1}, {8, 2}, {1, 3}, {5, 4}, {2, 5}}};
  FileColumns columns = {3, {}};
  for (unsigned int d = 0; d < dim; ++d)
    columns.numbers.emplace_back(d, d);
  return columns;
}

/**
 * Computes NodeFields. Fields are evaluated for a batch of cells of the same material at a time.
 * Nodal values are buffered as doubles until they are complete: for a continuous field when the
 * first cell around a node is visited, for a derived field when all of these cells have been
 * visited.
 */
template <int dim>
class NodeFieldsBuilder
{
public:
  NodeFieldsBuilder(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                    const NodeFieldOptions &options)
      : problem(problem), discretization(solution.discretization()), options(options),
        u(solution.u()), derived(problem.derived_fields()), n_components(problem.n_components()),
        vtk(discretization.element().base_element(0)),
        points(discretization, Quadrature<dim>(vtk.points)), partitioner(*u.get_partitioner()),
        dofs(discretization.element().n_dofs_per_cell()), local_dofs(dofs.size()),
        u_cell(dofs.size())
  {
    if (options.has_nodal_fields)
      nodal = problem.nodal_fields(solution);
    if (problem.exact_solution() != nullptr)
      exact.emplace(problem, discretization);
    for (const unsigned int node : vtk.nodes)
      dofs_of_nodes.push_back(discretization.element().component_to_system_index(0, node));
    if (options.shares_nodes)
      node_of_dof.assign(partitioner.locally_owned_size() + partitioner.n_ghost_indices(), none);
    fields.cell_type = vtk.type;
    fields.points = {"Points", options.real, 3};
    fields.n_nodes_of_cell = vtk.nodes.size();
    fields.connectivity = {"connectivity", NumberType::int32};
    fields.connectivity.bytes.reserve(discretization.n_owned_cells() * vtk.nodes.size() *
                                      fields.connectivity.row_bytes());

    const std::string name = problem.solution_name();
    const std::size_t n_columns = n_components == 1 ? 1 : 3;
    add_field(name, n_columns);
    if (exact) {
      add_field("exact_" + name, n_columns);
      add_field("error_" + name, n_columns);
    }
    first_nodal = pending_values.size();
    for (const NodalField &field : nodal)
      add_field(field.name, n_columns);
    first_derived = pending_values.size();
    for (const DerivedField &field : derived) {
      add_field(field.name, columns_of(field, dim).n);
      n_derived_numbers += field.n_numbers(dim);
    }
    const auto max_n_points = std::max(max_points, static_cast<unsigned int>(vtk.nodes.size()));
    at.evaluation_points = &evaluation_points;
    at.u.reinit(n_components, max_n_points);
    at.gradients.reinit(n_components * dim, max_n_points);
  }

  NodeFields build(const Vector<float> &indicators)
  {
    OutputArray material = {"material_id", NumberType::int32},
                indicator = {"error_indicator", options.real};
    const MPI_Comm comm = discretization.communicator();
    rethrow_on_all_ranks<ParameterError>(comm, [&] { // data may be invalid at a node
      for (const auto &cell : discretization.owned_cells()) {
        add_cell(cell);
        fields.connectivity.append(nodes.data() + nodes.size() - vtk.nodes.size(),
                                   vtk.nodes.size());
        const auto id = cell->material_id();
        material.append(&id, 1);
        if (indicators.size() > 0)
          indicator.append(indicators.begin() + cell->active_cell_index(), 1);
      }
      if (options.shares_nodes && !derived.empty())
        for (const auto &cell : discretization.cells())
          if (!cell->is_locally_owned())
            add_cell(cell);
      flush();
    });
    store(first_derived, pending_values.size());
    fields.cell_data = {std::move(material),
                        arithmetic_sequence("subdomain", NumberType::int32,
                                            Utilities::MPI::this_mpi_process(comm), 0,
                                            fields.n_cells())};
    if (Utilities::MPI::logical_or(indicators.size() > 0, comm))
      fields.cell_data.push_back(std::move(indicator));
    return std::move(fields);
  }

private:
  static constexpr std::int32_t none = -1;
  static constexpr unsigned int max_points = 256; ///< points of a batch, unless one cell has more

  void add_field(const std::string &name, const std::size_t n_columns)
  {
    fields.point_data.push_back({name, options.real, n_columns});
    pending_values.emplace_back();
  }

  void add_cell(const ActiveCell<dim> &cell)
  {
    const std::size_t n = vtk.nodes.size();
    if (!evaluation_points.empty() &&
        (evaluation_points.size() + n > max_points || at.material != cell->material_id()))
      flush();
    if (!find_nodes(cell))
      return;
    points.reinit(cell);
    const PointBatch<dim> &of_cell = points.batch();
    for (const unsigned int k : new_nodes)
      new_points.push_back(of_cell.points()[k]);
    for (std::size_t f = 0; !new_nodes.empty() && f < nodal.size(); ++f)
      add_continuous(nodal[f].values, first_nodal + f);
    add_continuous(u, 0);
    at.material = cell->material_id();
    const std::size_t before = evaluation_points.size();
    evaluation_points.insert(evaluation_points.end(), of_cell.points().begin(),
                             of_cell.points().end());
    for (unsigned int c = 0; c < n_components; ++c) {
      std::copy_n(of_cell.u[c], n, at.u[c] + before);
      for (unsigned int d = 0; d < dim; ++d)
        std::copy_n(of_cell.gradient(c, d), n, at.gradients[c * dim + d] + before);
    }
  }

  /// Appends the nodes of @p cell to `nodes` and numbers those that are new.
  /// @return whether at least one node of @p cell belongs to a cell of this rank
  bool find_nodes(const ActiveCell<dim> &cell)
  {
    cell->get_dof_indices(dofs);
    for (std::size_t i = 0; i < dofs.size(); ++i)
      local_dofs[i] = partitioner.global_to_local(dofs[i]);
    const types::material_id material = cell->material_id();
    const bool is_owned = cell->is_locally_owned();
    const std::size_t before = nodes.size();
    bool has_node = false;
    new_nodes.clear();
    for (unsigned int k = 0; k < vtk.nodes.size(); ++k) {
      std::int32_t own = none;
      std::int32_t &node =
          options.shares_nodes ? node_of(local_dofs[dofs_of_nodes[k]], material) : own;
      if (node == none && is_owned) {
        node = n_nodes++;
        material_of_node.push_back(material);
        new_nodes.push_back(k);
      }
      nodes.push_back(node);
      has_node = has_node || node != none;
    }
    if (!has_node)
      nodes.resize(before);
    return has_node;
  }

  /// Returns the node at @p dof that cells of @p material share; `none` if it is not numbered yet.
  std::int32_t &node_of(const std::size_t dof, const types::material_id material)
  {
    std::int32_t &first = node_of_dof[dof];
    if (first == none || material_of_node[first] == material)
      return first;
    return other_nodes.try_emplace({dof, material}, none).first->second;
  }

  /// Appends the values of @p v at the new nodes of the current cell to field number @p field.
  void add_continuous(const FeVector &v, const std::size_t field)
  {
    for (std::size_t i = 0; i < local_dofs.size(); ++i)
      u_cell(i) = v.local_element(local_dofs[i]);
    points.set_solution(u_cell);
    for (const unsigned int k : new_nodes)
      for (unsigned int c = 0; c < fields.point_data[field].n_columns; ++c)
        pending_values[field].push_back(c < n_components ? points.batch().u[c][k] : 0.);
  }

  /// Evaluates the fields at the collected points.
  void flush()
  {
    std::vector<double> coordinates(3 * new_points.size(), 0.);
    for (std::size_t node = 0; node < new_points.size(); ++node)
      for (unsigned int d = 0; d < dim; ++d)
        coordinates[3 * node + d] = new_points[node][d];
    fields.points.append(coordinates.data(), coordinates.size());
    if (exact)
      add_exact_solution();
    if (!derived.empty() && !nodes.empty())
      add_derived();
    evaluation_points.clear();
    nodes.clear();
    new_points.clear();
    store(0, options.shares_nodes ? first_derived : pending_values.size());
  }

  /// Evaluates the exact solution and the error at the new nodes.
  void add_exact_solution()
  {
    const std::vector<double> &found = pending_values[0];
    const std::size_t n_columns = fields.point_data[0].n_columns;
    pending_values[1].assign(found.size(), 0.);
    pending_values[2].assign(found.size(), 0.);
    std::vector<double> values;
    for (unsigned int c = 0; c < n_components; ++c) {
      exact->value_list(new_points, values, c);
      for (std::size_t node = 0; node < new_points.size(); ++node) {
        const std::size_t i = node * n_columns + c;
        pending_values[1][i] = values[node];
        pending_values[2][i] = found[i] - values[node];
      }
    }
  }

  /// Adds the derived fields of the collected cells to the sums at their nodes.
  void add_derived()
  {
    const std::int32_t first = options.shares_nodes ? 0 : nodes.front();
    n_adjacent_cells.resize(n_nodes - first, 0);
    for (const std::int32_t node : nodes)
      if (node != none)
        ++n_adjacent_cells[node - first];
    numbers.reinit(n_derived_numbers, static_cast<unsigned int>(evaluation_points.size()));
    problem.evaluate_derived_fields(at, numbers);
    unsigned int row = 0;
    for (std::size_t f = 0; f < derived.size(); ++f) {
      const FileColumns columns = columns_of(derived[f], dim);
      std::vector<double> &sums = pending_values[first_derived + f];
      sums.resize(n_adjacent_cells.size() * columns.n, 0.);
      for (const auto &[number, column] : columns.numbers) {
        const double *const values = numbers[row + number];
        for (std::size_t q = 0; q < nodes.size(); ++q)
          if (nodes[q] != none)
            sums[(nodes[q] - first) * columns.n + column] += values[q];
      }
      row += derived[f].n_numbers(dim);
    }
  }

  /// Stores the completed values of fields [@p begin, @p end), derived fields as means.
  void store(const std::size_t begin, const std::size_t end)
  {
    for (std::size_t f = begin; f < end; ++f) {
      const std::size_t n_columns = fields.point_data[f].n_columns;
      std::vector<double> &complete = pending_values[f];
      if (f >= first_derived)
        for (std::size_t node = 0; node < n_adjacent_cells.size(); ++node)
          for (std::size_t c = 0; c < n_columns; ++c)
            complete[node * n_columns + c] /= n_adjacent_cells[node];
      fields.point_data[f].append(complete.data(), complete.size());
      complete.clear();
    }
    if (end > first_derived)
      n_adjacent_cells.clear();
  }

  NodeFields fields;
  const Problem<dim> &problem;
  const Discretization<dim> &discretization;
  const NodeFieldOptions options;
  const FeVector &u;
  std::vector<NodalField> nodal;
  std::optional<ReferenceSolution<dim>> exact;
  std::vector<DerivedField> derived;
  unsigned int n_components, n_derived_numbers = 0;
  std::size_t first_nodal = 1, first_derived = 1; ///< index of the first field of each kind
  VtkCell<dim> vtk;
  CellPoints<dim> points; ///< points of the current cell
  const Utilities::MPI::Partitioner &partitioner;

  std::vector<types::global_dof_index> dofs; ///< dofs of the current cell
  std::vector<unsigned int> local_dofs, dofs_of_nodes;
  Vector<double> u_cell;

  std::int32_t n_nodes = 0;
  std::vector<std::int32_t> node_of_dof; ///< the node of the first material found at a dof
  std::vector<types::material_id> material_of_node;
  std::map<std::pair<std::size_t, types::material_id>, std::int32_t> other_nodes;

  std::vector<Point<dim>> evaluation_points; ///< the collected points
  PointBatch<dim> at;
  PointRows numbers;                   ///< values of the derived fields at the points
  std::vector<std::int32_t> nodes;     ///< nodes of the points
  std::vector<unsigned int> new_nodes; ///< points of the current cell that are new nodes
  std::vector<Point<dim>> new_points;

  std::vector<std::vector<double>> pending_values; ///< buffered values of each field
  std::vector<unsigned int> n_adjacent_cells;      ///< cells added so far to the sums at a node
};
} // namespace

template <int dim>
NodeFields node_fields(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                       const NodeFieldOptions &options, const Vector<float> &indicators)
{
  return NodeFieldsBuilder<dim>(problem, solution, options).build(indicators);
}

template NodeFields node_fields(const Problem<2> &, DiscreteSolution<2> &, const NodeFieldOptions &,
                                const Vector<float> &);
template NodeFields node_fields(const Problem<3> &, DiscreteSolution<3> &, const NodeFieldOptions &,
                                const Vector<float> &);
} // namespace femgpu
