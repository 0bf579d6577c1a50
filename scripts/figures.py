"""Draws the figures of plot.py and report.py with matplotlib: one function for each figure.

Each function returns a matplotlib Figure, or None if the run has nothing to draw; quantities()
returns a list of pages. Colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/),
which readers with colour vision deficiencies can distinguish; markers, dashes and hatches carry the
same information.
"""

import math
import sys
import textwrap

import results

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter
except ImportError as error:
    sys.exit(f"{error}: install python3-matplotlib, and use /usr/bin/python3")

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F",
           "#999999"]
MARKERS = "osD^vP*Xh"
DASHES = ["-", "--", "-.", ":"]
# Colours and hatches of adjacent phases in a bar.
FILLS = [("#56B4E9", ""), ("#0072B2", "//"), ("#F0E442", ""), ("#E69F00", "\\\\"), ("#CC79A7", ""),
         ("#009E73", "//"), ("#D55E00", ""), ("#BBBBBB", "\\\\"), ("#666666", "")]
MOST_CURVES = 12  # more cannot be distinguished
QUANTITIES_ON_A_PAGE = 8
UNCONVERGED = {"color": "#D00000", "marker": "x", "linestyle": "none", "markersize": 11,
               "markeredgewidth": 2.5, "label": "not converged", "zorder": 5}

STYLE = {
    "font.size": 10, "axes.titlesize": 11, "axes.labelsize": 10, "legend.fontsize": 9,
    "axes.grid": True, "grid.linewidth": 0.4, "grid.color": "#c8c8c8", "axes.axisbelow": True,
    "lines.linewidth": 1.5, "lines.markersize": 5, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white",
    "figure.constrained_layout.use": True, "savefig.dpi": 150,
    "svg.hashsalt": "femgpu", "hatch.linewidth": 0.6}  # without a salt, SVG ids differ between runs
pyplot.rcParams.update(STYLE)


def figure(rows=1, columns=1, size=(6.4, 4.4)):
    """Returns a figure and a list of its axes."""
    made, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False)
    return made, list(axes.flat)


def save(made, target, extension):
    """Writes the figure to a file or stream; equal numbers give equal bytes."""
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None},
                "pdf": {"CreationDate": None, "Creator": None, "Producer": None}}[extension]
    made.savefig(target, format=extension, metadata=metadata)
    pyplot.close(made)


def curve_style(i):
    """Returns colour, marker and dashes of curve number i."""
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)],
            "linestyle": DASHES[i // len(COLOURS) % len(DASHES)]}


def add_outer_legend(axes, title=None):
    """Adds a legend to the right of the axes, where it hides no curve; each name occurs once."""
    handles = {label: handle for handle, label in zip(*axes.get_legend_handles_labels())}
    labels = sorted(handles, key=lambda label: label == UNCONVERGED["label"])  # puts this label last
    axes.legend([handles[label] for label in labels], labels, loc="upper left",
                bbox_to_anchor=(1.01, 1.), borderaxespad=0., title=title)


def tick_text(value, _=None):
    """Formats a number as `2 000` or `2·10⁻³`, which is narrower than matplotlib's `2 × 10⁻³`."""
    if 0.01 <= value < 1e5:
        return f"{value:,.10g}".replace(",", "\u2009")
    exponent = math.floor(math.log10(value) + 1e-9)
    mantissa = value / 10**exponent
    power = f"10^{{{exponent}}}"
    return f"${power}$" if abs(mantissa - 1) < 1e-6 else f"${mantissa:g}{{\\cdot}}{power}$"


def log_axis(axis, values):
    """Makes an axis logarithmic and numbers its ticks even within a single decade."""
    positive = [value for value in values if value > 0]
    span = max(positive) / min(positive) if positive else 1.
    if span < 30:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if span > 3 else (1, 1.5, 2, 3, 4, 6, 8)))
        axis.set_major_formatter(FuncFormatter(tick_text))
    axis.set_minor_formatter(NullFormatter())


