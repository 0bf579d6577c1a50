"""Checks that the programs on docs/library.md are the tested ones.

    library_page.py PAGE

A line `PATH`: before a code block says that the block is the file PATH of the repository.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    blocks = re.findall(r"^`([^`]+)`:\n\n```c(?:pp)?\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    different = [path for path, block in blocks
                 if (ROOT / path).read_text(encoding="utf-8") != block]
    for path in different:
        print(f"{sys.argv[1]}: the program {path} differs from the file; copy the file")
    if len(blocks) < 4:
        print(f"{sys.argv[1]}: {len(blocks)} programs found, but there are at least 4")
    return 1 if different or len(blocks) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
