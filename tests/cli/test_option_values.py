# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of the kernel's bonding driver: bondctl has them by its names, with its values and
defaults, in the modes where it takes them. What is different is listed here, and in xbond.conf(5).
And the options beside them, whose values and defaults do not change either.
"""
import json
import re
import subprocess

import pytest

from built import ROOT
from test_calls import BONDCTL
from test_schema import MODES

ALL, TURNS, PROBED, ACTIVE, AD, TLB = MODES, MODES[:1], MODES[:4], [MODES[1], *MODES[5:]], \
    MODES[4:5], MODES[5:]
INT_MAX = "0..2147483647"
# name: (values, default, the modes in which the driver does not answer EACCES)
KERNEL = {
    "mode": ("|".join(MODES), "balance-rr", ALL),
    "packets_per_slave": ("0..65535", "1", TURNS),
    "xmit_hash_policy": ("layer2|layer3+4|layer2+3|encap2+3|encap3+4|vlan+srcmac", "layer2", ALL),
    "arp_validate": ("none|active|backup|all|filter|filter_active|filter_backup", "none", PROBED),
    "arp_all_targets": ("any|all", "any", ALL),
    "fail_over_mac": ("none|active|follow", "none", ALL),
    "arp_interval": (INT_MAX, "0", PROBED),
    "arp_ip_target": ("IPV4[,IPV4]...|none", "none", ALL),
    "downdelay": (INT_MAX, "0", ALL),
    "updelay": (INT_MAX, "0", ALL),
    "lacp_rate": ("slow|fast", "slow", AD),
    "min_links": (INT_MAX, "0", ALL),
    "ad_select": ("stable|bandwidth|count|actor_port_prio", "stable", ALL),
    "num_unsol_na": ("0..255", "1", ALL),
    "num_grat_arp": ("0..255", "1", ALL),
    "miimon": (INT_MAX, "0", ALL),
    "primary": ("DEV|none", "none", ACTIVE),
    "primary_reselect": ("always|better|failure", "always", ALL),
    "active_slave": ("DEV|none", "none", ACTIVE),
    "queue_id": ("0..65534", "0", ALL),
    "all_slaves_active": ("on|off", "off", ALL),
    "resend_igmp": ("0..255", "1", ALL),
    "lp_interval": ("1..2147483647", "1", ALL),
    "tlb_dynamic_lb": ("on|off", "on", TLB),
    "ad_actor_sys_prio": ("1..65535", "65535", AD),
    "ad_actor_system": ("MAC|none", "none", AD),
    "ad_user_port_key": ("0..1023", "0", AD),
    "peer_notif_delay": ("0..300000", "0", ALL),
    "lacp_active": ("on|off", "on", AD),
    "arp_missed_max": ("1..255", "2", PROBED),
    "ns_ip6_target": ("IPV6[,IPV6]...|none", "none", ALL),
    "prio": ("-2147483648..2147483647", "0", ACTIVE),
    "coupled_control": ("on|off", "on", AD),
    "broadcast_neighbor": ("on|off", "off", AD),
    "actor_port_prio": ("0..65535", "255", AD),
    "lacp_strict": ("on|off", "off", AD),
}
OURS = {
    "packets_per_slave": {"modes": TURNS + AD},  # lacp_tx balance-rr
    "arp_validate": {"modes": PROBED + AD},      # probes as an additional check
    "arp_missed_max": {"modes": PROBED + AD},
    "arp_interval": {"modes": ALL},              # 0 in balance-tlb and balance-alb: test_tlb.py
    "xmit_hash_policy": {"values": "layer2|layer3+4|layer2+3|encap2+3|encap3+4|vlan+srcmac|flow"},
    "min_links": {"values": "0..64"},            # as many as a bond has slaves
    "miimon": {"values": "1..2147483647", "default": "100"},
}

# What scripts rely on beside them: (values, default)
OWN = {
    "path": ("counted|direct", "counted"),
    "rx_hook": ("tc|xdp|auto", "tc"),
    "xdp_tx": ("on|off", "off"),
    "device": ("auto|veth|netkit|team|pair", "auto"),
    "up": ("on|off", "on"),  # of a file alone
    "mac_policy": ("set|filter", "set"),
    "bytes_per_slave": ("0..2147483647", "0"),
    "hash_seed": ("random|0..4294967295", "random"),
    "weight": ("auto|1..65535", "auto"),
    "drain": ("on|off", "off"),
    "force": ("yes|no", "no"),
    "max_links": ("0..64", "0"),
    "lacp_hold": ("on|off", "on"),
    "lacp_fallback": ("none|one|all", "one"),
    "lacp_fallback_delay": ("0..2147483647", "3000"),
    "lacp_tx": ("hash|balance-rr", "hash"),
    "lacp_partner": ("MAC|none", "none"),
    "lacp_revert": ("on|off", "on"),
    "lacp_wtr": ("0..65535", "0"),
    "min_links_lacp": ("on|off", "off"),
    "drain_markers": ("on|off", "off"),
    "symmetric": ("on|off", "off"),
    "ip6_flow_label": ("on|off", "off"),
    "flap_limit": ("0..60", "0"),
    "error_limit": ("0..1000000", "0"),
    "rx_silence": ("0..2147483647", "0"),
    "bfd_interval": ("0|5..60000", "0"),
    "bfd_multiplier": ("2..255", "3"),
    "bfd_local": ("IPV4|IPV6|none", "none"),
    "bfd_remote": ("IPV4|IPV6|none", "none"),
    "rebalance_interval": ("0..3600", "0"),
    "rebalance_idle": ("0..60000", "100"),
    "flowlet_gap": ("0..1000000", "0"),
}


@pytest.fixture(scope="module", name="options")
def _options():
    done = subprocess.run([BONDCTL, "--dump-options"], capture_output=True, text=True, check=True)
    return {option["name"]: option for option in json.loads(done.stdout)}


@pytest.mark.parametrize("name", KERNEL)
def test_as_in_the_kernel(options, name):
    values, default, modes = KERNEL[name]
    expected = {"values": values, "default": default, "modes": modes} | OURS.get(name, {})
    assert {key: options[name][key] for key in expected} == expected


@pytest.mark.parametrize("name", OWN)
def test_our_own(options, name):
    assert (options[name]["values"], options[name]["default"]) == OWN[name]


def test_every_option_is_above(options):
    assert set(options) == {*KERNEL, *OWN}


def test_the_manual_says_which_are_our_own():
    page = (ROOT / "man/xbond.conf.5.scd").read_text()
    marked = re.findall(r"^\*(\w+)\* \S+\n(?:\t.*\n)*?.*Not in\s+kernel bonding\.$", page, re.M)
    assert set(marked) == set(OWN)
