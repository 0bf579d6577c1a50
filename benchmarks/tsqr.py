#!/usr/bin/env python3
"""Plots the results of femgpu_tsqr_check: ||I - Q'Q|| over the condition number of V.

    tsqr.py --csv tsqr.csv --picture tsqr.png [--columns P]

The left panel shows one pass of each variant and the theoretical orders (Yamazaki et al. 2014,
figure 10), the right panel two passes. A curve ends where its factorisation fails.
"""
import csv
import sys

from runs import parser_of, pyplot

EPS = 2.0 ** -53
STYLES = {"mgs": "C0o-", "cgs": "C1s-", "cholqr": "C2^-", "svqr": "C3v--", "caqr": "C4D-"}
ORDERS = {r"$\varepsilon$": 0, r"$\varepsilon\,\kappa$": 1, r"$\varepsilon\,\kappa^2$": 2}


def read(path):
    """Returns {(variant, passes, columns): [(kappa, error), ...]} and the sources of the rows."""
    series, sources = {}, set()
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not row["orthogonality"]:
                continue
            key = row["variant"], int(row["passes"]), int(row["p"])
            series.setdefault(key, []).append((float(row["kappa"]), float(row["orthogonality"])))
            sources.add((row["device"], row["n"]))
    return series, sources


def draw(axes, series, passes, columns):
    for variant, style in STYLES.items():
        points = sorted(series.get((variant, passes, columns), []))
        if points:
            axes.loglog(*zip(*points), style, label=variant, markersize=4, linewidth=1)
    kappas = sorted({kappa for points in series.values() for kappa, _ in points})
    for label, power in ORDERS.items():
        line = [(kappa, EPS * kappa ** power) for kappa in kappas if EPS * kappa ** power <= 10.]
        axes.loglog(*zip(*line), "k:", linewidth=0.8)
        axes.annotate(label, line[-1], fontsize="small", xytext=(3, -8), textcoords="offset points")
    axes.set_xlabel(r"$\kappa(V)$")
    axes.set_ylim(1e-17, 1e2)
    axes.grid(True, linewidth=0.4)
    axes.set_title("one pass" if passes == 1 else "two passes", fontsize="medium")


def main():
    parser = parser_of(__doc__, csv_required=True)
    parser.add_argument("--picture", required=True, metavar="FILE")
    parser.add_argument("--columns", type=int, metavar="P",
                        help="number of columns of V (default: the largest in the table)")
    options = parser.parse_args()
    series, sources = read(options.csv)
    columns = options.columns or max((key[2] for key in series), default=0)
    if not any(key[2] == columns for key in series):
        print(f"tsqr.py: {options.csv} has no errors with {columns} columns", file=sys.stderr)
        return 1
    plots = pyplot()
    if plots is None:
        return 1
    figure, panels = plots.subplots(1, 2, figsize=(10, 4), sharey=True)
    for passes, axes in enumerate(panels, start=1):
        draw(axes, series, passes, columns)
    panels[0].set_ylabel(r"$\|I - Q^T Q\|_F$")
    panels[0].legend(fontsize="small")
    devices = ", ".join(f"{device}, n = {n}" for device, n in sorted(sources))
    figure.suptitle(f"{columns} columns, {devices}", fontsize="medium")
    figure.tight_layout()
    figure.savefig(options.picture, dpi=130, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
