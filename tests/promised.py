# SPDX-License-Identifier: GPL-2.0-or-later
"""The names that docs/compatibility.md promises, a line each, as this tree has them. Those that no
version 1.x may lose are in tests/manual/promised.txt. `make promised` adds to that file what is
new, and takes nothing out but for this:

Lines that begin with a version, as "abi 9: ", say how maps are laid out. They hold as long as this
tree has that version.
"""
import ctypes
import json
import os
import re
import subprocess

import schema
from built import BUILD, ROOT
from fields import fields

PROMISED = ROOT / "tests/manual/promised.txt"
FLAG = re.compile(r"^  (?:(-\w), )?(--[a-z-]+)( [A-Z]| \S+\|)?", re.M)
VARIABLE = re.compile(r"\((XBOND_\w+),\s+([^)]+)\)")
VERSIONED = re.compile(r"(?:abi|select|policy) \d+: ")
RANGE = re.compile(r"(option .* takes) (-?\d+)(?:\.\.(-?\d+))?")
PAGES = ("docs/developers/select.md", "docs/developers/policy.md")
TABLES = (  # what no program prints: the line, where it is, what stands there
    ("socket RUN_DIR/%s", "lib/common/paths.h", r'PATHS_SOCKET_NAME "(\S+)"'),
    ("group %s", "daemon/control/control_socket.c", r'#define READER_GROUP "(\w+)"'),
    ("group %s", "daemon/bond/pins_keep.c", r'#define PINS_GROUP "(\S+)"'),
    ("journal field %s", "daemon/base/event.c", r'\(struct journal_field\)\{ "(\w+)"'),
    ("section [%s]", "lib/options/config_parse.c", r'#define (?:BOND|SLAVE)_SECTION "(\w+)"'),
    ("pin %s", "bpf/abi.h", r'#define XBOND_PIN_(?:BOND|TABLE|POLICY_MAPS) "(\w+)"'),
    ("xsk.h %s", "include/xbond/xsk.h", r"^#define (XBOND_XSK_(?!QUEUES)\w+ \w+)"),
    ("ifupdown2 key %s", "packaging/tools/ifupdown2.py", r'"(bond-\w+)"'),
    ("ifenslave %s", "packaging/tools/xbond-ifenslave", r"(?:^\t|(?<=\| ))(--?\w[\w-]*)(?= \||\))"),
    ("cni key %s", "cni/cni_config.c", r'(?:^\t|(?<=",)\s+)"(\w+)"(?=,|$)'),
    ("cni error %s", "cni/cni.h", r"^\tCNI_\w+ = (\d+)"),
    ("ansible variable %s", "packaging/ansible/roles/xbond/defaults/main.yml", r"^(\w+):"),
)


def run(program, *words):
    return subprocess.run([BUILD / program, *words], capture_output=True, text=True, check=True,
                          timeout=30).stdout


def of_options():
    for option in json.loads(run("bondctl", "--dump-options")):
        of = f"option {option['scope']} {option['name']}"
        yield f"{of} default {option['default']}"
        yield from (f"{of} in {mode}" for mode in option["modes"])
        yield from (f"{of} takes {value}" for value in option["values"].split("|"))


def of_help(of, text):
    for letter, flag, value in FLAG.findall(text):
        yield f"flag {of} {flag}{' VALUE' if value else ''}"
        if letter:
            yield f"flag {of} {letter}"
    yield from (f"environment {name} default {value}" for name, value in VARIABLE.findall(text))


def of_command_line():
    verbs, flags = run("bondctl", "--help").split("\nFlags", 1)
    for verb in re.findall(r"^  ([a-z-]+) ", verbs, re.M):
        yield f"verb {verb}"
        yield from of_help(verb, run("bondctl", verb, "--help").split("\nFlags, before")[0])
    yield from of_help("bondctl", flags)
    yield from of_help("bondd", run("bondd", "--help"))
    for status in re.findall(r"\b(\d) ", flags.split("Exit status:")[1]):
        yield f"exit status {status}"
    for check in json.loads(run("bondctl", "-j", "doctor", "--list")):
        yield f"check {check['check']}"


def values(node, root, path=""):
    """(path, kind) of all that a schema describes: a type, "missing", or "= " and a word."""
    if "$ref" in node:
        yield from values(root["definitions"][node["$ref"].split("/")[-1]], root, path)
    inner = [part for key in ("allOf", "anyOf", "oneOf") for part in node.get(key, ())]
    for part in (*inner, *(node[key] for key in ("then", "else") if key in node)):
        yield from values(part, root, path)
    types = node.get("type", ())
    yield from ((path, kind) for kind in ([types] if isinstance(types, str) else types))
    words = node.get("enum", [node["const"]] if "const" in node else [])
    yield from ((path, "null" if word is None else f"= {word}") for word in words)
    rest = node.get("additionalProperties")
    for name, part in node.get("properties", {}).items():
        if not part:
            continue
        if rest is not None and name not in node["required"]:
            yield f"{path}.{name}", "missing"
        yield from values(part, root, f"{path}.{name}")
    for part, at in ((node.get("items"), f"{path}[]"), (rest, f"{path}.*")):
        if isinstance(part, dict):
            yield from values(part, root, at)


