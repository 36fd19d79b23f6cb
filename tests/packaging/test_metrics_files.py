# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/metrics: alerts by promtool, and names in alerts and dashboard that bondd(8) has.
tests/net/test_metrics_prometheus.py asks a real Prometheus.
"""
import json
import re
import shutil
import subprocess

import pytest

from built import ROOT

METRICS = ROOT / "packaging/metrics"
NAME = re.compile(r"\b(?:xbond|node_bonding)_\w+")
ENTRY = re.compile(r"^- \*(\w+)\*(?:\{[\w,]*\})? \((gauge|counter|histogram)\):", re.M)

pytestmark = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


def promtool(*words, directory=METRICS):
    done = subprocess.run(["promtool", *words], cwd=directory, capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documented():
    """The names of samples."""
    names = set()
    for name, kind in ENTRY.findall((ROOT / "man/bondd.8.scd").read_text()):
        names |= {f"{name}_{end}" for end in ("bucket", "count", "sum")} \
            if kind == "histogram" else {name}
    return names


def test_configuration_and_rules():
    assert "SUCCESS" in promtool("check", "config", "prometheus.yml")
    assert "SUCCESS" in promtool("check", "rules", "alerts.yml")


def test_each_alert_fires_when_it_should(tmp_path):
    for file in (METRICS / "alerts.yml", ROOT / "tests/packaging/alerts_test.yml"):
        shutil.copy(file, tmp_path)
    promtool("test", "rules", "alerts_test.yml", directory=tmp_path)
    alerts = re.findall(r"- alert: (\w+)", (METRICS / "alerts.yml").read_text())
    tested = (tmp_path / "alerts_test.yml").read_text()
    assert alerts and all(f'alertname="{alert}"}}' in tested for alert in alerts)


def test_names_are_those_of_the_manual():
    names = documented()
    alerts = set(NAME.findall((METRICS / "alerts.yml").read_text()))
    dashboard = json.loads((METRICS / "dashboard.json").read_text())
    asked = {name for panel in dashboard["panels"] for target in panel["targets"]
             for name in NAME.findall(target["expr"])}
    assert alerts and alerts <= names
    assert asked and asked <= names


def test_the_drop_in_names_an_address():
    text = (METRICS / "bondd-metrics.conf").read_text()
    where = re.search(r"^Environment=XBOND_METRICS=(\S+)$", text, re.M)[1]
    assert where in (METRICS / "prometheus.yml").read_text()
