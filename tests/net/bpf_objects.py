# SPDX-License-Identifier: GPL-2.0-or-later
"""BPF maps, programs and links, as the kernel numbers them: which are pinned, which are there."""
import ctypes
import os
import pathlib
import re

from namespace import run

libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)


def pinned_objects(host):
    """(kind, id) of every pinned map, program and link."""
    found = set()
    for pin in host.pins():
        fd = libbpf.bpf_obj_get(str(host.bpf_dir / pin).encode())
        if fd < 0:  # it has gone meanwhile
            continue
        shown = pathlib.Path(f"/proc/self/fdinfo/{fd}").read_text()
        found |= set(re.findall(r"^(map|prog|link)_id:\t(\d+)$", shown, re.M))
        os.close(fd)
    return found


def there(objects):
    """Those of them that the kernel has not freed. None is opened: the kernel (6.18) never frees a
    map of programs that is opened and closed twice at once when no file and no pin holds it.
    """
    return {(kind, number) for kind, number in objects
            if next_id(kind, int(number) - 1) == int(number)}


def next_id(kind, after):
    """The first that is greater, or None."""
    found = ctypes.c_uint32()
    refused = getattr(libbpf, f"bpf_{kind}_get_next_id")(after, ctypes.byref(found))
    return None if refused else found.value


def holders(objects):
    """Files of processes that have one of these open."""
    words = [word for kind, number in objects for word in ("-e", f"{kind}_id:\t{number}")]
    found = run("sh", "-c", 'grep -lx "$@" /proc/[0-9]*/fdinfo/*', "sh", *words, check=False)
    return found.stdout.split()
