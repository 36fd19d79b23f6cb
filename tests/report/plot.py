# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots by gnuplot, as SVG with a white ground, so that they can be read on any page."""
import re
import subprocess

from .parse import ToolError, first_line

HEAD = """set terminal svg size {width},{height} fixed dynamic background rgb "white" font "sans,12"
set title "{title}" noenhanced
set ylabel "{ylabel}" noenhanced
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key {key} noenhanced
"""
COLOURS = ("#1f5fa8", "#d98c21", "#3a8f4d", "#a23b3b", "#6f5aa0", "#777777")
WIDTH, HEIGHT = 760, 380


def gnuplot(script):
    """The SVG that a script draws."""
    try:
        done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, timeout=60,
                              check=False)
    except OSError as error:
        raise ToolError(f"gnuplot: {error.strerror}") from None
    if done.returncode or "</svg>" not in done.stdout:
        told = [line for line in done.stderr.splitlines() if re.search(r"line \d+: ", line)]
        raise ToolError(f"gnuplot: {first_line(told[0] if told else done.stderr)}")
    return done.stdout[done.stdout.index("<svg"):]


def quoted(word):
    """A string in a command. Within single quotes nothing but these is special."""
    return "'" + str(word).replace("'", "''").replace("\n", " ") + "'"


def datum(value):
    """A column of a line of data, where strings have double quotes."""
    if isinstance(value, str):
        return '"' + value.replace('"', "'").replace("\\", "/").replace("\n", " ") + '"'
    return "NaN" if value is None else f"{value:g}"


def head(title, ylabel, key="bmargin center horizontal"):
    return HEAD.format(title=title, ylabel=ylabel, key=key, width=WIDTH, height=HEIGHT)


def block(number, rows):
    """A named block of data."""
    return "\n".join([f"$d{number} << EOD",
                      *[" ".join(datum(value) for value in row) for row in rows], "EOD", ""])


def bars(title, ylabel, groups, series, line=None):
    """series: {name: [value of each group, or None]}. line: (value, name), a level to compare
    with.
    """
    rows = [(group, *values) for group, values in zip(groups, zip(*series.values()))]
    script = head(title, ylabel) + block(0, rows)
    script += "set style data histogram\nset style histogram clustered gap 1\n" \
              "set style fill solid border -1\nset boxwidth 0.9\nset xtics noenhanced\n"
    parts = [f"$d0 using {number + 2}{':xtic(1)' if not number else ''} title {quoted(name)} "
             f"lc rgb '{COLOURS[number % len(COLOURS)]}'" for number, name in enumerate(series)]
    if line:
        parts.append(f"{line[0]:g} with lines dt 2 lc rgb 'black' title {quoted(line[1])}")
    return gnuplot(f"{script}plot {', '.join(parts)}\n")


def lines(title, xlabel, ylabel, series, logarithmic="", key="bmargin center horizontal"):
    """series: {name: [(x, y)]}; logarithmic: the axes that are, such as "xy"."""
    script = head(title, ylabel, key) + f'set xlabel "{xlabel}" noenhanced\n'
    if logarithmic:
        script += f"set logscale {logarithmic}\n"
        if "y" in logarithmic:
            script += "set yrange [*:*]\n"
    script += "".join(block(number, rows) for number, rows in enumerate(series.values()))
    parts = [f"$d{number} using 1:2 with linespoints pt 7 ps 0.4 lw 2 "
             f"lc rgb '{COLOURS[number % len(COLOURS)]}' title {quoted(name)}"
             for number, name in enumerate(series)]
    return gnuplot(f"{script}plot {', '.join(parts)}\n")
