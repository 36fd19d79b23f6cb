# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m tests.pictures: draws the pictures of README.md, as `make pictures` does. beside.svg
is made of the rows that tests/vm/bench has left in build/bench-vm.json; demo.svg and top.svg are
what `make demo` and `bondctl top` show on a terminal. Each is legible on light and dark pages.
"""
import html
import json
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/net")]

# pylint: disable=wrong-import-position
from tests.bench.bed import lab, make_bond  # noqa: E402
from screen import Screen  # noqa: E402
from traffic import Stream  # noqa: E402
from waiting import wait_for  # noqa: E402

TO = ROOT / "docs/pictures"
LIGHT = {"ground": "#ffffff", "edge": "#d1d9e0", "text": "#1f2328", "faint": "#59636e",
         "ours": "#0969da", "theirs": "#9aa4af", "red": "#d1242f", "green": "#1a7f37",
         "brown": "#9a6700"}
DARK = {"ground": "#0d1117", "edge": "#3d444d", "text": "#f0f6fc", "faint": "#9198a1",
        "ours": "#4493f8", "theirs": "#656c76", "red": "#f85149", "green": "#3fb950",
        "brown": "#d29922"}


def svg(width, height, title, style, body):
    """The classes are the names of the colours."""
    def colours(of):
        return " ".join(f".{name} {{ fill: {value}; }}" for name, value in of.items())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}">
<title>{html.escape(title)}</title>
<style>
{colours(LIGHT)}
.ground {{ stroke: {LIGHT["edge"]}; }}
@media (prefers-color-scheme: dark) {{
{colours(DARK)}
.ground {{ stroke: {DARK["edge"]}; }}
}}
{style}
</style>
<rect class="ground" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>
{body}
</svg>
"""


# Panels of bars.

ROW, NAMES, BARS, SECOND, BELOW = 22, 176, 130, 440, 186


def panel(left, top, title, note, bars):
    """bars: {name: (value, label)}. The longest has the whole width; xbond's have its colour."""
    longest = max(value for value, _ in bars.values())
    parts = [f'<text class="text strong" x="{left}" y="{top}">{title}</text>',
             f'<text class="faint" x="{left}" y="{top + 17}">{note}</text>']
    for number, (name, (value, label)) in enumerate(bars.items()):
        y = top + 30 + number * ROW
        length = max(BARS * value / longest, 1)
        parts.append(f'<text class="text" x="{left}" y="{y + 12}">{name}</text>'
                     f'<rect class="{"ours" if name.startswith("xbond") else "theirs"}" '
                     f'x="{left + NAMES}" y="{y}" width="{length:.1f}" height="15" rx="2"/>'
                     f'<text class="text" x="{left + NAMES + length + 6:.1f}" y="{y + 12}">'
                     f'{label}</text>')
    return "\n".join(parts)


WAYS = {"kernel bonding": "bonding xor", "team": "team loadbalance",
        "xbond as it comes": "xbond team counted", "xbond, device veth": "xbond counted",
        "xbond, netkit direct": "xbond netkit direct", "xbond, device netkit": "xbond netkit"}
CUTS = {"bonding, miimon 100": "bonding, miimon 100",
        "bonding, miimon 10": "bonding, miimon 10",
        "team, teamd works": "team {}, teamd works", "team, teamd killed": "team {}, teamd killed",
        "xbond, bondd works": "xbond, bondd works", "xbond, bondd killed": "xbond, bondd killed"}


def beside(rows):
    kernel = rows[0]["name"].split(",")[0]
    figures = {row["name"].removeprefix(f"{kernel}, "): row["value"] for row in rows}

    def costs(what):
        plain = figures[f"{what}: plain device"]
        added = {name: figures[f"{what}: {way} adds"] for name, way in WAYS.items()}
        return {name: (ns, f"+{100 * ns / plain:.0f} % "
                       f"({(plain + ns) / (plain + added['kernel bonding']):.2f})")
                for name, ns in added.items()}

    def lost(mode, runner):
        cut = f"cut at 2000 packets/s, {mode}, different ifindexes"
        packets = {name: figures[f"{cut}, {way.format(runner)}: lost, median of 3"]
                   for name, way in CUTS.items()}
        return {name: (value, f"{value:.0f}") for name, value in packets.items()}

    note = "to the time without a bond (whole time, bonding = 1)"
    cut_note = "packets, of 2000 a second, in half a second; median of 3"
    return svg(860, 400, f"xbond beside kernel bonding and team, {kernel}",
               'text { font: 13px system-ui, "DejaVu Sans", sans-serif; } '
               ".strong { font-weight: 600; }",
               "\n".join((
                   panel(16, 28, "Sending a small packet adds", note, costs("send")),
                   panel(SECOND, 28, "Receiving a small packet adds", note,
                         costs("receive to a UDP socket")),
                   panel(16, BELOW + 28, "Lost when a link is cut, active-backup", cut_note,
                         lost("active-backup", "activebackup")),
                   panel(SECOND, BELOW + 28, "Lost when a link is cut, balance-xor", cut_note,
                         lost("balance-xor", "loadbalance")),
                   f'<text class="faint" x="16" y="387">{kernel}, one run in an emulated machine '
                   "whose clock counts instructions.</text>")))


