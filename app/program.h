#ifndef femgpu_app_program_h
#define femgpu_app_program_h

namespace femgpu
{
/**
 * Runs the program with the given command line, from MPI initialization to finalization. Call it
 * once per process. Throws nothing: an error is printed to standard error.
 * @return the exit code
 */
int run_program(int argc, char **argv);
} // namespace femgpu

#endif
