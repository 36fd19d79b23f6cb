"""The page of bondd --metrics in a real browser, headless: what it shows, and that names of devices
are only text there. XBOND_SCREENSHOT=FILE in the environment keeps a picture of it.
"""
import html
import http.server
import itertools
import os
import re
import threading

import browser
from traffic import Stream
from waiting import quiet_for, wait_for
from webclient import Server

BONDD = ("127.0.0.1", 9976)
EVIL = "<b>x&\"'"
PICTURE = os.environ.get("XBOND_SCREENSHOT")

pytestmark = browser.needs_browser


# What it is as wide as, with what must be scrolled to.
WIDEST = """Math.max(...[...%s.querySelectorAll("html, section")].map(box => box.scrollWidth))"""
MEASURE = f"""<script>setInterval(() => document.body.dataset.wide =
    {WIDEST % 'document'}, 100)</script>"""
# No window of a browser is as narrow.
NARROW = f"""<html><body><iframe src="/" width="420" height="900" frameborder="0"></iframe>
<script>setInterval(() => document.body.dataset.wide =
    {WIDEST % 'document.querySelector("iframe").contentDocument'}, 100)</script></body></html>"""
PICTURE_S = 110  # a picture is taken after that time, so that its curves show something


class Front(http.server.ThreadingHTTPServer):
    """Passes on what bondd answers, with a script that measures the page, and an image that comes
    late: a browser takes its picture when all images are there.
    """

    def __init__(self, host, late_s=0):
        self.bondd, self.late_s = Server(host, BONDD), late_s
        with host.inside():
            super().__init__(("127.0.0.1", 9977), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        if self.path == "/late":
            quiet_for(self.server.late_s, "the page shows traffic meanwhile")
            self.send_error(404)
            return
        answer = self.server.bondd.ask("/" if self.path == "/narrow" else self.path)
        body = NARROW.encode() if self.path == "/narrow" else answer.body
        if self.path == "/":
            image = "<img src='late' hidden>" if self.server.late_s else ""
            body = body.replace(b"</body>", f"{MEASURE}{image}</body>".encode())
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["content-type"])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def begin_metrics(host):
    host.stop_bondd()
    host.environment["XBOND_METRICS"] = "%s:%s" % BONDD
    host.start_bondd()
    wait_for(Server(host, BONDD).answers, "an answer")


def command(directory, *words, size=(1100, 760), path="/"):
    return browser.command(directory, f"http://127.0.0.1:9977{path}",
                           f"--window-size={size[0]},{size[1]}", *words)


def browse(host, directory, **options):
    """The page as it is after three seconds of its own time."""
    words = command(directory, "--virtual-time-budget=3000", "--dump-dom", **options)
    return host.run(*words, env=browser.environment(directory)).stdout


def take_picture(pair, directory):
    """While flows of several rates come and go."""
    made = pair("balance-xor", links=3, xmit_hash_policy="layer3+4")
    host = made.near
    begin_metrics(host)
    made.far.ip("link", "set", "l2", "down")
    front = Front(host, late_s=PICTURE_S)
    child = host.spawn(*command(directory, f"--screenshot={PICTURE}", size=(1000, 420)),
                       env=browser.environment(directory))
    rates = itertools.cycle((3000, 9000, 5000, 12000, 7000))
    while child.poll() is None:
        streams = [Stream(made.near, made.far, flows=16, rate=next(rates), size=1000),
                   Stream(made.far, made.near, to="10.0.0.1", flows=4, rate=next(rates) // 4,
                          size=1000, port=9002)]
        quiet_for(6, "the curves have steps")
        for stream in streams:
            stream.finish()
    front.shutdown()


def text_of(page):
    return html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<body")[2]))


def test_the_page_shows_the_bonds(pair, tmp_path):
    made = pair("active-backup", links=3, far={"mode": "broadcast"})
    host = made.near
    host.stop_bondd()
    host.rename("l2", EVIL)
    begin_metrics(host)
    made.far.ip("link", "set", "l2", "down")
    wait_for(lambda: host.slave(EVIL)["mii_status"] == "down", "the link to be down")
    stream = Stream(made.near, made.far, flows=16)
    front = Front(host)
    page = browse(host, tmp_path)
    small = browse(host, tmp_path, path="/narrow")
    front.shutdown()
    stream.finish()
    assert "<b>" not in page, "a name is markup"
    shown = text_of(page)
    assert EVIL in shown and f"bond0: {EVIL}: no carrier" in shown
    for words in ("active-backup, active l0", "backup: the active slave is l0", "in use",
                  "1 failover, the last in"):
        assert words in shown, words
    assert "bit/s" in shown and "bondd does not answer" not in shown
    assert "last 2 min, 0 to" in shown, "curves without a scale"
    for found, most in ((page, 1100), (small, 420)):
        assert int(re.search('data-wide="([0-9]+)"', found)[1]) <= most, "it does not fit"


if PICTURE:
    def test_a_picture_is_taken(pair, tmp_path):
        take_picture(pair, tmp_path)
