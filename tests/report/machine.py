# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that the report was made on, in words."""
import os
import pathlib
import platform
import subprocess
import time


def first(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except OSError:
        return "not there"
    return (done.stdout or done.stderr).split("\n", 1)[0].strip()


def cpu():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines()
             if line.startswith("model name")]
    virtual = ", a virtual machine" if " hypervisor" in text else ""
    return f"{os.cpu_count()} x {names[0] if names else platform.machine()}{virtual}"


def memory():
    words = pathlib.Path("/proc/meminfo").read_text().split()
    return f"{int(words[1]) // 1024} MB"


def describe(version):
    """[(what, value)]. version: xbond's."""
    return [("date", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())), ("xbond", version),
            ("kernel", f"{platform.system()} {platform.release().split('-')[0]}"),
            ("CPUs", f"{cpu()}: they do the work of both hosts and of all links"),
            ("memory", memory()),
            ("load before", f"{os.getloadavg()[0]:.2f}"),
            ("links", "veth, shaped by TBF at both ends"),
            ("congestion control", "cubic, the kernel's default"),
            ("iperf3", first(["iperf3", "--version"])),
            ("gnuplot", first(["gnuplot", "--version"])),
            ("smbd", first(["smbd", "--version"])), ("ssh", first(["ssh", "-V"]))]