def expected_order(run, name):
    """Returns the optimal order: p+1 in L2, p in H1, None or 0 for other curves."""
    if run.degree is None:
        return None
    is_alone = name == "estimated error" and not run.norms()
    return {"L2 error": run.degree + 1, "H1 error": run.degree}.get(name, run.degree * is_alone)


def slope_triangle(axes, dofs, errors, order, dimension):
    """Draws a triangle with the slope of dofs^(-order/dimension) below the last part of a curve."""
    slope = order / dimension
    right = dofs[-1]
    left = max(dofs[-2], right / 4)
    bottom = errors[-1] / 1.5
    top = bottom * (right / left)**slope
    axes.plot([left, right, left, left], [bottom, bottom, top, bottom], color="#555555",
              linewidth=0.9)
    text = f"{order:g}/{dimension}" if slope != int(slope) else f"{slope:g}"
    axes.annotate(text, (left, math.sqrt(bottom * top)), xytext=(-3, 0), color="#333333",
                  textcoords="offset points", ha="right", va="center", fontsize=9)


def convergence(run):
    """Draws errors over dofs with triangles of the optimal slopes; returns None without errors.

    The errors of a transient analysis, which contain those of the steps, need two cycles and get no
    triangles.
    """
    curves = [(f"{norm} error", *run.errors(norm)) for norm in run.norms()]
    curves.append(("estimated error", *run.estimates()))
    curves = [curve for curve in curves if len(curve[1]) > (1 if run.time else 0)]
    if not curves:
        return None
    made, (axes,) = figure(size=(7.2, 4.4))
    dimension = run.summary["dimension"]
    for i, (name, dofs, errors) in enumerate(curves):
        axes.loglog(dofs, errors, label=name, **curve_style(i))
        if mark_unconverged(axes, run, dofs, errors) or run.time:
            continue
        order = expected_order(run, name)
        if order and len(dofs) > 1 and dofs[-2] < dofs[-1]:
            slope_triangle(axes, dofs, errors, order, dimension)
    axes.set_xlabel("dofs")
    axes.set_ylabel("error (H1: of the gradient)")
    kind = "adaptive" if run.is_adaptive else "global"
    axes.set_title("Errors at the end of the analysis" if run.time else
                   f"Errors, {kind} refinement; triangles: optimal slopes")
    log_axis(axes.xaxis, curves[0][1])
    log_axis(axes.yaxis, [error for curve in curves for error in curve[2]])
    add_outer_legend(axes)
    return made


def differences(dofs, values):
    """Returns pairs (dofs_i, |q_i - q_(i-1)|), relative to the last value unless that is 0."""
    scale = abs(values[-1]) or 1.
    pairs = [(dofs[i], abs(values[i] - values[i - 1]) / scale) for i in range(1, len(values))]
    return [pair for pair in pairs if pair[1] > 0]


def short_title(name, width=34):
    """Breaks a name into lines of at most @p width characters."""
    return "\n".join(textwrap.wrap(name, width, break_long_words=True)) or name


def plain_axis(axis, values):
    """Formats the numbers of an axis without offsets; widens the axis if its values are constant."""
    if not values:
        return
    low, high = min(values), max(values)
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size:
        middle, half = (low + high) / 2, 0.01 * size or 1.
        (axis.axes.set_ylim if axis.axis_name == "y" else axis.axes.set_xlim)(middle - half,
                                                                              middle + half)
    axis.set_major_locator(MaxNLocator(5))
    formatter = ScalarFormatter(useOffset=False)
    formatter.set_powerlimits((-4, 6))
    axis.set_major_formatter(formatter)


def mark_unconverged(axes, run, dofs, values):
    """Marks cycles that have not converged with crosses. Returns whether there are such cycles."""
    points = [pair for pair in zip(dofs, values) if pair[0] in run.unconverged()]
    if points:
        axes.plot(*zip(*points), **UNCONVERGED)
    return bool(points)


