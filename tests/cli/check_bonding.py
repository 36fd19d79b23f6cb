# SPDX-License-Identifier: GPL-2.0-or-later
"""A check in the shape of those that monitoring systems run: it knows the kernel's file of a bond
and nothing else. Returns (status, line): 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
"""
import re


def sections(text):
    """The bond's part and a part for each slave, each {key: value}. Lines that are indented belong
    to what comes before them.
    """
    parts = [{}]
    for line in text.splitlines():
        found = re.match(r"^([A-Z][^:]*): ?(.*)$", line)
        if found and found[1] == "Slave Interface":
            parts.append({})
        if found:
            parts[-1].setdefault(found[1], found[2])
    return parts[0], parts[1:]


def check(path, slaves=2, mode=None):
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except OSError as error:
        return 3, f"UNKNOWN: {error}"
    if not text.startswith("Ethernet Channel Bonding Driver: v"):
        return 3, "UNKNOWN: not a file of the bonding driver"
    bond, found = sections(text)
    if mode and mode not in bond["Bonding Mode"]:
        return 2, f"CRITICAL: mode is {bond['Bonding Mode']}"
    if bond["MII Status"] != "up":
        return 2, "CRITICAL: the bond is down"
    if bond.get("Currently Active Slave") == "None":
        return 2, "CRITICAL: no active slave"
    down = [slave["Slave Interface"] for slave in found if slave["MII Status"] != "up"]
    if len(found) < slaves or down:
        return 1, f"WARNING: {len(found)} slaves, down: {', '.join(down) or 'none'}"
    ids = {slave.get("Aggregator ID") for slave in found}
    if len(ids) > 1:
        return 1, f"WARNING: slaves are in aggregators {', '.join(sorted(ids))}"
    speeds = [slave["Speed"].removesuffix(" Mbps") for slave in found]
    failures = sum(int(slave["Link Failure Count"]) for slave in found)
    return 0, f"OK: {len(found)} slaves, {'+'.join(speeds)} Mbps, {failures} failures"
