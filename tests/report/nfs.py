# SPDX-License-Identifier: GPL-2.0-or-later
"""`make report-nfs`: one file copied by NFS over two links, in the emulated machine, whose kernel
has NFS. Its CPU is slow, so the links are too. Prints the figures; python3 -m tests.report.nfs
[MBIT], in the guest.
"""
from .file_copy import BAR, copy_figures, goodput, goodput_alone, growth, make_file
from .hosts import FAR_ADDRESS, bed

import contextlib
import os
import pathlib
import statistics
import sys

from namespace import end, run  # pylint: disable=wrong-import-order
from waiting import wait_for  # pylint: disable=wrong-import-order

from . import page
from .figures import Section
from .parse import ToolError
from .servers import directory

CONTROL = pathlib.Path("/proc/fs/nfsd")
EXPORT = "ro,fsid=0,insecure,no_root_squash,no_subtree_check"
SECONDS = 8  # that a copy takes


class Scale:
    seconds = 5
    rounds = 2


@contextlib.contextmanager
def nfsd(namespace):
    """The kernel's NFS server in a namespace; yields the directory that it exports, read-only."""
    run("modprobe", "-a", "nfsd", "nfsv4")
    with directory() as made, contextlib.ExitStack() as undo:
        namespace.run("mount", "-t", "nfsd", "nfsd", CONTROL)
        undo.callback(namespace.run, "umount", CONTROL)
        undo.callback(end, namespace.spawn("rpc.mountd", "-F", "-N", "2", "-N", "3"))
        namespace.run("exportfs", "-i", "-o", EXPORT, f"*:{made}")
        undo.callback(namespace.run, "exportfs", "-au")
        # The first copy waits until the time of grace is over; it cannot be shorter.
        namespace.run("rpc.nfsd", "-N", "3", "-U", "-G", "10", "-L", "10", "4")
        undo.callback(namespace.run, "rpc.nfsd", "0")
        yield made


@contextlib.contextmanager
def mounted(namespace, address, directory_):
    """A new mount each time, as what was read is cached."""
    directory_.mkdir(exist_ok=True)
    namespace.run("mount", "-t", "nfs4", "-o", "vers=4.2,sec=sys,ro", f"{address}:/", directory_)
    try:
        yield
    finally:
        wait_for(lambda: not namespace.run("umount", directory_, check=False).returncode,
                 "umount", 15)


def nfs(near, far, megabytes, rounds, address=FAR_ADDRESS):
    """(MB/s, command)."""
    found = []
    with nfsd(far) as made, directory() as here:
        make_file(made / "file", megabytes)
        for number in range(rounds):
            to = here / f"copy{number}"
            with mounted(near, address, here / "mnt"):
                found.append(growth(near.spawn("cp", here / "mnt/file", to), to, "cp"))
            if to.stat().st_size != megabytes * 1000000:
                raise ToolError(f"cp: {to.stat().st_size} bytes")
            to.unlink()
    return statistics.median(found), \
        f"near# mount -t nfs4 -o vers=4.2 {address}:/ /mnt; cp /mnt/file /dev/shm/copy"


def show(figure):
    ratio = f", {figure.ratio:.3f} of the links" if figure.ratio is not None else ""
    target = f"; target {figure.bound}: {'met' if figure.held else 'MISSED'}" \
        if figure.bound is not None else ""
    print(f"{figure.what}: {page.number(figure.value)} {figure.unit}{ratio}{target}\n"
          f"    {figure.command}", flush=True)


def main():
    if not os.environ.get("XBOND_VM"):
        sys.exit("this runs in the emulated machine: make report-nfs")
    rate = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    shaper = f"tbf rate {rate}mbit burst 32kb latency 50ms"
    section = Section(5, "NFS")
    with bed(2, rate, "mode balance-rr bytes_per_slave 1", shaper=shaper) as place:
        print("\n".join(place.script.lines))
        alone = goodput_alone(place, Scale, section)
        goodput("iperf3, two links", place, Scale, section, FAR_ADDRESS, place.capacity)
        megabytes = place.capacity * SECONDS // 8
        mbytes, command = nfs(place.near, place.far, megabytes, Scale.rounds)
        section.figures += copy_figures(f"NFS, {megabytes} MB, two links of {rate} Mbit/s", mbytes,
                                        command, alone, rate, BAR)
    for figure in section.figures:
        show(figure)


if __name__ == "__main__":
    main()
