#include "linalg/nonlinear/expression_compiler.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using Operation = ExpressionOperation;

constexpr std::size_t longest_text = 1000; // keeps the recursion of parser and compiler short

struct Function
{
  const char *name;
  Operation operation;
  int n_arguments;
  const char *meaning;
};

constexpr std::array<Function, 17> functions = {
    {{"abs", Operation::abs, 1, "absolute value"},
     {"sqrt", Operation::sqrt, 1, "square root"},
     {"exp", Operation::exp, 1, "exponential function"},
     {"log", Operation::log, 1, "natural logarithm"},
     {"log10", Operation::log10, 1, "logarithm to base 10"},
     {"sin", Operation::sin, 1, "sine"},
     {"cos", Operation::cos, 1, "cosine"},
     {"tan", Operation::tan, 1, "tangent"},
     {"asin", Operation::asin, 1, "inverse sine"},
     {"acos", Operation::acos, 1, "inverse cosine"},
     {"atan", Operation::atan, 1, "inverse tangent"},
     {"sinh", Operation::sinh, 1, "hyperbolic sine"},
     {"cosh", Operation::cosh, 1, "hyperbolic cosine"},
     {"tanh", Operation::tanh, 1, "hyperbolic tangent"},
     {"pow", Operation::power, 2, "pow(a, b) is a^b"},
     {"min", Operation::min, 2, "the smaller of two"},
     {"max", Operation::max, 2, "the larger of two"}}};

const Function *find_function(const std::string &name)
{
  const auto *const found = std::find_if(functions.begin(), functions.end(),
                                         [&](const Function &f) { return f.name == name; });
  return found == functions.end() ? nullptr : found;
}

