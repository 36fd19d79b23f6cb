"""Other builds of bondd for the tests of upgrades: made in a copy of the tree, or from its history,
from the objects that are built already, so that only what differs is compiled.
"""
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys

from lab import BUILD, ROOT
from namespace import run

# The commit of 1.0.0, or, before there is one, a late commit on the way there. Whatever it leaves
# on a machine, every later tree takes over.
RELEASE = "0a1d332bc2b0b56f5890107725006a9fabe24a4f"
RELEASED = BUILD / "released" / RELEASE
PARTS = ("bpf", "cli", "daemon", "include", "lib", "packaging")
FILES = ("Makefile", "VERSION", "CHANGELOG.md")

STEP = """
/* New maps, with what the old ones hold; that of XBOND_PIN_ATTACHED becomes larger by itself. */
static int to_newer(struct migrate *migrate, struct err *err)
{
	static const char *const pins[] = { XBOND_PIN_SETTINGS, XBOND_PIN_TABLE,
					    XBOND_PIN_BUCKETS,	XBOND_PIN_COUNTERS,
					    XBOND_PIN_SLAVES,	XBOND_PIN_CURSOR };

	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++)
		if (!migrate_value(migrate, pins[i], 0))
			return err_set(err, 2, "no %s", pins[i]);
	return 0;
}

const struct migrate_step migrate_steps[] = {
"""


def change(tree, path, pattern, replacement, count=0):
    file = tree / path
    text, changed = re.subn(pattern, replacement, file.read_text(), count=count, flags=re.M)
    assert changed, f"{pattern} is not in {path}"
    file.write_text(text)


def other_programs(tree):
    """Each program has one instruction more, which changes nothing."""
    for path in ("bpf/xbond.bpf.c", "bpf/xdp.bpf.c"):
        change(tree, path,
               r"^(SEC\(\"\??(?:tc|xdp\.frags|syscall|raw_tp/\w+)\"\)\nint \w+\(.*\)\n\{)",
               r'\1\n\tasm volatile("r0 = 7" : : : "r0");\n')


def newer_abi(tree):
    abi = int(re.search(r"XBOND_ABI_VERSION (\d+)", (tree / "bpf/abi.h").read_text())[1])
    other_programs(tree)
    for path in ("lib/common/pins.c", "daemon/manage/lifecycle.c", "daemon/dataplane/migrate.c",
                 "lib/view/view_table_bond.c"):
        change(tree, path, r"\bXBOND_ABI_VERSION\b", str(abi + 1))
    steps = "daemon/dataplane/migrate.c"
    change(tree, steps, r"^static const struct migrate_step migrate_steps\[\] = \{\n", STEP)
    change(tree, steps, r"^\t\{ 0, NULL \},",
           f"\t{{ {abi}, to_newer }},\n\t{{ 0, NULL }},")
    change(tree, "bpf/slow.h", r"max_entries, 64 \* 1024", "max_entries, 128 * 1024")
    change(tree, "bpf/xbond.bpf.c", r"^struct watchdog \{", "struct watchdog {\n\t__u64 more;")
    change(tree, "lib/common/pins.c", r"ARRAY_OF\(attached, 1\)",
           "BPF_MAP_TYPE_ARRAY, sizeof(struct xbond_attached) + 16, 1, "
           ".at = offsetof(struct pins, attached)")
    change(tree, "bpf/xbond.bpf.c", r"__type\(value, struct xbond_attached\)",
           "__type(value, struct { struct xbond_attached old; __u64 more[2]; })")


def build(tree, changes):
    """The bondd of a copy of the tree, changed; and its bondctl. Or those that were made before, as
    for guests.
    """
    if "XBOND_BUILDS" in os.environ:
        return pathlib.Path(os.environ["XBOND_BUILDS"]) / changes.__name__ / "build/bondd"
    tree.mkdir(parents=True)
    for part in PARTS:
        shutil.copytree(ROOT / part, tree / part)
    for file in FILES:
        shutil.copy2(ROOT / file, tree)
    copy_objects(tree)
    changes(tree)
    return make(tree)


def copy_objects(tree):
    shutil.copytree(BUILD, tree / BUILD.name,
                    ignore=shutil.ignore_patterns("tests", "tools", "man", "released"))


def make(tree, *words):
    run("make", "-C", tree, "-j2", f"{BUILD.name}/bondd", f"{BUILD.name}/bondctl", *words,
        timeout=600)
    return tree / BUILD.name / "bondd"


def no_release():
    """Why it is not there and cannot be built here; None: it is, or can be."""
    if RELEASED.exists():
        return None
    try:
        done = subprocess.run(["git", "-C", ROOT, "cat-file", "-e", f"{RELEASE}^{{commit}}"],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no git"
    return f"the commit of 1.0.0 is not here, as in a tarball or a shallow clone " \
        f"({''.join(done.stderr.splitlines()[:1])})" if done.returncode else None


def release(tree):
    """Its bondd, and its bondctl: those that were made before, if they are still there, beside this
    build. What has not changed since is not compiled again, unless the Makefile has.
    """
    if not RELEASED.exists():
        build_release(tree)
        unfinished = RELEASED.with_name(str(os.getpid()))
        unfinished.mkdir(parents=True)
        for name in ("bondctl", "bondd"):
            shutil.copy2(tree / BUILD.name / name, unfinished)
        unfinished.rename(RELEASED)
    return RELEASED / "bondd"


def build_release(tree):
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", ROOT, "archive", RELEASE, *PARTS, *FILES],
                             capture_output=True, check=True).stdout
    subprocess.run(["tar", "-xm", "-C", tree], input=archive, check=True)
    assert (ROOT / "VERSION").read_text() == "1.0.0\n" or \
        "[1.0.0] - unreleased" not in (tree / "CHANGELOG.md").read_text(), \
        "1.0.0 is released, and RELEASE is not its commit"
    for file in tree.rglob("*"):
        ours = ROOT / file.relative_to(tree)
        if file.is_file() and ours.is_file() and filecmp.cmp(ours, file, shallow=False):
            shutil.copystat(ours, file)
    if filecmp.cmp(ROOT / "Makefile", tree / "Makefile"):
        copy_objects(tree)
    make(tree, "CFLAGS=-O0")


if __name__ == "__main__":  # builds.py DIRECTORY: what XBOND_BUILDS may name
    for each in (other_programs, newer_abi):
        build(pathlib.Path(sys.argv[1]) / each.__name__, each)
