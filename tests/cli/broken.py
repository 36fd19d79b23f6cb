# SPDX-License-Identifier: GPL-2.0-or-later
"""Configurations that are wrong, each in one way: (what is wrong, the file, words that the message
must have). A file that is a dictionary is BOND.conf ("") with drop-ins by name.
"""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BONDCTL = pathlib.Path(os.environ.get("BONDCTL") or
                       ROOT / os.environ.get("XBOND_BUILD", "build") / "bondctl")

BROKEN = [
    ("an empty file", "", ["without a [bond] section"]),
    ("no section [bond]", "[slave eth0]\n", ["without a [bond] section"]),
    ("a section of another name", "[bonds]\nmode = 1\n", ["[bonds]", "[slave MAC]"]),
    ("a capital letter in a section", "[Bond]\n", ["[Bond]", "[bond]"]),
    ("an option before any section", "mode = 802.3ad\n[bond]\n", ["mode", "begin the file"]),
    ("a section that does not end", "[bond\nmode = 1\n", ["add ']'"]),
    ("two things in one line", "[bond] mode = 1\n", ["next line"]),
    ("a line that is neither", "[bond]\nmode 802.3ad\n", ["neither", "option = value"]),
    ("no name before =", "[bond]\n= 100\n", ["no option before '='"]),
    ("no value", "[bond]\nmode =\n", ["''", "balance-rr|active-backup"]),
    ("a value of a quoted kind", "[bond]\nmode = \"802.3ad\"\n", ["802.3ad", "allowed"]),
    ("a misspelt option", "[bond]\nmimon = 100\n", ["mimon", "did you mean miimon?"]),
    ("an option of networkd", "[bond]\nMIIMonitorSec = 1\n", ["MIIMonitorSec", "--help"]),
    ("an option with a hyphen", "[bond]\nlacp-rate = fast\nmode = 4\n",
     ["did you mean lacp_rate?"]),
    ("an option that xbond does not have", "[bond]\nuse_carrier = 1\n", ["use_carrier"]),
    ("an option of a slave in [bond]", "[bond]\nweight = 3\n",
     ["option of a slave", "[slave DEV]"]),
    ("an option of a bond in [slave]", "[bond]\n[slave eth0]\nmiimon = 50\n",
     ["option of a bond", "[bond]"]),
    ("an option given twice", "[bond]\nmiimon = 50\n\nmiimon = 60\n", ["twice", "line 2"]),
    ("both names of one option", "[bond]\nmode = 1\nnum_grat_arp = 2\nnum_unsol_na = 3\n",
     ["num_unsol_na", "another name for num_grat_arp"]),
    ("a mode that does not exist", "[bond]\nmode = lacp\n", ["'lacp'", "802.3ad"]),
    ("an option that the mode refuses", "[bond]\nmode = balance-xor\nlacp_rate = fast\n",
     ["lacp_rate", "refused in mode balance-xor", "802.3ad"]),
    ("the same, with the mode below", "[bond]\nprimary = eth0\nmode = 802.3ad\n[slave eth0]\n",
     ["primary", "refused in mode 802.3ad"]),
    ("the same of a slave", "[bond]\nmode = 802.3ad\n[slave eth0]\nprio = 5\n",
     ["prio", "refused in mode 802.3ad"]),
    ("the mode comes from a drop-in",
     {"": "[bond]\nmode = 802.3ad\nmax_links = 2\n", "50-mode.conf": "[bond]\nmode = 1\n"},
     ["max_links", "refused in mode active-backup"]),
    ("a number that is too large", "[bond]\nmode = 4\nmax_links = 65\n", ["'65'", "0..64"]),
    ("a negative number", "[bond]\nupdelay = -1\n", ["'-1'", "0.."]),
    ("a number with a unit", "[bond]\nmiimon = 100ms\n", ["'100ms'", "1.."]),
    ("miimon 0, as kernel bonding allows", "[bond]\nmiimon = 0\n", ["miimon: 0 is refused", "1.."]),
    ("a word that is no boolean", "[bond]\nsymmetric = maybe\n", ["'maybe'", "on|off"]),
    ("a hash policy that does not exist", "[bond]\nmode = 2\nxmit_hash_policy = l3l4\n",
     ["'l3l4'", "layer3+4"]),
    ("no IP address", "[bond]\narp_ip_target = 10.0.0.256\n", ["10.0.0.256"]),
    ("an address of the other family", "[bond]\nns_ip6_target = 10.0.0.1\n", ["10.0.0.1"]),
    ("an address that no host has", "[bond]\narp_ip_target = 255.255.255.255\n",
     ["255.255.255.255"]),
    ("a target given twice", "[bond]\narp_ip_target = 10.0.0.1,10.0.0.1\n", ["10.0.0.1", "twice"]),
    ("no MAC address", "[bond]\nmode = 4\nad_actor_system = 02:00:00:00:00\n", ["MAC|none"]),
    ("a multicast address", "[bond]\nmode = 4\nad_actor_system = 01:00:00:00:00:01\n",
     ["multicast"]),
    ("a primary that cannot be a name", "[bond]\nmode = 1\nprimary = eth0/1\n",
     ["'/'", "DEV|none"]),
    ("a primary by its address", "[bond]\nmode = 1\nprimary = 02:00:00:00:00:01\n",
     ["is a MAC address", "DEV|none", "[slave MAC] the highest prio"]),
    ("BFD without addresses", "[bond]\nbfd_interval = 100\n", ["bfd_local and bfd_remote"]),
    ("BFD between two families",
     "[bond]\nbfd_interval = 100\nbfd_local = 10.0.0.1\nbfd_remote = fd00::2\n", ["same kind"]),
    ("BFD with itself", "[bond]\nbfd_local = 10.0.0.1\nbfd_remote = 10.0.0.1\n",
     ["both ends", "same address"]),
    ("path counted of a team whose slaves keep their addresses",
     "[bond]\npath = counted\ndevice = team\nmac_policy = filter\n",
     ["path: a team that is made for mac_policy filter", "add 'device veth'"]),
    ("balance-alb on a team", "[bond]\nmode = 6\ndevice = team\n",
     ["mode: balance-alb gives the slaves addresses", "device veth"]),
    ("XDP on a netkit", "[bond]\ndevice = netkit\nrx_hook = xdp\n", ["netkit has no XDP", "veth"]),
    ("rx_silence below its limit", "[bond]\nrx_silence = 20\n", ["too short", "100 and more"]),
    ("balance-tlb with mac_policy filter", "[bond]\nmode = 5\nmac_policy = filter\n",
     ["balance-tlb changes", "use one of them"]),
    ("fail_over_mac follow with mac_policy filter",
     "[bond]\nmode = 1\nfail_over_mac = follow\nmac_policy = filter\n", ["use one of them"]),
    ("the same, half in a drop-in",
     {"": "[bond]\nmode = 1\nfail_over_mac = follow\n", "m.conf": "[bond]\nmac_policy = filter\n"},
     ["use one of them"]),
    ("state in a file", "[bond]\nmode = 1\nactive_slave = eth0\n", ["belongs on the command line"]),
    ("a word of the command line", "[bond]\n[slave eth0]\nforce = yes\n",
     ["belongs on the command line"]),
    ("a slave without a name", "[bond]\n[slave]\n", ["names no slave", "[slave DEV]"]),
    ("a slave's name that is too long", "[bond]\n[slave enp129s0f1np1v12]\n",
     ["too long", "at most 15"]),
    ("an alias of an address", "[bond]\n[slave eth0:1]\n", ["neither", "[slave eth0]"]),
    ("a slave by a multicast address", "[bond]\n[slave 01:80:c2:00:00:02]\n", ["multicast"]),
    ("a slave by no address", "[bond]\n[slave 00:00:00:00:00:00]\n", ["no device has this"]),
    ("a weight of 0", "[bond]\n[slave eth0]\nweight = 0\n", ["weight", "auto|1..65535"]),
    ("a queue_id of two slaves",
     "[bond]\n[slave eth0]\nqueue_id = 2\n[slave eth1]\nqueue_id = 2\n",
     ["number of eth0", "choose another"]),
    ("65 slaves", "[bond]\n" + "".join(f"[slave eth{i}]\n" for i in range(65)),
     ["one slave too many", "64"]),
    ("a line of 300 characters", f"[bond]\narp_ip_target = {'10.0.0.1,' * 32}10.0.0.2\n",
     ["longer than 198"]),
    ("a NUL character", "[bond]\nmode = 1\0\n", ["NUL"]),
    ("an escape sequence for the terminal", "[bond]\n\033[31mmode\033[0m = 1\n", ["?[31mmode?[0m"]),
    ("a file of another tool (ifupdown)", "auto bond0\niface bond0 inet dhcp\n",
     ["neither", "[section]"]),
]


def lay_out(config, directory, bond="bond0"):
    """Writes the file and its drop-ins; returns the file."""
    files = config if isinstance(config, dict) else {"": config}
    path = directory / f"{bond}.conf"
    drop_ins = directory / f"{bond}.conf.d"
    for old in drop_ins.glob("*"):
        old.unlink()
    for name, text in files.items():
        if name:
            drop_ins.mkdir(exist_ok=True)
        (drop_ins / name if name else path).write_text(text)
    return path


def check(path):
    """The finished bondctl, with lines of the form bond0.conf:2: why."""
    return subprocess.run([BONDCTL, "check", path.name], cwd=path.parent, capture_output=True,
                          text=True, timeout=30, check=False)
