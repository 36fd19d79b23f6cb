"""LACP and bond0's own state: a bond that is administratively down takes no part, and its partner
knows.
"""
from lacp import distributing, ports, tx_slots, wait_distributing
from traffic import Stream
from waiting import quiet_for, wait_for

DOWN = "the bond is administratively down"
SOON = 3  # far below the 90 s of a partner that is not told


def wait_why(host, links, words):
    wait_for(lambda: {ports(host)[dev]["why"] for dev in links} == {words},
             f"the ports to say: {words}")


def test_the_partner_is_told(pair):
    made = pair("802.3ad", links=2, lacp_rate="slow", lacp_fallback="none")
    wait_distributing(made.near, made.far, links=made.links)
    for _ in range(2):  # the second time within a second of the last PDUs
        made.near.ip("link", "set", "bond0", "down")
        wait_for(lambda: not tx_slots(made.far) and not distributing(made.far),
                 "the far end to stop", SOON)
        wait_for(lambda: not made.far.show()["carrier"], "the far end to have no carrier")
        wait_why(made.near, made.links, DOWN)
        assert not tx_slots(made.near) and not made.near.pinned("table")["rx_mask"]
        made.near.ip("link", "set", "bond0", "up")
        wait_distributing(made.near, made.far, links=made.links)
    made.near.wait_ping("10.0.0.2")


def test_a_bond_that_was_never_up(lab):
    near, far = lab.host("a"), lab.host("b")
    links = lab.links(near, far, 2)
    for host in (far, near):
        host.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast", "lacp_fallback_delay",
                 100)
        host.ctl("add-slave", "bond0", *links)
    far.ctl("set", "bond0", "lacp_fallback", "none")
    far.ip("link", "set", "bond0", "up")
    wait_why(near, links, DOWN)
    wait_for(lambda: all(port["lacpdu_tx"] >= 3 for port in ports(far).values()),
             "the far end to speak")
    assert not tx_slots(near) and not distributing(far)
    assert {port["lacpdu_tx"] for port in ports(near).values()} == {0}
    near.ip("link", "set", "bond0", "up")
    wait_distributing(near, far, links=links)


def test_down_while_bondd_is_away(pair):
    """The next bondd says it; one that finds the bond up disturbs nothing (test_lacp.py has the
    traffic for that).
    """
    made = pair("802.3ad", links=2, lacp_rate="slow", lacp_fallback="none")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.stop_bondd()
    made.near.ip("link", "set", "bond0", "down")
    made.near.start_bondd()
    wait_for(lambda: not tx_slots(made.far), "the far end to stop", SOON)
    wait_why(made.near, made.links, DOWN)
    made.near.restart_bondd(kill=True)
    wait_why(made.near, made.links, DOWN)
    assert not tx_slots(made.far)
    made.near.ip("link", "set", "bond0", "up")
    wait_distributing(made.near, made.far, links=made.links)


def test_another_slave_does_not_start_it(pair):
    made = pair("802.3ad", links=2, lacp_rate="fast", lacp_fallback_delay=100)
    wait_distributing(made.near, made.far, links=made.links)
    made.near.ip("link", "set", "bond0", "down")
    wait_why(made.near, made.links, DOWN)
    made.near.ctl("del-slave", "bond0", "l1")
    made.near.ctl("add-slave", "bond0", "l1")
    wait_why(made.near, made.links, DOWN)
    made.near.ip("link", "set", "bond0", "up")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.wait_ping("10.0.0.2")  # the kernel may open bond0 only later
    assert Stream(made.near, made.far, count=500, rate=5000, flows=8).finish()["lost"] == 0


