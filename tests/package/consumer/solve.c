/* Solves a system through the C interface: the five-point discretisation of Poisson's equation on
 * 100 x 100 points. */
#include <femgpu/femgpu.h>

#include <stdio.h>

enum { side = 100, n = side * side };

static int row_starts[n + 1], columns[5 * n];
static double values[5 * n], b[n], x[n]; /* x = 0 is the initial guess */

static int size = 0; /* number of entries */

static void add(const int column, const double value)
{
  columns[size] = column;
  values[size] = value;
  ++size;
}

int main(void)
{
  femgpu_solver *const solver = femgpu_create();
  femgpu_status status = FEMGPU_OK;
  int i;
  for (i = 0; i < n; ++i) { /* columns in ascending order */
    if (i >= side)
      add(i - side, -1.);
    if (i % side > 0)
      add(i - 1, -1.);
    add(i, 4.);
    if (i % side < side - 1)
      add(i + 1, -1.);
    if (i + side < n)
      add(i + side, -1.);
    row_starts[i + 1] = size;
    b[i] = 1.;
  }
  femgpu_set_option(solver, "solver", "cg");
  femgpu_set_option(solver, "relative-tolerance", "1e-10");
  status = femgpu_set_matrix(solver, n, row_starts, columns, values);
  if (status == FEMGPU_OK)
    status = femgpu_solve(solver, b, x);
  if (status == FEMGPU_OK)
  {
    printf("%s\n", femgpu_report_text(solver, "message")); /* valid until the next call */
    printf("backend %s\n", femgpu_report_text(solver, "backend"));
    printf("iterations %.0f\n", femgpu_report_number(solver, "iterations"));
    printf("residual %.17g\n", femgpu_report_number(solver, "true_residual"));
  }
  else
    fprintf(stderr, "%s\n", femgpu_error(solver));
  femgpu_destroy(solver);
  return status;
}
