"""handback on a kernel without bonding: it is refused, and the bond is as it was. And a bondd that
finds the journal of a handover that died half-way puts everything back. tests/vm/guest/
test_handover.py has what needs the kernel's bonds.
"""
import json
import os

import pytest

from lab import ROOT, Refused
from waiting import wait_for


def dress(near):
    near.ip("link", "set", "bond0", "group", "7", "alias", "to the switch", "txqueuelen", "77",
            "allmulticast", "on")
    near.run("sysctl", "-qw", "net.ipv6.conf.bond0.stable_secret=2001:db8::1",
             "net.ipv6.conf.bond0.addr_gen_mode=0")
    near.ip("addr", "add", "10.0.0.9/24", "label", "bond0:9", "dev", "bond0")
    near.ip("addr", "add", "192.0.2.7/32", "dev", "bond0", "scope", "link", "valid_lft", "3000",
            "preferred_lft", "2000")
    near.ip("addr", "add", "2001:db8::1/128", "dev", "bond0", "nodad", "noprefixroute")
    near.ip("route", "add", "default", "via", "10.0.0.2", "metric", "100", "src", "10.0.0.9")
    near.ip("route", "add", "198.51.100.0/24", "via", "10.0.0.2", "table", "100", "mtu", "1400")
    near.ip("route", "add", "203.0.113.0/24", "nexthop", "via", "10.0.0.2", "weight", "2",
            "nexthop", "via", "10.0.0.3")
    near.ip("-6", "route", "add", "2001:db8:1::/48", "via", "fd00::2", "table", "100")
    near.ip("neigh", "add", "10.0.0.77", "lladdr", "02:00:00:00:00:77", "dev", "bond0")
    near.ip("neigh", "add", "proxy", "10.0.0.78", "dev", "bond0")


def picture(near, bond="bond0"):
    """All that was configured; no lifetimes, no ifindexes."""
    addresses = sorted((each["local"], each["prefixlen"], each.get("label"), each["scope"],
                        each.get("noprefixroute"), each["valid_life_time"] > 1 << 31)
                       for each in near.ip_json("addr", "show", "dev", bond)[0]["addr_info"])
    routes = sorted({" ".join(line.split()) for family in ("-4", "-6")
                     for line in near.ip(family, "route", "show", "table", "all").splitlines()})
    neighbours = [near.ip("neigh", "show", *words) for words in
                  (("nud", "permanent", "dev", bond), ("proxy", "dev", bond))]
    link = near.link(bond)
    sysctls = near.run("sysctl", "-n", *(f"net.{each}" for each in (
        f"ipv6.conf.{bond}.stable_secret", f"ipv6.conf.{bond}.hop_limit",
        f"ipv4.conf.{bond}.arp_announce", f"ipv4.neigh.{bond}.gc_stale_time"))).stdout
    return addresses, routes, neighbours, sysctls, [
        link[name] for name in ("address", "mtu", "flags", "group", "ifalias", "txqlen")]


def said_to_udev(near, name):
    return near.run(ROOT / "packaging/tools/xbond-device", name, "02:00:00:00:00:01", env={
        **os.environ, "XBOND_RUN_DIR": str(near.run_dir), "XBOND_BPF_DIR": str(near.bpf_dir),
        "XBOND_CONFIG_DIR": str(near.config_dir)}).stdout


@pytest.fixture
def dressed(pair):
    made = pair("active-backup", links=2)
    dress(made.near)
    if not made.near.run("ip", "link", "add", "kb0", "type", "bond", check=False).returncode:
        pytest.skip("this kernel has bonding")
    return made


