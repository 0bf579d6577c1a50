#!/usr/bin/python3
"""Draws what a run or a parameter study of femgpu has left in its output directory.

    scripts/plot.py output/poisson [--format svg|png|pdf] [--only convergence …]

Of a run: convergence (errors over dofs), quantities (the same for numbers of the physics), residuals
(by iteration), times (by phase) and branch (of a continuation). Of a study over parameters, whose
directory has a study.csv: study. A figure lies in the directory under its name, or under --output;
what a run has no numbers for is left out. Prints the files. Ends with 1 if there is nothing to draw
or the directory is damaged. Needs matplotlib (apt-get install python3-matplotlib).
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
                        help="of the pictures (svg)")
    parser.add_argument("--only", nargs="+", metavar="FIGURE", help="draw these figures alone",
                        choices=("convergence", "quantities", "residuals", "times", "branch",
                                 "study"))
    parser.add_argument("--output", metavar="DIR", help="where the pictures go (DIR)")
    return parser.parse_args()


def drawn_figures(directory, wanted):
    """(name, figure) of all that the directory has numbers for."""
    import figures  # only here: --help needs no matplotlib
    if results.is_study(directory):
        drawings = {"study": lambda: figures.study_comparison(results.ParameterStudy(directory))}
    else:
        run = results.Run(directory)
        drawings = {name: lambda draw=draw: draw(run) for name, draw in figures.OF_A_RUN.items()}
    for name in wanted or drawings:
        if name not in drawings:
            raise results.BadResult(f"{directory}: no figure '{name}' of it; there is "
                                    f"{', '.join(drawings)}")
        made = drawings[name]()
        if made is not None:
            yield name, made


def main():
    options = parse_command_line()
    target = options.output or options.directory
    count = 0
    try:
        for name, made in drawn_figures(options.directory, options.only):
            import figures
            os.makedirs(target, exist_ok=True)
            picture = os.path.join(target, f"{name}.{options.format}")
            figures.save(made, picture, options.format)
            print(picture)
            count += 1
    except (results.BadResult, OSError) as error:
        sys.exit(f"plot.py: {error}")
    if count == 0:
        sys.exit(f"plot.py: {options.directory}: no numbers to draw"
                 f"{' for ' + ', '.join(options.only) if options.only else ''}")


if __name__ == "__main__":
    main()
