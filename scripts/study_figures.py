"""Draws the results of a parameter study: columns of study.csv over a parameter or the mesh.

There is a panel for each column. If the x axis is a studied parameter, the panel shows the last
cycle of each combination, with a curve for each choice of the other parameters. If the x axis is a
number of the mesh (dofs, cells, h, cycle), the panel shows all cycles, with a curve for each
combination. Without such an axis, the panel shows a bar for each combination.
"""

import math

import results
from figures import (COLOURS, MOST_CURVES, UNCONVERGED, MaxNLocator, figure,
                     add_outer_legend, log_axis, curve_style, plain_axis, short_title)

OF_THE_MESH = ("dofs", "cells", "h", "cycle")
PANELS_ON_A_PAGE = 9
TITLES = {"total_seconds": ("Time", "seconds"),
          "linear_iterations": ("Linear iterations", "iterations"),
          "nonlinear_iterations": ("Nonlinear iterations", "iterations")}


def title_and_unit(column):
    if column in TITLES:
        return TITLES[column]
    if column.endswith("_error"):
        return f"{column[:-6]} error", "error"
    return short_title(column), ""


def is_converged(row):
    return row["outcome"] in results.CONVERGED


def scale_axis(axis, values, is_log):
    """Makes an axis logarithmic if that is requested and the values are positive."""
    if is_log and values and min(values) > 0:
        (axis.axes.set_yscale if axis.axis_name == "y" else axis.axes.set_xscale)("log")
        log_axis(axis, values)
    else:
        plain_axis(axis, values)


class Abscissa:
    """The x axis: `curves` [(label, [(x, line of study.csv)])], and how the axis is labelled."""

    def __init__(self, study, name):
        self.name = name
        self.words = None  # the values, in order, of a parameter whose values are not all numbers
        self.of_curves = [word for other, word in study.short_names().items() if other != name]
        if name in OF_THE_MESH:
            self.curves = [(label, [(results.number(row.get(name)), row) for row in rows])
                           for label, rows in study.combinations]
            return
        values = list(dict.fromkeys(row[name] for row in study.last_rows()))
        position = {text: results.number(text) for text in values}
        if None in position.values():
            self.words = values
            position = {text: i for i, text in enumerate(values)}
        curves = {}
        for row in study.last_rows():
            curves.setdefault(study.label(row, without=name), []).append((position[row[name]], row))
        self.curves = [(label, sorted(pairs, key=lambda pair: pair[0]))
                       for label, pairs in curves.items()]

    def finish(self, axes):
        axes.set_xlabel(self.name.rpartition("/")[2])
        places = [x for _, pairs in self.curves for x, _ in pairs if x is not None]
        if self.words:
            axes.set_xticks(range(len(self.words)), [short_title(word, 14) for word in self.words])
            axes.margins(x=0.15)
        elif places:
            is_wide = min(places) > 0 and max(places) / min(places) > 20
            scale_axis(axes.xaxis, places, is_wide or self.name in ("dofs", "cells", "h"))
            if not is_wide and len(set(places)) <= 6 and self.name not in OF_THE_MESH:
                axes.set_xticks(sorted(set(places)))


def draw_curves(axes, abscissa, column, is_log):
    drawn = []
    for i, (label, pairs) in enumerate(abscissa.curves[:MOST_CURVES]):
        points = [(x, results.number(row.get(column)), is_converged(row)) for x, row in pairs]
        points = [point for point in points if None not in point]
        good = [point[:2] for point in points if point[2]]
        bad = [point[:2] for point in points if not point[2]]
        style = {**curve_style(i), "linestyle": "none"} if abscissa.words else curve_style(i)
        if good:
            axes.plot(*zip(*good), label=label, **style)
        else:
            axes.plot([], [], label=f"{label} (no solution)", **style)
        if bad:
            axes.plot(*zip(*bad), **UNCONVERGED)
        drawn += [y for _, y in good + bad]
    scale_axis(axes.yaxis, drawn, is_log)
    abscissa.finish(axes)


def draw_bars(axes, study, column):
    """Draws a bar with its value for each combination; unknown values are marked."""
    labels = [label for label, _ in study.combinations]
    values = [results.number(row.get(column)) if is_converged(row) else None
              for row in study.last_rows()]
    places = range(len(labels))
    axes.barh(places, [value or 0. for value in values], 0.7, color=COLOURS[0])
    axes.set_yticks(list(places), labels)
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    known = [value for value in values if value] or [1.]
    axes.set_xlim(1.25 * min(0., *known), 1.25 * max(0., *known))
    for place, value in zip(places, values):
        axes.annotate("not converged" if value is None else f"{value:.6g}", (value or 0., place),
                      xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)


def find_abscissa(study, over, prefers_mesh):
    """Returns the x axis: @p over if given, else a studied parameter or the dofs; None for bars."""
    if over:
        names = study.parameters + [name for name in OF_THE_MESH if name in study.columns]
        return Abscissa(study, results.find_name(over, names, "--over:"))
    of_mesh = "dofs" if study.has_several_meshes() else None
    of_parameters = study.numeric_parameter()
    name = of_mesh or of_parameters if prefers_mesh else of_parameters or of_mesh
    return Abscissa(study, name) if name else None


def page(study, columns, abscissa, is_log):
    across = min(len(columns), 3 if len(columns) > 4 else 2)
    down = math.ceil(len(columns) / across)
    n = len(abscissa.curves if abscissa else study.combinations)
    height = 3.2 if abscissa else 0.9 + 0.32 * max(n, 3)
    made, axes = figure(down, across, (4.3 * across + 0.4, height * down + 0.4))
    for plot, column in zip(axes, columns):
        title, unit = title_and_unit(column)
        plot.set_title(title)
        if abscissa:
            draw_curves(plot, abscissa, column, is_log)
            plot.set_ylabel(unit)
        else:
            draw_bars(plot, study, column)
            plot.set_xlabel(unit)
    for unused in axes[len(columns):]:
        unused.set_visible(False)
    note = f" (the first {MOST_CURVES} of {n})" if abscissa and n > MOST_CURVES else ""
    made.suptitle(f"Study over {study.title()}{note}", fontsize=11)
    if abscissa and abscissa.of_curves:
        add_outer_legend(axes[across - 1], ",\n".join(abscissa.of_curves))
    return made


def comparison(study, over=None):
    """Draws times, iterations and errors of the combinations, to compare their cost."""
    errors = [name for name in ("L2_error", "H1_error", "estimated_error")
              if name in study.error_columns()][:2]
    columns = [name for name in [*TITLES, *errors]
               if name in study.columns and any(results.number(row[name]) for row in study.rows())]
    return [page(study, columns, find_abscissa(study, over, True), True)] if columns else []


def quantities(study, over=None, names=None):
    """Returns pages of all quantities or of the named columns."""
    known = study.quantities()
    if names:
        others = [name for name in study.columns if name not in known + study.parameters
                  and study.has_numbers(name)]
        columns = [name if name in others else results.find_name(name, known, "the quantity")
                   for name in names]
    else:
        columns = known
    abscissa = find_abscissa(study, over, False)
    return [page(study, columns[i:i + PANELS_ON_A_PAGE], abscissa, False)
            for i in range(0, len(columns), PANELS_ON_A_PAGE)]
