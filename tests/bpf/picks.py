"""The bucket that a transmit program takes, for many packets at once, by build/tools/picks."""
import struct
import subprocess

import abi
from datapath import TC_REDIRECT, X, XDP_REDIRECT

PICKS = abi.BUILD / "tools/picks"
ALL = (1 << X.MAX_SLAVES) - 1
POLICIES = {"layer2": X.POLICY_LAYER2, "layer2+3": X.POLICY_LAYER23, "layer3+4": X.POLICY_LAYER34,
            "encap2+3": X.POLICY_ENCAP23, "encap3+4": X.POLICY_ENCAP34,
            "vlan+srcmac": X.POLICY_VLAN_SRCMAC}
# program; what it returns when it has chosen
ENTRIES = {"tc": ("xbond_port", TC_REDIRECT), "xdp": ("xbond_xdp_tx", XDP_REDIRECT)}


def buckets(entry, cases, masks=None, lost=(), tlb=False):
    """[bucket] of [(model.Rule, packet)]; all must be sent, by one slave each. masks: the slots
    that may transmit, for each case. lost: slots that have no device; with these, or with masks, it
    is no bucket, but the same for two programs that choose the same, and so with tlb, balance-tlb.
    entry: of ENTRIES, or such a pair.
    """
    program, verdict = ENTRIES.get(entry, entry)
    requests = b"".join(struct.pack("=QIIIIII", mask, POLICIES[rule.policy], rule.seed,
                                    rule.symmetric, rule.flow_label, len(packet), tlb) + packet
                        for (rule, packet), mask in zip(cases, masks or [ALL] * len(cases)))
    done = subprocess.run([PICKS, program, str(verdict), *map(str, lost)], input=requests,
                          capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    found = struct.unpack(f"={len(cases)}I", done.stdout)
    assert all(bucket < X.BUCKETS for bucket in found), "a packet was not sent"
    return found
