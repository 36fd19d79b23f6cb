"""bondd --metrics: what it answers, to whom, and what it does when it cannot. What attackers try is
in test_metrics_attack.py.
"""
import re
import socket
import stat
import subprocess

import pytest

import schema
from lab import BONDD, ROOT
from waiting import wait_for
from webclient import Server

METRIC = re.compile(r"^- \*(\w+)\*(?:\{([\w,]*)\})? \((gauge|counter|histogram)\):", re.M)
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)",?')
HEADS = ("Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5",)


class Metrics:
    """types {name: type} as written, and samples [(name, {label: value}, number)]."""

    def __init__(self, text):
        self.types, self.helps, self.units, self.samples = {}, {}, {}, []
        self.lines = text.splitlines()
        for line in self.lines:
            if line.startswith("# "):
                self.read_comment(line)
                continue
            name, labels, number = SAMPLE.match(line).groups()
            self.samples.append((name, dict(LABEL.findall(labels or "")), float(number)))

    def read_comment(self, line):
        word, _, rest = line[2:].partition(" ")
        if word == "EOF":
            return
        name, _, value = rest.partition(" ")
        of = {"TYPE": self.types, "HELP": self.helps, "UNIT": self.units}[word]
        assert name not in of, f"{line}: twice"
        of[name] = value

    def all(self, name, **labels):
        """{the other labels' values: number}"""
        return {tuple(value for key, value in found.items() if key not in labels): number
                for known, found, number in self.samples
                if known == name and labels.items() <= found.items()}

    def one(self, name, **labels):
        found = self.all(name, **labels)
        assert len(found) == 1, f"{name} {labels}: {found}"
        return next(iter(found.values()))


def scrape(server, *headers):
    answer = server.ask("/metrics", "Host: localhost", *headers)
    assert answer.status == 200
    return Metrics(answer.text)


def lint(text):
    """What promtool has to say against it."""
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          text=True, timeout=60, check=False)
    return done.stderr + done.stdout


def serve(host, where="127.0.0.1:9977"):
    host.environment["XBOND_METRICS"] = where
    host.start_bondd()
    return Server(host)


@pytest.fixture(name="served")
def _served(lone):
    """make(mode, links=2) returns a host whose bondd answers for a bond0, and the server."""
    def make(mode, links=2, **options):
        host = lone(links, bondd=False)
        server = serve(host)
        words = [word for option in options.items() for word in option]
        host.make_bond(host.links, "mode", mode, *words)
        return host, server
    return make


def documented():
    text = (ROOT / "man/bondd.8.scd").read_text()
    return {name: (kind, set(filter(None, (labels or "").split(","))))
            for name, labels, kind in METRIC.findall(text)}


def described(metrics):
    """{name: (type, labels)} of what was answered; histograms by their names without suffix."""
    labels = {name: set() for name in metrics.types}
    for name, found, _ in metrics.samples:
        base = re.sub(r"_(bucket|count|sum)$", "", name)
        labels[base if base in labels else name] |= set(found) - {"le"}
    return {name: (kind, labels[name]) for name, kind in metrics.types.items()}


def lacp_partner(lab, near):
    """A host at the far ends of near's links, with a bond in mode 802.3ad."""
    far = lab.host("b")
    near.links = lab.links(near, far, 2)
    for host in (near, far):
        host.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast")
        host.ctl("add-slave", "bond0", *near.links)
        host.ip("link", "set", "bond0", "up")
    wait_for(lambda: near.show()["carrier"], "LACP to have settled", 15)
    return far


def test_the_manual_has_what_is_answered(lab):
    """Names, types and labels, of a bond that has all of them; and both formats."""
    host = lab.host("a", bondd=False)
    server = serve(host)
    lacp_partner(lab, host)
    classic = server.ask("/metrics", "Host: localhost")
    assert described(Metrics(classic.text)) == documented()
    assert classic.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert not lint(classic.text)
    modern = server.ask("/metrics", "Host: localhost", *HEADS)
    assert modern.headers["content-type"] == \
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert modern.text.endswith("# EOF\n") and modern.text.count("# EOF") == 1
    read = Metrics(modern.text)
    assert all(name.endswith("_" + unit) for name, unit in read.units.items())
    assert read.types["xbond_bond"] == "info"
    compare_lacp(host, read)
    assert schema.check("show", server.bonds())[0]["name"] == "bond0"


