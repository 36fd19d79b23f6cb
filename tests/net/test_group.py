"""Members of the group xbond see what root sees, by bondd, and change nothing."""
import json
import subprocess

import pytest

import schema
from namespace import end, run
from test_errors import write_byte
from traffic import send_packets
from user_group import user_group
from waiting import wait_for

GROUP = "xbond"


@pytest.fixture(scope="module", autouse=True)
def group():
    with user_group(GROUP):
        yield


def open_way(host):
    """To the socket and nothing else: bpffs stays root's."""
    for path in (host.run_dir, *host.run_dir.parents):
        if path.name:
            path.chmod(path.stat().st_mode | 0o011)


def as_user(host, groups, *words):
    return host.run("setpriv", "--reuid", "65534", "--regid", "65534", *groups,
                    *host.ctl_command(*words), check=False)


def as_member(host, *words):
    return as_user(host, ("--groups", GROUP), *words)


@pytest.fixture
def shown(pair):
    made = pair("802.3ad", links=2)
    made.near.ctl("create", "a0", "mode", "active-backup")
    open_way(made.near)
    return made.near


def test_a_socket_that_was_removed_is_theirs_again(shown):
    run("rm", "-r", shown.run_dir)
    wait_for(shown.ping_bondd, "bondd to answer")
    open_way(shown)
    assert as_member(shown, "list").stdout == "a0\nbond0\n"


def test_whatever_the_umask_is(lone):
    host = lone(bondd=False)
    host.wrapper = ["bash", "-c", 'umask 077; exec "$@"', "bash"]
    host.start_bondd()
    host.ctl("create", "a0")
    assert as_member(host, "list").stdout == "a0\n"


def hidden(host, *words):
    """As under `ip netns exec`, which mounts a /sys of its own."""
    return host.run("unshare", "--mount", "sh", "-ec", f'mount -t tmpfs none {host.bpf_dir}; "$@"',
                    "sh", *host.ctl_command(*words), check=False)


def test_without_the_bpf_file_system_bondd_is_asked(shown):
    words = (["list"], ["-j", "list"], ["show", "a0"], ["-j", "show", "a0"], ["stats", "a0"])
    for each in words:
        done = hidden(shown, *each)
        assert (done.returncode, done.stderr) == (0, "") and "a0" in done.stdout
    for each in (["show", "none"], ["top", "--once"], ["top", "a0", "--once"]):
        done = hidden(shown, *each)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert ("no such bond: none" if each[0] == "show" else "ip netns exec") in done.stderr
    shown.kill_bondd()
    for each in (*words, ["show"], ["stats"], ["show", "none"]):
        done = hidden(shown, *each)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert "ip netns exec" in done.stderr and "bondd is not running" in done.stderr


def steady(view):
    """Without what changes by itself, and what only root is shown."""
    if isinstance(view, dict):
        return {key: steady(value) for key, value in view.items()
                if "packets" not in key and "bytes" not in key and
                key not in ("pdus", "pdus_received", "pdus_sent", "rx_dropped", "loop",
                                "afxdp_sockets") and
                not key.endswith("_ms")}
    return [steady(each) for each in view] if isinstance(view, list) else view


def wait_same(host, *words):
    """Until a member sees what root sees. Between two looks a port may come or go."""
    def same():
        done = as_member(host, "-j", *words)
        assert done.returncode == 0, done.stderr
        return steady(json.loads(done.stdout)) == steady(host.ctl_json(*words))
    wait_for(same, f"the same by {words}")


def test_they_see_what_root_sees(shown):
    for words in (["show"], ["show", "bond0"], ["list"], ["stats", "bond0"], ["stats"]):
        wait_same(shown, *words)
    assert as_member(shown, "list").stdout == shown.ctl("list") == "a0\nbond0\n"
    assert "802.3ad" in as_member(shown, "show", "bond0").stdout


