#include "expressions/expression_parser.h"

#include "expressions/expression_functions.h"
#include "linalg/base/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Returns the UTF-8 character that begins at @p begin.
std::string character_at(const std::string &text, const std::size_t begin)
{
  std::size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u)
    ++end;
  return text.substr(begin, end - begin);
}

using Operation = ExpressionOperation;

constexpr std::size_t longest_text = 10000; // characters; both limits bound the recursion
constexpr int max_nesting = 450;            // largest depth of nested parentheses

bool is_letter(const char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(const char c)
{
  return c >= '0' && c <= '9';
}

/**
 * Reads an expression by recursive descent:
 *
 *     choice      = alternative [ ? choice : choice ]
 *     alternative = conjunction { (|| or |) conjunction }
 *     conjunction = comparison { (&& or &) comparison }
 *     comparison  = sum { (< <= > >= == !=) sum }
 *     sum         = product { (+ or -) product }
 *     product     = signed { (* or /) signed }
 *     signed      = { + or - } power
 *     power       = primary [ ^ signed ]
 *     primary     = number | name | name ( choice { , choice } ) | ( choice )
 */
class Parser
{
public:
  Parser(const std::string &text, const ExpressionNames &names, ExpressionGraph &graph)
      : text(text), names(names), graph(graph)
  {}

  int parse()
  {
    if (text.size() > longest_text)
      throw ParameterError("The expression" + location() + " has " + std::to_string(text.size()) +
                           " characters, more than the limit of " + std::to_string(longest_text) +
                           ". Shorten it.");
    check_definitions();
    const int root = read_conditional();
    if (next() != '\0')
      fail("an operator (" + std::string(operators) + ") or the end" +
           (is_letter(next()) ? "; numbers must not have units" : ""));
    return root;
  }

private:
  static constexpr const char *operators = "+ - * / ^ < <= > >= == != && || ?";

  std::string location() const
  {
    return names.parameter.empty() ? "" : " of " + names.parameter;
  }

  void check_definitions() const
  {
    const auto check = [&](const std::string &name, const char *const what) {
      if (!is_definable_name(name) || variable(name) >= 0)
        throw ParameterError("'" + name + "' is not a valid name for a " + what +
                             ". Use letters, digits and _, beginning with a letter; " +
                             join(names.variables) + " and function names are reserved.");
    };
    for (const auto &[name, value] : names.definitions.constants) {
      check(name, "constant");
      if (!std::isfinite(value))
        throw ParameterError("The constant '" + name + "' is " + std::to_string(value) +
                             ". Set it to a finite value.");
    }
    for (const auto &entry : names.definitions.tables)
      check(entry.first, "table");
  }

  /// Returns the number of the variable @p name; -1 if there is none.
  int variable(const std::string &name) const
  {
    const auto found = std::find(names.variables.begin(), names.variables.end(), name);
    return found == names.variables.end() ? -1 : static_cast<int>(found - names.variables.begin());
  }

  static std::string join(const std::vector<std::string> &words)
  {
    std::string result;
    for (const std::string &word : words)
      result += (result.empty() ? "" : ", ") + word;
    return result;
  }

  /// Returns the next character that is not blank; '\0' at the end.
  char next()
  {
    while (position < text.size() && std::strchr(" \t\r\n", text[position]) != nullptr)
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  /// Returns whether the text continues with @p word. If so, skips the word.
  bool accept(const char *const word)
  {
    next();
    const std::size_t length = std::strlen(word);
    const bool is_next = text.compare(position, length, word) == 0;
    position += is_next ? length : 0;
    return is_next;
  }

  int read_conditional()
  {
    const int condition_node = read_alternative();
    const std::size_t location = position;
    if (!accept("?"))
      return condition_node;
    const int first = read_conditional();
    if (!accept(":"))
      fail("an operator or ':'");
    return checked_finite(graph.apply(Operation::select, condition_node, first, read_conditional()),
                          location);
  }

  int read_alternative()
  {
    int left = read_conjunction();
    for (;;)
      if (accept("||"))
        left = graph.apply(Operation::logical_or, left, read_conjunction());
      else if (accept("|"))
        left = graph.apply(Operation::logical_or, condition(graph, left),
                           condition(graph, read_conjunction()));
      else
        return left;
  }

  int read_conjunction()
  {
    int left = read_comparison();
    for (;;)
      if (accept("&&"))
        left = graph.apply(Operation::logical_and, left, read_comparison());
      else if (accept("&"))
        left = graph.apply(Operation::logical_and, condition(graph, left),
                           condition(graph, read_comparison()));
      else
        return left;
  }

  int read_comparison()
  {
    int left = read_sum();
    for (;;)
      if (accept("<="))
        left = graph.apply(Operation::less_equal, left, read_sum());
      else if (accept(">="))
        left = graph.apply(Operation::less_equal, read_sum(), left);
      else if (accept("=="))
        left = graph.apply(Operation::equal, left, read_sum());
      else if (accept("!="))
        left = graph.apply(Operation::not_equal, left, read_sum());
      else if (accept("<"))
        left = graph.apply(Operation::less, left, read_sum());
      else if (accept(">"))
        left = graph.apply(Operation::less, read_sum(), left);
      else
        return left;
  }

  int read_sum()
  {
    int left = read_product();
    while (next() == '+' || next() == '-') {
      const std::size_t location = position;
      const Operation operation = text[position++] == '+' ? Operation::add : Operation::subtract;
      left = checked_finite(graph.apply(operation, left, read_product()), location);
    }
    return left;
  }

  int read_product()
  {
    int left = read_signed();
    while (next() == '*' || next() == '/') {
      const std::size_t location = position;
      const Operation operation = text[position++] == '*' ? Operation::multiply : Operation::divide;
      left = checked_finite(graph.apply(operation, left, read_signed()), location);
    }
    return left;
  }

  int read_signed()
  {
    bool is_negative = false;
    while (next() == '+' || next() == '-')
      is_negative ^= text[position++] == '-';
    const int node = read_power();
    return is_negative ? graph.apply(Operation::negate, node) : node;
  }

  int read_power()
  {
    const int base = read_primary();
    next();
    const std::size_t location = position;
    return accept("^") ? checked_finite(graph.power(base, read_signed()), location) : base;
  }

  int read_primary()
  {
    const char c = next();
    if (accept("(")) {
      const int inner = read_nested();
      if (!accept(")"))
        fail("an operator or ')'");
      return inner;
    }
    if (is_digit(c) || c == '.')
      return read_number();
    if (is_letter(c))
      return read_name();
    fail("a number, " + join(names.variables) + ", a constant, a function or '('");
  }

  int read_nested()
  {
    if (++n_nested > max_nesting)
      throw_error("has more than " + std::to_string(max_nesting) +
                  " nested parentheses; simplify it");
    const int node = read_conditional();
    --n_nested;
    return node;
  }

  int read_number()
  {
    double value = 0.;
    const char *const begin = text.data() + position;
    const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      fail("a number within the range of double precision");
    if (error != std::errc())
      fail("a number");
    position += static_cast<std::size_t>(stop - begin);
    return graph.constant(value);
  }

  int read_name()
  {
    const std::size_t location = position;
    while (position < text.size() && (is_letter(text[position]) || is_digit(text[position])))
      ++position;
    const std::string name = text.substr(location, position - location);
    if (const int number = variable(name); number >= 0)
      return graph.variable(number);
    if (const ExpressionFunction *const function = find_function(name))
      return read_call(
          {name, function->n_arguments,
           [&](const Arguments &arguments) { return function->make(graph, arguments); }},
          location);
    const auto &[constants, tables] = names.definitions;
    if (const auto constant = constants.find(name); constant != constants.end())
      return graph.constant(constant->second);
    if (const auto table = tables.find(name); table != tables.end())
      return read_call({name, 1,
                        [&](const Arguments &arguments) {
                          return interpolate(graph, table->second, arguments[0]);
                        }},
                       location);
    if (name == "pi" || name == "_pi")
      return graph.constant(3.14159265358979323846);
    if (name == "e" || name == "_e")
      return graph.constant(2.71828182845904523536);
    position = location;
    if (name == "rand" || name == "rand_seed")
      throw_error("calls " + name + " at column " + std::to_string(location + 1) +
                  ", whose values would differ between runs and between ranks. Use an irregular "
                  "function of the position instead, for example sin(1e4*x)");
    fail(known_names());
  }

  std::string known_names() const
  {
    std::string known = join(names.variables) + ", pi, e";
    for (const auto &entry : names.definitions.constants)
      known += ", " + entry.first;
    known += " or a function (" + function_names();
    for (const auto &entry : names.definitions.tables)
      known += ", " + entry.first;
    return known + ")";
  }

  /// A function whose name has been read.
  struct Call
  {
    const std::string &name;
    int n_arguments;
    std::function<int(const Arguments &)> make;
  };

  int read_call(const Call &function, const std::size_t location)
  {
    const std::string &name = function.name;
    if (!accept("("))
      fail("'(' after '" + name + "'");
    Arguments arguments = {read_nested()};
    const auto max_arguments = static_cast<std::size_t>(function.n_arguments);
    while (function.n_arguments == variadic || arguments.size() < max_arguments) {
      if (accept(","))
        arguments.push_back(read_nested());
      else if (function.n_arguments == variadic)
        break;
      else
        fail("an operator or ',' and argument " + std::to_string(arguments.size() + 1) + " of '" +
             name + "'");
    }
    if (!accept(")"))
      fail("an operator or ')' at the end of '" + name + "'");
    return checked_finite(function.make(arguments), location);
  }

  /// Returns @p node; fails if it is a constant that is not finite.
  int checked_finite(const int node, const std::size_t location)
  {
    if (graph[node].is_constant() && !std::isfinite(graph[node].value)) {
      position = location;
      fail(std::string("a finite value, but the constants give ") +
           (std::isnan(graph[node].value) ? "NaN" : "infinity"));
    }
    return node;
  }

  [[noreturn]] void fail(const std::string &expected)
  {
    const bool is_at_end = next() == '\0';
    if (!is_at_end && text[position] == '=')
      throw_error("assigns a value at column " + std::to_string(position + 1) +
                  ". Use == to compare, or give only the right-hand side of the =");
    throw_error("is wrong at column " + std::to_string(position + 1) +
                (is_at_end ? ", where it ends" : ", at '" + character_at(text, position) + "'") +
                ": expected " + expected);
  }

  [[noreturn]] void throw_error(const std::string &what) const
  {
    throw ParameterError("The expression '" + text + "'" + location() + " " + what + ".",
                         names.parameter);
  }

  const std::string &text;
  const ExpressionNames &names;
  ExpressionGraph &graph;
  std::size_t position = 0;
  int n_nested = 0;
};
} // namespace

int parse_expression(const std::string &text, const ExpressionNames &names, ExpressionGraph &graph)
{
  return Parser(text, names, graph).parse();
}

bool is_definable_name(const std::string &name)
{
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c);
  }) && find_function(name) == nullptr;
}

} // namespace femgpu::linalg
