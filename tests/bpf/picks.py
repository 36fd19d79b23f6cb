"""The bucket that a transmit program takes, for many packets at once, by build/tools/picks."""
import struct
import subprocess

import abi
from datapath import TC_REDIRECT, X

PICKS = abi.BUILD / "tools/picks"
XDP_DROP = 1  # there is no device in the devmap
POLICIES = {"layer2": X.POLICY_LAYER2, "layer2+3": X.POLICY_LAYER23, "layer3+4": X.POLICY_LAYER34,
            "encap2+3": X.POLICY_ENCAP23, "encap3+4": X.POLICY_ENCAP34,
            "vlan+srcmac": X.POLICY_VLAN_SRCMAC}
# program; what it returns when it has chosen
ENTRIES = {"tc": ("xbond_port", TC_REDIRECT), "xdp": ("xbond_xdp_tx", XDP_DROP)}


def buckets(entry, cases):
    """[bucket] of [(model.Rule, packet)]; all must be sent, by one slave each."""
    program, verdict = ENTRIES[entry]
    requests = b"".join(struct.pack("=IIIII", POLICIES[rule.policy], rule.seed, rule.symmetric,
                                    rule.flow_label, len(packet)) + packet
                        for rule, packet in cases)
    done = subprocess.run([PICKS, program, str(verdict)], input=requests, capture_output=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    found = struct.unpack(f"={len(cases)}I", done.stdout)
    assert all(bucket < X.BUCKETS for bucket in found), "a packet was not sent"
    return found