def test_back_as_it_was(dressed):
    near = dressed.near
    wait_for(lambda: "fe80" in (shown := near.ip("addr", "show", "dev", "bond0")) and
             "tentative" not in shown, "a link-local address, and its routes")
    before = picture(near)

    def wait_as_before():
        wait_for(lambda: picture(near) == before, lambda: f"{before}, not {picture(near)}")

    with pytest.raises(Refused) as refusal:
        near.ctl("handback", "bond0")
    text = str(refusal.value)
    assert "no bonding driver" in text and "as it was" in text and text.count("\n") == 1
    with pytest.raises(Refused, match="neither a kernel bond nor a team"):
        near.ctl("takeover", dressed.links[0])
    left = near.bpf_dir / dressed.links[0]
    left.mkdir()
    with pytest.raises(Refused, match="has BPF maps of an earlier bond of this name"):
        near.ctl("takeover", dressed.links[0])
    left.rmdir()
    with pytest.raises(Refused, match="xbond's already"):
        near.ctl("takeover", "bond0")
    with pytest.raises(Refused, match="no such device: bond7"):
        near.ctl("takeover", "bond7")
    assert picture(near) == before
    journals = near.run_dir / "handover"
    assert not list(journals.iterdir())
    # The next one dies, and so does whatever it had done by then.
    with near.dying_at("handover-recorded"):
        near.ctl_try("handback", "bond0")
    journal = json.loads((journals / "bond0.json").read_text())
    device = journal["devices"][0]
    assert journal["what"] == "handback" and device["name"] == "bond0"
    for name, whose in (("bond0", "bond"), (device["new_name"], "handover"),
                        (device["old_name"], "handover"), ("n7-bond0", "")):
        assert said_to_udev(near, name) == (whose and f"XBOND={whose}\n"), name
    (journals / "bond0.json").write_text(json.dumps({**journal, "is_untouched": False}))
    near.ip("link", "set", "bond0", "down")
    near.ip("addr", "flush", "dev", "bond0")
    near.ip("link", "set", "bond0", "name", device["old_name"])
    near.start_bondd()
    near.wait_ping("10.0.0.2")
    wait_as_before()
    assert not list(journals.iterdir()) and near.show()["name"] == "bond0"
    # One that makes no sense is reported, and nothing is done.
    near.stop_bondd()
    (journals / "bond0.json").write_text('{"devices": [{"name": "a name that is too long"}]}')
    near.start_bondd()
    assert "cannot be read" in near.log()
    with pytest.raises(Refused, match="bring the bond into order by hand"):
        near.ctl("handback", "bond0")
    assert picture(near) == before
    refuses_hostile_journals(near, journal)
    assert picture(near) == before
    leaves_an_earlier_boot_alone(near, journals / "bond0.json", journal)


def refuses_hostile_journals(near, good):
    """Nothing is done by any of them, and bondd starts."""
    path = near.run_dir / "handover/bond0.json"
    path.unlink()
    other = near.run_dir / "other.json"
    other.write_text(json.dumps(good))
    device, slave = good["devices"][0], good["slaves"][0]
    for number, make in enumerate((
            path.mkdir, lambda: path.symlink_to(other), lambda: path.symlink_to("/dev/zero"),
            lambda: path.symlink_to("nowhere"), lambda: path.write_bytes(b"\0" * 4096),
            lambda: path.write_text("[" * 100000),
            *(lambda change=change: path.write_text(json.dumps({**good, **change})) for change in (
                {"devices": [{**device, "name": "eth7"}]}, {"devices": [device] * 1025},
                {"devices": device}, {"slaves": [slave] * 65}, {"slaves": [{"name": 7}]},
                {"conf": ["10" * 40]}, {"conf": ["00zz"]}, {"conf": [7]}, {"mac": "x"},
                {"old_kind": "k" * 99}, {"what": "holiday"}, {"what": 7}, {"boot_id": None})),
            lambda: os.mkfifo(path))):
        make()
        done = near.ctl_try("handback", "bond0")
        assert done.returncode and "into order by hand" in done.stderr, (number, done)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif not path.is_fifo():
            path.unlink()
    (path.parent / "a\x1b[31m.json").write_text(json.dumps(good))
    near.stop_bondd()
    near.log_path.write_text("")
    near.start_bondd()
    assert near.log().count("cannot be read") == 1 and "\x1b" not in near.log()
    path.unlink()


def leaves_an_earlier_boot_alone(near, path, journal):
    """And that of a container before its restart. The directory has outlived it. The address may be
    another host's by now.
    """
    near.ip("addr", "del", "10.0.0.9/24", "dev", "bond0")
    before = picture(near)
    for other in ({"boot_id": "x"}, {"netns_cookie": journal["netns_cookie"] + 1}):
        path.write_text(json.dumps({**journal, "is_untouched": False, **other}))
        near.log_path.write_text("")
        near.restart_bondd()
        assert "is of an earlier boot" in near.log() and "is undone" not in near.log()
        assert picture(near) == before and not path.exists()
