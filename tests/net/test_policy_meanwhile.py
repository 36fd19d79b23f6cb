"""What happens to a bond, and to its policy, while bondctl or bondd is busy with a policy."""
import signal
import subprocess

import pytest

from lab import proc_state
from namespace import open_files
from policies import WANTED, compile_policy, slot, want
from test_policy import HEADER, LICENSE, only, refused, spread, xor
from waiting import IS_SLOW, wait_for

TURNS = 5000 if IS_SLOW else 100000
# The kernel takes long to check it. Without a question it would answer slot 1.
SLOW = HEADER + f"#define TURNS {TURNS}" + """
XBOND_POLICY(slow)
{
	__u64 sum = 0;

	for (int i = 0; i < TURNS; i++) {
		sum += i ^ sum << 3;
		asm volatile("" : "+r"(sum));
	}
	return sum && question->length ? xbond_slot(0) : xbond_slot(1);
}
""" + LICENSE


@pytest.fixture(scope="module", name="slow")
def _slow(tmp_path_factory):
    return compile_policy(SLOW, tmp_path_factory.mktemp("meanwhile") / "slow.o")


def has_btf(pid):
    """libbpf opens it just before the kernel gets the programs."""
    try:
        return any("btf" in path for path in open_files(pid).values())
    except FileNotFoundError:  # it has ended
        return False


def stopped_in_loading(host, file):
    """A bondctl that has been stopped while the kernel checks the policy. On a busy machine one may
    end before that is seen.
    """
    def stopped():
        loading = host.spawn(*host.ctl_command("policy", "load", "bond0", file),
                             stderr=subprocess.PIPE, text=True)
        wait_for(lambda: has_btf(loading.pid) or loading.poll() is not None,
                 "bondctl to load the policy", 60, interval=0.001)
        loading.send_signal(signal.SIGSTOP)
        wait_for(lambda: loading.poll() is not None or proc_state(loading.pid) == "T",
                 "bondctl to stop")
        return loading if loading.poll() is None else None
    return wait_for(stopped, "bondctl to be stopped in time", 120)


def end_of(loading):
    """Its status and what it says, after it has gone on."""
    loading.send_signal(signal.SIGCONT)
    said = loading.communicate(timeout=60)[1]
    return loading.returncode, said


def test_others_change_the_bond_during_a_load(pair, slow):
    net = xor(pair)
    host = net.near
    loading = stopped_in_loading(host, slow)
    host.ctl("set", "bond0", "path", "direct")
    host.ctl("policy", "load", "bond0", WANTED)
    want(host, slot(2))
    assert only(net, "l2")
    assert end_of(loading) == (0, "")
    assert host.show()["policy"] == "slow" and only(net, "l0")


def test_another_bond_of_that_name(pair, slow):
    """A policy reads the question of the bond for which it was loaded."""
    net = xor(pair)
    host = net.near
    loading = stopped_in_loading(host, slow)
    host.ctl("delete", "bond0")
    host.make_bond(net.links, "mode", "balance-xor", "xmit_hash_policy", "layer3+4")
    host.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    status, said = end_of(loading)
    assert status == 1 and said.count("\n") == 1 and "made anew" in said
    host.wait_ping("10.0.0.2")
    assert host.show()["policy"] is None and spread(net)
    host.ctl("policy", "load", "bond0", slow)
    assert only(net, "l0")
    host.ctl("policy", "unload", "bond0")
    loading = stopped_in_loading(host, slow)
    host.ctl("delete", "bond0")
    status, said = end_of(loading)
    assert status == 1 and said.count("\n") == 1 and "bond0" in said
    assert host.pins() == []


def test_loaded_while_bondd_takes_the_last_one_away(pair, slow):
    """bondd needs its time to change the bond's programs. Nobody is told that something failed."""
    net = xor(pair)
    host = net.near
    for _ in range(5):
        host.ctl("policy", "load", "bond0", WANTED)
        unloading = host.spawn(*host.ctl_command("policy", "unload", "bond0"),
                               stderr=subprocess.PIPE, text=True)
        wait_for(lambda: host.show()["policy"] is None, "the policy to be gone", interval=0.001)
        done = host.ctl_try("policy", "load", "bond0", WANTED)
        assert (done.returncode, done.stderr) == (0, "")
        assert unloading.communicate(timeout=30)[1] == ""
        want(host, slot(1))
        wait_for(lambda: only(net, "l1"), "the policy to decide")  # bondd may seem away
    assert "is not in use" not in host.log()
    host.ctl("policy", "unload", "bond0")
    assert spread(net) and refused(host, "policy", "unload", "bond0")


def test_loaded_while_bondd_is_so_busy_that_it_seems_away(pair):
    """It has seen that no policy is loaded, and stands still for seconds before it has acted on
    that.
    """
    net = xor(pair)
    host = net.near
    host.ctl("policy", "load", "bond0", WANTED)
    host.restart_bondd(kill=True, XBOND_TEST_STOP_AT="policy-pinned")
    unloading = host.spawn(*host.ctl_command("policy", "unload", "bond0"),
                           stderr=subprocess.PIPE, text=True)
    host.wait_frozen()
    wait_for(lambda: not host.show()["bondd"], "bondd to seem away", 10)
    host.ctl("policy", "load", "bond0", WANTED)
    host.thaw_bondd()
    wait_for(lambda: "no policy is in use now" in host.log(), "bondd to act on what was before")
    host.wait_frozen()
    host.thaw_bondd()
    assert end_of(unloading) == (0, "")
    want(host, slot(1))
    wait_for(lambda: only(net, "l1"), "the policy to decide")
