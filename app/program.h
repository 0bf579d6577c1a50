#ifndef femgpu_app_program_h
#define femgpu_app_program_h

namespace femgpu
{
/**
 * All that the program does with the words of its command line, from MPI's beginning to its end;
 * once in a process. All errors end here: as a sentence on standard error and the exit code, which
 * is returned.
 */
int run_program(int argc, char **argv);
} // namespace femgpu

#endif