# What a terminal shows.

COLUMN, LINE, TOP = 7.3, 17, 20
COLUMNS, HEIGHT, PAUSE = 92, 26, 8


def terminal_line(cells):
    """One line of a terminal as tspans, each of one style."""
    runs, last = [], None
    while cells and cells[-1].data == " ":
        cells.pop()
    for cell in cells:
        style = (cell.fg if cell.fg in LIGHT else "text", cell.bold, cell.reverse)
        if style != last:
            runs.append((style, []))
            last = style
        runs[-1][1].append(cell.data)
    return "".join(f'<tspan class="{"faint" if reverse else colour}{" strong" if bold else ""}">'
                   f'{html.escape("".join(data))}</tspan>'
                   for (colour, bold, reverse), data in runs)


def terminal(title, lines, height, style=""):
    """lines: of tspans; height: in lines, of which the last ones are seen."""
    body = "\n".join(f'<text x="16" y="{TOP + LINE * number}">{line}</text>'
                     for number, line in enumerate(lines))
    hidden = max(len(lines) - height, 0) * LINE
    return svg(round(COLUMNS * COLUMN) + 32, height * LINE + 24, title,
               "text { font: 12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
               "white-space: pre; }\n.strong { font-weight: 700; }\n"
               f".all {{ transform: translateY(-{hidden}px); }}\n"
               f".cover {{ stroke: none; transform: translateY({len(lines) * LINE}px); }}\n{style}",
               f'<svg x="1" y="8" width="{round(COLUMNS * COLUMN) + 30}" '
               f'height="{height * LINE + 8}"><g class="all">\n{body}\n<rect class="ground cover" '
               f'y="{TOP - LINE + 5}" width="100%" height="{height * LINE}"/></g></svg>')


def screen_lines(screen):
    """Down to the last one that is not empty."""
    shown = len(screen.text().rstrip().splitlines())
    return [terminal_line([screen.emulator.buffer[row][column] for column in range(COLUMNS)])
            for row in range(shown)]


def demo():
    """Plays as it was recorded, line by line, and stands still for so many seconds at the end."""
    began, moments = time.monotonic(), {}
    with Screen(ROOT / "tests/demo.sh", columns=COLUMNS, lines=200) as screen:
        def ended():
            moments.setdefault(len(screen.text().rstrip().splitlines()), time.monotonic() - began)
            return screen.process.poll() is not None
        wait_for(ended, "the demo to end", 300, interval=0.1)
        assert screen.process.returncode == 0, screen.text()
        lines = ['<tspan class="faint"># make demo</tspan>', *screen_lines(screen)]
    length = time.monotonic() - began + PAUSE
    moments.setdefault(len(lines) - 1, length - PAUSE)

    def play(name, place):
        """Moves what has this class to place(lines shown)."""
        steps = "\n".join(f"{100 * moment / length:.0f}% {{ transform: "
                          f"translateY({place(shown + 1) * LINE}px); }}"
                          for shown, moment in moments.items())
        return f"@media (prefers-reduced-motion: no-preference) {{ .{name} {{ animation: {name} " \
               f"{length:.0f}s step-end infinite; }} }}\n@keyframes {name} {{\n{steps}\n}}\n"

    return terminal("A recording of make demo", lines, HEIGHT,
                    play("all", lambda shown: min(HEIGHT - shown, 0)) +
                    play("cover", lambda shown: shown))


LINKS = ("eth1", "eth2", "eth3", "eth4")


def top():
    """Of a bond that sends by two of four slaves, after some seconds."""
    with lab() as made:
        near, far = made.host("a"), made.host("b")
        for number, link in enumerate(LINKS):
            made.link(near, far, link, number)
        for host, address in ((near, "10.0.0.1"), (far, "10.0.0.2")):
            make_bond(host, LINKS, address, mode="balance-xor", xmit_hash_policy="layer3+4")
        near.wait_slaves(*LINKS)
        near.wait_ping("10.0.0.2")
        near.ctl("set-slave", "bond0", "eth3", "drain", "on")
        far.ip("link", "set", "eth2", "down")
        streams = [Stream(near, far, rate=20000, flows=64, size=1000, every=10),
                   Stream(far, near, to="10.0.0.1", rate=10000, flows=64, size=1000, every=10)]
        with Screen(*near.ctl_command("top", "bond0"), columns=COLUMNS, lines=12) as screen:
            screen.wait_until(lambda text: re.search(r"eth4 .* [0-9.]+M +\S{8}", text),
                              "rates of eight seconds", 20)
            lines = screen_lines(screen)
        for stream in streams:
            stream.finish()
    return terminal("bondctl top", lines, len(lines))


if __name__ == "__main__":
    for name, drawn in (("beside", lambda: beside(json.loads(
            (ROOT / "build/bench-vm.json").read_text()))), ("demo", demo), ("top", top)):
        (TO / f"{name}.svg").write_text(drawn())
        print(f"docs/pictures/{name}.svg")
