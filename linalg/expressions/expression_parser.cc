#include "linalg/expressions/expression_parser.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using Operation = ExpressionOperation;
using Arguments = std::vector<int>; // nodes

constexpr std::size_t longest_text = 10000; // these two keep recursion short
constexpr int most_nested = 450;            // parentheses
constexpr int any_number = -1;              // of arguments, at least one

struct Function
{
  const char *name;
  int n_arguments;
  int (*make)(ExpressionGraph &graph, const Arguments &arguments);
  const char *meaning;
};

template <Operation operation>
int apply_to(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(operation, arguments[0], arguments.size() > 1 ? arguments[1] : -1);
}

/// Of the first two, then of that and the next.
template <Operation operation>
int accumulate(ExpressionGraph &graph, const Arguments &arguments)
{
  int result = arguments[0];
  for (std::size_t k = 1; k < arguments.size(); ++k)
    result = graph.apply(operation, result, arguments[k]);
  return result;
}

template <Operation operation>
int reciprocal(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::divide, graph.constant(1.), graph.apply(operation, arguments[0]));
}

int mean(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::divide, accumulate<Operation::add>(graph, arguments),
                     graph.constant(static_cast<double>(arguments.size())));
}

/// floor(a + 1/2)
int nearest_integer(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::floor,
                     graph.apply(Operation::add, arguments[0], graph.constant(0.5)));
}

bool is_logical(const Operation operation)
{
  return operation == Operation::less || operation == Operation::less_equal ||
         operation == Operation::equal || operation == Operation::not_equal ||
         operation == Operation::both || operation == Operation::either;
}

/// deal.II rounds what if(), | and & ask.
int condition(ExpressionGraph &graph, const int node)
{
  return is_logical(graph[node].operation) ? node : graph.apply(Operation::round, node);
}

int choose(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::select, condition(graph, arguments[0]), arguments[1], arguments[2]);
}

int raise(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.power(arguments[0], arguments[1]);
}

constexpr Function functions[] = {
    {"abs", 1, apply_to<Operation::abs>, "absolute value"},
    {"sqrt", 1, apply_to<Operation::sqrt>, "square root"},
    {"exp", 1, apply_to<Operation::exp>, "exponential function"},
    {"log", 1, apply_to<Operation::log>, "natural logarithm"},
    {"ln", 1, apply_to<Operation::log>, "natural logarithm"},
    {"log2", 1, apply_to<Operation::log2>, "logarithm to base 2"},
    {"log10", 1, apply_to<Operation::log10>, "logarithm to base 10"},
    {"sin", 1, apply_to<Operation::sin>, "sine"},
    {"cos", 1, apply_to<Operation::cos>, "cosine"},
    {"tan", 1, apply_to<Operation::tan>, "tangent"},
    {"cot", 1, reciprocal<Operation::tan>, "cotangent"},
    {"sec", 1, reciprocal<Operation::cos>, "secant"},
    {"csc", 1, reciprocal<Operation::sin>, "cosecant"},
    {"asin", 1, apply_to<Operation::asin>, "inverse sine"},
    {"acos", 1, apply_to<Operation::acos>, "inverse cosine"},
    {"atan", 1, apply_to<Operation::atan>, "inverse tangent"},
    {"atan2", 2, apply_to<Operation::atan2>, "atan2(y, x) is the angle of (x, y)"},
    {"sinh", 1, apply_to<Operation::sinh>, "hyperbolic sine"},
    {"cosh", 1, apply_to<Operation::cosh>, "hyperbolic cosine"},
    {"tanh", 1, apply_to<Operation::tanh>, "hyperbolic tangent"},
    {"asinh", 1, apply_to<Operation::asinh>, "inverse hyperbolic sine"},
    {"acosh", 1, apply_to<Operation::acosh>, "inverse hyperbolic cosine"},
    {"atanh", 1, apply_to<Operation::atanh>, "inverse hyperbolic tangent"},
    {"erf", 1, apply_to<Operation::erf>, "error function"},
    {"erfc", 1, apply_to<Operation::erfc>, "1 - erf"},
    {"pow", 2, raise, "pow(a, b) is a^b"},
    {"min", any_number, accumulate<Operation::min>, "the smallest"},
    {"max", any_number, accumulate<Operation::max>, "the largest"},
    {"sum", any_number, accumulate<Operation::add>, "the sum"},
    {"avg", any_number, mean, "the mean"},
    {"sign", 1, apply_to<Operation::sign>, "-1, 0 or 1"},
    {"floor", 1, apply_to<Operation::floor>, "the integer below"},
    {"ceil", 1, apply_to<Operation::ceil>, "the integer above"},
    {"int", 1, apply_to<Operation::round>, "the nearest integer, half away from zero"},
    {"rint", 1, nearest_integer, "the nearest integer, half up"},
    {"if", 3, choose, "if(c, a, b) is a where c is not 0, else b"}};

