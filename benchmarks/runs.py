"""What the benchmarks share that run programs: arguments for these, and CSV files that appear whole."""

import csv
import os
import sys


def parse_with_arguments(parser):
    """The options that @p parser knows; what stands behind -- is in `arguments`, for the program."""
    words, arguments = sys.argv[1:], []
    if "--" in words:
        at = words.index("--")
        words, arguments = words[:at], words[at + 1:]
    options = parser.parse_args(words)
    options.arguments = arguments
    return options


def write_csv(file, columns, rows, digits=None):
    """@p rows as dictionaries; numbers that are no integers with so many @p digits, if given."""
    def text(value):
        return f"{value:.{digits}g}" if digits and isinstance(value, float) else value

    with open(file + ".partial", "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({column: text(value) for column, value in row.items()} for row in rows)
    os.replace(file + ".partial", file)
