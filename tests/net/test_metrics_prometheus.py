"""Debian's Prometheus scrapes a real bond by the shipped configuration, and every query of the
dashboard has data.
"""
import json
import re
import shutil
import urllib.parse

import pytest

from lab import ROOT
from traffic import Stream
from waiting import wait_for
from webclient import Answer, Server

PACKAGED = ROOT / "packaging/metrics"
PORT = 9090
INTERVAL_S = 0.25

pytestmark = pytest.mark.skipif(not shutil.which("prometheus"),
                                reason="prometheus is not installed")


class Prometheus:
    """In the namespace of the host that it scrapes."""

    def __init__(self, host, directory):
        config = (PACKAGED / "prometheus.yml").read_text()
        shutil.copy(PACKAGED / "alerts.yml", directory)
        (directory / "prometheus.yml").write_text(
            config.replace("scrape_interval: 15s", f"scrape_interval: {int(INTERVAL_S * 1000)}ms")
            + f"global:\n  evaluation_interval: {int(INTERVAL_S * 1000)}ms\n")
        self.server = Server(host, ("127.0.0.1", PORT))
        self.log = directory / "log"
        with open(self.log, "w") as log:
            self.child = host.spawn(
                "prometheus", f"--config.file={directory}/prometheus.yml",
                f"--storage.tsdb.path={directory}/data",
                f"--web.listen-address=127.0.0.1:{PORT}", stdout=log, stderr=log)

    def query(self, expression):
        """The result, or None while nobody answers."""
        words = urllib.parse.urlencode({"query": expression})
        try:
            raw = self.server.send(f"GET /api/v1/query?{words} HTTP/1.0\r\n\r\n".encode())
        except OSError:
            assert self.child.poll() is None, self.log.read_text()
            return None
        answer = Answer(raw)
        assert answer.status in (200, 503), f"{expression}: {answer.text}"
        return json.loads(answer.body)["data"]["result"] if answer.status == 200 else None


def queries():
    """As Grafana asks, with all hosts and bonds chosen."""
    values = {"$__rate_interval": "2s", "$instance": ".*", "$bond": ".*"}
    dashboard = json.loads((PACKAGED / "dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in values.items():
                expression = expression.replace(name, value)
            assert "$" not in expression
            yield panel["title"], expression


def test_every_query_of_the_dashboard_has_data(pair, tmp_path):
    made = pair("802.3ad", links=2, lacp_rate="fast")
    host = made.near
    host.stop_bondd()
    host.environment["XBOND_METRICS"] = "127.0.0.1:9977"
    host.start_bondd()
    prometheus = Prometheus(host, tmp_path)
    wait_for(lambda: prometheus.query('up{job="xbond"} == 1'), "a scrape", 20)
    stream = Stream(made.near, made.far, flows=16)
    made.far.ip("link", "set", "l1", "down")
    host.wait_slaves("l0")
    made.far.ip("link", "set", "l1", "up")
    host.wait_slaves("l0", "l1")
    for title, expression in queries():
        wait_for(lambda: prometheus.query(expression), f"data for {title}: {expression}", 10)
    stream.finish()
    # A scrape that took too long leaves no data until the next one.
    count = wait_for(lambda: prometheus.query("xbond_bond_failover_seconds_count"), "failovers")
    assert count[0]["value"][1] == "1"
    wait_for(lambda: prometheus.query('count({__name__=~"xbond_.*"})'), "metrics")
    check_alerts(made, prometheus)


def check_alerts(made, prometheus):
    """The shipped rules are loaded, and a slave that goes down is pending."""
    made.far.ip("link", "set", "l0", "down")
    pending = wait_for(lambda: prometheus.query('ALERTS{alertname="XbondSlaveDown",slave="l0"}'),
                       "an alert")
    assert pending[0]["metric"]["bond"] == "bond0"
    types = prometheus.server.send(b"GET /api/v1/metadata?metric=xbond_bond HTTP/1.0\r\n\r\n")
    assert re.search(rb'"type":"info"', types), "it took OpenMetrics"