def compare_lacp(host, metrics):
    shown = host.show()
    lacp = {key: shown["lacp"][key] for key in ("actor_system", "partner_system")}
    assert metrics.one("xbond_bond_lacp_info", **lacp) == 1
    assert metrics.one("xbond_bond_lacp_ports") == 2
    for slave in shown["slaves"]:
        name = slave["name"]
        flags = metrics.all("xbond_slave_lacp_partner_state", bond="bond0", slave=name)
        told = {flag for (flag,), value in flags.items() if value}
        assert told == set(slave["lacp"]["partner_state"]) - {"activity", "timeout", "aggregation"}
        assert metrics.one("xbond_slave_lacp_selected", slave=name) == 1
        assert 0 < metrics.one("xbond_slave_lacp_receive_pdus_total", slave=name) <= \
            slave["lacp"]["lacpdu_rx"]


def compare_slave(metrics, slave):
    def of(name, **labels):
        return metrics.one(f"xbond_slave_{name}", slave=slave["name"], **labels)

    assert of("up") == (slave["mii_status"] == "up")
    assert of("active") == slave["active"]
    assert of("in_use") == (slave["why"] is None)
    assert of("attached") == slave["attached"]
    assert of("link_failures_total") == slave["link_failures"]
    assert of("receive_dropped_packets_total") == slave["rx_dropped"]
    assert of("afxdp_transmit_packets_total") == slave["afxdp_tx_packets"]
    assert of("monitor_up", monitor="carrier") == (slave["mii_status"] == "up")
    assert of("info", mac=slave["mac"], rx_hook="tc") == 1
    speed = metrics.all("xbond_slave_speed_bytes", slave=slave["name"])
    assert set(speed.values()) == ({slave["speed_mbps"] * 125000} if slave["speed_mbps"] else set())


def compare_drops(metrics, stats):
    assert metrics.one("xbond_bond_dropped_packets_total", reason="no_slave") == \
        stats["drops"]["no_slave"]
    for slave in stats["slaves"]:
        drops = metrics.all("xbond_slave_dropped_packets_total", bond="bond0", slave=slave["name"])
        assert {reason: number for (reason,), number in drops.items()} == slave["drops"]


def shares(server):
    return [round(share, 2) for share in scrape(server).all("xbond_slave_share_due_ratio").values()]


def test_numbers_are_those_of_show(served):
    """Before a failure and after it; of a bond that has weights and a drained slave, too."""
    host, server = served("balance-xor", links=4, xmit_hash_policy="layer3+4")
    host.ctl("set-slave", "bond0", "l1", "weight", 3)
    host.ctl("set-slave", "bond0", "l2", "drain", "on")
    for slave in ("l0", "l3"):
        host.ctl("set-slave", "bond0", slave, "weight", 1)
    wait_for(lambda: shares(server) == [0.2, 0.6, 0, 0.2], "the shares by the new weights")
    host.far.ip("link", "set", "l3", "down")
    host.wait_slaves("l0", "l1", "l2")
    wait_for(lambda: scrape(server).one("xbond_slave_up", slave="l3") == 0, "an answer made since")
    metrics, shown = scrape(server), host.show()
    for slave in shown["slaves"]:
        compare_slave(metrics, slave)
    compare_drops(metrics, host.ctl_json("stats", "bond0"))
    assert shares(server) == [0.25, 0.75, 0, 0]
    assert metrics.all("xbond_slave_weight", bond="bond0")[("l1",)] == 3
    assert metrics.one("xbond_slave_drained", slave="l2") == 1
    assert metrics.one("xbond_bond_failover_seconds_count", bond="bond0") == \
        shown["failover"]["count"] == 1
    assert metrics.one("xbond_bond_failover_seconds_sum", bond="bond0") == \
        pytest.approx(shown["failover"]["last_duration_us"] / 1e6, abs=1e-6)
    assert metrics.one("xbond_bond_moved_buckets_total", bond="bond0") >= 4096 * 0.2
    assert metrics.one("xbond_bond_info", mode="balance-xor", mac=shown["mac"]) == 1
    assert (metrics.one("node_bonding_slaves", master="bond0"),
            metrics.one("node_bonding_active", master="bond0")) == (4, 3)