def test_they_follow_events(shown):
    """At most four at a time, so one user cannot shut out the others."""
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--groups", GROUP,
             *shown.ctl_command("-j", "monitor", "--count", "1")]
    readers = [shown.spawn(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(5)]
    wait_for(lambda: any(reader.poll() == 1 for reader in readers), "one of five to be refused")
    wait_for(lambda: shown.ctl("set", "a0", "miimon", 100) or
             all(reader.poll() is not None for reader in readers), "the others to have an event")
    assert sorted(reader.returncode for reader in readers) == [0, 0, 0, 0, 1]
    for reader in readers:
        said, error = reader.communicate()
        assert "too many" in error if reader.returncode else schema.check("monitor",
                                                                          json.loads(said))


def test_they_see_a_bond_of_another_version(shown):
    shown.kill_bondd()
    write_byte(shown.bpf_dir / "a0", 4, 99)
    shown.start_bondd()
    for words in (["show"], ["show", "a0"], ["list"]):
        wait_same(shown, *words)


def test_counters_are_of_now(shown):
    before = json.loads(as_member(shown, "-j", "stats", "bond0").stdout)["counters"]["tx_packets"]
    send_packets(shown, count=100)
    assert json.loads(as_member(shown, "-j", "stats",
                                "bond0").stdout)["counters"]["tx_packets"] >= before + 100


@pytest.mark.parametrize("words",
                         [["create", "bond7"], ["delete", "bond0"], ["del-slave", "bond0", "l0"],
                          ["set", "bond0", "min_links", 1], ["set", "bond0", "path", "direct"],
                          ["set-slave", "bond0", "l0", "drain", "on"]], ids=str)
def test_they_change_nothing(shown, words):
    before = (shown.ctl_json("list"), shown.show()["options"],
              [slave["options"] for slave in shown.show()["slaves"]])
    done = as_member(shown, *words)
    assert done.returncode == 1 and "permission" in done.stderr and done.stderr.count("\n") == 1
    assert (shown.ctl_json("list"), shown.show()["options"],
            [slave["options"] for slave in shown.show()["slaves"]]) == before


CONNECT = """
import socket, sys

made, answers = [], []
for _ in range(70):
    made.append(socket.socket(socket.AF_UNIX))
    made[-1].settimeout(5)
    made[-1].connect(sys.argv[1])
    try:
        made[-1].sendall(b'{"method": "ping"}\\n')
    except BrokenPipeError:
        pass
    answers.append(made[-1].recv(4096).decode())
print(sum('"ok":true' in answer for answer in answers))
print(sum("too many connections" in answer for answer in answers))
"""


def test_they_cannot_take_all_connections(shown):
    done = shown.run("setpriv", "--reuid", "65534", "--regid", "65534", "--groups", GROUP,
                     "/usr/bin/python3", "-c", CONNECT, shown.run_dir / "bondd.sock")
    assert done.stdout.split() == ["16", "54"]
    wait_for(lambda: as_member(shown, "list").returncode == 0, "their places to be free again")


def test_one_does_not_shut_out_the_others(shown):
    """Nor do idle connections that ask nothing."""
    idle = ("import signal, socket, sys\n"
            "made = [socket.socket(socket.AF_UNIX) for _ in range(70)]\n"
            "for each in made: each.connect(sys.argv[1])\n"
            "print('connected', flush=True); signal.pause()")
    child = shown.spawn("setpriv", "--reuid", "65533", "--regid", "65533", "--groups", GROUP,
                        "/usr/bin/python3", "-c", idle, shown.run_dir / "bondd.sock",
                        stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"connected\n"
    done = as_member(shown, "list")
    assert done.returncode == 0 and done.stdout == "a0\nbond0\n", done.stderr
    end(child)


def test_others_are_refused_once(shown):
    """Also where they can read which bonds there are."""
    for mode in (0o700, 0o755):
        shown.bpf_dir.chmod(mode)
        for verb in ("show", "stats"):
            done = as_user(shown, ("--clear-groups",), verb)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert "permission denied: run as root, or as a member of" in done.stderr


def test_bad_names_and_no_bondd(shown):
    done = as_member(shown, "show", "bond9")
    assert done.returncode == 1 and "no such bond: bond9" in done.stderr
    shown.stop_bondd()
    done = as_member(shown, "show", "bond0")
    assert done.returncode == 1 and "permission denied" in done.stderr and \
        done.stderr.count("\n") == 1
