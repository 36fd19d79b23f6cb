# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl import on configurations in the shapes that each tool's documentation and tests have.

The cases of a subject are one file, tests/import/TOOL/SUBJECT.txtar. In a case, a file stands after
each line `-- PATH --`; after `-- PATH/* --` each line is a file, its name and what it holds, and
after `-- PATH/* as CASE --` only what differs from the first of CASE. NAME, with which the first
PATH begins, is given to bondctl, a file or a directory; NAME.root is a machine's root. What bondctl
says about it stands after `-- expected --`: standard output, a line of dashes, standard error, exit
status. XBOND_ACCEPT=1 in the environment writes that anew, also behind a new last case; read the
difference before you keep it.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest

import schema
from built import BUILD, ROOT, SANITIZERS

BONDCTL = str(BUILD / "bondctl")
HERE = pathlib.Path(__file__).parent


def run(tool, *words, cwd=None, **settings):
    return subprocess.run([BONDCTL, "import", tool, *words], cwd=cwd, capture_output=True,
                          timeout=60, text=True, env={**os.environ, **settings})


UNKNOWN = run("ifconfig")
TOOLS = set(re.search("; there are (.*?)(;|$)", UNKNOWN.stderr, re.M)[1].split(", "))
EXPECTED = "-- expected --\n"


def files_of(text):
    return {name: value for name, _, value in
            (line.partition(" ") for line in text.splitlines())}


class Case:
    """One of a file."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.files, _, self.expected = text.partition(EXPECTED)
        self.tool, self.name = path.parent.name, re.match(r"-- ([^/\n]+?)(/.*)? --\n", text)[1]
        self.cwd = None
        _, *parts = re.split(r"^-- (.*?)(?: as (.*))? --\n", self.files, flags=re.M)
        self.parts = list(zip(parts[::3], parts[1::3], parts[2::3]))

    def __str__(self):
        return f"{self.tool}/{self.name}"

    def unpack(self, cwd):
        self.cwd = cwd
        for path, base, text in self.parts:
            (cwd / path).parent.mkdir(parents=True, exist_ok=True)
            if path.endswith("/*"):
                for name, value in {**files_of(self.another(base)), **files_of(text)}.items():
                    (cwd / path).with_name(name).write_text(value + "\n")
            else:
                (cwd / path).write_bytes(text.encode())

    def another(self, name):
        """The first part of the case of this name."""
        return next((case.parts[0][2] for case in CASES
                     if (case.tool, case.name) == (self.tool, name)), "")

    def run(self, *options, **settings):
        words = ["--root", self.name] if self.name.endswith(".root") else [self.name]
        return run(self.tool, *options, *words, cwd=self.cwd, **settings)

    def accept(self, said):
        text = self.path.read_bytes().decode()
        self.path.write_bytes(text.replace(self.text, self.files + EXPECTED + said).encode())


def cases_of(path):
    """Each ends with its exit status."""
    texts = re.split(r"(?<=^exit status \d\n)", path.read_bytes().decode(), flags=re.M)
    return [Case(path, text) for text in texts if text]


CASES = [case for tool in sorted(TOOLS) for path in sorted((HERE / tool).iterdir())
         for case in cases_of(path)]


@pytest.fixture(name="case")
def _case(request, tmp_path):
    request.param.unpack(tmp_path)
    return request.param


@pytest.fixture(scope="module", name="keys")
def _keys():
    """The rows of all tools: what each of its keys becomes."""
    return {tool: json.loads(run(tool, "--keys", "-j").stdout) for tool in sorted(TOOLS)}


@pytest.mark.parametrize("case", CASES, ids=str, indirect=True)
def test_corpus(case):
    """What is written and what is remarked is as expected; both also as JSON."""
    done = case.run()
    said = f"{done.stdout}----\n{done.stderr}exit status {done.returncode}\n"
    if os.environ.get("XBOND_ACCEPT"):
        case.accept(said)
    else:
        assert said == case.expected
    text = case.run("-j").stdout
    if not text:
        assert done.returncode == 1 and done.stdout == ""
        return
    value = schema.check("import", json.loads(text))
    assert done.stdout.count("[bond]") == len(value["bonds"])
    refusals = [line for line in done.stderr.splitlines() if line.startswith("bondctl: ")]
    assert done.stderr.count("\n") == len(value["remarks"]) + len(refusals)
    assert done.returncode == bool(refusals)
    assert all(any(f": {name} is not written: " in line for line in refusals)
               for name in value["refused"])
    for remark in value["remarks"]:
        assert remark["what"] in done.stderr


@pytest.mark.parametrize("case", CASES, ids=str, indirect=True)
def test_bondd_takes_it(case, tmp_path_factory):
    """-w writes what was printed, into files that the reader of bondd's configuration takes."""
    config = tmp_path_factory.mktemp("config")
    written = case.run("-w", XBOND_CONFIG_DIR=str(config)).stdout.split()
    assert {str(path) for path in config.iterdir()} == set(written)
    for path in written:
        read = subprocess.run([BUILD / "tools/readconfig", path], capture_output=True, text=True,
                              timeout=30)
        assert read.returncode == 0, read.stderr