def of_json():
    for file in schema.SCHEMAS.glob("*.schema.json"):
        name = file.name.split(".")[0]
        root = schema.read(name)
        kinds_of_events = root["definitions"]["event"]["oneOf"] if name == "monitor" else []
        parts = {f"{name} {ref['$ref'].split('/')[-1]}": ref for ref in kinds_of_events}
        for of, part in (parts or {name: root}).items():
            types = {}
            for path, kind in values(part, root):
                at = f"json {of} {path.removeprefix('[]')}".rstrip()
                if kind.startswith("= "):
                    yield f"{at} {kind}"
                else:
                    types.setdefault(at, set()).add(kind)
            yield from (f"{at}: {', '.join(sorted(kinds))}" for at, kinds in types.items())


def of_metrics():
    for entry in re.sub(r"\n +", " ", fields("list", "metrics")).splitlines():
        name, labels, kind = re.match(r"- \*(\w+)\*(\{.*?\})? \((\w+)\): ", entry).groups("")
        # Those in _info may get more labels.
        which = re.findall(r"\w+", labels) if name.endswith("_info") else [labels]
        yield from (f"metric {kind} {name} {label}".rstrip() for label in which)


def of_headers():
    """What the pages name, if the headers have it."""
    text = "\n".join((ROOT / page).read_text() for page in PAGES)
    headers = "\n".join(file.read_text() for folder in ("include/xbond", "bpf")
                        for file in (ROOT / folder).glob("*.h"))
    for name in re.findall(r"`((?:packet|question)->\w+|xbond_\w+(?=\()|XBOND_\w+)", text):
        if re.search(rf"\b{name.split('>')[-1]}\b", headers):
            yield f"header {name}"


def of_methods():
    def rows(file, pattern):
        found = re.findall(pattern, (ROOT / "daemon/control" / file).read_text(), re.M)
        return [(*row, set(traits.split(" | "))) for *row, traits in found]
    fields_of_all = rows("control_answer.c", r'^\t\{ "(\w+)", JSON_\w+, "([a-z ]+)", (.*) \}')
    for method, traits in rows("control.c", r'^\t\{ "([a-z-]+)", control_do_\w+,\s+(.*) \}'):
        yield f"method {method} for {'all' if 'METHOD_FOR_ALL' in traits else 'root'}"
        yield from (f"method {method} field {name} is {kind}"
                    for name, kind, having in fields_of_all if having & {"0", *traits})


def of_ifupdown():
    """Keys of interfaces(5) that are no options; any option is a key, too."""
    text = (ROOT / "packaging/tools/ifupdown").read_text()
    found = set(re.findall(r"\bIF_(\w*[A-Z])\b", text))
    for names in re.findall(r"^\t\t\t([a-z_ |]+)\)", text, re.M):
        found |= {f"bond-{name}" for name in names.split(" | ")}
    yield from (f"ifupdown key {name.lower().replace('_', '-')}" for name in found)


def members(header):
    """(struct, where, type and name) of each member."""
    layouts = subprocess.run(
        ["clang", "-target", "bpf", "-ffreestanding", "-fsyntax-only", "-Xclang",
         "-fdump-record-layouts-complete", f"-I/usr/include/{os.uname().machine}-linux-gnu",
         f"-I{ROOT}", f"-I{ROOT}/lib", "-x", "c", ROOT / header],
        capture_output=True, text=True, check=True, timeout=60).stdout
    layouts = re.sub(r"\((?:unnamed|anonymous).*?\)", "part", layouts)
    for struct, rows in re.findall(r" struct ((?:xbond|lacp|bfd)_[\w:]+)\n((?: +\d+ \| .*\n)+)",
                                   layouts):
        yield from ((struct, *row) for row in re.findall(r"(\d+) \|   (\S.*)", rows))


def of_xsk():
    """Where the members of structs are, and the types of functions."""
    header = ROOT / "include/xbond/xsk.h"
    yield from (f"xsk.h {struct} at {at} {member}" for struct, at, member in members(header)
                if not re.match(r"\w+ pad", member))
    for function, takes in re.findall(r"^((?:int|void) xbond_xsk_\w+)\(([^;]*)\);",
                                      header.read_text(), re.M):
        types = [re.sub(r"\s*\w+$", "", each.strip()) for each in takes.split(",")]
        yield f"xsk.h {function}({', '.join(types)})"


