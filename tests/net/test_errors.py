"""Every error has its own clear line, the right exit status, and changes nothing."""
import fcntl
import json
import os
import pathlib
import resource
import socket
import subprocess

import pytest

from lab import BPFFS, BUILD, Lab, is_team, stable
from namespace import KERNEL, open_files, run
from tcx import TCX_INGRESS, Tcx
from waiting import wait_for

REFUSED, USAGE, NEEDS_BONDD = 1, 2, 3


def error_line(done, status):
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1 and len(done.stderr) > 20, done.stderr
    return done.stderr


def state(host):
    """What an error must not change."""
    shown = stable(host.ctl_json("show"))
    keys = ("ifname", "ifindex", "mtu", "address", "flags", "master", "promiscuity", "allmulti")
    links = [{key: link.get(key) for key in keys}
             for link in host.ip_json("-d", "link", "show")]
    return shown, links, host.pins(), host.ip("-br", "addr")


class Case:
    """A host with bond0 (balance-xor, slave l0), bond1 (active-backup, slave l1)
    and free devices.
    """

    def __init__(self, lone):
        self.host = host = lone(links=6)
        host.ctl("create", "bond0", "mode", "balance-xor")
        host.ctl("create", "bond1", "mode", "active-backup")
        host.ctl("add-slave", "bond0", "l0")
        host.ctl("add-slave", "bond1", "l1")
        host.wait_slaves("l0")
        host.wait_slaves("l1", bond="bond1")

    def refuse(self, *words, status=REFUSED):
        wait_for(lambda: state(self.host) == state(self.host), "nothing to change by itself")
        before = state(self.host)
        line = error_line(self.answer(*words), status)
        assert state(self.host) == before
        return line

    def answer(self, *words):
        """Asks again, once, if bondd had to wait too long for a lock of the kernel that other tests
        held: each program that they attach by TCX takes it for as long as all CPUs need to notice.
        """
        done = self.host.ctl_try(*words)
        return self.host.ctl_try(*words) if "no answer in time" in done.stderr else done


@pytest.fixture
def case(lone):
    return Case(lone)


@pytest.fixture(scope="module", name="lasting")
def _lasting():
    """One case for all tests that show that nothing has changed."""
    lab = Lab(None)
    yield Case(lab.lone)
    lab.close()


UNKNOWN = [(["show", "nobond"], "nobond"), (["stats", "nobond"], "nobond"),
           (["delete", "nobond"], "nobond"),
           (["save", "nobond"], "nobond"), (["set", "nobond", "min_links", "1"], "nobond"),
           (["set", "nobond", "path", "direct"], "nobond"),
           (["add-slave", "nobond", "l2"], "nobond"), (["del-slave", "nobond", "l0"], "nobond"),
           (["set-slave", "nobond", "l0", "weight", "1"], "nobond"),
           (["add-slave", "bond0", "nodev"], "nodev"),
           (["add-slave", "bond0", "l2", "nodev"], "nodev"),
           (["del-slave", "bond0", "l5"], "l5"), (["del-slave", "bond0", "l0", "l5"], "l5"),
           (["set-slave", "bond0", "l5", "weight", "1"], "l5"),
           (["set", "bond1", "active_slave", "l5"], "l5")]