const Function *find_function(const std::string &name)
{
  const auto *const found = std::find_if(std::begin(functions), std::end(functions),
                                         [&](const Function &f) { return f.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

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
      throw ParameterError("An expression" + place() + " has " + std::to_string(text.size()) +
                           " characters, but may have " + std::to_string(longest_text) +
                           ". Write it in a shorter form.");
    check_constants();
    const int root = read_choice();
    if (next() != '\0')
      fail("an operator (" + std::string(operators) + ") or the end" +
           (is_letter(next()) ? ", and numbers without units" : ""));
    return root;
  }

private:
  static constexpr const char *operators = "+ - * / ^ < <= > >= == != && || ?";

  std::string place() const
  {
    return names.parameter.empty() ? "" : " of " + names.parameter;
  }

  void check_constants() const
  {
    for (const auto &[name, value] : names.constants) {
      const bool is_name =
          !name.empty() && is_letter(name[0]) &&
          std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
      if (!is_name || variable(name) >= 0 || find_function(name) != nullptr)
        throw ParameterError("'" + name +
                             "' cannot be the name of a constant. Use letters, digits and _, but "
                             "neither " +
                             list(names.variables) + " nor the name of a function.");
      if (!std::isfinite(value))
        throw ParameterError("The constant '" + name + "' is " + std::to_string(value) +
                             ". Give it a finite value.");
    }
  }

  /// Its number; -1 if there is none.
  int variable(const std::string &name) const
  {
    const auto found = std::find(names.variables.begin(), names.variables.end(), name);
    return found == names.variables.end() ? -1 : static_cast<int>(found - names.variables.begin());
  }

  static std::string list(const std::vector<std::string> &words)
  {
    std::string result;
    for (const std::string &word : words)
      result += (result.empty() ? "" : ", ") + word;
    return result;
  }

  /// The next character that is no blank; '\0' at the end.
  char next()
  {
    while (position < text.size() && std::strchr(" \t\r\n", text[position]) != nullptr)
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  /// Goes past @p word if it is next.
  bool accept(const char *const word)
  {
    next();
    const std::size_t length = std::strlen(word);
    const bool is_next = text.compare(position, length, word) == 0;
    position += is_next ? length : 0;
    return is_next;
  }

  int read_choice()
  {
    const int asked = read_alternative();
    const std::size_t place = position;
    if (!accept("?"))
      return asked;
    const int first = read_choice();
    if (!accept(":"))
      fail("an operator or ':'");
    return made(graph.apply(Operation::select, asked, first, read_choice()), place);
  }

  int read_alternative()
  {
    int left = read_conjunction();
    for (;;)
      if (accept("||"))
        left = graph.apply(Operation::either, left, read_conjunction());
      else if (accept("|"))
        left = graph.apply(Operation::either, condition(graph, left),
                           condition(graph, read_conjunction()));
      else
        return left;
  }

  int read_conjunction()
  {
    int left = read_comparison();
    for (;;)
      if (accept("&&"))
        left = graph.apply(Operation::both, left, read_comparison());
      else if (accept("&"))
        left = graph.apply(Operation::both, condition(graph, left),
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
      const std::size_t place = position;
      const Operation operation = text[position++] == '+' ? Operation::add : Operation::subtract;
      left = made(graph.apply(operation, left, read_product()), place);
    }
    return left;
  }

  int read_product()
  {
    int left = read_signed();
    while (next() == '*' || next() == '/') {
      const std::size_t place = position;
      const Operation operation = text[position++] == '*' ? Operation::multiply : Operation::divide;
      left = made(graph.apply(operation, left, read_signed()), place);
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
    const std::size_t place = position;
    return accept("^") ? made(graph.power(base, read_signed()), place) : base;
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
    fail("a number, " + list(names.variables) + ", a constant, a function or '('");
  }

  int read_nested()
  {
    if (++n_nested > most_nested)
      refuse("has more than " + std::to_string(most_nested) + " parentheses within each other");
    const int node = read_choice();
    --n_nested;
    return node;
  }

  int read_number()
  {
    double value = 0.;
    const char *const begin = text.data() + position;
    const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      fail("a number that double precision can hold");
    if (error != std::errc())
      fail("a number");
    position += static_cast<std::size_t>(stop - begin);
    return graph.constant(value);
  }

  int read_name()
  {
    const std::size_t place = position;
    while (position < text.size() && (is_letter(text[position]) || is_digit(text[position])))
      ++position;
    const std::string name = text.substr(place, position - place);
    if (const int number = variable(name); number >= 0)
      return graph.variable(number);
    if (const Function *const function = find_function(name))
      return read_call(*function, place);
    if (const auto constant = names.constants.find(name); constant != names.constants.end())
      return graph.constant(constant->second);
    if (name == "pi" || name == "_pi")
      return graph.constant(3.14159265358979323846);
    if (name == "e" || name == "_e")
      return graph.constant(2.71828182845904523536);
    position = place;
    if (name == "rand" || name == "rand_seed")
      refuse("calls " + name + " at column " + std::to_string(place + 1) +
             ": no run could be repeated, and no two ranks would have the same data. Write a "
             "function of the place that is as irregular, as sin(1e4*x)");
    fail(known_names());
  }

  std::string known_names() const
  {
    std::string known = list(names.variables) + ", pi, e";
    for (const auto &[name, value] : names.constants)
      known += ", " + name;
    known += " or a function (";
    for (const Function &function : functions)
      known += (&function == functions ? "" : ", ") + std::string(function.name);
    return known + ")";
  }

  int read_call(const Function &function, const std::size_t place)
  {
    const std::string name = function.name;
    if (!accept("("))
      fail("'(' after '" + name + "'");
    Arguments arguments = {read_nested()};
    const auto most = static_cast<std::size_t>(function.n_arguments);
    while (function.n_arguments == any_number || arguments.size() < most) {
      if (accept(","))
        arguments.push_back(read_nested());
      else if (function.n_arguments == any_number)
        break;
      else
        fail("an operator or ',' and argument " + std::to_string(arguments.size() + 1) + " of '" +
             name + "'");
    }
    if (!accept(")"))
      fail("an operator or ')' at the end of '" + name + "'");
    return made(function.make(graph, arguments), place);
  }

  /// @p node, unless it is a constant that is no number.
  int made(const int node, const std::size_t place)
  {
    if (graph[node].is_constant() && !std::isfinite(graph[node].value)) {
      position = place;
      fail(std::string("a finite value, but constants give ") +
           (std::isnan(graph[node].value) ? "no number" : "an infinite one"));
    }
    return node;
  }

  [[noreturn]] void fail(const std::string &expected)
  {
    const bool is_at_end = next() == '\0';
    if (!is_at_end && text[position] == '=')
      refuse("assigns a value at column " + std::to_string(position + 1) +
             ". Write == to compare, or only what stands behind the =");
    refuse("is wrong at column " + std::to_string(position + 1) +
           (is_at_end ? ", its end" : ", at '" + text.substr(position, 1) + "'") + ": expected " +
           expected);
  }

  [[noreturn]] void refuse(const std::string &what) const
  {
    throw ParameterError("The expression '" + text + "'" + place() + " " + what + ".",
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

std::vector<Choice> expression_functions()
{
  std::vector<Choice> choices;
  for (const Function &function : functions)
    choices.push_back({function.name, function.meaning});
  return choices;
}
} // namespace femgpu::linalg
