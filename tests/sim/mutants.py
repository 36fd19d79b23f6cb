# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes out one mend at a time and lets the simulator find that. `make sim-mutants`.

Each mutant is a defect that the LACP core or hold once had, one that two ends would share
(MUTANTS), or any other (OTHERS): a place in a file, and what stands there in a tree that has the
defect. One copy of the tree is built, then changed for each mutant and changed back. Prints what
finds each mutant: the first scenario that fails, else the first random history, else, for the
others, the first unit test. Fails when nothing finds one. Words choose the mutants whose names have
one of them. With EXPLORE="1 256" only the explorer looks, with these arguments; "1 256 0 1" lets it
look at a system and a partner that is a plain reference of the standard; "1 256, 1 256 0 1": one
after the other.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNT = int(os.environ.get("HISTORIES", "100000"))
EXPLORE = [each.split() for each in os.environ.get("EXPLORE", "").split(",") if each]
NEEDED = [each.name for each in ROOT.iterdir()
          if each.name not in (".git", "docs", "tests") and not each.name.startswith("build")
          ] + ["tests/sim", "tests/unit"]
CORE, HOLD, HOLD_READER = "lib/lacp/", "bpf/slow_hold.h", "daemon/lacp_thread/lacp_thread_hold.c"

# name: [(file, what is there, what is there with the defect)...]
MUTANTS = {
    "max_links: a port that does not get in sync keeps its place": [
        (CORE + "rank.c",
         "	return sys->state.config.max_links || sys->state.config.min_links_strict;",
         "	return sys->state.config.min_links_strict;")],
    "max_links: breaks before it makes": [
        (CORE + "rank.c",
         "	return rank_works(port) && rank_count_ready_before(sys, port, now_ns) < most;",
         "	return false;")],
    "an aggregatable aggregator that refuses beats one that works": [
        (CORE + "selection.c", "	if (a->enough != b->enough)",
         "	if (a->aggregatable != b->aggregatable)\n"
         "		return a->aggregatable;\n	if (a->enough != b->enough)")],
    "a prospect knows only the aggregator in use": [
        (CORE + "system.c", "	prospect.aggregator = lacp_aggregator_next(&rest, now_ns);",
         "	prospect.aggregator = sys->state.active_aggregator;")],
    "lacp_fallback all ignores max_links": [
        (CORE + "mux.c", "most = config->max_links ? config->max_links : LACP_MAX_PORTS;",
         "most = LACP_MAX_PORTS;")],
    "fallback ends at the first PDU on any port": [
        (CORE + "mux.c", "		if (sys->port[slot].actor.state & LACP_CARRY)",
         "		if (sys->port[slot].config.link && lacp_has_partner(&sys->port[slot]))")],
    "a gap between silence and fallback": [
        (CORE + "mux.c", "	if (port->actor.state & LACP_CARRY)\n		return AT_ONCE;",
         "	if (port->actor.state & LACP_CARRY)\n		return 0;")],
    "min_links_lacp: the ports still say that they collect": [
        (CORE + "rank.c", "	if (!config->min_links_strict || config->min_links < 2)",
         "	if (1)")],
    "one lost PDU costs 30 s": [
        (CORE + "receive.c", "	return ((pdu->partner.state ^ port->actor.state) & bits) != 0;",
         "	return bits == 0;"),
        (CORE + "mux.c", "port->repeats = 2 + LACP_REPEATS;", "port->repeats = 1;"),
        (CORE + "transmit.c", "	bool waits = port->unsettled_ns && now_ns",
         "	bool waits = 0 && now_ns")],
    "another name of the system, and the ports go on": [
        (CORE + "port.c", "		actor_leave_lag(sys, slot, now_ns);",
         "		lacp_unselect(sys, slot);")],
    "another name of the system, and old words about it count": [
        (CORE + "receive.c", "	bool spoken = port->farewell <= LACP_REPEATS;",
         "	bool spoken = port;")],
    "another name of the system by half duplex, and old words about it count": [
        (CORE + "port.c", "if (lacp_has_partner(port) || port->farewell)",
         "if (lacp_has_partner(port))")],
    "a bond that is down goes on": [
        (CORE + "port.c", "config->link == LACP_LINK_STOPPED && !sys->port[slot].stopped",
         "config->link > LACP_LINK_STOPPED"),
        (CORE + "port.c", "	port->stopped = config->link == LACP_LINK_STOPPED;",
         "	port->stopped = 0;\n	port->config.link = config->link != LACP_LINK_DOWN;")],
    "a bond that is down does not say so": [
        (CORE + "port.c",
         "		port_leave(sys, slot, now_ns);\n	}\n	port_store_config",
         "		lacp_unselect(sys, slot);\n	}\n	port_store_config")],
    "a passive port takes its leave without a word": [
        (CORE + "port.c",
         "	return port->actor.state & ~info->state & ~port->partner.state & LACP_ACTIVITY;",
         "	return port && !info;")],
    "a passive port does not deny that it is active": [
        (CORE + "receive.c", "	receive_deny_activity(port, pdu);\n", "")],
    "a new port priority of the partner ends the port": [
        (CORE + "receive.c", "	if (receive_same_port(partner, &port->partner))",
         "	if (!port)")],
    "our own port priority ends the port until the partner knows it": [
        (CORE + "receive.c", "	bool known = receive_same_port(&pdu->partner, &port->actor) ||",
         "	bool known = receive_same_identity(&pdu->partner, &port->actor) ||")],
    "max_links: a port takes over by old words of the partner": [
        (CORE + "rank.c", "port->in_sync_ns && !port->repeats &&", "port->in_sync_ns &&")],
    "a turn ends by time, and has no timer": [
        (CORE + "rank.c",
         "rank_is_ranked(sys) ? rank_later_than(port->out_sync_ns, rank_turn_ns(port)) : 0,",
         "0,")],
    "lacp_wtr ends by time, and has no timer": [
        (CORE + "rank.c", "rank_later_than(port->live_ns, sys->state.config.wtr_s * LACP_SECOND),",
         "0,")],
    "ad_select: an aggregator is trusted for being in use before it can attach": [
        (CORE + "selection.c", "(young && (merit.attached || merit.ready));", "young;")],
    "ad_select: a better aggregator that stands by at both ends is not tried": [
        (CORE + "selection.c", "if (policy != LACP_AD_BANDWIDTH && policy != LACP_AD_COUNT)",
         "if (1)")],
    "ad_select: one to which the partner does not follow is tried again": [
        (CORE + "selection.c", "a->aggregatable && !a->refused_ns &&", "a->aggregatable &&")],
    "ad_select: one is tried for as long as the first": [
        (CORE + "selection.c", "(tries ? LACP_RETURN_TIME : aggregator_patience(sys, now_ns));",
         "(tries ? 5 * LACP_SECOND : aggregator_patience(sys, now_ns));")],
    "ad_select: one is tried before it has waited and is heard": [
        (CORE + "selection.c", "in_use->in_sync && a->live && a->ready &&",
         "in_use->in_sync && a->live &&")],
    "min_links_lacp: two ends refuse each other for ever": [
        (CORE + "rank.c", "now_ns >= port->behind_ns + rank_rest_ns(port);", "0 * now_ns;")],
    "a partner that turns slow gets no PDU in time for its short timer": [
        (CORE + "transmit.c", "return due ? LACP_PERIODIC_TX : LACP_STAY;",
         "return due ? LACP_PERIODIC_TX : fast ? LACP_STAY : LACP_PERIODIC_SLOW;")],
    "lacp_partner: a stranger is believed": [
        (CORE + "receive.c", "	return !lacp_is_believed(", "	return 0 && !lacp_is_believed(")],
    "hold: ends for the partner's port priority": [
        (HOLD, "	if (!slow_is_same_lag(frame + SLOW_ACTOR, words->partner)) {",
         "	if (!lacp_same(frame + SLOW_ACTOR, words->partner, LACP_INFO_STATE)) {")],
    "hold: ends for the partner's rate and activity": [
        (HOLD, "	} else if (!slow_is_in_sync(words, frame)) {",
         "	} else if (!slow_is_in_sync(words, frame) ||\n"
         "		   ((frame[SLOW_ACTOR_STATE] ^ words->partner[LACP_INFO_STATE]) &\n"
         "		    (LACP_TIMEOUT | LACP_ACTIVITY))) {")],
    "hold: the time of silence is the one that nobody has told the partner": [
        (HOLD_READER, "	bool fast = sent->pdu[ACTOR_STATE] & LACP_TIMEOUT;",
         "	bool fast = port->actor.state & LACP_TIMEOUT;"),
        (CORE + "frame.h", "	if (!knows)\n", "	if (0)\n")],
    "hold: ends for our own port priority": [
        (HOLD, "	       maintained && (slow_is_same_lag(seen, us) ||",
         "	       maintained && (lacp_same(seen, us, LACP_INFO_STATE) ||")],
    "hold: says SYNC for a port that does not collect": [
        (HOLD, "	if (carries)\n		state |= LACP_SYNCHRONIZATION | carries;",
         "	state |= LACP_SYNCHRONIZATION | carries;")],
    "hold: puts a port back by the last PDU sent": [
        (HOLD, "	__u32 back = port->withheld & allowed & words->told;",
         "	__u32 back = port->withheld & allowed & words->pdu[SLOW_ACTOR_STATE];")],
    "hold: a port that returns sends before its partner collects": [
        (HOLD, "	return !(port->withheld & LACP_DISTRIBUTING) ||", "	return 1 ||")],
    "hold: only its last answer counts among three PDUs in a second": [
        (CORE + "port.c", "	if (last_ns > LACP_HOLD_GAP)", "	if (!last_ns)")],
    "hold: old words are believed, though later ones were missed": [
        (HOLD_READER, "	return pdu->received_ns < hold->missed_ns;", "	return hold && !pdu;")],
    "hold: answers in the partner's version, with its TLVs": [
        (HOLD, "bpf_skb_store_bytes(skb, 0, frame, XBOND_PDU_SIZE, 0);",
         "bpf_skb_store_bytes(skb, 0, frame, 15, 0);")],
    # Between two of ours, nobody notices.
    "both ends: the bits of timeout and aggregation change places": [
        (CORE + "state.h",
         "#define LACP_TIMEOUT 0x02 /* short */\n#define LACP_AGGREGATION 0x04",
         "#define LACP_TIMEOUT 0x04\n#define LACP_AGGREGATION 0x02")],
}

