#!/usr/bin/env python3
"""Generates the appendix pages of docs/ and docs/papers.md from benchmarks/results/.

    benchmarks/tables.py               # write the pages
    benchmarks/tables.py --check       # write nothing; exit with 1 if a page is out of date

The outlines benchmarks/appendix.md and papers.md contain the text of the pages, and these lines:

    # FILE: TITLE                   starts a page
    table NAME FOLDER/FILE.csv ...  a table, with the device, date, commit and command of its data
    paper AUTHOR                    starts a list of entries, whose tables follow it
    entry NUMBER: CONTENTS          a figure or table of the paper
    note SENTENCE                   text above the next table of the entry
    has SENTENCE                    a result of femgpu
    lacks SENTENCE | FILE COLUMN=REGEX ...
                                    a result that is missing: no row of results/*/FILE may match

file:FOLDER/FILE and test:SUITE.NAME become links. All files and tests that a line names must exist.
"""

import argparse
import csv
import glob
import os
import re
import sys

import runs
from table_contents import TABLES

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RESULTS = os.path.join(ROOT, "benchmarks", "results")
OUTLINES = [os.path.join(ROOT, "benchmarks", name) for name in ("appendix.md", "papers.md")]
COMMAND = re.compile(r"(\w+=\S+ )?(benchmarks/|femgpu|mpirun )\S* .*|\w+\.py .*")


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def table(name, *paths):
    """Returns the Markdown of table @p name for one or several CSV files."""
    if name not in TABLES:
        raise SystemExit(f"There is no table '{name}'. The tables are {', '.join(TABLES)}.")
    try:
        return TABLES[name]([row for path in paths for row in rows_of(path)])
    except KeyError as error:
        raise SystemExit(f"{' '.join(paths)}: table '{name}' needs a column {error}.") from error


def origin(folder, name):
    """Returns the title, device, commits and commands that README.md gives for a CSV file."""
    text = read(os.path.join(RESULTS, folder, "README.md"))
    title, first = re.match(r"# (.*)\n\n((?:[^\n].*\n)*)", text).groups()
    device = "" if re.match(r"[|`]|.*\.csv`", first) else re.split(r"\.\s", first)[0].replace("\n", " ")
    header, row = None, None
    for line in re.findall(r"^\|.*", text, re.MULTILINE):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[0] == "file":
            header = cells
        elif header and f"`{name}`" in cells[0]:
            row = dict(zip(header, cells))
            break
    if row is None:
        raise SystemExit(f"{folder}/README.md does not say how {name} was made.")
    commits = [found for part in row.get("commit", "").split(";")
               for found in re.findall(r"\b[0-9a-f]{7}\b", part)[:1]]
    spans = re.findall(r"`([^`]+)`", row.get("made by") or row["command"])
    commands = [span.replace("\\|", "|") for span in spans if COMMAND.match(span)]
    return title, device, commits, commands


def source(folder, name, seen):
    """Returns the paragraph above a table, without device and command if @p seen contains them."""
    title, device, commits, commands = origin(folder, name)
    link = f"../benchmarks/results/{folder}"
    device = f" {device}." if device and folder not in seen else ""
    commit = "".join(f", `{found}`" for found in commits)
    text = (f"*{title}.*{device}\nData: [{name}]({link}/{name}){commit}; "
            f"[details]({link}/README.md).\n")
    if commands and (folder, name) not in seen:
        text += "\n```\n" + "\n".join(commands) + "\n```\n"
    seen |= {folder, (folder, name)}
    return text


def missing(text):
    """Returns the sentence of a line "lacks". Throws if a CSV row satisfies the condition."""
    sentence, condition = text.split(" | ")
    pattern, *wanted = condition.split()
    for path in glob.glob(os.path.join(RESULTS, "*", pattern)):
        if any(all(re.fullmatch(value, row.get(column) or "")
                   for column, value in (part.split("=", 1) for part in wanted))
               for row in rows_of(path)):
            raise SystemExit(f"{os.path.relpath(path, RESULTS)} contains what benchmarks/papers.md "
                             f"lists as not measured: {sentence}")
    return sentence


