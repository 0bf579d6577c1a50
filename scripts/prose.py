#!/usr/bin/env python3
"""Checks how comments, pages and commits are written (CONTRIBUTING.md, Prose).

  scripts/prose.py [--since COMMIT]

Doc comments of C++ and CUDA sources stand alone: they do not begin with "Of", "What", "Those" and
the like, which refer to the line above. Lines of prose in Markdown have at most 100 characters,
lines of CHANGELOG.md at most 160; tables, code, links, generated pages and their outlines are
exempt. With --since, each commit after COMMIT has a body, and a subject of at most 72 characters
that begins with a capital letter and ends without a full stop. Prints all findings.
"""
import argparse
import re
import subprocess
import sys

from layers import ROOT, SOURCES, our_files

LONGEST_LINE = 100
LONGEST_ENTRY = 160
LONGEST_SUBJECT = 72
BAD_BEGINNING = re.compile(r"(Of|What|Those|The same|Is it|Where|That of)\b")
EXEMPT = re.compile(r"docs/(parameters|papers|appendix_\w+)\.md|benchmarks/(results/|appendix\.md|papers\.md)")


def doc_comments(lines):
    """Yields (number of the line, first words) of each doc comment, except comments after a member
    on the same line."""
    is_inside = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        is_line = text.startswith("///") and not text.startswith("///<")
        if is_line and not is_inside:
            yield number, text[3:].strip()
        is_inside = is_line
        if text.startswith("/**"):
            yield number, text[3:].strip() or lines[number].strip().lstrip("* ") if number < len(
                lines) else ""


def findings_of_source(path, lines):
    for number, words in doc_comments(lines):
        if BAD_BEGINNING.match(words):
            yield (f"{path}:{number}: a doc comment must stand alone, but this one begins with "
                   f"'{words[:40]}'")


def prose_lines(lines):
    """Yields (number, line) of prose: no code, tables or HTML; addresses of links are removed."""
    is_code = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("```"):
            is_code = not is_code
        elif not is_code and not text.startswith(("|", "<", "![", "    ")):
            yield number, re.sub(r"\]\([^)]*\)", "]", line)


def findings_of_page(path, lines):
    longest = LONGEST_ENTRY if path.name == "CHANGELOG.md" else LONGEST_LINE
    for number, line in prose_lines(lines):
        if len(line) > longest:
            yield f"{path}:{number}: {len(line)} characters, at most {longest}"


def findings_of_commits(since):
    log = subprocess.run(["git", "log", "--no-merges", "--format=%h%x00%s%x00%b%x01", f"{since}..HEAD"],
                         cwd=ROOT, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    for entry in filter(None, map(str.strip, log.split("\x01"))):
        commit, subject, body = entry.split("\0")
        if len(subject) > LONGEST_SUBJECT:
            yield f"{commit}: the subject has {len(subject)} characters, at most {LONGEST_SUBJECT}"
        if not subject[:1].isupper() or subject.endswith("."):
            yield f"{commit}: the subject must begin with a capital letter and end without a full stop"
        if not body.strip():
            yield f"{commit}: the commit needs a body that says why"


def findings(since):
    for path in our_files():
        if path.suffix not in SOURCES + (".md",) or EXEMPT.match(str(path)):
            continue
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        yield from (findings_of_page if path.suffix == ".md" else findings_of_source)(path, lines)
    if since:
        yield from findings_of_commits(since)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--since", metavar="COMMIT", default="",
                        help="also check the commits after this one")
    found = list(findings(parser.parse_args().since))
    print(*found, f"{len(found)} findings", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
