"""What the benchmarks share: arguments for programs, whole files, and Markdown tables."""

import contextlib
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


@contextlib.contextmanager
def whole_file(file):
    """A stream; the file appears when everything is written."""
    with open(file + ".partial", "w", encoding="utf-8", newline="") as stream:
        yield stream
    os.replace(file + ".partial", file)


def write_csv(file, columns, rows, digits=None):
    """@p rows as dictionaries; numbers that are no integers with so many @p digits, if given."""
    def text(value):
        return f"{value:.{digits}g}" if digits and isinstance(value, float) else value

    with whole_file(file) as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({column: text(value) for column, value in row.items()} for row in rows)


def markdown(header, rows, n_words=1):
    """A table; the first columns hold words, all others numbers."""
    lines = [header, ["---"] * n_words + ["---:"] * (len(header) - n_words), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def number(value, digits=3):
    """@p digits significant digits, without an exponent; – for None."""
    if value is None:
        return "–"
    decimals = max(0, digits - 1 - int(f"{abs(value):e}".split("e")[1])) if value else 0
    return f"{value:,.{min(decimals, 4)}f}"