def entries(match):
    """Returns the list of the entries of a paper, and the sections with their tables."""
    lines, sections = [], ""
    for entry in re.split(r"^entry ", match[2], flags=re.MULTILINE)[1:]:
        heading, *texts = entry.splitlines()
        (number, contents), section, cells = heading.split(": ", 1), "", {"has": [], "lacks": []}
        for keyword, text in (line.split(" ", 1) for line in texts):
            if keyword in ("note", "table"):
                section += f"{text}\n" if keyword == "note" else f"\ntable {text}\n\n"
            else:
                cells[keyword].append(text if keyword == "has" else missing(text))
        if section:
            title = f"{match[1]}, {number}"
            anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            cells["has"].insert(0, f"[Table](#{anchor}).")
            sections += f"\n### {title}\n\n{section.strip()}\n"
        if not any(cells.values()):
            raise SystemExit(f"benchmarks/papers.md: {match[1]}, {number} needs 'has' or 'lacks'.")
        lines.append([number, contents, *(" ".join(cell) or "–" for cell in cells.values())])
    return runs.markdown(["number", "contents", "femgpu", "not measured"], lines, 4) + sections


def link(match):
    """Returns the link for file:FOLDER/FILE or test:SUITE.NAME."""
    kind, first, name = match.groups()
    if kind == "file":
        return f"[{name}, {first.rsplit('-', 1)[1].upper()}](../benchmarks/results/{first}/{name})"
    definition = re.compile(rf"^\w*TEST\w*\(\s*{first},\s*{name}\)", re.MULTILINE)
    for path in glob.glob(os.path.join(ROOT, "tests", "*", "*_test.c[cu]")):
        if definition.search(read(path)):
            return f"[`{first}.{name}`](../{os.path.relpath(path, ROOT)})"
    raise SystemExit(f"There is no test {first}.{name}.")


def pages(outline):
    """Yields file name and text of each page that @p outline describes."""
    for page, title, body in re.findall(r"^# (\S+): ([^\n]*)\n(.*?)(?=^# |\Z)", outline,
                                        re.MULTILINE | re.DOTALL):
        seen = set()

        def replacement(match, seen=seen):
            name, *files = match[1].split()
            sources = [source(*file.split("/"), seen) for file in files]
            return "\n".join([*sources, table(name, *(os.path.join(RESULTS, file) for file in files))])

        text = re.sub(r"^paper (.*)\n((?:.+\n)*)", entries, body, flags=re.MULTILINE)
        text = re.sub(r"^table (.*)\n", replacement, text, flags=re.MULTILINE)
        text = re.sub(r"\b(file|test):([\w-]+)[/.](\w+(?:\.\w+)?)", link, text)
        for target in re.findall(r"\]\(([^:)#\s]+)[)#]", text):
            if not os.path.exists(os.path.join(ROOT, "docs", target)):
                raise SystemExit(f"docs/{page} links to {target}, which does not exist.")
        yield (os.path.join(ROOT, "docs", page),
               f"<!-- Generated by benchmarks/tables.py. -->\n\n# {title}\n{text.rstrip()}\n")


def all_pages():
    """Returns the pages of all outlines. Throws if a figure in a papers.csv has no table."""
    text = "".join(read(path) for path in OUTLINES)
    shown = re.findall(r"^table (\S+)", text, re.MULTILINE)
    for path in glob.glob(os.path.join(RESULTS, "*", "papers.csv")):
        if hidden := {row["figure"] for row in rows_of(path)}.difference(shown):
            raise SystemExit(f"benchmarks/papers.md has no table {' or '.join(sorted(hidden))}.")
    return pages(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    outdated = [(path, text) for path, text in all_pages()
                if not os.path.exists(path) or read(path) != text]
    for path, text in outdated:
        if options.check:
            print(f"{os.path.relpath(path, ROOT)} is out of date: run benchmarks/tables.py.",
                  file=sys.stderr)
        else:
            with runs.atomic_file(path) as stream:
                stream.write(text)
    return int(options.check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
