"""What packets and an LACP partner notice when bondd stops or is replaced: nothing. The trials are
the same with every partner: test_hitless.py has them with Open vSwitch, tests/vm/guest with kernel
bonding. Both have a fixture `trial`, and import the tests.
"""
import os

from builds import build, newer_abi, other_programs
from lab import BONDD
from traffic import Stream, Tally
from waiting import moments

IN_GUEST = bool(os.environ.get("XBOND_VM"))
RATE = 2000 if IN_GUEST else 20000  # packets a second to the partner
BACK_RATE = RATE // 4
BACK_PORT = 9001
TIMES = 20
AWAY_S = 300
LOOK_S = 0.5  # how often the partner is asked


class Trial:
    """Traffic both ways through a bond that speaks LACP, while its bondd is treated badly.

    view() is what the partner says of its links, changes() how often it has changed anything. Both
    ways are counted at the partner's ends of the links, as what the partner itself loses is not
    ours.
    """

    def __init__(self, near, far, far_links, view, changes):
        self.near, self.far, self.far_links = near, far, far_links
        self.view, self.changes = view, changes
        self.upset = 0  # looks at which the partner's view was another one

    def _begin(self):
        self.before, self.changed = self.view(), self.changes()
        self.upset = 0
        self.there = Tally(self.far, self.far_links)
        self.back = Tally(self.far, self.far_links, port=BACK_PORT, leaving=True)
        self.streams = [Stream(self.near, self.far, rate=RATE, flows=64, every=5),
                        Stream(self.far, self.near, to="10.0.0.1", rate=BACK_RATE, flows=64,
                               every=5, port=BACK_PORT)]
        self.look(1)

    def _end(self):
        self.look(1)
        there, back = (stream.finish() for stream in self.streams)
        left = self.back.finish()
        return {"sent": there["sent"] + left,
                "lost": there["sent"] - self.there.finish() + left - back["received"],
                "duplicates": there["duplicates"] + back["duplicates"],
                "transitions": self.changes() - self.changed + self.upset}

    def look(self, seconds):
        """For so long at the partner."""
        for _ in moments(seconds, LOOK_S):
            self.upset += self.view() != self.before

    def run(self, steps):
        """Calls each of the steps, under traffic."""
        self._begin()
        for step in steps:
            step()
            self.look(1)
        return {"times": len(steps), **self._end()}

    # steps

    def restart(self):
        self.near.restart_bondd()

    def kill(self):
        self.near.restart_bondd(kill=True)

    def away(self):
        self.near.stop_bondd()
        self.look(AWAY_S)
        self.near.start_bondd()

    def replace_by(self, program):
        """A step: this bondd instead of the one that runs."""
        def step():
            self.near.replace_bondd(program)
        return step

    def upgrades(self, other, newer):
        """Other programs and back; another ABI; back, where the bond goes on without bondd; again.
        """
        return [self.replace_by(program) for program in (other, BONDD, newer, BONDD, newer)]


def check(what, result, capsys):
    """Prints a row of docs/trust.md; nothing may have been noticed."""
    with capsys.disabled():
        print(f"\n| {what} | {result['times']} | {result['sent']} | {result['lost']} "
              f"| {result['transitions']} |")
    assert result["sent"] > 0
    assert (result["lost"], result["duplicates"], result["transitions"]) == (0, 0, 0), result


def test_restarts(trial, capsys):
    check("restart", trial.run([trial.restart] * TIMES), capsys)


def test_kills(trial, capsys):
    check("kill -9, start", trial.run([trial.kill] * TIMES), capsys)


def test_five_minutes_without_bondd(trial, capsys):
    check("stop, 5 minutes, start", trial.run([trial.away]), capsys)


def test_upgrades(trial, capsys, tmp_path):
    """The last one, because the bond has another ABI then."""
    steps = trial.upgrades(build(tmp_path / "other", other_programs),
                           build(tmp_path / "newer", newer_abi))
    check("upgrade or downgrade", trial.run(steps), capsys)