def quantity_page(run, curves):
    """Draws a panel for each quantity over dofs, and one for all changes between cycles."""
    n = len(curves) + 1
    columns = 1 if n == 1 else 2 if n <= 4 else 3
    rows = math.ceil(n / columns)
    made, axes = figure(rows, columns, (3.9 * columns, 2.9 * rows + 0.3))
    for i, (name, dofs, values) in enumerate(curves):
        axes[i].semilogx(dofs, values, **curve_style(i))
        is_marked = mark_unconverged(axes[i], run, dofs, values)
        axes[i].set_title(f"{short_title(run.with_unit(name))}\nlast: {values[-1]:.9g}"
                          f"{' (not converged)' if is_marked else ''}", fontsize=10)
        axes[i].set_xlabel("dofs")
        plain_axis(axes[i].yaxis, values)
        log_axis(axes[i].xaxis, dofs)
    last = axes[len(curves)]
    changes = []
    for i, (name, dofs, values) in enumerate(curves):
        pairs = [pair for pair in differences(dofs, values) if pair[0] not in run.unconverged()]
        if pairs:
            last.loglog(*zip(*pairs), label=name, **curve_style(i))
            changes += [change for _, change in pairs]
    if changes:
        last.set_xlim(axes[0].get_xlim())
        log_axis(last.xaxis, curves[0][1])
        log_axis(last.yaxis, changes)
        last.set_xlabel("dofs")
        last.set_title("relative change\nto the cycle before", fontsize=10)
    for unused in axes[len(curves) + bool(changes):]:
        unused.set_visible(False)
    if run.time:
        made.suptitle("Quantities at the end of the analysis", fontsize=11)
    return made


def quantities(run, names=None):
    """Returns pages of all quantities or of the named ones; no pages after a single cycle."""
    if names:
        names = [results.find_name(name, run.quantities(), "the quantity") for name in names]
    curves = [(name, *run.values(name)) for name in names or run.quantities()]
    curves = [curve for curve in curves if len(curve[1]) > 1]
    return [quantity_page(run, curves[i:i + QUANTITIES_ON_A_PAGE])
            for i in range(0, len(curves), QUANTITIES_ON_A_PAGE)]


