#!/usr/bin/python3
"""Draws the branch of solutions that femgpu has followed: max u over lambda, with its folds.

    scripts/plot_branch.py output/bratu_branch/branch.csv [PICTURE.png]

Without a second name the picture lies beside the table, as branch.png; the ending chooses the
format (.png, .pdf, .svg). Needs matplotlib (apt-get install python3-matplotlib).
"""

import argparse
import csv
import os
import sys


def read_branch(path):
    """The lines of branch.csv in the order along the branch, with numbers for text."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    needed = {"kind", "branch", "arclength", "lambda", "max_u"}
    if not rows or not needed <= set(rows[0]):
        raise ValueError(f"{path} is no branch.csv of femgpu: it needs the columns "
                         f"{', '.join(sorted(needed))}, and a line")
    for row in rows:
        for name in "arclength", "lambda", "max_u":
            row[name] = float(row[name])
    return sorted(rows, key=lambda row: row["arclength"])


def parts(rows):
    """(name, rows) of each part between folds; a fold belongs to both parts."""
    result = []
    for row in rows:
        if row["kind"] == "fold" and result:
            result[-1][1].append(row)
            result.append(("", [row]))
        elif not result:
            result.append((row["branch"], [row]))
        else:
            name, members = result[-1]
            members.append(row)
            result[-1] = (name or row["branch"], members)
    return result


def draw(rows, picture):
    import matplotlib  # only here: --help needs none
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6.4, 4.8))
    for number, (name, members) in enumerate(parts(rows)):
        axes.plot([row["lambda"] for row in members], [row["max_u"] for row in members],
                  marker=".", markersize=4, label=name or f"branch {number}")
    for row in rows:
        if row["kind"] == "fold":
            axes.plot(row["lambda"], row["max_u"], "k*", markersize=12)
            axes.annotate(f"fold: λ = {row['lambda']:.6g}, max u = {row['max_u']:.5g}",
                          (row["lambda"], row["max_u"]), xytext=(-8, 0),
                          textcoords="offset points", ha="right", va="center")
        elif row["kind"] == "target":
            axes.plot(row["lambda"], row["max_u"], "ks", markersize=5, fillstyle="none")
    axes.set_xlabel("λ")
    axes.set_ylabel("max u")
    axes.grid(True, linewidth=0.4)
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=150, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", metavar="branch.csv")
    parser.add_argument("picture", nargs="?", help="name of the picture")
    options = parser.parse_args()
    picture = options.picture or os.path.join(os.path.dirname(options.table), "branch.png")
    try:
        draw(read_branch(options.table), picture)
    except ImportError as error:
        sys.exit(f"plot_branch.py: {error}; install python3-matplotlib")
    except (OSError, ValueError) as error:
        sys.exit(f"plot_branch.py: {error}")
    print(picture)


if __name__ == "__main__":
    main()