def test_corpora_are_large_enough():
    for tool in TOOLS:
        names = [case.name for case in CASES if case.tool == tool]
        assert len(names) == len(set(names)) >= 15, tool


def plain(text):
    """'_' and '-' are the same to ifupdown, and so is case to some tools."""
    return text.lower().replace("_", "-")


def test_every_key_is_in_a_corpus(keys):
    for tool, rows in keys.items():
        text = plain("\n".join(case.files for case in CASES if case.tool == tool))
        missing = {row["key"] for row in rows
                   if not re.search(rf"(?<!\w){re.escape(plain(row['key']))}(?!\w)", text)}
        assert not missing, tool


def test_no_key_becomes_state(keys):
    """active_slave is no option of a file."""
    assert not [row for rows in keys.values() for row in rows if row["becomes"] == "active_slave"]


def test_keys_as_text(keys):
    for tool, rows in keys.items():
        text = run(tool, "--keys").stdout
        for row in rows:
            assert re.search(rf"^  {re.escape(row['key'])} ", text, re.M), row


BOND0 = "auto bond0 bond1\niface bond0\n bond-slaves eth0\n bond-mode 1\n" \
        "iface bond1\n bond-slaves eth1\n bond-colour red\n"


def test_one_bond(tmp_path):
    (tmp_path / "interfaces").write_text(BOND0)
    done = run("ifupdown", "interfaces", "bond0", cwd=tmp_path)
    assert "[slave eth0]" in done.stdout and "eth1" not in done.stdout
    assert done.stderr == ""
    done = run("ifupdown", "interfaces", "bond2", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert "'bond2' is neither a file nor a bond in interfaces" in done.stderr


def test_write_is_all_or_nothing(tmp_path):
    """A file that is there stays as it is, and then no other is written."""
    (tmp_path / "interfaces").write_text(BOND0)
    config = tmp_path / "config"
    config.mkdir()
    (config / "bond1.conf").write_text("mine")
    done = run("ifupdown", "-w", "interfaces", cwd=tmp_path, XBOND_CONFIG_DIR=str(config))
    assert done.returncode == 1 and "bond1.conf exists already" in done.stderr
    assert [path.name for path in config.iterdir()] == ["bond1.conf"]
    assert (config / "bond1.conf").read_text() == "mine"
    (config / "bond1.conf").unlink()
    (config / "bond1.conf").symlink_to("nowhere")
    done = run("ifupdown", "-w", "interfaces", cwd=tmp_path, XBOND_CONFIG_DIR=str(config))
    assert done.returncode == 1 and [path.name for path in config.iterdir()] == ["bond1.conf"]
    done = run("ifupdown", "-w", "interfaces", cwd=tmp_path,
               XBOND_CONFIG_DIR=str(tmp_path / "new/dir"))
    assert done.returncode == 0
    assert {path.name for path in (tmp_path / "new/dir").iterdir()} == {"bond0.conf", "bond1.conf"}


def test_what_is_lost_is_not_written(tmp_path):
    """A bond whose mode or slave is lost gets no file; others do, and the status says so."""
    (tmp_path / "interfaces").write_text(
        BOND0.replace("-colour red", "-mode 802.4ad") + "iface bond2\n bond-slaves glob eth*\n")
    done = run("ifupdown", "-w", "interfaces", cwd=tmp_path, XBOND_CONFIG_DIR=str(tmp_path / "out"))
    assert done.returncode == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["bond0.conf"]
    for line in ("bond1 is not written: it depends on interfaces:7,",
                 "bond2 is not written: it depends on interfaces:9,"):
        assert line in done.stderr
    done = run("ifupdown", "-w", "interfaces", "bond1", cwd=tmp_path,
               XBOND_CONFIG_DIR=str(tmp_path / "none"))
    assert done.returncode == 1 and done.stdout == "" and not (tmp_path / "none").exists()
    done = run("ifupdown", "interfaces", "bond0", cwd=tmp_path)
    assert done.returncode == 0 and "bond1" not in done.stderr


def test_full_disk_leaves_nothing(tmp_path):
    (tmp_path / "interfaces").write_text(BOND0)
    config = tmp_path / "config"
    limit = ["prlimit", "--fsize=0", BONDCTL, "import", "ifupdown", "-w", "interfaces"]
    done = subprocess.run(["env", f"XBOND_CONFIG_DIR={config}", "sh", "-c",
                           "trap '' XFSZ; exec \"$@\"", "sh", *limit], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "bond0.conf: File too large" in done.stderr
    assert not list(config.iterdir())


def test_hostile_text_is_not_printed(tmp_path):
    """No control characters reach a terminal, and JSON stays JSON."""
    (tmp_path / "interfaces").write_bytes(
        b"iface bond0\n bond-slaves eth0 \x1b[2J\n bond-mode \xff\xfe\x9b\n address \x07\n")
    done = subprocess.run([BONDCTL, "import", "ifupdown", "interfaces"], cwd=tmp_path,
                          capture_output=True, timeout=60)
    assert done.returncode == 1
    assert not set(done.stdout + done.stderr) & (set(range(32)) - {10})
    schema.check("import", json.loads(run("ifupdown", "-j", "interfaces", cwd=tmp_path).stdout))


NOT_UTF8 = {
    "networkd": b"[NetDev]\nName=b\xe9nd0\nKind=bond\n",
    "ifupdown": b"iface bond0\n bond-slaves eth0 eth\xe9\n bond-mode 1\n bond-primary eth\xe9\n",
    "netplan": b"network: {bonds: {b: {interfaces: ['eth\xe9']}}}\n",
}


@pytest.mark.parametrize("tool", NOT_UTF8)
def test_names_that_are_not_utf8(tool, tmp_path):
    """They are refused by name, and nothing says another name than the file has; -j as well."""
    path = tmp_path / "file.netdev"
    path.write_bytes(NOT_UTF8[tool])
    done = run(tool, path, "-w", XBOND_CONFIG_DIR=str(tmp_path / "new"))
    assert re.search(r"file.netdev:\d.*UTF-8", done.stderr), done.stderr
    assert "\ufffd" not in done.stdout and "?" not in done.stdout
    as_json = run(tool, "-j", path)
    assert "UTF-8" in as_json.stdout + as_json.stderr
    assert as_json.returncode == done.returncode


@pytest.mark.parametrize("tool", sorted(TOOLS - {"ovs", "kernel"}))
def test_nul_byte_is_an_error(tool, tmp_path):
    path = tmp_path / "bond0.conf"
    path.write_bytes(b"# a file\n\0{}\n")
    done = run(tool, path)
    assert done.returncode == 1 and done.stdout == ""
    assert "bond0.conf: line 2 has a NUL byte" in done.stderr


@pytest.mark.parametrize("level", ["[", '{"a":', "- "], ids=["array", "object", "block"])
@pytest.mark.parametrize("tool", ["netplan", "teamd", "ovs", "kernel"])
def test_deep_nesting_is_an_error(tool, level, tmp_path):
    (tmp_path / "deep.conf").write_text(level * 500000)
    done = run(tool, "./deep.conf", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"bondctl: .*deep.conf.*\n", done.stderr)


def test_large_configuration(tmp_path):
    """Each of 40,000 interfaces is looked for by its name a few times. With sanitizers, which make
    that slow, it is a tenth.
    """
    count = 4000 if SANITIZERS else 40000
    devices = "".join(f"    e{i}: {{set-name: eth{i}, mtu: 9000}}\n" for i in range(count))
    (tmp_path / "large.yaml").write_text(
        f"network:\n  ethernets:\n{devices}  bonds: {{b: {{interfaces: [e7, e{count - 1}]}}}}\n")
    done = run("netplan", "./large.yaml", cwd=tmp_path)
    assert f"[slave eth7]\n\n[slave eth{count - 1}]\n" in done.stdout
    assert done.stderr.count("stays with netplan: mtu: 9000") == 2


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_what_cannot_be_read(tool, tmp_path):
    done = run(tool, "./missing", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"bondctl: .*missing.*\n", done.stderr)
    done = run(tool, "--root", str(tmp_path))
    assert done.returncode == 1 and done.stderr.startswith("bondctl: ")


def test_usage():
    """The tools are also those of the table of verbs, of the manual and of the page."""
    assert UNKNOWN.returncode == 2 and "unknown tool 'ifconfig'; there are " in UNKNOWN.stderr
    offered = subprocess.run([BONDCTL, "complete", "--", "import", ""], capture_output=True,
                             timeout=60, text=True, check=True).stdout
    assert set(offered.split()) == TOOLS
    page = (ROOT / "man/bondctl-import.8.scd").read_text().split("_TOOL_ is one of these:")[1]
    entries = re.findall(r"^(\*.*)\n\t", page.split("\n# FLAGS\n")[0], re.M)
    assert set(re.findall(r"\*([\w-]+)\*", " ".join(entries))) == TOOLS
    page = (ROOT / "docs/operators/migration.md").read_text()
    for begin in ("## bondctl import ", "<!-- fields "):
        assert set(re.findall(rf"^{begin}([\w-]+)", page, re.M)) == TOOLS


def test_pipes_in_directories_are_left_alone(tmp_path):
    """Nobody waits for a pipe that nobody writes to, unless it was given itself."""
    os.mkfifo(tmp_path / "10-pipe.yaml")
    (tmp_path / "20-bond.yaml").write_text("network: {bonds: {bond0: {interfaces: [eth0]}}}\n")
    done = run("netplan", ".", cwd=tmp_path)
    assert "[slave eth0]" in done.stdout
    (tmp_path / "interfaces").write_text("source\nsource 10-pipe.yaml\nsource-directory .\n" +
                                         BOND0)
    done = run("ifupdown", "interfaces", cwd=tmp_path)
    assert "interfaces:1: not carried over: source: it names no file" in done.stderr
    assert "[slave eth0]" in done.stdout
    given = subprocess.run(["bash", "-c", f"{BONDCTL} import netplan <(cat 20-bond.yaml)"],
                           cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert given.stdout.count("[slave eth0]") == 1, given.stderr
