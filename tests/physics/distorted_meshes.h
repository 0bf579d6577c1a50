#ifndef femgpu_tests_physics_distorted_meshes_h
#define femgpu_tests_physics_distorted_meshes_h

#include "physics/refinement.h"
#include "tests/physics/physics_on_mesh.h"

#include <deal.II/base/point.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/grid/grid_tools.h>

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>

namespace femgpu
{
/// Calls check(cells, degree) for each element: Q1 to Q4, P1 and P2.
template <class Check>
void for_each_element(const Check &check)
{
  for (const std::string cells : {"hypercube", "simplex"})
    for (unsigned int degree = 1; degree <= (cells == "simplex" ? 2 : 4); ++degree) {
      SCOPED_TRACE(cells + " of degree " + std::to_string(degree));
      check(cells, degree);
    }
}

/// Moves the vertices of @p mesh so that no two cells have the same shape and no two sides of a
/// cell are parallel.
template <int dim>
void distort(Mesh<dim> &mesh)
{
  dealii::GridTools::transform(
      [](const dealii::Point<dim> &p) {
        dealii::Point<dim> moved = p;
        for (unsigned int d = 0; d < dim; ++d)
          moved[d] += 0.06 * std::sin(5. * p[(d + 1) % dim] + 2. * d) +
                      0.07 * p[d] * p[(d + dim - 1) % dim];
        return moved;
      },
      *mesh.triangulation);
}

/// Refines cells near a corner of the mesh @p levels times, which creates hanging nodes.
template <int dim>
void refine_at_corner(Mesh<dim> &mesh, const unsigned int levels)
{
  for (unsigned int level = 0; level < levels; ++level) {
    const double radius = 0.8 / (1U << level);
    flag_if(mesh, [&](const auto &cell) { return cell->center().norm() < radius; });
    mesh.triangulation->execute_coarsening_and_refinement();
  }
}
} // namespace femgpu

#endif
