# SPDX-License-Identifier: GPL-2.0-or-later
"""The headers of include/xbond/ in the files of others: select.bpf.h leaves only names there that
docs/developers/select.md says, and loader.h is also for C++.
"""
import json
import os
import re
import subprocess

import pytest

from built import BUILD, ROOT

BEFORE = """
#include <linux/bpf.h>
#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdint.h>
"""
INCLUDES = [f"-I{ROOT}", f"-I{ROOT}/lib", f"-I{ROOT}/include"]
LIBRARY = '#include "xbond/select.bpf.h"\n'
# the compiler's, the kernel's
OF_OTHERS = re.compile(r"__builtin_|__sync_|bpf_(?:rdonly_cast|cast_to_kern_ctx)$|\w+___xbond$")


def clang(text, *words):
    return subprocess.run(
        ["clang", "-O2", "-ffreestanding", "-target", "bpf", "-mcpu=v3", *INCLUDES,
         f"-I/usr/include/{os.uname().machine}-linux-gnu", *words, "-x", "c", "-"],
        input=text, capture_output=True, text=True, check=True, timeout=120).stdout


def ours():
    """Matches a name that may stay."""
    said = (ROOT / "docs/developers/select.md").read_text().split("* Names that begin with", 1)[1]
    said = said.split("belong to the header", 1)[0]
    beginnings = re.findall(r"`(\w+_)`", said)
    assert "xbond_" in beginnings and len(beginnings) > 10
    return re.compile("|".join(beginnings + [each.upper() for each in beginnings]))


def macros(text):
    return set(re.findall(r"^#define (\w+)", clang(text, "-E", "-dM"), re.M))


def declared(text):
    """Also enumerators."""
    found = json.loads(clang(text, "-fsyntax-only", "-Xclang", "-ast-dump=json"))["inner"]
    enumerators = [each for one in found if one["kind"] == "EnumDecl"
                   for each in one.get("inner", [])]
    return {each["name"] for each in found + enumerators if "name" in each}


@pytest.mark.parametrize("kind", ["", "#define XBOND_SELECT_TC\n"], ids=["xdp", "tc"])
@pytest.mark.parametrize("names", [macros, declared])
def test_names(kind, names):
    left = names(kind + BEFORE + LIBRARY) - names(kind + BEFORE)
    assert left
    assert not sorted(name for name in left
                      if not ours().match(name) and not OF_OTHERS.match(name))


def test_licence():
    """What applications of others are compiled with does not make them GPL."""
    words = [word for path in (BUILD / "xsk").glob("*.d") for word in path.read_text().split()]
    ours = {ROOT / word for word in words if (ROOT / word).is_file() and not word.startswith("/")}
    ours = {path for path in ours if BUILD not in path.parents}
    # xsk/choice.c stands for these two.
    ours -= {ROOT / "bpf/maps.h", ROOT / "bpf/netdev.h"}
    assert len(ours) > 10
    assert not [path for path in ours
                if " GPL-2.0-or-later OR LGPL-2.1-or-later" not in path.read_text().split("\n")[0]]


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("header", ["loader.h", "xsk.h"])
def test_user_space(language, header):
    subprocess.run(["clang", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                    *INCLUDES, "-x", language, "-"], check=True, timeout=120, text=True,
                   input=f'#include "xbond/{header}"\n')


@pytest.mark.parametrize("kind", ["", "#define XBOND_SELECT_TC\n"], ids=["xdp", "tc"])
@pytest.mark.parametrize("order", [1, -1])
def test_beside_a_policy(kind, order):
    """One file may include both, as what two programs share does."""
    policy = '#include "xbond/policy.bpf.h"\n'
    clang(kind + "".join([LIBRARY, policy][::order]), "-fsyntax-only", "-Wall", "-Werror")


def test_the_library_exports_what_its_header_declares():
    """And nothing else, but for what is the compiler's. It is what its soname says."""
    library = BUILD / "libxbond-xsk.so.0"
    done = subprocess.run(["nm", "-D", "--defined-only", "-P", library], capture_output=True,
                          text=True, check=True, timeout=60)
    text = (ROOT / "include/xbond/xsk.h").read_text()
    found = {line.split()[0] for line in done.stdout.splitlines()}
    assert {name for name in found if not name.startswith("_")} == \
        set(re.findall(r"^(?:int|void) (xbond_xsk_\w+)\(", text, re.M))
    done = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True,
                          timeout=60)
    assert f"soname: [{library.name}]" in done.stdout


def pins_in(path, begin):
    text = (ROOT / path).read_text().split(begin, 1)[1].split("};", 1)[0]
    return set(re.findall(r"XBOND_PIN_(\w+)", text))


def test_lists_of_their_maps():
    """Of the bond's XDP programs, of tests/bpf, of libxbond-xsk, and of what is converted: whenever
    one of their maps is a new one, the table is, too. Devmaps stay as they are.
    """
    maps = pins_in("include/xbond/loader.h", "xbond_library_maps[] = {")
    assert pins_in("daemon/dataplane/xdp_load.c", "shared[] = {") == maps - {"DEVICES"} | {"DROPS"}
    assert pins_in("tests/tools/picks.c", "shared[] = {") == maps
    assert pins_in("daemon/dataplane/migrate.c", "theirs[] = {") == \
        maps - {"TABLE", "DEVICES", "XDP_SLAVES", "XDP_ALL"} | {"AFXDP"}


def test_what_the_group_is_given():
    """The maps that libxbond-xsk maps: those that it writes for writing, too."""
    mapped = re.findall(r"CHOICE_MAP\(XBOND_PIN_(\w+), \w+, (\d)",
                        (ROOT / "xsk/choice_open.c").read_text())
    given = re.findall(r"XBOND_PIN_(\w+), PINS_(READ|WRITE) ",
                       (ROOT / "daemon/bond/pins_keep.c").read_text())
    assert mapped and sorted((name, "READ WRITE".split()[int(writes)])
                             for name, writes in mapped) == sorted(given)
