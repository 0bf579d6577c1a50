#ifndef femgpu_app_field_units_h
#define femgpu_app_field_units_h

#include "physics/problem.h"

#include <map>
#include <string>

namespace femgpu
{
/**
 * What Output/Units, as "m, N", means for the fields of the output: their units by name, and that
 * of coordinates as "length". Nothing if @p text is empty.
 * @throws ParameterError if the problem needs other ones
 */
template <int dim>
std::map<std::string, std::string> field_units(const std::string &text,
                                               const Problem<dim> &problem);
} // namespace femgpu

#endif
