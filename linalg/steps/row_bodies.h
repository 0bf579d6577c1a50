#ifndef femgpu_linalg_steps_row_bodies_h
#define femgpu_linalg_steps_row_bodies_h

#include "linalg/base/host_device.h"

/**
 * @file
 * Bodies of product steps (steps.h) that need neither state nor sums, so that they can be used both
 * in the loops of solvers and outside of loops.
 */
namespace femgpu::linalg
{
/// Computes y = A v.
struct StoreProduct
{
  double *y;

  FEMGPU_HD
  void operator()(const int i, const double Av_i) const
  {
    y[i] = Av_i;
  }
};

/// Computes y += A v.
struct AddProduct
{
  double *y;

  FEMGPU_HD
  void operator()(const int i, const double Av_i) const
  {
    y[i] += Av_i;
  }
};

/// Computes t = r − A x.
struct StoreResidual
{
  const double *r;
  double *t;

  FEMGPU_HD
  void operator()(const int i, const double Ax_i) const
  {
    t[i] = r[i] - Ax_i;
  }
};
} // namespace femgpu::linalg

#endif