def test_the_active_slave_has_all(served):
    """The buckets behind the first are the order of succession, and no shares."""
    host, server = served("active-backup", links=3)
    wait_for(lambda: scrape(server).all("xbond_slave_share_due_ratio", bond="bond0") ==
             {("l0",): 1, ("l1",): 0, ("l2",): 0}, "only the active slave to have a share")
    host.ctl("set", "bond0", "active_slave", "l1")
    wait_for(lambda: scrape(server).all("xbond_slave_share_due_ratio", bond="bond0") ==
             {("l0",): 0, ("l1",): 1, ("l2",): 0}, "the share of the new one")


def test_histograms_are_cumulative(served):
    host, server = served("active-backup")
    host.far.ip("link", "set", "l0", "down")
    host.wait_slaves("l1")
    metrics = wait_for(lambda: (made := scrape(server)).one("xbond_bond_failover_seconds_count")
                       and made, "the failover to be counted")
    buckets = list(metrics.all("xbond_bond_failover_seconds_bucket", bond="bond0").items())
    numbers = [number for _, number in buckets]
    bounds = [float(bound) for (bound,), _ in buckets]
    assert numbers == sorted(numbers) and numbers[-1] == 1 and bounds == sorted(bounds)
    last_s = host.show()["failover"]["last_duration_us"] / 1e6
    first = next(bound for bound, number in zip(bounds, numbers) if number)
    assert first / 2 <= last_s <= first


def test_bonds_that_come_go_and_cannot_be_read(served):
    host, server = served("broadcast")
    host.ctl("create", "bond1", "mode", "balance-rr")
    host.ctl("create", "bond0.5", "mode", "balance-rr")
    names = wait_for(lambda: len(made := scrape(server).all("xbond_bond_readable")) == 3 and made,
                     "three bonds")
    assert names == {("bond0",): 1, ("bond0.5",): 1, ("bond1",): 1}
    assert not scrape(server).all("xbond_slave_share_due_ratio"), "no shares in broadcast"
    host.ctl("delete", "bond1")
    host.bpf_dir.joinpath("stranger").mkdir()
    wait_for(lambda: scrape(server).all("xbond_bond_readable") ==
             {("bond0",): 1, ("bond0.5",): 1, ("stranger",): 0},
             "one bond less, and one that is none")
    assert not scrape(server).all("xbond_bond_carrier", bond="stranger")
    host.bpf_dir.joinpath("stranger").rmdir()
    host.ctl("delete", "bond0")
    host.ctl("create", "bond0", "mode", "balance-rr")
    wait_for(lambda: scrape(server).all("xbond_bond_info", bond="bond0", mode="balance-rr"),
             "the new bond of that name")


def test_paths_and_methods(served):
    _, server = served("balance-rr")
    assert server.ask("/").headers["content-type"] == "text/html; charset=utf-8"
    for path in ("/page.js", "/page.css", "/bonds.json"):
        assert server.ask(path).status == 200
    for path in ("/page", "/page.js/", "//", "/../etc/passwd", "/%2e%2e/etc/passwd", "/metrics/"):
        assert server.ask(path).status == 404
    head = server.ask("/metrics", method="HEAD")
    assert head.status == 200 and not head.body and int(head.headers["content-length"]) > 1000
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
        refused = server.ask("/metrics", method=method)
        assert refused.status == 405 and refused.headers["allow"] == "GET, HEAD"


