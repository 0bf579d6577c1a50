"""Draws a transient analysis: quantities and errors over time, and the steps in time.

Each cycle is a curve. Each function returns a list of pages, which is empty for other analyses.
"""

import math

import results
from figures import (MOST_CURVES, UNCONVERGED, add_outer_legend, curve_style, figure, log_axis,
                     plain_axis, short_title)

PANELS_ON_A_PAGE = 9
MOST_MARKERS = 40  # more would hide the curve
NO_QUANTITIES = ("cycle", "output", "step", "time")
REJECTED = {**UNCONVERGED, "markersize": 7, "markeredgewidth": 1.5, "label": "rejected"}


def style_of(i, count):
    style = {**curve_style(i), "markersize": 3}
    return style if count <= MOST_MARKERS else {**style, "marker": None}


def draw_curves(axes, cycles, column, **more):
    """Draws a column over time, with a curve for each cycle; returns all known values."""
    drawn = []
    for i, (cycle, rows) in enumerate(cycles):
        points = [(row["time"], row[column]) for row in rows if row[column] is not None]
        if points:
            axes.plot(*zip(*points), label=f"cycle {cycle}", **style_of(i, len(points)), **more)
            drawn += [value for _, value in points]
    axes.set_xlabel("t")
    return drawn


def time_page(run, cycles, columns):
    across = min(len(columns), 3)
    down = math.ceil(len(columns) / across)
    made, axes = figure(down, across, (3.6 * across + 0.8, 2.6 * down + 0.3))
    for plot, column in zip(axes, columns):
        values = draw_curves(plot, cycles, column)
        if column.endswith("_error") and min(values) > 0:
            plot.set_yscale("log")
            log_axis(plot.yaxis, values)
        else:
            plain_axis(plot.yaxis, values)
        name = column.replace("_error", " error")
        plot.set_title(f"{short_title(run.with_unit(name))}\nlast: {values[-1]:.9g}", fontsize=10)
    limits = [plot.get_xlim() for plot in axes[:len(columns)]]
    for plot in axes:  # fluxes are unknown at t = 0
        plot.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
    for unused in axes[len(columns):]:
        unused.set_visible(False)
    if len(cycles) > 1:
        add_outer_legend(axes[across - 1])
    return made


def time(run, names=None):
    """Returns pages of all quantities and errors of time.csv, or of the named ones, over time."""
    cycles = run.time[-MOST_CURVES:]
    if not cycles:
        return []
    known = [column for column in cycles[0][1][0] if column not in NO_QUANTITIES
             and any(row[column] is not None for _, rows in cycles for row in rows)]
    columns = [results.find_name(name, known, "the quantity") for name in names or ()] or known
    return [time_page(run, cycles, columns[i:i + PANELS_ON_A_PAGE])
            for i in range(0, len(columns), PANELS_ON_A_PAGE)]


def steps(run):
    """Returns a page with the length and the estimated error of all steps; crosses are rejected."""
    cycles = run.steps[-MOST_CURVES:]
    if not cycles:
        return []
    made, (above, below) = figure(2, 1, (7.6, 5.4))
    accepted = [(cycle, [row for row in rows if row["accepted"]]) for cycle, rows in cycles]
    rejected = [row for _, rows in cycles for row in rows if not row["accepted"]]
    for axes, column, more in (above, "length", {"drawstyle": "steps-pre"}), (below, "error", {}):
        values = draw_curves(axes, accepted, column, **more)
        crosses = [(row["time"], row[column]) for row in rejected if row[column]]
        if crosses:
            axes.plot(*zip(*crosses), **REJECTED)
        axes.set_yscale("log")
        log_axis(axes.yaxis, [value for value in values if value] + [value for _, value in crosses])
    below.axhline(1., color="#555555", linewidth=0.9, linestyle=":")
    below.set_xlim(above.get_xlim())
    above.set_ylabel("length of the step")
    below.set_ylabel("estimated error / tolerance")
    counts = f"{sum(len(rows) for _, rows in accepted)} accepted, {len(rejected)} rejected"
    left_out = f" of the last {MOST_CURVES} cycles" if len(run.steps) > MOST_CURVES else ""
    above.set_title(f"Steps in time{left_out}: {counts}")
    add_outer_legend(above)
    return [made]