def residuals(run):
    """Draws residual norms over iterations, with a curve for each cycle."""
    curves = [curve for curve in run.history if any(value > 0 for value in curve[2])]
    if not curves:
        return None
    left_out = max(0, len(curves) - MOST_CURVES)
    curves = curves[left_out:]
    made, (axes,) = figure(size=(7.6, 4.4))
    dofs = {cycle["cycle"]: f", {cycle['dofs']} dofs"
            + ("" if results.is_converged(cycle) else ", not converged") for cycle in run.cycles}
    for i, (cycle, iterations, values) in enumerate(curves):
        style = curve_style(i)
        if len(iterations) > 30:
            style["markevery"] = max(1, len(iterations) // 10)
        label = f"cycle {cycle}" + dofs.get(cycle, "")
        axes.semilogy(iterations, [value if value > 0 else math.nan for value in values],
                      label=label, **style)
    is_nonlinear = any(cycle["solve"].get("nonlinear_iterations") for cycle in run.cycles)
    axes.set_xlabel("nonlinear iteration" if is_nonlinear else "iteration")
    axes.set_ylabel("norm of the residual")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    title = "Residuals of the last solve" if run.time else "Residuals"
    axes.set_title(title + (f" of the last {MOST_CURVES} cycles" if left_out else ""))
    add_outer_legend(axes)
    return made


def phases(run):
    """Returns the phases that took time in at least one cycle, in the order of summary.json."""
    names = {}
    for cycle in run.cycles:
        names.update((name, None) for name, value in cycle["seconds"].items()
                     if name != "total" and value)
    return list(names)


def stacked_bars(axes, names, cycles, is_share):
    """Draws a bar for each cycle with a segment for each phase, in seconds or in % of the cycle."""
    places = range(len(cycles))
    below = [0.] * len(cycles)
    sums = [sum(cycle["seconds"].get(name, 0.) for name in names) or 1. for cycle in cycles]
    for i, name in enumerate(names):
        colour, hatch = FILLS[i % len(FILLS)]
        heights = [cycle["seconds"].get(name, 0.) for cycle in cycles]
        if is_share:
            heights = [100 * height / total for height, total in zip(heights, sums)]
        axes.bar(places, heights, 0.75, bottom=below, label=name, color=colour, hatch=hatch,
                 linewidth=0.5, edgecolor="white")
        below = [a + b for a, b in zip(below, heights)]
    step = max(1, math.ceil(len(cycles) / 16))
    axes.set_xticks(list(places)[::step], [str(cycle["cycle"]) for cycle in cycles][::step])
    axes.set_xlabel("cycle")
    axes.set_ylabel("% of the cycle" if is_share else "seconds")
    axes.set_xlim(-0.8, max(len(cycles), 4) - 0.2)
    axes.grid(False, axis="x")


def times(run):
    """Draws seconds by phase: stacked bars by cycle, and the share of each phase."""
    names = phases(run)
    if not names:
        return None
    made, axes = figure(1, 2, (8.8, 4.))
    for plot, is_share in zip(axes, (False, True)):
        stacked_bars(plot, names, run.cycles, is_share)
    made.suptitle("Time by phase", fontsize=11)
    handles, labels = axes[1].get_legend_handles_labels()  # from top to bottom, as in the bars
    axes[1].legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return made


def branch(run):
    """Draws max |u| over lambda along a branch of solutions, with its folds and targets."""
    if not run.branch:
        return None
    made, (axes,) = figure()
    for i, (name, members) in enumerate(results.branch_parts(run.branch)):
        axes.plot([row["lambda"] for row in members], [row["max_u"] for row in members],
                  label=name or f"branch {i}", **{**curve_style(i), "markersize": 3})
    targets = [row for row in run.branch if row["kind"] == "target"]
    if targets:
        axes.plot([row["lambda"] for row in targets], [row["max_u"] for row in targets], "ks",
                  markersize=7, fillstyle="none", linestyle="none", label="target")
    middle = sum(axes.get_xlim()) / 2
    for row in run.branch:
        if row["kind"] == "fold":
            is_right = row["lambda"] > middle
            axes.plot(row["lambda"], row["max_u"], "k*", markersize=12)
            axes.annotate(f"fold: λ = {row['lambda']:.6g}, max |u| = {row['max_u']:.5g}",
                          (row["lambda"], row["max_u"]), xytext=(-9 if is_right else 9, 0),
                          textcoords="offset points", ha="right" if is_right else "left",
                          va="center")
    axes.set_xlabel("λ")
    axes.set_ylabel("max |u|")
    axes.set_title(f"Branch of solutions, {run.cycles[0]['dofs']} dofs" if run.cycles else
                   "Branch of solutions")
    axes.legend()
    return made


def along_line(run, rows):
    """Draws the fields of a line_*.csv over its first column, the distance along the line."""
    names = list(rows[0])
    along = [results.number(row[names[0]]) for row in rows]
    fields = [name for name in names[1:] if name not in ("x", "y", "z", "cycle", "index") and
              any(results.number(row[name]) is not None for row in rows)][:9]
    if not fields or None in along:
        return None
    columns = min(len(fields), 3)
    down = math.ceil(len(fields) / columns)
    made, axes = figure(down, columns, (3.4 * columns + 0.6, 2.5 * down + 0.3))
    for i, (plot, name) in enumerate(zip(axes, fields)):
        values = [results.number(row[name]) for row in rows]
        style = {**curve_style(i), "marker": None}
        plot.plot(along, [math.nan if value is None else value for value in values], **style)
        plot.set_title(run.with_unit(name), fontsize=10)
        plot.set_xlabel(names[0])
    for unused in axes[len(fields):]:
        unused.set_visible(False)
    return made


OF_A_RUN = {"convergence": convergence, "quantities": quantities, "residuals": residuals,
            "times": times, "branch": branch}


def pages(made):
    """Converts the result of a function of this file (a figure, several or None) to a list."""
    return made if isinstance(made, list) else [] if made is None else [made]
