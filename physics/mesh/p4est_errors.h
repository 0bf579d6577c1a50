#ifndef femgpu_physics_p4est_errors_h
#define femgpu_physics_p4est_errors_h

namespace femgpu
{
/**
 * From now on p4est throws std::bad_alloc where it gets no memory, and std::runtime_error with its
 * own words for what else it aborts the program for.
 */
void throw_errors_of_p4est();
} // namespace femgpu

#endif
