/* Uses every function of the C interface (linalg/c/femgpu.h) from a program in C. The argument is
 * the backend. */
#include "linalg/c/femgpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  n = 1000,
  n_entries = 3 * n - 2
};

static int row_starts[n + 1], columns[n_entries];
static double values[n_entries], b[n], x[n], y[n], B[3 * n], X[3 * n];

static void require(const int holds, const char *what, const femgpu_solver *solver)
{
  if (holds)
    return;
  fprintf(stderr, "failed: %s (%s)\n", what, femgpu_error(solver));
  exit(1);
}
#define REQUIRE(condition) require(condition, #condition, solver)

/* Makes the Laplacian on a line, times factor, with an advection term. */
static void make_matrix(const double factor, const double advection)
{
  int k = 0;
  for (int i = 0; i < n; ++i) {
    row_starts[i] = k;
    if (i > 0) {
      columns[k] = i - 1;
      values[k++] = factor * (-1. - advection);
    }
    columns[k] = i;
    values[k++] = factor * (2. + advection);
    if (i + 1 < n) {
      columns[k] = i + 1;
      values[k++] = -factor;
    }
  }
  row_starts[n] = k;
}

static double residual(femgpu_solver *solver)
{
  double sum = 0.;
  REQUIRE(femgpu_multiply(solver, x, y) == FEMGPU_OK);
  for (int i = 0; i < n; ++i)
    sum += (b[i] - y[i]) * (b[i] - y[i]);
  return sqrt(sum);
}

static void test_solves(femgpu_solver *solver)
{
  make_matrix(1., 0.);
  REQUIRE(femgpu_set_option(solver, "solver", "cg") == FEMGPU_OK);
  REQUIRE(femgpu_set_option(solver, "preconditioner", "multigrid") == FEMGPU_OK);
  REQUIRE(femgpu_set_option(solver, "relative-tolerance", "1e-9") == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_OK);
  REQUIRE(femgpu_solve(solver, b, x) == FEMGPU_OK);
  REQUIRE(strcmp(femgpu_report_text(solver, "outcome"), "converged") == 0);
  REQUIRE(femgpu_report_number(solver, "iterations") >= 1.);
  REQUIRE(fabs(residual(solver) - femgpu_report_number(solver, "true_residual")) < 1e-11);
  REQUIRE(isnan(femgpu_report_number(solver, "no such number")));
  REQUIRE(strcmp(femgpu_report_text(solver, "iterations"), "") == 0);

  const double middle = x[n / 2];
  make_matrix(2., 0.);
  REQUIRE(femgpu_update(solver, values) == FEMGPU_OK);
  REQUIRE(femgpu_solve(solver, b, x) == FEMGPU_OK);
  REQUIRE(fabs(x[n / 2] - 0.5 * middle) < 1e-6 * fabs(middle));
  REQUIRE(femgpu_precondition(solver, b, y) == FEMGPU_OK);

  for (int k = 0; k < 3 * n; ++k)
    B[k] = b[k % n] * (1 + k / n);
  REQUIRE(femgpu_set_option(solver, "solver", "block-cg") == FEMGPU_OK);
  for (int i = 0; i < n; ++i)
    y[i] = 1.;
  REQUIRE(femgpu_set_near_null(solver, 1, n, y) == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_OK);
  REQUIRE(femgpu_solve_columns(solver, 3, B, X) == FEMGPU_OK);
  for (int k = 0; k < 3 * n; ++k)
    REQUIRE(fabs(X[k] - x[k % n] * (1 + k / n)) < 1e-5 * fabs(middle));
  REQUIRE(femgpu_solve_columns(solver, 0, B, X) == FEMGPU_PARAMETER_ERROR);
  REQUIRE(femgpu_set_near_null(solver, 1, n - 1, y) == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_INPUT_ERROR);
  REQUIRE(femgpu_set_near_null(solver, 0, 0, NULL) == FEMGPU_OK);

  memset(x, 0, sizeof(x));
  REQUIRE(femgpu_set_option(solver, "solver", "cg") == FEMGPU_OK);
  REQUIRE(femgpu_set_option(solver, "preconditioner", "identity") == FEMGPU_OK);
  REQUIRE(femgpu_set_option(solver, "max-iterations", "5") == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_OK);
  REQUIRE(femgpu_solve(solver, b, x) == FEMGPU_NOT_CONVERGED);
  REQUIRE(strcmp(femgpu_report_text(solver, "outcome"), "iteration_limit") == 0);
  REQUIRE(strlen(femgpu_error(solver)) > 0);
  REQUIRE(femgpu_report_number(solver, "iterations") == 5.);

  make_matrix(1., 0.5);
  REQUIRE(femgpu_set_option(solver, "solver", "bicgstab") == FEMGPU_OK);
  REQUIRE(femgpu_set_option(solver, "preconditioner", "ilu") == FEMGPU_OK);
  REQUIRE(femgpu_set_option(solver, "max-iterations", "1000") == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_OK);
  REQUIRE(femgpu_solve(solver, b, x) == FEMGPU_OK);
  REQUIRE(residual(solver) < 1e-6);
}