def test_a_bond_in_another_namespace(pair, lab):
    """Moving takes it down. There is no message when it comes up there."""
    made = pair("802.3ad", links=2, lacp_rate="slow", lacp_fallback="none")
    there = lab.namespace("c")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.ip("link", "set", "bond0", "netns", there.name)
    wait_for(lambda: not tx_slots(made.far), "the far end to stop", SOON)
    wait_why(made.near, made.links, DOWN)
    there.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    there.ip("link", "set", "bond0", "up")
    wait_distributing(made.near, made.far, links=made.links)
    there.wait_ping("10.0.0.2")


# What else the partner and the log say of a bond


def test_a_new_mac_is_the_actors_system_at_once(pair):
    made = pair("802.3ad", links=2, lacp_rate="fast")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.ip("link", "set", "bond0", "address", "02:00:00:00:00:77")
    wait_for(lambda: made.far.show()["lacp"]["partner_system"] == "02:00:00:00:00:77",
             "the partner to see it")
    assert made.near.show()["lacp"]["actor_system"] == "02:00:00:00:00:77"
    wait_distributing(made.near, made.far, links=made.links)
    made.near.wait_ping("10.0.0.2")


def test_the_log_names_a_slave_that_goes(pair):
    made = pair("802.3ad", links=3, lacp_rate="fast")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.ip("link", "del", "l2")
    made.near.wait_slaves("l0", "l1")
    made.near.ctl("del-slave", "bond0", "l1")
    assert made.near.ping_bondd()
    assert ": : " not in made.near.events()
    for dev in ("l1", "l2"):
        assert f"bond0: {dev}: LACP mux detached" in made.near.events()


def test_the_log_has_what_matters(pair):
    """Which port carries traffic, and why one no longer does; not each step of the machines."""
    made = pair("802.3ad", links=2, lacp_rate="fast", lacp_fallback="none")
    wait_distributing(made.near, made.far, links=made.links)
    assert "LACP mux" in made.near.events() and "LACP mux" not in made.near.log()
    for number, dev in enumerate(made.links, 1):
        wait_for(lambda: f"bond0: {dev} carries traffic\n" in made.near.log(), "the line")
        assert f"bond0: {dev}: LACP partner changed: {made.far.show()['mac']}, key " \
            f"{ports(made.far)[dev]['actor_key']}, port {number}\n" in made.near.log()
    made.near.restart_bondd()
    assert made.near.log().count("carries traffic\n") == 2
    made.near.ip("link", "set", "bond0", "down")
    for dev in made.links:
        wait_for(lambda: f"bond0: {dev} carries no traffic: {DOWN}\n" in made.near.log(),
                 "the line")


def test_the_log_has_fallback_once(pair):
    made = pair("802.3ad", links=1, lacp_rate="fast")
    wait_distributing(made.near, made.far, links=made.links)
    made.far.ctl("set", "bond0", "mode", "active-backup")
    begins = "l0: carries traffic without a LACP partner (lacp_fallback)\n"
    wait_for(lambda: begins in made.near.log(), "fallback")
    assert made.near.ping_bondd()
    assert "carries" not in made.near.log().split(begins)[1]


def test_a_bond_that_leaves_the_mode_tells_its_partner(pair):
    made = pair("802.3ad", links=2, lacp_rate="slow", lacp_fallback="none")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.ctl("set", "bond0", "mode", "active-backup")
    wait_for(lambda: not tx_slots(made.far) and not distributing(made.far), "the far end to stop")


def test_a_bond_that_is_deleted_tells_its_partner(pair):
    """By a last PDU: its carrier may say nothing, as behind a media converter."""
    made = pair("802.3ad", links=2, lacp_rate="slow", lacp_fallback="none")
    wait_distributing(made.near, made.far, links=made.links)

    def heard():
        return {dev: port["lacpdu_rx"] for dev, port in ports(made.far).items()}
    quiet_for(1.5, "the PDUs that followed the beginning")
    before = heard()
    made.near.ctl("delete", "bond0")
    wait_for(lambda: all(count > before[dev] for dev, count in heard().items()), "a last PDU", SOON)
    wait_for(lambda: not tx_slots(made.far) and not distributing(made.far), "the far end to stop")
