#ifndef femgpu_app_parameter_print_h
#define femgpu_app_parameter_print_h

#include <iosfwd>
#include <string>

namespace dealii
{
class ParameterHandler;
}

namespace femgpu
{
enum class ParameterFormat
{
  prm, ///< a commented parameter file that can be read back
  json,
  md ///< Markdown: a heading for each section, a table of its parameters
};

/// @throws ParameterError if @p name is none of "prm", "json", "md"
ParameterFormat parameter_format(const std::string &name);

/**
 * Write every parameter that @p prm has declared, with its present value, which is the default as
 * long as no file was read. JSON holds, in the nesting of the sections, for each parameter `value`
 * and `default_value` (numbers and booleans as such), `documentation`, `valid` (in words) and
 * `pattern_description`.
 * @throws OutputError if @p out fails
 */
void print_parameters(std::ostream &out, const dealii::ParameterHandler &prm,
                      ParameterFormat format);
} // namespace femgpu

#endif