bool is_letter(const char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(const char c)
{
  return c >= '0' && c <= '9';
}

/// A constant or the unknown (loads), or an operation on other nodes.
struct Node
{
  Operation operation = Operation::load;
  bool is_constant = false;
  double value = 0.;
  int left = -1, right = -1; ///< numbers of nodes; -1: none
};

/**
 * Reads an expression by recursive descent:
 *
 *     sum      = product { (+|-) product }
 *     product  = signed { (*|/) signed }
 *     signed   = { +|- } power
 *     power    = primary [ ^ signed ]
 *     primary  = number | name | name ( sum { , sum } ) | ( sum )
 */
class Parser
{
public:
  Parser(const std::string &text, const std::map<std::string, double> &constants)
      : text(text), constants(constants)
  {}

  /// The number of the root in nodes().
  int parse()
  {
    if (text.size() > longest_text)
      throw ParameterError("An expression has " + std::to_string(text.size()) +
                           " characters, but may have " + std::to_string(longest_text) +
                           ". Write it in a shorter form.");
    check_constants();
    const int root = read_sum();
    if (next() != '\0')
      fail("an operator + - * / ^ or the end");
    return root;
  }

  const std::vector<Node> &nodes() const
  {
    return tree;
  }

private:
  void check_constants() const
  {
    for (const auto &[name, value] : constants) {
      const bool is_name =
          !name.empty() && is_letter(name[0]) &&
          std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
      if (!is_name || name == "u" || find_function(name) != nullptr)
        throw ParameterError("'" + name +
                             "' cannot be the name of a constant. Use letters, digits "
                             "and _, but neither u nor the name of a function.");
      if (!std::isfinite(value))
        throw ParameterError("The constant '" + name + "' is " + std::to_string(value) +
                             ". Give it a finite value.");
    }
  }

  /// The next character that is no blank; '\0' at the end.
  char next()
  {
    while (position < text.size() && std::strchr(" \t\r\n", text[position]) != nullptr)
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  /// Goes past @p c if it is next.
  bool accept(const char c)
  {
    const bool is_next = next() == c;
    position += is_next ? 1 : 0;
    return is_next;
  }

  int read_sum()
  {
    int left = read_product();
    while (next() == '+' || next() == '-') {
      const std::size_t place = position;
      const Operation operation = text[position++] == '+' ? Operation::add : Operation::subtract;
      left = combine(operation, left, read_product(), place);
    }
    return left;
  }

  int read_product()
  {
    int left = read_signed();
    while (next() == '*' || next() == '/') {
      const std::size_t place = position;
      const Operation operation = text[position++] == '*' ? Operation::multiply : Operation::divide;
      left = combine(operation, left, read_signed(), place);
    }
    return left;
  }

  int read_signed()
  {
    bool is_negative = false;
    while (next() == '+' || next() == '-')
      is_negative ^= text[position++] == '-';
    const std::size_t place = position;
    const int node = read_power();
    return is_negative ? combine(Operation::negate, node, -1, place) : node;
  }

  int read_power()
  {
    const int base = read_primary();
    const std::size_t place = position;
    return accept('^') ? raise(base, read_signed(), place) : base;
  }

  int read_primary()
  {
    const char c = next();
    if (accept('(')) {
      const int inner = read_sum();
      if (!accept(')'))
        fail("an operator or ')'");
      return inner;
    }
    if (is_digit(c) || c == '.')
      return read_number();
    if (is_letter(c))
      return read_name();
    fail("a number, u, a constant, a function or '('");
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
    return add({Operation::load, true, value});
  }

  int read_name()
  {
    const std::size_t place = position;
    while (position < text.size() && (is_letter(text[position]) || is_digit(text[position])))
      ++position;
    const std::string name = text.substr(place, position - place);
    if (name == "u")
      return add({});
    if (const Function *const function = find_function(name))
      return read_call(*function, place);
    if (const auto constant = constants.find(name); constant != constants.end())
      return add({Operation::load, true, constant->second});
    if (name == "pi")
      return add({Operation::load, true, 3.14159265358979323846});
    if (name == "e")
      return add({Operation::load, true, 2.71828182845904523536});
    position = place;
    fail(known_names());
  }

  std::string known_names() const
  {
    std::string names = "u, pi, e";
    for (const auto &[name, value] : constants)
      names += ", " + name;
    names += " or a function (";
    for (const Function &function : functions)
      names += (&function == functions.data() ? "" : ", ") + std::string(function.name);
    return names + ")";
  }

  int read_call(const Function &function, const std::size_t place)
  {
    const std::string name = function.name;
    if (!accept('('))
      fail("'(' after '" + name + "'");
    const int first = read_sum();
    int second = -1;
    if (function.n_arguments == 2) {
      if (!accept(','))
        fail("an operator or ',' and the second argument of '" + name + "'");
      second = read_sum();
    }
    if (!accept(')'))
      fail("an operator or ')' at the end of '" + name + "'");
    return function.operation == Operation::power
               ? raise(first, second, place)
               : combine(function.operation, first, second, place);
  }

  /// base^exponent, by multiplication for 2, 3 and 4.
  int raise(const int base, const int exponent, const std::size_t place)
  {
    const Node &node = tree[exponent];
    if (node.is_constant && node.value == 2.)
      return combine(Operation::square, base, -1, place);
    if (node.is_constant && node.value == 3.)
      return combine(Operation::cube, base, -1, place);
    if (node.is_constant && node.value == 4.)
      return combine(Operation::fourth_power, base, -1, place);
    return combine(Operation::power, base, exponent, place);
  }

  /// The operation on nodes; its value, if they are constants.
  int combine(const Operation operation, const int left, const int right, const std::size_t place)
  {
    if (!tree[left].is_constant || (right >= 0 && !tree[right].is_constant))
      return add({operation, false, 0., left, right});
    const double value = apply(operation, tree[left].value, right < 0 ? 0. : tree[right].value);
    if (!std::isfinite(value)) {
      position = place;
      fail("a finite value, but constants give " + std::to_string(value));
    }
    return add({Operation::load, true, value});
  }

  int add(const Node &node)
  {
    tree.push_back(node);
    return static_cast<int>(tree.size()) - 1;
  }

  [[noreturn]] void fail(const std::string &expected)
  {
    const bool is_at_end = next() == '\0';
    throw ParameterError("The expression '" + text + "' is wrong at column " +
                         std::to_string(position + 1) +
                         (is_at_end ? ", its end" : ", at '" + text.substr(position, 1) + "'") +
                         ": expected " + expected + ".");
  }

  const std::string &text;
  const std::map<std::string, double> &constants;
  std::size_t position = 0;
  std::vector<Node> tree;
};

/// Makes the instructions of a tree.
class Emitter
{
public:
  Emitter(const std::string &text, const std::vector<Node> &tree) : text(text), tree(tree)
  {}

  ExpressionProgram emit(const int root)
  {
    visit(root);
    return program;
  }

private:
  void visit(const int number)
  {
    const Node &node = tree[number];
    if (node.operation == Operation::load) {
      depth += 1;
      if (depth > ExpressionProgram::deepest)
        refuse("values on the stack", ExpressionProgram::deepest);
      append(Operation::load, leaf(node));
    }
    else if (node.right < 0) {
      visit(node.left);
      append(node.operation, ExpressionProgram::none);
    }
    else
      visit_two(node);
  }

  void visit_two(const Node &node)
  {
    const bool commutes = node.operation == Operation::add || node.operation == Operation::multiply;
    const bool swaps = commutes && is_leaf(node.left) && !is_leaf(node.right);
    const int first = swaps ? node.right : node.left;
    const int second = swaps ? node.left : node.right;
    visit(first);
    if (is_leaf(second)) {
      append(node.operation, leaf(tree[second]));
      return;
    }
    visit(second);
    depth -= 1;
    append(node.operation, ExpressionProgram::on_stack);
  }

  bool is_leaf(const int number) const
  {
    return tree[number].operation == Operation::load;
  }

  /// The operand that stands for a leaf.
  unsigned char leaf(const Node &node)
  {
    if (!node.is_constant)
      return ExpressionProgram::unknown;
    int k = 0;
    while (k < used_constants && program.constants[k] != node.value)
      ++k;
    if (k == ExpressionProgram::n_constants)
      refuse("different constants", ExpressionProgram::n_constants);
    used_constants = std::max(used_constants, k + 1);
    program.constants[k] = node.value;
    return static_cast<unsigned char>(k);
  }

  void append(const Operation operation, const unsigned char operand)
  {
    if (program.size == ExpressionProgram::longest)
      refuse("instructions", ExpressionProgram::longest);
    program.operations[program.size] = operation;
    program.operands[program.size] = operand;
    ++program.size;
  }

  [[noreturn]] void refuse(const std::string &what, const int most) const
  {
    throw ParameterError("The expression '" + text + "' needs more than " + std::to_string(most) +
                         " " + what + ". Write it in a shorter form, as with fewer parentheses.");
  }

  const std::string &text;
  const std::vector<Node> &tree;
  ExpressionProgram program;
  int depth = 0; // values on the stack
  int used_constants = 0;
};
} // namespace

ExpressionProgram compile_expression(const std::string &text,
                                     const std::map<std::string, double> &constants)
{
  Parser parser(text, constants);
  const int root = parser.parse();
  return Emitter(text, parser.nodes()).emit(root);
}

namespace
{
/// The result of @p operation, as apply() has it of numbers.
std::optional<AffineForm> apply_to_forms(const Operation operation, const AffineForm &a,
                                         const AffineForm &b)
{
  switch (operation) {
  case Operation::load:
    return b;
  case Operation::negate:
    return AffineForm{-a.constant, -a.slope};
  case Operation::add:
    return AffineForm{a.constant + b.constant, a.slope + b.slope};
  case Operation::subtract:
    return AffineForm{a.constant - b.constant, a.slope - b.slope};
  case Operation::multiply:
    if (a.slope != 0. && b.slope != 0.)
      return {};
    return AffineForm{a.constant * b.constant, a.constant * b.slope + a.slope * b.constant};
  case Operation::divide:
    if (b.slope != 0.)
      return {};
    return AffineForm{a.constant / b.constant, a.slope / b.constant};
  default:
    if (a.slope != 0. || b.slope != 0.)
      return {};
    return AffineForm{apply(operation, a.constant, b.constant), 0.};
  }
}
} // namespace

std::optional<AffineForm> affine_form(const ExpressionProgram &program)
{
  std::vector<AffineForm> stack;
  AffineForm accumulator;
  for (int k = 0; k < program.size; ++k) {
    const unsigned char operand = program.operands[k];
    AffineForm a = accumulator, b = accumulator;
    if (operand < ExpressionProgram::n_constants)
      b = {program.constants[operand], 0.};
    else if (operand == ExpressionProgram::unknown)
      b = {0., 1.};
    if (program.operations[k] == Operation::load)
      stack.push_back(accumulator);
    else if (operand == ExpressionProgram::on_stack) {
      a = stack.back();
      stack.pop_back();
    }
    const auto result = apply_to_forms(program.operations[k], a, b);
    if (!result)
      return {};
    accumulator = *result;
  }
  if (!std::isfinite(accumulator.constant) || !std::isfinite(accumulator.slope))
    return {};
  return accumulator;
}

std::vector<Choice> expression_functions()
{
  std::vector<Choice> choices;
  for (const Function &function : functions)
    choices.push_back({function.name, function.meaning});
  return choices;
}
} // namespace femgpu::linalg
