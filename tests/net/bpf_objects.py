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
    """Those of them that the kernel has not freed."""
    found = set()
    for kind, number in objects:
        fd = getattr(libbpf, f"bpf_{kind}_get_fd_by_id")(int(number))
        if fd >= 0:
            os.close(fd)
            found.add((kind, number))
    return found


def holders(objects):
    """Files of processes that have one of these open."""
    words = [word for kind, number in objects for word in ("-e", f"{kind}_id:\t{number}")]
    found = run("sh", "-c", 'grep -lx "$@" /proc/[0-9]*/fdinfo/*', "sh", *words, check=False)
    return found.stdout.split()