@pytest.mark.parametrize("words,named", UNKNOWN,
                         ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_unknown_bonds_and_devices(lasting, words, named):
    assert named in lasting.refuse(*words)


def test_all_pairs_are_checked_before_one_is_applied(lasting):
    lasting.refuse("set", "bond0", "path", "direct", "min_links", "nonsense", status=USAGE)
    lasting.refuse("set", "bond0", "min_links", "1", "packets_per_slave", "2")
    lasting.refuse("set-slave", "bond0", "l0", "weight", "5", "drain", "perhaps", status=USAGE)


@pytest.mark.parametrize("words", [
    ["set", "bond0", "packets_per_slave", "3"], ["set", "bond0", "primary", "l0"],
    ["set", "bond0", "active_slave", "l0"],
    ["create", "bond7", "mode", "broadcast", "packets_per_slave", "3"],
    ["create", "bond7", "mode", "balance-rr", "primary", "l2"]], ids=" ".join)
def test_options_that_a_mode_refuses(lasting, words):
    """The mode of create is on the command line, that of a bond is asked for."""
    line = lasting.refuse(*words, status=USAGE if words[0] == "create" else REFUSED)
    assert "mode" in line


def test_the_mode_may_change_with_slaves(case):
    """Kernel bonding wants an empty bond that is down; here it is a setting like others."""
    case.host.ctl("set", "bond0", "mode", "balance-rr")
    assert case.host.show("bond0")["mode"] == "balance-rr"


def test_options_without_effect_are_kept_and_shown(case):
    case.host.ctl("set", "bond1", "xmit_hash_policy", "layer3+4")
    assert case.host.show("bond1")["options"]["xmit_hash_policy"] == "layer3+4"
    text = case.host.ctl("show", "bond1")
    assert any("xmit_hash_policy" in line and "no effect in this mode" in line
               for line in text.splitlines())


@pytest.mark.parametrize("words, part", [
    (["show", "l0"], "it is a slave of bond0: 'bondctl show bond0'"),
    (["del-slave", "l1", "bond1"], "'bond1' is one, and the bond comes first"),
    (["del-slave", "l1"], "'bondctl del-slave bond1 l1'"),
    (["delete", "l1"], "it is a slave of bond1: 'bondctl del-slave bond1 l1'"),
    (["set", "l0", "weight", "2"], "'bondctl set-slave bond0 l0 ...'"),
    (["set", "l0", "mode", "broadcast"], "'bondctl set bond0 ...'"),
    (["set-slave", "l0", "weight", "2"], "'bondctl set-slave bond0 l0 ...'"),
    (["bond0"], "'bondctl show bond0'"), (["bond0", "l3"], "'bondctl add-slave bond0 ...'")])
def test_words_in_another_order(lasting, words, part):
    usage = words[0] == "bond0" or words == ["del-slave", "l1"]
    assert part in lasting.refuse(*words, status=USAGE if usage else REFUSED)


@pytest.mark.parametrize("words, part", [
    (["create", "bond7", "l2", "l3"], "'bondctl add-slave'"),
    (["create", "bond7", "mode", "broadcast", "l2"], "'bondctl add-slave'"),
    (["set", "bond0", "l0", "weight", "2"], "'bondctl set-slave'")],
                         ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_a_device_in_place_of_an_option(lasting, words, part):
    assert part in lasting.refuse(*words, status=USAGE)


@pytest.mark.parametrize("name", ["bond0", "l3", "lo"])
def test_names_that_are_taken(lasting, name):
    assert name in lasting.refuse("create", name)


def test_a_name_of_fifteen_letters_works(case):
    case.host.ctl("create", "fifteen-letters", "mode", "active-backup")
    case.host.ctl("add-slave", "fifteen-letters", "l2")
    case.host.wait_slaves("l2", bond="fifteen-letters")
    case.host.ctl("delete", "fifteen-letters")


# slaves that cannot be

def test_slaves_of_others(case):
    case.refuse("add-slave", "bond0", "l0")
    assert "bond1" in case.refuse("add-slave", "bond0", "l1")
    case.host.ip("link", "add", "br0", "type", "bridge")
    case.host.ip("link", "set", "l2", "master", "br0")
    assert "br0" in case.refuse("add-slave", "bond0", "l2")
    case.refuse("add-slave", "bond0", "l3", "l2")
    case.refuse("add-slave", "bond0", "l3", "l3", status=USAGE)


def test_bonds_and_their_parts(case):
    case.refuse("add-slave", "bond0", "bond0")
    case.refuse("add-slave", "bond0", "bond1")
    ports = [dev for dev in case.host.devices() if dev.startswith("xb-")]
    assert ports or is_team()
    for port in ports:
        case.refuse("add-slave", "bond0", port)


def test_a_slave_of_another_bondd(case):
    """Two bondd in one namespace must not share a slave."""
    from lab import Host
    other = Host.__new__(Host)
    other.__dict__.update(case.host.__dict__)
    other.run_dir, other.bpf_dir = case.host.dir / "run2", pathlib.Path(f"{case.host.bpf_dir}-2")
    other.log_path, other.bondd = case.host.dir / "second.log", None
    other.start_bondd()
    try:
        other.ctl("create", "bond8")
        error_line(other.ctl_try("add-slave", "bond8", "l0"), REFUSED)
        other.ctl("add-slave", "bond8", "l4")
        case.refuse("add-slave", "bond0", "l4")
        other.ctl("delete", "bond8")
    finally:
        other.stop_bondd()
        run("rm", "-rf", other.bpf_dir)


def test_devices_that_are_no_ethernet(case):
    case.host.ip("tuntap", "add", "dev", "tun0", "mode", "tun")
    assert "tun0" in case.refuse("add-slave", "bond0", "tun0")
    assert "loopback" in case.refuse("add-slave", "bond0", "lo")


def test_devices_with_something_on_them(case):
    case.host.ip("link", "add", "mv0", "link", "l2", "type", "macvlan")
    assert "mv0" in case.refuse("add-slave", "bond0", "l2")
    case.host.ip("link", "del", "mv0")
    case.host.ctl("add-slave", "bond0", "l2")


def test_addresses_need_force(case):
    case.host.ip("addr", "add", "192.0.2.1/24", "dev", "l2")
    case.host.ip("addr", "add", "2001:db8::1/64", "dev", "l2")
    assert "force" in case.refuse("add-slave", "bond0", "l2")
    done = case.host.ctl_try("add-slave", "bond0", "l2", "force", "yes")
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "192.0.2.1/24" in said and "2001:db8::1/64" in said
    assert global_addresses(case.host) == 0
    assert case.host.slave("l2") is not None


def add_200_addresses(host):
    host.ip_batch(*[f"addr add {address} dev l2" for number in range(1, 101)
                    for address in (f"192.0.2.{number}/24", f"2001:db8::{number:x}/64 nodad")])


def global_addresses(host):
    return host.ip("addr", "show", "l2", "scope", "global").count("inet")


def test_all_addresses_are_removed(case):
    """Also many, and those that the kernel removes along with the first of their network."""
    add_200_addresses(case.host)
    assert global_addresses(case.host) == 200
    done = case.host.ctl_try("add-slave", "bond0", "l2", "force", "yes")
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "cannot" not in said and said.count("removed") == 200
    assert global_addresses(case.host) == 0


def test_all_addresses_stay_when_a_slave_is_refused(case):
    """m0 takes no MTU as large as the bond's, so l2 does not become a slave either."""
    case.host.ip("link", "set", "bond0", "mtu", "9000")
    case.host.ip("link", "add", "m0", "link", "l5", "type", "macvlan")
    add_200_addresses(case.host)
    case.host.ip("addr", "add", "2001:db8:1::1/64", "dev", "l2", "nodad", "noprefixroute",
                 "valid_lft", "5000", "preferred_lft", "4000")
    case.refuse("add-slave", "bond0", "l2", "m0", "force", "yes")
    assert global_addresses(case.host) == 201
    back = case.host.ip_json("addr", "show", "l2", "to", "2001:db8:1::/64")[0]["addr_info"][0]
    assert back["nodad"] and back["noprefixroute"]
    assert 4000 < back["valid_life_time"] <= 5000 and 3000 < back["preferred_life_time"] <= 4000


def test_an_up_device_with_its_own_link_local_address_is_accepted(case):
    case.host.ip("link", "set", "l2", "up")
    wait_for(lambda: "fe80" in case.host.ip("-6", "addr", "show", "l2"), "a link-local address")
    case.host.ctl("add-slave", "bond0", "l2")


def test_more_than_64_slaves(case):
    names = [f"v{number}" for number in range(64)]
    case.host.ip_batch(*[f"link add {name} type veth peer name {name}p" for name in names])
    assert "64" in case.refuse("add-slave", "bond0", *names)
    case.host.ctl("add-slave", "bond0", *names[:63])
    assert len(case.host.show()["slaves"]) == 64
    case.refuse("add-slave", "bond0", names[63])
    case.host.ctl("del-slave", "bond0", *names[:63])
    assert len(case.host.show()["slaves"]) == 1


def test_what_the_kernel_refuses(case):
    """A macvlan cannot have a larger MTU than what is below it: the kernel's reason is told."""
    case.host.ip("link", "add", "mv0", "link", "l5", "type", "macvlan", "mode", "private")
    case.host.ip("link", "set", "bond0", "mtu", "3000")
    wait_for(lambda: case.host.link("l0")["mtu"] == 3000, "the slave to follow")
    assert "mv0" in case.refuse("add-slave", "bond0", "l2", "mv0")


def test_an_mtu_that_a_slave_refuses_is_logged(case):
    if is_team():
        pytest.skip("a team refuses an MTU that one of its ports refuses")
    case.host.ip("link", "add", "mv0", "link", "l5", "type", "macvlan", "mode", "private")
    case.host.ip("link", "set", "l5", "up")
    case.host.ctl("add-slave", "bond0", "mv0")
    case.host.ip("link", "set", "bond0", "mtu", "3000")
    wait_for(lambda: any("mv0" in line and "MTU" in line for line in case.host.log().splitlines()),
             "a word in the log")
    assert case.host.bondd.poll() is None


# bondd away, lost, doubled

def test_bondd_is_not_there(case):
    case.host.stop_bondd()
    for words in (["create", "bond7"], ["delete", "bond0"], ["add-slave", "bond0", "l2"],
                  ["del-slave", "bond0", "l0"], ["set", "bond0", "min_links", "1"]):
        case.refuse(*words, status=NEEDS_BONDD)


def test_bondd_is_lost_in_mid_request(case):
    """It is frozen, so the request waits in the socket; then it dies."""
    host = case.host
    before = state(host)
    host.freeze_bondd()
    child = host.spawn(*host.ctl_command("add-slave", "bond0", "l2"), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    wait_for(lambda: waiting_requests(host), "the request to arrive")
    host.kill_bondd()
    out, error = child.communicate(timeout=10)
    assert child.returncode == NEEDS_BONDD and error.count("\n") == 1 and not out
    host.start_bondd()
    wait_for(lambda: state(host) == before, "the state from before")


def waiting_requests(host):
    """Connections to the control socket that nobody has accepted."""
    line = host.run("ss", "-Hlx", "src", str(host.run_dir / "bondd.sock")).stdout.split()
    return line and int(line[2]) > 0


def waits_for_a_lock(pid):
    return any(f" {pid} " in line and "-> FLOCK" in line
               for line in pathlib.Path("/proc/locks").read_text().splitlines())


def test_another_bond_of_that_name(case):
    """What bondctl has opened is not the bond's any more when it has the lock."""
    host = case.host
    lock = os.open(host.bpf_dir / "bond0", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    setting = host.spawn(*host.ctl_command("set", "bond0", "path", "direct"),
                         stderr=subprocess.PIPE, text=True)
    wait_for(lambda: waits_for_a_lock(setting.pid), "bondctl to wait for the lock")
    host.ctl("delete", "bond0")
    host.ctl("create", "bond0", "mode", "balance-xor", "path", "counted")
    os.close(lock)
    said = setting.communicate(timeout=60)[1]
    assert (setting.returncode, said.count("\n")) == (REFUSED, 1), said
    assert "made anew" in said and host.show()["options"]["path"] == "counted"


def test_two_bondd_on_one_directory(case):
    before = state(case.host)
    done = case.host.run("timeout", "10", *case.host.bondd_command(), check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
    assert case.host.ping_bondd() and state(case.host) == before


@pytest.mark.parametrize("others", ["bridge", "bond"])
def test_somebody_else_takes_the_name_meanwhile(lone, on_veths, others):
    """What another bondd has made has the names that ours would have."""
    host = lone(bondd=False)
    host.environment = {"XBOND_TEST_STOP_AT": "create-pinned"}
    host.start_bondd()
    creating = host.spawn(*host.ctl_command("create", "bond0"), stderr=subprocess.PIPE, text=True)
    host.wait_frozen()
    if others == "bridge":
        host.ip("link", "add", "bond0", "type", "bridge")
    else:
        host.ip("link", "add", "bond0", "type", "veth", "peer", "name", "xb-bond0")
        host.ip("link", "set", "xb-bond0", "alias", "xbond: port side of bond0")
    before = host.devices()
    host.thaw_bondd()
    said = creating.communicate(timeout=60)[1]
    assert creating.returncode == REFUSED and "somebody else" in said, said
    assert host.devices() == before and host.pins() == []


def test_the_directory_is_free_after_kill(case):
    """A lock of a dead bondd, and its socket's file, stop nobody."""
    case.host.kill_bondd()
    assert (case.host.run_dir / "bondd.sock").exists()
    case.host.start_bondd()


# privileges

def as_nobody(host, *command):
    return host.run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command,
                    check=False)


@pytest.mark.parametrize("words",
                         [["create", "bond7"], ["set", "bond0", "path", "direct"], ["show"],
                          ["list"], ["stats", "bond0"], ["set-slave", "bond0", "l0", "drain", "on"],
                          ["delete", "bond0"]], ids=" ".join)
def test_without_privileges(lasting, words):
    before = state(lasting.host)
    done = as_nobody(lasting.host, *lasting.host.ctl_command(*words))
    line = error_line(done, REFUSED)
    assert "permi" in line.lower() or "root" in line.lower()
    assert state(lasting.host) == before


def test_bondd_without_privileges(lone):
    host = lone(links=0, bondd=False)
    host.run_dir.mkdir()
    host.run_dir.chmod(0o777)
    done = as_nobody(host, "timeout", "10", *host.bondd_command())
    assert done.returncode == 1 and done.stderr.strip()


@pytest.mark.parametrize("seconds", [1000, -1000])
def test_bondd_in_a_time_namespace(lone, seconds):
    """The kernel's times would be nothing to compare its own with."""
    host = lone(bondd=False)
    host.wrapper = ["unshare", "--time", "--monotonic", seconds]
    done = host.run(*host.bondd_command(), check=False)
    assert done.returncode == 1 and done.stderr.startswith(
        "bondd: cannot run in a time namespace"), done


def test_a_stranger_on_the_socket_is_refused(case):
    before = state(case.host)
    case.host.run_dir.chmod(0o755)
    script = ("import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
              "s.sendall(b'{\"method\": \"delete\", \"bond\": \"bond0\"}\\n'); "
              "print(s.recv(4096).decode())")
    done = as_nobody(case.host, "/usr/bin/python3", "-c", script, case.host.run_dir / "bondd.sock")
    assert done.returncode != 0 or not done.stdout.strip() or json.loads(done.stdout)["ok"] is False
    assert state(case.host) == before


# the socket itself

@pytest.mark.parametrize("line", [
    b"\n", b"{}\n", b"[]\n", b"nonsense\n", b'{"method": 5}\n', b'{"method": "fly"}\n',
    b'{"method": "create"}\n', b'{"method": "create", "bond": 7}\n', b"\xff\xfe\x00\n",
    b'{"method": "create", "bond": "bond7", "options": []}\n',
    b'{"method": "create", "bond": "bond7", "options": {"mode": 3}}\n',
    b'{"method": "create", "bond": "bond7", "options": {"up": "on"}}\n',
    b'{"method": "create", "bond": "../up"}\n', b'{"method": "create", "bond": "a\\u0000b"}\n',
    b'{"method": "add-slave", "bond": "bond0", "slaves": "l2"}\n',
    b'{"method": "add-slave", "bond": "bond0", "slaves": []}\n',
    b'{"method": "add-slave", "bond": "bond0", "slaves": [1]}\n',
    b'{"method": "apply", "dry_run": "yes"}\n', b'{"method": "apply", "confirm": "60"}\n',
    b'{"method": "apply", "bond": null}\n', b'{"method": "apply", "dryrun": true}\n',
    b'{"method": "delete", "bond": "bond0", "dry_run": true}\n',
    b'{"method": "set", "bond": "bond0", "slaves": ["l0"], "options": {}}\n',
    b'{"method": "monitor", "bond": "bond0"}\n', b'{"method": "show"}\n', b"[" * 60000 + b"\n",
    b'{"method": "ping", "x": "' + b"y" * 70000 + b'"}\n'], ids=lambda line: line[:40])
def test_malformed_requests(lasting, line):
    before = state(lasting.host)
    try:
        answer = lasting.host.request(line)
        assert answer is None or answer["ok"] is False and answer["error"]
    except (BrokenPipeError, ConnectionResetError):
        pass  # an oversized request may be cut off
    assert lasting.host.ping_bondd() and state(lasting.host) == before


def test_several_requests_in_pieces(case):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(str(case.host.run_dir / "bondd.sock"))
        for piece in (b'{"meth', b'od": "ping"}', b'\n{"method": "ping"}\n{"method"',
                      b': "ping"}\n'):
            client.sendall(piece)
        answers = b""
        while answers.count(b"\n") < 3:
            answers += client.recv(4096)
    assert all(json.loads(line)["ok"] for line in answers.splitlines())


def test_idle_clients_do_not_block_others(case):
    clients = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for client in clients:
        client.connect(str(case.host.run_dir / "bondd.sock"))
        client.sendall(b'{"method": "pi')
    case.host.ctl("set", "bond0", "min_links", "1")
    for client in clients:
        client.close()
    assert case.host.ping_bondd()


def test_many_requests_at_once_are_all_answered(case):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(str(case.host.run_dir / "bondd.sock"))
        client.sendall(b'{"method": "ping"}\n' * 500)
        answers = b""
        while answers.count(b"\n") < 500:
            answers += client.recv(65536)
    assert all(json.loads(line)["ok"] for line in answers.splitlines())


def test_an_error_with_a_name_that_is_no_text(case):
    """The line comes all the same, with ? for what is not UTF-8."""
    host, bridge = case.host, os.fsdecode(b"br\xe9")
    host.ip("link", "add", bridge, "type", "bridge")
    host.ip("link", "add", "port9", "type", "veth", "peer", "name", "port9p")
    host.ip("link", "set", "port9", "master", bridge)
    assert "bridge br?" in error_line(host.ctl_try("add-slave", "bond0", "port9"), REFUSED)


def sockets(pid):
    """How many are open. Of other files bondd opens some seconds later those that it keeps."""
    return sum(path.startswith("socket:") for path in open_files(pid).values())


def limit_files(pid, count=None):
    """None: as many as it may have."""
    most = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (count or most, most))


def lowest_free(pid):
    """Of several looks the lowest, because bondd opens some for a moment."""
    looks = [open_files(pid) for _ in range(50)]
    return min(next(number for number in range(65536) if number not in look) for look in looks)


def turns(host):
    return host.ctl_json("stats", "bond0")["loop"]["turns"]


def test_no_descriptor_for_a_connection(case):
    """It is answered, and leaves no socket open. As bondd opens some for a moment, the limit, and
    what was open before, may be too high by one.
    """
    host, pid = case.host, case.host.bondd.pid
    before = min(sockets(pid) for _ in range(50))

    def refused():
        limit_files(pid, lowest_free(pid))
        done = host.ctl_try("set", "bond0", "min_links", "1")
        return done if done.returncode else None
    for _ in range(3):
        assert "file descriptors" in error_line(wait_for(refused, "a refusal"), REFUSED)
    limit_files(pid)
    host.ctl("set", "bond0", "min_links", "1")
    wait_for(lambda: sockets(pid) <= before, "the connections to be closed")


def test_no_descriptor_for_a_connection_that_waits(case):
    """Even the spare one may not be used: the loop does not spin meanwhile."""
    host, pid = case.host, case.host.bondd.pid
    limit_files(pid, 3)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(host.run_dir / "bondd.sock"))
        client.sendall(b'{"method": "ping"}\n')
        before = turns(host)
        host.wait_looked(2)
        assert turns(host) - before < 1000
        limit_files(pid)
        assert json.loads(client.recv(65536))["ok"]


@pytest.mark.parametrize("what", ["", "bondd.sock", "bondd.lock", "bondd.loop"])
def test_a_removed_run_dir_comes_back(case, what):
    """bondd is reached again, and holds its lock: a second one is refused, until the first ends.
    What it knows of its programs, the next bondd finds out again.
    """
    host = case.host
    names = {*os.listdir(host.run_dir)} - {"programs"}
    run("rm", "-r", host.run_dir / what)
    wait_for(lambda: host.run_dir.exists() and names <= {*os.listdir(host.run_dir)},
             "all of it to be back")
    wait_for(host.ping_bondd, "bondd to answer")
    (host.run_dir / "bondd.sock").unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(host.run_dir / "bondd.sock"))  # of a bondd that has died
    wait_for(host.ping_bondd, "bondd to answer in the place of another socket")
    host.ctl("add-slave", "bond0", "l2")
    wait_for(lambda: turns(host), "figures")
    second = host.run("timeout", "10", *host.bondd_command("--bpf-dir", f"{host.bpf_dir}-2"),
                      check=False)
    assert second.returncode == 1 and "another bondd uses" in second.stderr
    host.restart_bondd()


def test_one_device_by_two_names(case):
    host = case.host
    host.ip("link", "add", "port9", "type", "veth", "peer", "name", "port9p")
    host.ip("link", "property", "add", "dev", "port9", "altname", "enp9")
    assert "port9 is named twice" in case.refuse("add-slave", "bond0", "port9", "enp9")
    host.ip("link", "property", "add", "dev", "l2", "altname", "enp2")
    host.ctl("add-slave", "bond1", "enp2")
    host.wait_slaves("l1", "l2", bond="bond1")
    host.ctl("set", "bond1", "active_slave", "enp2")
    wait_for(lambda: host.show("bond1")["active_slave"] == "l2", "the switch")


# pins

def foreign_map(path):
    run("bpftool", "map", "create", path, "type", "array", "key", "4", "value", "8", "entries", "1",
        "name", "foreign")


def damage_missing(directory):
    (directory / "slaves").unlink()


def damage_foreign(directory):
    (directory / "table").unlink()
    foreign_map(directory / "table")


def write_byte(directory, offset, number):
    """Into the bond's map."""
    dump = run("bpftool", "-j", "map", "dump", "pinned", directory / "bond").stdout
    value = [int(byte, 16) for byte in json.loads(dump)[0]["value"]]
    value[offset] = number
    run("bpftool", "map", "update", "pinned", directory / "bond", "key", 0, 0, 0, 0, "value",
        *value)


def standard_input(pid):
    """What descriptor 0 of the process is. bondd keeps the one that it was started with."""
    return os.readlink(f"/proc/{pid}/fd/0")


@pytest.mark.parametrize("damage", [damage_missing, damage_foreign])
def test_damaged_pins(case, damage):
    """bondctl says so; bondd leaves that bond alone, logs it, and serves the others."""
    host = case.host
    host.kill_bondd()
    damage(host.bpf_dir / "bond1")
    error_line(host.ctl_try("show", "bond1"), REFUSED)
    pins, devices = host.pins(), host.devices()
    host.start_bondd()
    assert "bond1" in host.log()
    assert standard_input(host.bondd.pid) == standard_input("self")
    assert host.slave_names() == ["l0"]
    assert host.pins() == pins and host.devices() == devices
    error_line(host.ctl_try("set", "bond1", "min_links", "1"), REFUSED)
    host.ctl("add-slave", "bond0", "l2")


@pytest.mark.parametrize("version", [1, 99])
def test_a_bond_of_another_version(case, version):
    """It goes on as it is: bondd says so, show and list have it, and the other bonds are served."""
    host = case.host
    host.kill_bondd()
    write_byte(host.bpf_dir / "bond1", 4, version)
    pins, devices = host.pins(), host.devices()
    host.start_bondd()
    assert f"bond1: not adopted: it was made with ABI version {version}" in host.log()
    assert standard_input(host.bondd.pid) == standard_input("self")
    assert host.ctl_json("list") == ["bond0", "bond1"] and \
        [bond["name"] for bond in host.ctl_json("show")] == ["bond0", "bond1"]
    shown = host.show("bond1")
    assert (shown["abi_version"], shown["slaves"], shown["mode"]) == (version, [], None) and \
        "ABI version" in shown["problem"]
    assert f"ABI version {version}" in host.ctl("show", "bond1")
    assert host.pins() == pins and host.devices() == devices
    error_line(host.ctl_try("stats", "bond1"), REFUSED)
    error_line(host.ctl_try("set", "bond1", "min_links", "1"), REFUSED)
    host.ctl("add-slave", "bond0", "l2")


@pytest.mark.skipif(KERNEL < (6, 6), reason="this kernel has no TCX")
def test_a_hook_that_there_is_not(case):
    """In the pins, when the kernel refuses a program: the device has as many as it can have."""
    verdicts = BUILD / "tools/filters.bpf.o"
    full = [Tcx(case.host, "l2", verdicts, "reject", TCX_INGRESS) for _ in range(63)]
    write_byte(case.host.bpf_dir / "bond0", 12, 99)
    assert "by an unknown hook" in case.refuse("add-slave", "bond0", "l2")
    write_byte(case.host.bpf_dir / "bond0", 12, 0)
    assert "by TCX" in case.refuse("add-slave", "bond0", "l2")
    for program in full:
        program.close()


@pytest.mark.parametrize("pin", ["slaves", "counters", "prog_rx"])
def test_pins_of_a_new_bond_that_cannot_be_opened(lone, pin):
    """There is no such bond then, and nothing in the way of one."""
    host = lone(bondd=False)
    host.start_refusable()
    devices = host.devices()
    with host.refusing(pin):
        line = error_line(host.ctl_try("create", "bond0"), REFUSED)
        assert "try again" in line and "rm -r" not in line
    assert host.ctl_json("list") == host.ctl_json("show") == host.pins() == []
    assert host.devices() == devices
    host.ctl("create", "bond0")


def test_pins_that_cannot_be_opened(lone):
    """For now: that is no damage, and nobody is told to remove them."""
    host = lone(bondd=False)
    host.start_refusable()
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0")
    host.kill_bondd()
    with host.refusing("prog_port"):
        host.start_bondd()
        assert "not adopted" in host.log() and "rm -r" not in host.log()
    host.restart_bondd(kill=True)
    host.wait_slaves("l0")


def test_messages_that_cannot_be_read(lone):
    """Requests are answered meanwhile, and the log is not flooded."""
    host = lone(bondd=False)
    host.start_refusable()
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0")
    with host.refusing("messages"):
        host.ip("link", "set", "l0", "alias", "makes a message")
        wait_for(lambda: host.log().count("were lost") > 2, "messages to be lost")
        host.ctl("set", "bond0", "min_links", "1")
        assert host.log().count("were lost") < 100
    host.ip("link", "set", "l0", "name", "eth9")
    host.wait_slaves("eth9")


def test_foreign_directory(case):
    """Somebody else's pins under a bond's name are not touched."""
    foreign = case.host.bpf_dir / "bond7"
    foreign.mkdir()
    foreign_map(foreign / "settings")
    error_line(case.host.ctl_try("create", "bond7"), REFUSED)
    error_line(case.host.ctl_try("show", "bond7"), REFUSED)
    assert (foreign / "settings").exists() and not case.host.exists("bond7")
    case.host.restart_bondd(kill=True)
    assert (foreign / "settings").exists()


def test_show_of_all_with_one_damaged(case):
    """The others are still shown; the status tells that something is wrong."""
    case.host.kill_bondd()
    damage_missing(case.host.bpf_dir / "bond1")
    done = case.host.ctl_try("-j", "show")
    assert done.returncode == REFUSED and "bond1" in done.stderr
    assert not done.stdout or [bond["name"] for bond in json.loads(done.stdout)] == ["bond0"]


def test_bpffs_is_not_mounted(lone):
    """bondd mounts it, or says how. In a mount namespace of its own, so that nobody
    else loses it.
    """
    host = lone(links=0, bondd=False)
    command = " ".join(map(str, host.bondd_command()))
    done = host.run("unshare", "--mount", "sh", "-c", f"umount -l {BPFFS}; timeout 3 {command}",
                    check=False)
    assert done.returncode == 124 or "mount" in done.stderr, (done.returncode, done.stderr)


@pytest.mark.parametrize("outside, said", [("umount -l", "outside of it"), ("ls", "nsenter")])
def test_bpffs_is_not_mounted_and_bondd_has_its_own_mounts(lone, outside, said):
    """As the unit, and as by `ip netns exec`: what it would mount there, nobody else would see."""
    host = lone(links=0, bondd=False)
    command = " ".join(map(str, host.bondd_command()))
    done = host.run("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c",
                    f"{outside} {BPFFS}; timeout 5 unshare --mount sh -c 'umount -l {BPFFS}; "
                    f"exec {command}'; exit $?", check=False)
    assert done.returncode == 1 and said in done.stderr, (done.returncode, done.stderr)


def test_a_bpf_dir_that_is_no_bpffs(lone):
    host = lone(links=0, bondd=False)
    host.bpf_dir = host.dir / "plain"
    done = host.run("timeout", "5", *host.bondd_command(), check=False)
    assert done.returncode == 1 and done.stderr.strip(), (done.returncode, done.stderr)