static void test_errors(femgpu_solver *solver)
{
  REQUIRE(femgpu_solve(solver, b, x) == FEMGPU_NOT_CONVERGED);
  REQUIRE(strstr(femgpu_error(solver), "no matrix") != NULL);
  REQUIRE(femgpu_set_option(solver, "colour", "red") == FEMGPU_PARAMETER_ERROR);
  REQUIRE(strstr(femgpu_error(solver), "preconditioner") != NULL);
  REQUIRE(femgpu_set_option(solver, "relative-tolerance", "small") == FEMGPU_PARAMETER_ERROR);
  REQUIRE(femgpu_set_option(solver, NULL, "1") == FEMGPU_PARAMETER_ERROR);
  REQUIRE(femgpu_set_unknowns(solver, 1, 2, n, NULL) == FEMGPU_PARAMETER_ERROR);
  make_matrix(1., 0.);
  columns[5] = n;
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_INPUT_ERROR);
  REQUIRE(strstr(femgpu_error(solver), "Row 2") != NULL);
  make_matrix(1., 0.);
  REQUIRE(femgpu_set_matrix(solver, n, NULL, columns, values) == FEMGPU_INPUT_ERROR);
  REQUIRE(femgpu_set_option(solver, "preconditioner", "magic") == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_PARAMETER_ERROR);
  REQUIRE(femgpu_solve(solver, b, x) == FEMGPU_NOT_CONVERGED);
  REQUIRE(femgpu_set_option(solver, "backend", "abacus") == FEMGPU_OK);
  REQUIRE(femgpu_set_matrix(solver, n, row_starts, columns, values) == FEMGPU_PARAMETER_ERROR);
  REQUIRE(femgpu_solve(NULL, b, x) == FEMGPU_PARAMETER_ERROR);
  REQUIRE(strcmp(femgpu_report_text(NULL, "outcome"), "") == 0);
}

int main(const int n_arguments, char **arguments)
{
  const char *const backend = n_arguments > 1 ? arguments[1] : "auto";
  for (int i = 0; i < n; ++i)
    b[i] = 1. + i % 7;
  for (int k = 0; k < 2; ++k) {
    femgpu_solver *solver = femgpu_create();
    REQUIRE(solver != NULL && strcmp(femgpu_error(solver), "") == 0);
    REQUIRE(femgpu_set_option(solver, "backend", backend) == FEMGPU_OK);
    REQUIRE(femgpu_wait_for_stream(solver, NULL) == FEMGPU_OK);
    if (k == 0)
      test_solves(solver);
    else
      test_errors(solver);
    femgpu_destroy(solver);
  }
  femgpu_destroy(NULL);
  printf("femgpu %s: all checks passed\n", femgpu_version());
  return 0;
}
