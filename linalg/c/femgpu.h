#ifndef femgpu_linalg_c_femgpu_h
#define femgpu_linalg_c_femgpu_h

#include <stddef.h>

/**
 * @file
 * The C interface of femgpu: solves sparse linear systems A x = b in double precision, on the host
 * or on a CUDA device. It is meant for programs in C, Fortran, Julia, Rust and other languages.
 *
 *     femgpu_solver *solver = femgpu_create();
 *     femgpu_set_option(solver, "preconditioner", "multigrid");
 *     femgpu_set_matrix(solver, n, row_starts, columns, values);
 *     femgpu_solve(solver, b, x);
 *     double iterations = femgpu_report_number(solver, "iterations");
 *     femgpu_destroy(solver);
 *
 * Matrices are square and in CSR format, with indices from 0 and ascending columns in each row.
 * Arrays are in host memory or, if the backend is a CUDA device, all of a matrix in its memory;
 * each vector may be in either. No exception and no signal leaves a function. Functions that return
 * a femgpu_status keep a message for femgpu_error(). Only one thread at a time may use a solver;
 * different solvers may be used by different threads.
 */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct femgpu_solver femgpu_solver;

/** The result of a call. */
typedef enum femgpu_status
{
  FEMGPU_OK = 0,
  FEMGPU_PARAMETER_ERROR = 1, /**< an option is unknown or does not fit the system */
  FEMGPU_INPUT_ERROR = 2,     /**< the matrix is invalid */
  FEMGPU_NOT_CONVERGED = 3,   /**< x is the best iterate; or the methods cannot handle the matrix */
  FEMGPU_DEVICE_ERROR = 4,    /**< the device is missing or fails, or memory is exhausted */
  FEMGPU_OTHER_ERROR = 6      /**< an unexpected error */
} femgpu_status;

/** Returns the version, such as "0.1.0". */
const char *femgpu_version(void);

/** Makes a solver; NULL if memory is exhausted. */
femgpu_solver *femgpu_create(void);

/** Frees a solver and its memory on the device; NULL is allowed. */
void femgpu_destroy(femgpu_solver *solver);

/** Returns the message of the last call that failed; "" if none has. Valid until the next call. */
const char *femgpu_error(const femgpu_solver *solver);

/**
 * Sets an option. Methods and the backend take effect at the next femgpu_set_matrix(), tolerances
 * at the next solve.
 *
 *     backend             auto, host, cuda or cuda:K
 *     threads             threads of the host; 0: one for each core
 *     memory              largest number of bytes to use; 0: no limit
 *     solver, preconditioner, format, scaling, ordering
 *                         names and options as for femgpu-solve: "idr s=8", "multigrid";
 *                         default: pipelined-cg, jacobi, csr, none, none
 *     relative-tolerance  relative to the norm of b; default 1e-10
 *     absolute-tolerance  default 0
 *     max-iterations      default 20000
 */
femgpu_status femgpu_set_option(femgpu_solver *solver, const char *name, const char *value);

/**
 * Describes the unknowns for multigrid and block methods; affects the next femgpu_set_matrix().
 * @param per_node number of consecutive unknowns of a node: 3 for elasticity in 3D; 0: not known
 * @param dimension number of coordinates of each row; 0: none
 * @param coordinates n × dimension numbers in host memory, row by row; are copied
 */
femgpu_status femgpu_set_unknowns(femgpu_solver *solver, int per_node, int dimension, int n,
                                  const double *coordinates);

/**
 * Sets near-null vectors v, A v ≈ 0 away from the boundary, such as rigid-body motions, which
 * multigrid uses instead of those it makes itself; affects the next femgpu_set_matrix().
 * @param n_vectors number of vectors; 0: none
 * @param vectors n × n_vectors numbers in host memory, row by row; are copied
 */
femgpu_status femgpu_set_near_null(femgpu_solver *solver, int n_vectors, int n,
                                   const double *vectors);

/**
 * Sets a matrix and sets up the methods. The arrays must remain valid and unchanged until the next
 * call of this function, of femgpu_update() for the values, or of femgpu_destroy().
 * @param row_starts n + 1 numbers; the last is the number of entries
 */
femgpu_status femgpu_set_matrix(femgpu_solver *solver, int n, const int *row_starts,
                                const int *columns, const double *values);

/** Sets new values in the pattern of the last femgpu_set_matrix(), and updates the methods. They
 * must be in the same kind of memory, and valid as those. */
femgpu_status femgpu_update(femgpu_solver *solver, const double *values);

/** Solves A x = b. x contains the initial guess, and receives the solution. */
femgpu_status femgpu_solve(femgpu_solver *solver, const double *b, double *x);

/** Solves A X = B for several right-hand sides, together if the solver is block-cg. The columns of
 * B and X follow each other in memory. The report is that of the first column that fails, otherwise
 * of the last. */
femgpu_status femgpu_solve_columns(femgpu_solver *solver, int n_columns, const double *B,
                                   double *X);

/** Computes y = A x. */
femgpu_status femgpu_multiply(femgpu_solver *solver, const double *x, double *y);

/** Computes z = M⁻¹ r for the preconditioner M. */
femgpu_status femgpu_precondition(femgpu_solver *solver, const double *r, double *z);

/** Makes the solver's work wait for the work that is in a CUDA stream (cudaStream_t) now. */
femgpu_status femgpu_wait_for_stream(femgpu_solver *solver, void *stream);

/** Returns a number of the last solve's report, such as "iterations" or "true_residual"; the names
 * are those of femgpu's summaries. NaN if there is no such number. */
double femgpu_report_number(const femgpu_solver *solver, const char *name);

/** Returns a text of the last solve's report, such as "outcome" or "message"; "" if there is no
 * such text. Valid until the next call. */
const char *femgpu_report_text(const femgpu_solver *solver, const char *name);

#ifdef __cplusplus
}
#endif

#endif
