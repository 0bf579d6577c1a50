"""Finds the conductivity k of a bar from its temperature, by gradients through the solve."""

import torch

import femgpu.torch

n = 50
device = "cuda" if torch.cuda.is_available() else "cpu"
rows, columns, sides, signs = [], [], [], []
for side in range(n + 1):  # side s lies between the unknowns s − 1 and s
    ends = [i for i in (side - 1, side) if 0 <= i < n]
    for i in ends:
        for j in ends:
            rows.append(i), columns.append(j), sides.append(side), signs.append(1.0 if i == j else -1.0)
entry = torch.tensor([rows, columns], device=device)
sides, signs = torch.tensor(sides, device=device), torch.tensor(signs, device=device, dtype=torch.float64)


def temperature(k):
    K = torch.sparse_coo_tensor(entry, k[sides] * signs, (n, n)).coalesce()
    return femgpu.torch.solve(K.to_sparse_csr(), b, solver="cg", preconditioner="jacobi")


b = torch.ones(n, device=device, dtype=torch.float64) / (n + 1) ** 2
true_k = 1.0 + torch.linspace(0, 1, n + 1, device=device, dtype=torch.float64)
measured = temperature(true_k)
k = torch.full_like(true_k, 1.5, requires_grad=True)
optimiser = torch.optim.LBFGS([k], max_iter=100, line_search_fn="strong_wolfe", tolerance_change=1e-16)


def closure():
    optimiser.zero_grad()
    loss = ((temperature(k) - measured) ** 2).sum() / (measured**2).sum()
    loss.backward()
    return loss


first = closure().item()
optimiser.step(closure)
last = closure().item()
print(f"misfit {first:.2e} → {last:.2e}")
assert last < 1e-6 * first