def of_objects():
    """(name, kind) of the maps of a bond."""
    libbpf = ctypes.CDLL("libbpf.so.1")
    libbpf.bpf_object__open.restype = libbpf.bpf_object__next_map.restype = ctypes.c_void_p
    libbpf.bpf_map__name.restype = ctypes.c_char_p
    file = libbpf.bpf_object__open(str(BUILD / "bpf/xbond.bpf.o").encode())
    each = libbpf.bpf_object__next_map(ctypes.c_void_p(file), None)
    while each:
        one = ctypes.c_void_p(each)
        kind = " ".join(f"{what} {getattr(libbpf, f'bpf_map__{what}')(one)}"
                        for what in ("type", "key_size", "value_size", "max_entries"))
        name = libbpf.bpf_map__name(one).decode()
        if not name.endswith((".rodata", ".rodata.netdev")):
            yield name.removeprefix(".data."), kind
        each = libbpf.bpf_object__next_map(ctypes.c_void_p(file), one)
    libbpf.bpf_object__close(ctypes.c_void_p(file))


def of_maps():
    """How they are laid out, and which numbers stand in them, by version; and from which versions
    bondd converts them.
    """
    abi, select, policy = (
        int(re.search(rf"^#define XBOND_{name} (\d+)$", (ROOT / file).read_text(), re.M)[1])
        for name, file in (("ABI_VERSION", "bpf/abi.h"), ("SELECT_ABI", "bpf/abi_packet.h"),
                           ("POLICY_VERSION", "bpf/abi_policy.h")))
    steps = re.findall(r"^\t\{ (\d+), (?!NULL)\w+ \},",
                       (ROOT / "daemon/dataplane/migrate.c").read_text(), re.M)
    yield from (f"abi {version}" for version in (*steps, abi))
    shared = [pin.lower() for pin in re.findall(
        r", XBOND_PIN_(\w+) \}", (ROOT / "include/xbond/loader.h").read_text())]
    for file in ("bpf/abi.h", "bpf/abi_packet.h", "bpf/abi_control.h", "lib/lacp/state.h"):
        text = (ROOT / file).read_text()
        lines = re.findall(r'^#define ((?:XBOND|LACP)_\w+ (?:0x[0-9a-f]+|"\w+"))', text, re.M)
        lines += re.findall(r"^\t((?:XBOND|LACP)_\w+ = \d+),", text, re.M)
        yield from (f"abi {abi}: {line}" for line in lines
                    if not re.match(r"XBOND_(MONITORS|DROPS) ", line))  # there may be more
    for name, line in (*((name, f"map {name} {kind}") for name, kind in of_objects()),
                       *((struct.removeprefix("xbond_"), f"{struct} at {at} {member}")
                         for struct, at, member in members("bpf/abi.h"))):
        yield f"abi {abi}: {line}"
        if any(pin.startswith(name) for pin in shared):
            yield f"select {select}: {line}"
        elif name == "question":
            yield f"policy {policy}: {line}"


def of_units():
    return {f"unit {file.name}" for kind in ("service", "socket")
            for file in (ROOT / "packaging").glob(f"*.{kind}")}


def of_tables():
    for line, files, pattern in TABLES:
        for file in ROOT.glob(files):
            yield from (line % name for name in re.findall(pattern, file.read_text(), re.M))


def names():
    return {*of_options(), *of_command_line(), *of_json(), *of_metrics(), *of_headers(),
            *of_methods(), *of_ifupdown(), *of_xsk(), *of_maps(), *of_units(),
            *of_tables()}


def vanished(promised, now):
    """Those that are no longer so. A range of numbers may have become wider; and maps of another
    version are otherwise.
    """
    def limits(line):
        found = RANGE.fullmatch(line)
        return found and (found[1], int(found[2]), int(found[3] or found[2]))
    ranges = list(filter(None, map(limits, now)))

    def is_within(line):
        option, low, high = limits(line) or (None, 0, 0)
        return any(option == other and lowest <= low and high <= highest
                   for other, lowest, highest in ranges)
    return [line for line in of_these_versions(promised, now)
            if line not in now and not is_within(line)]


def of_these_versions(lines, now):
    """But for those of versions that this tree no longer has."""
    def version(line):
        found = VERSIONED.match(line)
        return found and found[0]
    versions = {None, *map(version, now)}
    return [line for line in lines if version(line) in versions]


def main():
    now = names()
    kept = of_these_versions(PROMISED.read_text().splitlines(), now)
    PROMISED.write_text("".join(f"{line}\n" for line in sorted({*kept, *now})))


if __name__ == "__main__":
    main()