# Defects that it has not had, of all its parts.
OTHERS = {
    "the short timeout is two seconds": [
        (CORE + "state.h", "SHORT_TIMEOUT_TIME (3 *", "SHORT_TIMEOUT_TIME (2 *")],
    "the long timeout is fifty seconds": [
        (CORE + "state.h", "LONG_TIMEOUT_TIME (90 *", "LONG_TIMEOUT_TIME (50 *")],
    "ports wait for no others": [
        (CORE + "mux.c", "LACP_MUX_WAITING ? now_ns + LACP_AGGREGATE_WAIT_TIME : 0",
         "LACP_MUX_WAITING ? now_ns : 0")],
    "churn is noticed after six minutes": [
        (CORE + "machines.h", "CHURN_DETECTION_TIME (60 *", "CHURN_DETECTION_TIME (360 *")],
    "churn ends only with the link": [
        (CORE + "mux.c", "case LACP_CHURN_CHURNED: return in_sync ?",
         "case LACP_CHURN_CHURNED: return 0 ?")],
    "ports with two partners are one LAG": [
        (CORE + "selection.c",
         "       !memcmp(a->partner.system, b->partner.system, LACP_MAC_SIZE) &&\n", "")],
    "ports with two keys of the partner are one LAG": [
        (CORE + "selection.c", "a->partner.key == b->partner.key", "1")],
    "individual links are one LAG": [
        (CORE + "selection.c", "       (a->actor.state & b->actor.state & a->partner.state &",
         "       (1 | a->actor.state & b->actor.state & a->partner.state &")],
    "a port without a partner is selected": [
        (CORE + "selection.c", "if (!lacp_has_partner(port) || port->stopped) {",
         "if (port->stopped) {")],
    "max_links: each end goes by its own priorities": [
        (CORE + "selection.c", "bool decides = lag_actor_decides(a);\n	const struct lacp_info *x",
         "bool decides = a;\n	const struct lacp_info *x")],
    "max_links: a dead port keeps its rank": [
        (CORE + "selection.c", "if (lacp_is_live(a) != lacp_is_live(b))", "if (0)")],
    "max_links: a port begins before another ends": [
        (CORE + "mux.c", "return !sys->state.config.max_links || taken",
         "return 1 || taken")],
    "lacp_revert off is not heeded": [
        (CORE + "rank.c", "if (!sys->state.config.revert && ", "if (0 && ")],
    "lacp_wtr is not heeded": [
        (CORE + "rank.c", "return config->wtr_s && port->carried", "return 0 && port->carried")],
    "min_links_lacp: ports that are not known to the partner count": [
        (CORE + "rank.c", " lacp_is_known(&sys->port[slot]) &&",
         " lacp_is_live(&sys->port[slot]) &&")],
    "ad_select: an aggregator that works is left in a tie": [
        (CORE + "selection.c", "if (by_policy || b->in_sync)", "if (by_policy)")],
    "an aggregator is left before its partner can answer": [
        (CORE + "selection.c", "if (!a->trusted && b->returning)", "if (0)")],
    "the next aggregator begins before the last has ended": [
        (CORE + "system.c", "if (sys->port[slot].told & ~system_carrying(&sys->port[slot]))",
         "if (0)")],
    "silence: the partner stays in sync": [
        (CORE + "receive.c", "port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;\n"
         "\tport->partner.state |= LACP_TIMEOUT;", "port->partner.state |= LACP_TIMEOUT;")],
    "a link that is down: the partner stays in sync": [
        (CORE + "receive.c", "port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;\n"
         "\tport->current_while_ns = 0;", "port->current_while_ns = 0;")],
    "an expired partner is believed to be in sync": [
        (CORE + "receive.c", "if (!port->matched || pdu->actor.state & LACP_EXPIRED)",
         "if (!port->matched)")],
    "an expired partner hears us as seldom as others": [
        (CORE + "transmit.c", "LACP_EXPIRED ? LACP_RETRY_TIME : period_ns",
         "LACP_EXPIRED ? period_ns : period_ns")],
    "a port of the partner that is heard elsewhere has not moved": [
        (CORE + "receive.c", "port->moved = 1;", "port->moved = 0;")],
    "words that are for others are taken": [
        (CORE + "receive.c", "return port->rx == LACP_RX_CURRENT &&\n	       lacp_is_foreign(",
         "return 0 && lacp_is_foreign(")],
    "half duplex speaks LACP": [
        (CORE + "port.c", "return config->duplex != LACP_DUPLEX_HALF ||", "return 1 ||")],
    "NTT: wrong words about our state need no answer": [
        (CORE + "receive.c", "    (pdu->partner.state ^ port->actor.state) & bits)\n",
         "    (0 & bits))\n")],
    "four LACPDUs in a second": [
        (CORE + "transmit.c", "return port->sent_ns[0] ? port->sent_ns[0] + LACP_FAST",
         "return 0 ? port->sent_ns[0] + LACP_FAST")],
    "a partner that turns fast waits for a slow LACPDU": [
        (CORE + "transmit.c", "case LACP_PERIODIC_SLOW: return due || fast ?",
         "case LACP_PERIODIC_SLOW: return due ?")],
    "our own change to slow ends the port": [
        (CORE + "port.c", "if (longer)\n", "if (0)\n")],
    "lacp_hold asks for nothing": [
        (CORE + "port.c", "(sys->state.config.hold && follow)", "0")],
    "two passive ends speak": [
        (CORE + "transmit.c",
         "       !((port->actor.state | port->partner.state) & LACP_ACTIVITY);", "       0;")],
    "independent control distributes before the partner collects": [
        (CORE + "mux.c", "bool far_collects = port->partner.state & LACP_COLLECTING;",
         "bool far_collects = 1;")],
    "a drain ends with any answer": [
        (CORE + "transmit.c", "marker->transaction == port->transaction &&", "1 &&")],
    "a drain ends only with an answer": [
        (CORE + "transmit.c", "    (!distributes || lacp_due(port->marker_ns, now_ns)))",
         "    !distributes)")],
    "all markers are answered": [
        (CORE + "transmit.c", "if (port->responses >= LACP_MARKER_RESPONSES)", "if (0)")],
    "fallback does not wait for its own LACPDU": [
        (CORE + "mux.c", "if (port->periodic == LACP_PERIODIC_NONE || port->fallback_ns",
         "if (1 || port->fallback_ns")],
    "fallback uses a port that is looped": [
        (CORE + "mux.c", "lacp_enabled(&port->config) && !port->loop_port &&",
         "lacp_enabled(&port->config) &&")],
    "the next bondd does not count what the kernel has sent": [
        (CORE + "port.c", "port_note_answers(port, held->answered_ns);\n", "")],
}

