#ifndef femgpu_linalg_nonlinear_expression_law_h
#define femgpu_linalg_nonlinear_expression_law_h

#include "linalg/base/host_device.h"

#include <string>

namespace femgpu::linalg
{
/**
 * An expression of u as a short program for a machine with a stack, a plain struct: kernels get it
 * by value, and host and device run the same instructions.
 */
struct ExpressionProgram
{
  enum class Operation : unsigned char
  {
    constant,
    unknown,
    add,
    multiply
  };

  static constexpr int longest = 64; ///< instructions
  static constexpr int deepest = 16; ///< values on the stack
  static constexpr int n_constants = 24;

  int size = 0;
  Operation operations[longest] = {};
  unsigned char operands[longest] = {}; ///< which constant
  double constants[n_constants] = {};

  FEMGPU_HD
  double operator()(const double u) const
  {
    double stack[deepest];
    int top = -1;
    for (int k = 0; k < size; ++k)
      switch (operations[k]) {
      case Operation::constant:
        stack[++top] = constants[operands[k]];
        break;
      case Operation::unknown:
        stack[++top] = u;
        break;
      case Operation::add:
        --top;
        stack[top] += stack[top + 1];
        break;
      case Operation::multiply:
        --top;
        stack[top] *= stack[top + 1];
        break;
      }
    return top == 0 ? stack[0] : 0.;
  }
};

/// φ and φ' given by expressions of u.
struct ExpressionLaw
{
  ExpressionProgram phi, phi_prime;

  FEMGPU_HD
  double value(const double u) const
  {
    return phi(u);
  }
  FEMGPU_HD
  double derivative(const double u) const
  {
    return phi_prime(u);
  }
  FEMGPU_HD
  double difference(const double u, const double d) const
  {
    return phi(u + d) - phi(u);
  }
  FEMGPU_HD
  double excess(const double u, const double d) const
  {
    // Gauss-Legendre with 3 points of ∫ (φ(u + s d) − φ(u)) d ds, 0 <= s <= 1
    const double phi_u = phi(u);
    const double s = 0.1127016653792583114820735;
    return d * (5. / 18. * ((phi(u + s * d) - phi_u) + (phi(u + (1. - s) * d) - phi_u)) +
                8. / 18. * (phi(u + 0.5 * d) - phi_u));
  }
};

/**
 * Compiles φ(u) and φ'(u), and compares φ' with differences of φ.
 * @throws ParameterError that names the place in the text for what is no expression; the point and
 *         both values if @p phi_prime is not the derivative of @p phi
 */
ExpressionLaw make_expression_law(const std::string &phi, const std::string &phi_prime);
} // namespace femgpu::linalg

#endif
