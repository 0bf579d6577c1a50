#!/usr/bin/python3
"""Draws the results of a run or of a parameter study of femgpu from its output directory.

    scripts/plot.py output/poisson [--format svg|png|pdf] [--only convergence …]
    scripts/plot.py output/study --quantity "right displacement_y" --over Degree

Figures of a run are convergence (errors over dofs), quantities (all measurements and the quantities
of the physics), residuals (by iteration), times (by phase), branch (of a continuation), and time
(all quantities over time) and steps (their lengths and errors) of a transient analysis. Figures of
a parameter study, whose directory has a study.csv, are study (times, iterations, errors) and
quantities. Figures are written to the directory, or to --output, under their names; further pages
are called NAME_2, …. Figures without data are skipped. Prints the names of the files. Exits with 1
if there is nothing to draw or a file of the directory is invalid. Requires matplotlib (apt-get
install python3-matplotlib).
"""

import argparse
import os
import sys

import results


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="output directory of a run or study")
    parser.add_argument("--format", choices=("svg", "png", "pdf"), default="svg",
                        help="format of the figures (default: svg)")
    parser.add_argument("--only", nargs="+", metavar="FIGURE", help="draw only these figures",
                        choices=("convergence", "quantities", "residuals", "times", "branch", "time",
                                 "steps", "study"))
    parser.add_argument("--quantity", action="append", metavar="NAME",
                        help="draw only this quantity, or another column of study.csv (repeatable); "
                             "implies --only quantities time")
    parser.add_argument("--over", metavar="NAME", help="x axis of the figures of a parameter study: a "
                                                       "studied parameter (its last word is sufficient), "
                                                       "dofs, cells, h or cycle")
    parser.add_argument("--output", metavar="DIR", help="directory of the figures (default: DIR)")
    return parser.parse_args()


def drawings_of(options):
    """Returns {name: function} of the figures; a function returns the pages, possibly none."""
    import figures  # imported here because --help does not need matplotlib
    import study_figures
    import time_figures
    directory = options.directory
    if results.is_study(directory):
        study = results.ParameterStudy(directory)
        return {"study": lambda: study_figures.comparison(study, options.over),
                "quantities": lambda: study_figures.quantities(study, options.over,
                                                               options.quantity)}
    run = results.Run(directory)
    if options.over:
        raise results.BadResult(f"{directory}: --over {options.over} needs a parameter study, but this "
                                f"is a single run; remove --over")
    drawings = {name: lambda draw=draw: figures.pages(draw(run))
                for name, draw in figures.OF_A_RUN.items()}
    drawings["quantities"] = lambda: figures.quantities(run, options.quantity)
    drawings["time"] = lambda: time_figures.time(run, options.quantity)
    drawings["steps"] = lambda: time_figures.steps(run)
    return drawings


def save_pages(name, pages, options):
    """Writes NAME, NAME_2, …, removes further pages of an earlier run, and returns the files."""
    import figures
    target = options.output or options.directory
    os.makedirs(target, exist_ok=True)
    stem = os.path.join(target, name)
    pictures = []
    for i, made in enumerate(pages):
        pictures.append(f"{stem}_{i + 1}.{options.format}" if i else f"{stem}.{options.format}")
        figures.save(made, pictures[-1], options.format)
    i = len(pages) + 1
    while os.path.exists(f"{stem}_{i}.{options.format}"):
        os.remove(f"{stem}_{i}.{options.format}")
        i += 1
    return pictures


def main():
    options = parse_command_line()
    count = 0
    try:
        drawings = drawings_of(options)
        figures_of_quantities = [name for name in ("quantities", "time") if name in drawings]
        for name in options.only or (figures_of_quantities if options.quantity else drawings):
            if name not in drawings:
                raise results.BadResult(f"{options.directory}: figure '{name}' is not available; choose "
                                        f"{', '.join(drawings)}")
            pages = drawings[name]()
            for picture in save_pages(name, pages, options) if pages else ():
                print(picture)
                count += 1
    except (results.BadResult, OSError) as error:
        sys.exit(f"plot.py: {error}")
    if count == 0:
        sys.exit(f"plot.py: {options.directory}: nothing to "
                 f"draw{' for ' + ', '.join(options.only) if options.only else ''}")


if __name__ == "__main__":
    main()