ALL = {**MUTANTS, **OTHERS}

# What the goal finds first that no traffic stops for more than a second.
SHORT = {"a new port priority of the partner ends the port"}
WITHOUT_SHORT = ("tests/sim/goals.c", "#define GAP (SECOND + 100 * MS)",
                 "#define GAP (1000 * SECOND)")


class Tree:
    """A copy of the tree, with its simulator."""
    def __init__(self, directory):
        self.root = pathlib.Path(directory)
        for each in NEEDED:
            copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy
            (self.root / each).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / each, self.root / each)

    def become(self, places):
        """Has the defect of these places and no other."""
        wanted = {}
        for file, old, new in places:
            text = wanted.get(file) or (ROOT / file).read_text()
            if text.count(old) != 1:
                sys.exit(f"{file} has changed; the mutant's place is there {text.count(old)} times:"
                         f"\n{old}")
            wanted[file] = text.replace(old, new)
        for file in PLACES:
            text = wanted.get(file) or (ROOT / file).read_text()
            if text != (self.root / file).read_text():
                (self.root / file).write_text(text)
        self.make("build/tests/sim/sim")

    def make(self, *what):
        subprocess.run(["make", "-s", "CFLAGS=-O2 -w", *what], cwd=self.root, check=True,
                       stdout=subprocess.DEVNULL)

    def sim(self, *arguments):
        """The first line that it prints, if something fails."""
        done = subprocess.run(["build/tests/sim/sim", *map(str, arguments)], cwd=self.root,
                              capture_output=True, text=True, check=False)
        return done.stdout.split("\n")[0] if done.returncode else None

    def failing_exploration(self):
        """The first of which a history fails; what follows is not awaited."""
        for arguments in EXPLORE:
            with subprocess.Popen(["build/tests/sim/sim", "explore", *arguments], cwd=self.root,
                                  stdout=subprocess.PIPE, text=True) as explorer:
                said = explorer.stdout.readline().strip()
                explorer.kill()
            if said.startswith("#"):
                return f"explore {' '.join(arguments)} {said}"
        return None

    def failing_unit_test(self):
        """Of the core."""
        core = [f"build/{each.relative_to(ROOT).with_suffix('.o')}" for each in
                [*ROOT.glob("lib/lacp/*.c"), ROOT / "lib/view/lacp_why.c",
                 ROOT / "lib/rules/link_state.c"]]
        for test in ("machines", "pdu", "receive", "system"):
            test = f"build/tests/unit/test_lacp_{test}"
            self.make(*core, test + ".o")
            subprocess.run(["cc", "-o", test, test + ".o", *core, "-lcmocka"], cwd=self.root,
                           check=True)
            done = subprocess.run([test], cwd=self.root, capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                failed = re.search(r"FAILED  \] (\w+)", done.stdout + done.stderr)
                return f"unit test {failed[1] if failed else test}"
        return None

    def failing_scenario(self):
        return self.sim(*sorted(each.relative_to(self.root) for each in
                                (self.root / "tests/sim/scenarios").glob("*.sim")))

    def failing_history(self, count=COUNT):
        for first in range(1, count + 1, 100):
            failure = self.sim("histories", min(100, count + 1 - first), first)
            if failure:
                return failure
        return None


PLACES = {file for places in [*ALL.values(), [WITHOUT_SHORT]] for file, _, _ in places}


def what_finds(tree, name):
    tree.become(ALL[name])
    if EXPLORE:
        return tree.failing_exploration()
    if name not in SHORT:
        return tree.failing_scenario() or tree.failing_history() or (
            name in OTHERS and tree.failing_unit_test())
    found = tree.failing_history()
    if found:
        number = int(found.removeprefix("history ").split(":")[0])
        tree.become([*MUTANTS[name], WITHOUT_SHORT])
        if tree.failing_history(number):
            sys.exit(f"{name}: not found by the goal of short outages first")
    return found


def main():
    chosen = [name for name in ALL
              if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    missed = 0
    with tempfile.TemporaryDirectory() as directory:
        tree = Tree(directory)
        for name in chosen:
            found = what_finds(tree, name)
            missed += not found
            print(f"{name}: {found or 'NOT FOUND'}", flush=True)
    print(f"{len(chosen)} mutants, {missed} not found")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
