#include "linalg/base/error.h"
#include "physics/mesh/mesh.h"
#include "physics/mesh/surfaces.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/numbers.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_tools.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

/**
 * @file
 * Tests meshes from files whose curved sides are preserved by refinement.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// Returns the area of the mesh. GridTools::volume() of deal.II 9.4 would treat triangles as
/// squares.
double area_of_straight_cells(const Mesh<2> &mesh)
{
  double area = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned())
      area += cell->measure();
  return Utilities::MPI::sum(area, MPI_COMM_WORLD);
}

/// Returns |area - exact| after 1, 2 and 3 refinements with a mapping of degree @p degree.
std::vector<double> area_errors(const std::string &file, const std::string &manifolds,
                                const unsigned int degree, const double exact)
{
  MeshParameters parameters;
  parameters.file = std::string(FEMGPU_MESH_DIR) + "/" + file;
  parameters.manifolds = manifolds;
  Mesh<2> mesh = make_mesh<2>(parameters, MPI_COMM_WORLD);
  EXPECT_EQ(mesh.is_curved, !manifolds.empty());
  std::vector<double> errors;
  for (unsigned int i = 0; i < 3; ++i) {
    refine_globally(mesh, 1);
    const double area = mesh.is_simplex
                            ? area_of_straight_cells(mesh)
                            : GridTools::volume(*mesh.triangulation, MappingQ<2>(degree));
    errors.push_back(std::abs(area - exact));
  }
  return errors;
}

double last_order(const std::vector<double> &errors)
{
  return std::log2(errors[1] / errors[2]);
}

// With Gauss-Lobatto points, the area of the mapped circle converges with order 2 p.
TEST(CurvedSides, AreaOfQuadrilateralsAtAHoleHasTwiceTheOrderOfTheMapping)
{
  const double exact = 16. - numbers::PI / 4.;
  for (const unsigned int degree : {1U, 2U}) {
    const auto errors = area_errors("plate_with_hole.msh", "hole: polar 0, 0", degree, exact);
    EXPECT_NEAR(last_order(errors), 2. * degree, 0.3) << errors[1] << ' ' << errors[2];
  }
  EXPECT_LT(area_errors("plate_with_hole.msh", "hole: polar 0, 0", 3, exact)[1], 1e-11);
  EXPECT_LT(area_errors("plate_with_hole.msh", "hole: sphere 0, 0", 4, exact)[2], 1e-12);
}

TEST(CurvedSides, AreaOfTrianglesAtAHoleHasOrderTwo)
{
  const auto errors =
      area_errors("plate_with_hole_triangles.msh", "5: polar 0, 0", 1, 4. - numbers::PI / 16.);
  EXPECT_NEAR(last_order(errors), 2., 0.05) << errors[1] << ' ' << errors[2];
}

TEST(CurvedSides, AreaStaysWrongWithoutThem)
{
  const auto errors = area_errors("plate_with_hole_triangles.msh", "", 1, 4. - numbers::PI / 16.);
  EXPECT_NEAR(errors[0], errors[2], 1e-12);
}

/// Checks family.level() at points between two points and at projected points. Checks
/// family.gradient() against central differences.
template <int dim>
void expect_levels_are_kept(const SurfaceFamily<dim> &family, const Point<dim> &a,
                            const Point<dim> &b)
{
  for (const double t : {0.2, 0.5}) {
    const double level = (1. - t) * family.level(a) + t * family.level(b);
    const Point<dim> chord = a + t * (b - a);
    EXPECT_NEAR(family.level(family.between(a, b, t)), level, 1e-14);
    EXPECT_NEAR(family.level(family.project(chord, level)), level, 1e-14);
    for (unsigned int d = 0; d < dim; ++d) {
      constexpr double h = 1e-6;
      Point<dim> more = chord, less = chord;
      more[d] += h;
      less[d] -= h;
      EXPECT_NEAR(family.gradient(chord)[d], (family.level(more) - family.level(less)) / (2. * h),
                  1e-8);
    }
  }
}

TEST(SurfaceFamily, EllipsesAndConesKeepTheirLevel)
{
  const auto ellipse =
      SurfaceFamily<2>::elliptic(Point<2>(1., 0.), {}, Tensor<1, 2>({0., -2.}), 0.5);
  EXPECT_NEAR(ellipse.level(Point<2>(1.5, 0.)), 2., 1e-15);
  EXPECT_NEAR(ellipse.level(Point<2>(1., 2.)), 2., 1e-15);
  expect_levels_are_kept(ellipse, Point<2>(1.5, 0.), Point<2>(1., 2.));
  const auto pipe = SurfaceFamily<3>::elliptic(Point<3>(0., 1., 0.), Tensor<1, 3>({0., 0., 3.}),
                                               Tensor<1, 3>({2., 0., 0.}), 4.);
  EXPECT_NEAR(pipe.level(Point<3>(0., 5., 7.)), 2., 1e-15);
  expect_levels_are_kept(pipe, Point<3>(2., 1., 0.), Point<3>(0., 6., 1.));
  const auto cone = SurfaceFamily<3>::round(Point<3>(), Tensor<1, 3>({0., 0., -1.}))
                        .cones_through(Point<3>(1., 0., 0.), Point<3>(0., 2., 3.));
  EXPECT_NEAR(cone.level(Point<3>(0., -2., 3.)), cone.level(Point<3>(1., 0., 0.)), 1e-15);
  EXPECT_NEAR(cone.level(Point<3>(0., 0., -3.)), cone.level(Point<3>(1., 0., 0.)), 1e-15); // apex
  expect_levels_are_kept(cone, Point<3>(1., 0., 0.), Point<3>(0., 2., 3.));
}

std::string error_of(const std::string &manifolds)
{
  try {
    area_errors("plate_with_hole.msh", manifolds, 1, 0.);
  }
  catch (const ParameterError &error) {
    return error.what();
  }
  return "no error";
}

TEST(CurvedSides, WrongEntriesAreRefused)
{
  const auto has = [](const std::string &text, const std::string &substring) {
    return text.find(substring) != std::string::npos;
  };
  EXPECT_TRUE(has(error_of("hole polar 0, 0"), "has no ':'"));
  EXPECT_TRUE(has(error_of("hole: cone 0, 0"), "has the surface 'cone 0, 0', but in 2D there are"));
  EXPECT_TRUE(has(error_of("hole: ellipse 0, 0"), "has 2 numbers, but ellipse needs 5"));
  EXPECT_TRUE(has(error_of("hole: ellipse 0, 0, 1, 0, 0"), "has a semi-axis of length zero"));
  EXPECT_TRUE(has(error_of("hole: ellipse 0, 0, 2, 0, 1"), "does not fit the mesh: the node at"));
  EXPECT_TRUE(has(error_of("hole: flat 0"), "has the surface 'flat 0'"));
  EXPECT_TRUE(has(error_of("hole: cylinder 0, 0, 0, 0, 0, 1"), "has the surface 'cylinder 0"));
  EXPECT_TRUE(has(error_of("hole: polar 0"), "has 1 numbers, but polar needs 2"));
  EXPECT_TRUE(has(error_of("hole: polar 0, a"), "has 'a' instead of a number"));
  EXPECT_TRUE(has(error_of("hole: polar 0, 0; 3: polar 0, 0"), "repeats boundary id 3"));
  EXPECT_TRUE(has(error_of("hole: polar 0.1, 0"), "does not fit the mesh: the node at"));
  EXPECT_TRUE(has(error_of("outer: polar 0, 0"), "does not fit the mesh: the node at"));
  EXPECT_TRUE(has(error_of("rim: polar 0, 0"), "'rim' in Mesh/Manifolds is neither a boundary id"));
}
} // namespace
