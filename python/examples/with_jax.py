"""Differentiates a solve with JAX, and compares the gradient with finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

import femgpu.jax

jax.config.update("jax_enable_x64", True)
n = 30
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
A = sp.kronsum(line + 0.3 * sp.diags([1.0, -1.0], [0, -1], shape=(n, n)), line, format="csr")
values, b = jnp.asarray(A.data), jnp.ones(n * n)
solve = femgpu.jax.solver(A.indptr, A.indices, solver="bicgstab", preconditioner="ilu", rtol=1e-12)


def energy(values, b):
    return jnp.sum(solve(values, b) ** 2)


of_values, of_b = jax.grad(energy, argnums=(0, 1))(values, b)
compiled = jax.jit(jax.grad(energy))(values, b)
assert np.allclose(of_values, compiled, rtol=1e-8)
for gradient, argument in (of_values, 0), (of_b, 1):
    k, h = 17, 1e-5
    step = jnp.zeros_like(gradient).at[k].set(h)
    moved = [(values + s * step, b) if argument == 0 else (values, b + s * step) for s in (1, -1)]
    difference = (energy(*moved[0]) - energy(*moved[1])) / (2 * h)
    print(f"gradient {gradient[k]:.10e}, finite difference {difference:.10e}")
    assert abs(difference - gradient[k]) < 1e-6 * abs(gradient[k])
