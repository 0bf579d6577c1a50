"""Parts of a self-contained HTML page for report.py. All text goes through html.escape."""

import base64
import html
import os

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff;
  --panel: #f6f8fa; --good: #116329; --bad: #a40e26; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d;
  --back: #0d1117; --panel: #161b22; --good: #56d364; --bad: #ff7b72; --link: #79c0ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem;
  padding-bottom: .2rem; border-bottom: 1px solid var(--line); } h3 { font-size: 1.05rem; }
a { color: var(--link); } p.soft, .soft { color: var(--soft); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0; padding: 0; }
.facts div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: .6rem .8rem; }
.facts dt { color: var(--soft); font-size: .85rem; } .facts dd { margin: 0; font-weight: 600;
  overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem;
  margin: .6rem 0; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; }
th, td { white-space: nowrap; }
thead th { background: var(--panel); font-weight: 600; white-space: normal; vertical-align: bottom; }
th.text, td.text { text-align: left; }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; max-width: 34rem; }
figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: .9rem; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 6px;
  border: 1px solid var(--line); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1rem; }
.pictures figure { margin: 0; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .8rem;
  overflow-x: auto; font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { :root { --ink: #000; --back: #fff; --panel: #fff; --soft: #333; --line: #999;
  --good: #000; --bad: #000; --link: #000; } body { font-size: 10pt; } nav { display: none; }
  main { max-width: none; padding: 0; } figure, tr, .facts { break-inside: avoid; }
  h2 { break-after: avoid; } .scroll { overflow: visible; } }
"""


def text(value):
    """Formats a value for readers: few digits, and a dash if there is no value."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def escape(value):
    return html.escape(text(value), quote=True)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Markup(str):
    """HTML text that must not be escaped."""


class Number(Markup):
    """A number whose digits are not changed."""


LONG = ' class="text long"'


def cell(value):
    return value if isinstance(value, Markup) else escape(value)


def link(target, words=None):
    """Returns a link to a file next to the page; the target is a relative path."""
    import urllib.parse
    url = urllib.parse.quote(target)
    if ":" in target.split("/")[0]:  # otherwise the name would be read as a URL scheme
        url = "./" + url
    return Markup(f'<a href="{html.escape(url, quote=True)}">{escape(words or target)}</a>')


def table(caption, header, rows):
    """Returns a table; columns without numbers are left-aligned."""
    is_text = [not any(is_number(row[i]) or isinstance(row[i], Number) for row in rows)
               for i in range(len(header))]
    kinds = [' class="text"' if kind else "" for kind in is_text]
    lines = [f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>']
    names = [cell(name).replace("_", "_<wbr>") for name in header]  # allow line breaks
    lines += [f'<th scope="col"{kind}>{name}</th>' for name, kind in zip(names, kinds)]
    lines.append("</tr></thead><tbody>")
    for row in rows:
        fields = "".join(f"<td{LONG if len(str(value)) > 40 and kind else kind}>{cell(value)}</td>"
                         for value, kind in zip(row, kinds))
        lines.append(f"<tr>{fields}</tr>")
    lines.append("</tbody></table></div>")
    return "\n".join(lines)


def image(data, kind, alternative, caption=None):
    """Returns an embedded picture; kind is png or svg+xml."""
    code = base64.b64encode(data).decode("ascii")
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (f'<figure><img src="data:image/{kind};base64,{code}" alt="{escape(alternative)}">'
            f"{below}</figure>")


def facts(pairs):
    """Returns a row of panels, each with a name and a value."""
    inner = "".join(f"<div><dt>{escape(name)}</dt><dd>{cell(value)}</dd></div>"
                    for name, value in pairs)
    return f'<dl class="facts">{inner}</dl>'


class Page:
    """A page of sections with headings and a list of links to them at the top."""

    def __init__(self, title, below):
        self.title, self.below = title, below
        self.head, self.sections = [], []

    def add(self, heading, *pieces):
        """Adds a section without empty pieces, or nothing if all pieces are empty."""
        pieces = [piece for piece in pieces if piece]
        if pieces:
            self.sections.append((heading, pieces))

    def html(self):
        names = [f"s{i}" for i in range(len(self.sections))]
        links = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>'
                        for name, (heading, _) in zip(names, self.sections))
        body = "\n".join(f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(heading)}</h2>\n'
                         + "\n".join(pieces) + "\n</section>"
                         for name, (heading, pieces) in zip(names, self.sections))
        return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                '<meta name="generator" content="femgpu, scripts/report.py">\n'
                f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
                f"<main>\n<header><h1>{escape(self.title)}</h1>\n"
                f'<p class="soft">{escape(self.below)}</p></header>\n' + "\n".join(self.head) +
                f'\n<nav aria-label="Contents"><ul>{links}</ul></nav>\n{body}\n</main>\n</body>\n'
                "</html>\n")

    def write(self, name):
        """Writes to a temporary file next to the target and renames it."""
        partial = f"{name}.{os.getpid()}.partial"
        with open(partial, "w", encoding="utf-8") as file:
            file.write(self.html())
        os.replace(partial, name)
