"""The page of bondd --metrics in a real browser, headless: what it shows, and that names of devices
are only text there. XBOND_SCREENSHOT=FILE in the environment keeps a picture of it.
"""
import html
import os
import re
import shutil

import pytest

from traffic import Stream
from waiting import wait_for
from webclient import Server

EVIL = "<b>x&\"'"
BROWSER = shutil.which("chromium")

pytestmark = pytest.mark.skipif(not BROWSER, reason="chromium is not installed")


def browse(host, directory, *words):
    """A chromium of its own, for three seconds of the page's time. Returns what it prints."""
    done = host.run(BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                    "--disable-dev-shm-usage", "--disable-background-networking",
                    "--window-size=1100,760", f"--user-data-dir={directory}/profile",
                    "--virtual-time-budget=3000", *words, "http://127.0.0.1:9977/",
                    env={**os.environ, "HOME": str(directory)})
    return done.stdout


def text_of(page):
    return html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<body")[2]))


def test_the_page_shows_the_bonds(pair, tmp_path):
    made = pair("active-backup", links=3, far={"mode": "broadcast"})
    host = made.near
    host.stop_bondd()
    host.rename("l2", EVIL)
    host.environment["XBOND_METRICS"] = "127.0.0.1:9977"
    host.start_bondd()
    wait_for(Server(host).answers, "an answer")
    made.far.ip("link", "set", "l2", "down")
    wait_for(lambda: host.slave(EVIL)["mii_status"] == "down", "the link to be down")
    stream = Stream(made.near, made.far, flows=16)
    picture = os.environ.get("XBOND_SCREENSHOT")
    if picture:
        browse(host, tmp_path, f"--screenshot={picture}")
    page = browse(host, tmp_path, "--dump-dom")
    stream.finish()
    assert "<b>" not in page, "a name is markup"
    shown = text_of(page)
    assert EVIL in shown and f"bond0: {EVIL}: no carrier" in shown
    for words in ("active-backup, active l0", "backup: the active slave is l0", "in use",
                  "1 failover, the last in"):
        assert words in shown, words
    assert "bit/s" in shown and "no answer from bondd" not in shown
