"""Checks that the files and headings to which the pages link exist.

    python3 tests/docs/links.py README.md CONTRIBUTING.md docs/*.md
"""

import os
import re
import sys


def anchors(path):
    """Returns the anchors that GitHub generates for headings."""
    with open(path, encoding="utf-8") as stream:
        text = re.sub(r"```.*?```", "", stream.read(), flags=re.DOTALL)
    names = set()
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower())
        names.add(name.replace(" ", "-"))
    return names


def broken(path):
    with open(path, encoding="utf-8") as stream:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", stream.read(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(full):
            yield f"{path}: links to {target}, which is not there"
        elif anchor and full.endswith(".md") and anchor not in anchors(full):
            yield f"{path}: links to {target}, and there is no such heading"


def main():
    faults = [fault for path in sys.argv[1:] for fault in broken(path)]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
