"""Two hosts with a bond of four shaped links between them and a fifth, plain link, for the
TCP benchmarks; what iperf3 moves over them.
"""
# first: it sets the path for traffic
from .bed import PLAIN, add_plain_link, bring_up, lab, make_bond, shape

from traffic import Iperf  # pylint: disable=wrong-import-order

import contextlib
import dataclasses

FAR = "10.0.0.2"
IGNORED_SECONDS = 1  # slow start


@contextlib.contextmanager
def shaped_hosts(mtu, **options):
    """(near, an iperf3 server at the far end)."""
    with lab() as made:
        near, far = made.host("a"), made.host("b")
        links = made.links(near, far, 4)
        add_plain_link(made, near, far, mtu)
        for host, address in ((near, "10.0.0.1"), (far, FAR)):
            shape(host, (*links, PLAIN))
            make_bond(host, links, address, mtu=mtu, **options)
        for host in (near, far):
            bring_up(host, [PLAIN], mtu)
            host.wait_slaves(*links)
        near.wait_ping(FAR)
        server = Iperf(far)
        yield near, server
        server.close()


@dataclasses.dataclass
class Transfer:
    gbits: float  # per second, of the application's bytes, arrived
    retransmitted: float  # percent of the segments


def transfer(near, server, address, seconds, *words):
    result = server.run(near, address, "-t", seconds, "-O", IGNORED_SECONDS, *words)
    sent, segment = result["end"]["sum_sent"], result["start"]["tcp_mss_default"]
    return Transfer(result["end"]["sum_received"]["bits_per_second"] / 1e9,
                    100 * sent["retransmits"] * segment / sent["bytes"])


def gigabits(near, server, address, seconds, *words):
    return transfer(near, server, address, seconds, *words).gbits
