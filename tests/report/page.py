# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as one HTML file without anything from elsewhere, and as JSON. Knows nothing of how
anything was measured.
"""
import html
import json
import re

STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222;
  background: #fff }
h2 { margin-top: 2.2em; border-bottom: 1px solid #ccc }
table { border-collapse: collapse; width: 100%; margin: 1em 0 }
th, td { text-align: left; padding: .25em .6em; border-bottom: 1px solid #e4e4e4;
  vertical-align: top }
td.n, th.n { text-align: right; white-space: nowrap }
.held { color: #1c7a34 } .missed { color: #b3261e; font-weight: bold }
pre { background: #f6f6f6; padding: .7em; overflow-x: auto; font-size: 13px; line-height: 1.35 }
code { font-size: 13px } svg { max-width: 100%; height: auto }
.error { border-left: 4px solid #b3261e; padding: .4em 1em; background: #fdf0ef }
"""


def text(words):
    """As HTML shows it; control characters stay out."""
    return html.escape("".join(each for each in str(words)
                               if each in "\n\t" or each.isprintable()))


def prose(words):
    """A paragraph; what stands between backticks is code."""
    marked = re.sub("`([^`]*)`", r"<code>\1</code>", text(words))
    return f"<p>{marked}</p>"


def number(value):
    """With three or four digits that count."""
    if value is None:
        return ""
    size = abs(value)
    if value == int(value) and size < 1e6:
        return f"{int(value)}"
    return f"{value:.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else \
        f"{value:.2f}" if size >= 10 else f"{value:.3f}"


def verdict(figure):
    if figure.held is None:
        return ""
    bound = f"{'≥' if figure.least else '≤'} {number(figure.bound)}"
    kind, word = ("held", "met") if figure.held else ("missed", "missed")
    return f'{bound} <span class="{kind}">{word}</span>'


def theirs(figure):
    if not figure.published:
        return ""
    ratio = "" if figure.published_ratio is None else f" ({number(figure.published_ratio)})"
    return text(figure.published) + ratio


def figures(section):
    """The table, and below it the commands, each once."""
    commands = list(dict.fromkeys(figure.command for figure in section.figures))
    rows = []
    for figure in section.figures:
        note = f"<br><small>{text(figure.note)}</small>" if figure.note else ""
        place = f"{section.number}.{commands.index(figure.command) + 1}"
        rows.append(
            f"<tr><td>{text(figure.what)}{note}</td>"
            f'<td class="n">{number(figure.value)} {text(figure.unit)}</td>'
            f'<td class="n">{number(figure.ratio)}</td><td>{theirs(figure)}</td>'
            f'<td class="n">{verdict(figure)}</td>'
            f'<td class="n"><a href="#c{place}">{place}</a></td></tr>')
    listed = "\n".join(f'<span id="c{section.number}.{place}">[{section.number}.{place}]</span> '
                       f"{text(command)}" for place, command in enumerate(commands, 1))
    return ('<table><tr><th>what</th><th class="n">here</th><th class="n">of the links</th>'
            '<th>published (of the links)</th><th class="n">target</th>'
            '<th class="n">command</th></tr>'
            + "\n".join(rows) + f"</table>\n<pre>{listed}</pre>\n")


def part(section):
    """One section."""
    parts = [f'<h2 id="s{section.number}">{section.number}. {text(section.title)}</h2>']
    parts += [prose(paragraph) for paragraph in section.about]
    if section.error:
        parts.append(f'<p class="error">Not measured to the end: {text(section.error)}</p>')
    parts += [svg for _, svg in section.plots]
    if section.figures:
        parts.append(figures(section))
    parts += [f"<details><summary>{text(listing.title)}</summary><pre>{text(listing.text)}</pre>"
              "</details>" for listing in section.listings]
    if section.setup:
        listed = text("\n".join(section.setup))
        parts.append(f"<details><summary>What it was measured on</summary><pre>{listed}</pre>"
                     "</details>")
    return "\n".join(parts)


def summary(sections):
    rows = []
    for section in sections:
        judged = [figure for figure in section.figures if figure.held is not None]
        missed = section.missed()
        kind = "missed" if missed or section.error else "held"
        said = "; ".join(f"{figure.what}: {number(figure.judged)}, target {number(figure.bound)}"
                         for figure in missed) or ("" if section.error else "all targets met")
        said = "; ".join(each for each in (section.error, said) if each)
        rows.append(f'<tr><td><a href="#s{section.number}">{section.number}. {text(section.title)}'
                    f'</a></td><td class="n">{len(judged) - len(missed)} of {len(judged)}</td>'
                    f'<td class="{kind}">{text(said)}</td></tr>')
    return ('<table><tr><th>row</th><th class="n">targets met</th><th></th></tr>' + "\n".join(rows)
            + "</table>")


def page(sections, machine, about):
    """The whole page. machine: [(what, value)]."""
    described = "\n".join(f"<tr><td>{text(what)}</td><td>{text(value)}</td></tr>"
                          for what, value in machine)
    return "\n".join(
        ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
         "<title>xbond: measured beside what was published</title>",
         f"<style>{STYLE}</style></head><body>",
         "<h1>xbond, measured beside what was published</h1>",
         *[prose(paragraph) for paragraph in about], summary(sections),
         "<h2>The machine</h2>", f"<table>{described}</table>",
         *[part(section) for section in sections], "</body></html>", ""])


def as_json(sections, machine, brief):
    return json.dumps({"machine": dict(machine), "brief": brief,
                       "rows": [section.as_json() for section in sections]}, indent=1)
