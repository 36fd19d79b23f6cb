# SPDX-License-Identifier: GPL-2.0-or-later
"""What people have published about channel bonding, as facts: subject, year, figure, and its ratio
to what the links could carry. NetPIPE counts Mbit/s of 2^20 bits; the ratios here do not.
"""
from .parse import NETPIPE_MEGABIT

# 3 cards of 100 Mbit/s, round-robin, netperf, MTU 1500 (2000): Mbit/s
NETPERF_ONE = {"TCP": 94.09, "UDP": 95.82}
NETPERF_BONDED = {"TCP": 279.55, "UDP": 266.15}
NETPERF_LINK = 100
NETPERF_LINKS = 3

# 10 Mbit/s, one TCP connection, netio (2002): the best adapter's KB/s, and its CPU load
NETIO_KBYTES, NETIO_CPU = 1088, 24.5
NETIO_RATIO = NETIO_KBYTES * 1024 * 8 / 10e6

# Cards and a card of four ports of 100 Mbit/s, NetPIPE (2001): links: (us, NetPIPE's Mbps)
NETPIPE_TCP = {3: (45, 268), 4: (43, 215)}
NETPIPE_UDP_PUSHED, NETPIPE_UDP_ARRIVED = 341, 89
NETPIPE_LINK = 100

# 4 links of 1 Gbit/s, MTU 9000, iperf (2017): {(mode, policy): (one connection, four), Mbit/s}
IPERF_TCP = {("balance-rr", ""): (3140, 3157),
             ("balance-xor", "layer2"): (719, 722),
             ("balance-xor", "layer3+4"): (661, 2107),
             ("802.3ad", "layer2"): (730, 735),
             ("802.3ad", "layer3+4"): (725, 1484)}

# 2 links of 1 Gbit/s, round-robin, one file by NFS (2011): MB/s
NFS = "NFS, 2011"
NFS_MBYTES = 220
NFS_RATIO = NFS_MBYTES * 8 / 2000


def netpipe_ratio(links):
    return NETPIPE_TCP[links][1] * NETPIPE_MEGABIT / 1e6 / (links * NETPIPE_LINK)
