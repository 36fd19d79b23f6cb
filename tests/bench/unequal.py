"""One TCP connection over links of 100, 250 and 1000 Mbit/s, balance-rr by bytes and weight,
against the sum of what each link gives alone. With GSO on the bond a packet is up to 64 KB and
takes 5 ms on the slowest link; with gso_max_size 16384 a quarter of that; without GSO the links'
queues take segments, as those of real cards do.
"""
import statistics

from .bed import bring_up, lab, make_bond  # first: it sets the path for traffic

from traffic import Iperf  # pylint: disable=wrong-import-order

from .rows import Row, alternate
from .single_stream import OWN
from .tcp import FAR, transfer

RATES = (100, 250, 1000)
GSO_SIZES = {"off": 0, "16 KB": 16384, "64 KB": 65536}
NEAR_ALONE, FAR_ALONE = "10.9.{}.1", "10.9.{}.2"


def limit(host, dev, rate):
    host.run("tc", "qdisc", "replace", "dev", dev, "root", "tbf", "rate", f"{rate}mbit", "burst",
             "128kb", "latency", "20ms")


def subject(near, server, control, gso, seconds):
    def run_once():
        offload = "on" if GSO_SIZES[gso] else "off"
        near.run("ethtool", "-K", "bond0", "tso", offload, "gso", offload)
        near.ip("link", "set", "bond0", "gso_max_size", GSO_SIZES[gso] or 65536)
        return transfer(near, server, FAR, seconds, "-C", control)
    return run_once


def alone(seconds):
    """Gbit/s of one connection over each link by itself."""
    with lab() as made:
        near, far = made.namespace("a"), made.namespace("b")
        total = 0
        for number, (link, rate) in enumerate(zip(made.links(near, far, len(RATES)), RATES)):
            for host, address in ((near, NEAR_ALONE), (far, FAR_ALONE)):
                limit(host, link, rate)
                bring_up(host, [link])
                host.ip("addr", "add", f"{address.format(number)}/24", "dev", link)
            near.wait_ping(FAR_ALONE.format(number))
            server = Iperf(far)
            total += transfer(near, server, FAR_ALONE.format(number), seconds).gbits
            server.close()
    return total


def weighted_pair(made, rates, **options):
    """Bonds at both ends of links of these rates (Mbit/s), which are their weights."""
    near, far = made.host("a"), made.host("b")
    links = made.links(near, far, len(rates))
    for host, address in ((near, "10.0.0.1"), (far, FAR)):
        make_bond(host, links, address, **options)
        for link, rate in zip(links, rates):
            limit(host, link, rate)
            host.ctl("set-slave", "bond0", link, "weight", rate)
    for host in (near, far):
        host.wait_slaves(*links)
    near.wait_ping(FAR)
    return near, far


def rows(scale):
    total = alone(scale.tcp_seconds)
    yield Row(f"links of {RATES} Mbit/s alone: sum", total, "Gbit/s")
    with lab() as made:
        near, far = weighted_pair(made, RATES, mode="balance-rr", bytes_per_slave=1)
        server = Iperf(far)
        done = alternate(scale.tcp_rounds,
                         {(control, gso): subject(near, server, control, gso, scale.tcp_seconds)
                          for control in dict.fromkeys((OWN, "cubic")) for gso in GSO_SIZES})
        server.close()
    for (control, gso), transfers in done.items():
        what = f"one TCP connection over {RATES} Mbit/s, {control}, GSO {gso}"
        share = statistics.median(each.gbits for each in transfers) / total
        yield Row(f"{what} / sum", share, "ratio", None if gso == "64 KB" else 0.9, least=True)
        yield Row(f"{what}: retransmitted",
                  statistics.median(each.retransmitted for each in transfers), "percent")