def test_only_our_names_reach_the_page(served):
    """A web page elsewhere may let its own name lead here (DNS rebinding)."""
    _, server = served("balance-rr")
    for path in ("/", "/bonds.json", "/page.js"):
        assert server.ask(path, "Host: evil.example:9977").status == 403
        for name in ("127.0.0.1:9977", "[::1]", "localhost", socket.gethostname()):
            assert server.ask(path, f"Host: {name}").status == 200
    assert server.ask("/metrics", "Host: any.example").status == 200


@pytest.mark.parametrize("where", ["9977", "localhost:9977", "127.0.0.1:0", "unix:here",
                                   "::1:9977"])
def test_a_wrong_address_is_refused_at_once(where):
    done = subprocess.run([BONDD, "--metrics", where], capture_output=True, text=True, timeout=30,
                          check=False)
    assert done.returncode == 2 and done.stderr.startswith("bondd: --metrics")
    assert done.stderr.count("\n") == 1 and where.removeprefix("unix:") in done.stderr


def test_all_addresses_and_ipv6(lone):
    host = lone(0, bondd=False)
    serve(host, "[::]:9977")
    for address in ("127.0.0.1", "::1"):
        server = Server(host, (address, 9977))
        wait_for(server.answers, f"an answer on {address}")


def test_off_by_default(lone):
    host = lone(0)
    assert not Server(host).answers()
    assert "metrics" not in host.log()


def test_an_address_of_tomorrow(lone):
    """bondd starts before the network has its addresses."""
    host = lone(0, bondd=False)
    serve(host, "192.0.2.7:9977")
    host.ip("addr", "add", "192.0.2.7/32", "dev", "lo")
    wait_for(Server(host, ("192.0.2.7", 9977)).answers, "an answer")
    assert "cannot" not in host.log()


def test_a_taken_port_keeps_bondd_from_nothing(lone):
    host = lone(2, bondd=False)
    with host.inside():
        other = socket.create_server(("127.0.0.1", 9977))
    with other:
        server = serve(host)
        host.ctl("create", "bond0")
        wait_for(lambda: "cannot listen on 127.0.0.1:9977: Address already in use" in host.log(),
                 "a line in the log")
    wait_for(server.answers, "an answer when the port is free")
    assert host.log().count("cannot listen") == 1, "said once"
    assert "metrics: listening on 127.0.0.1:9977" in host.log()


def test_a_restart_finds_its_port_free(served):
    host, server = served("balance-rr")
    for stop in (host.stop_bondd, host.kill_bondd):
        with server.connect() as waiting:
            waiting.sendall(b"GET /metrics HTTP/1.1\r\n")
            stop()
        host.start_bondd()
        wait_for(server.answers, "an answer of the next bondd")
    assert "cannot listen" not in host.log()


def unix_server(host, path):
    return Server(host, str(path))


def test_a_unix_socket(lone):
    """Its mode, a leftover of a killed bondd, and its end."""
    host = lone(0, bondd=False)
    path = host.run_dir / "metrics.sock"
    host.run_dir.mkdir()
    serve(host, f"unix:{path}")
    server = unix_server(host, path)
    wait_for(server.answers, "an answer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert server.ask("/", "Host: proxy.example").status == 200, "a proxy keeps the name"
    host.kill_bondd()
    assert path.is_socket()
    host.start_bondd()
    wait_for(server.answers, "an answer of the next bondd")
    host.stop_bondd()
    assert not path.exists()


def test_a_unix_socket_of_others_stays(lone):
    host = lone(0, bondd=False)
    path = host.dir / "metrics.sock"
    path.write_text("a file")
    serve(host, f"unix:{path}")
    wait_for(lambda: "is not a socket" in host.log(), "a line about the file")
    path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        wait_for(lambda: "another program listens" in host.log(), "a line about the program")
    wait_for(unix_server(host, path).answers, "an answer when the other has ended")
    host.stop_bondd()
