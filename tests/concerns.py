# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests concern a file: for `make check FILE=...`.

Unit tests, fuzz targets and the simulator concern every object that they are linked with, and for a
header, if few files include it, each of these. Of the other suites the table says it: of all lines
whose first word a path begins with, the longest one counts. Names are those of files in tests,
without test_; a name alone is a suite. "users" stands for what concerns the files that include the
header, if these are few.
"""
import glob
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = os.environ.get("XBOND_BUILD", "build")
FEW = 10  # files include a header: they are looked at, too
PYTEST = [sys.executable, "-m", "pytest", "-q", "-rfEs", "--tb=short", "-p", "no:cacheprovider"]
# Tests of the network wait most of the time, for messages, timers and locks of the kernel.
BESIDE = ["-n", str(min(3 * len(os.sched_getaffinity(0)), 24)), "--dist", "loadgroup"]

TABLE = """
lib/bfd/                    layout net/bfd
bpf/                        bpf layout net/modes net/failover net/lacp_hold
bpf/abi                     bpf cli layout net/upgrade net/restart manual/promised
bpf/linkwatch               net/carrier net/wake
bpf/xdp                     bpf net/xdp net/library
bpf/clients                 bpf/clients net/alb net/tlb
bpf/answer                  bpf/model bpf/user_space net/library
bpf/choose                  bpf layout net/modes net/rebalance net/tlb net/library
bpf/slow                    bpf/hold net/lacp_hold net/lacp_evil net/flood
bpf/drops                   bpf/drops cli/show net/slave_filters
bpf/flow                    bpf/model bpf/user_space bpf/fields bpf/policies bpf/garbage
                            cli/explain net/policies
bpf/port_filter             net/xsk net/xsk_function net/xsk_threads layout
bpf/send_frame              bpf/model bpf/user_space net/library net/xdp
bpf/flow_hook               net/fragments net/policies
bpf/micro_bfd               net/bfd net/carrier net/tell net/show_away net/flood
bpf/neighbour               bpf/user_space net/alb net/tlb
bpf/send_tlb                bpf/clients net/alb net/tlb net/flood
bpf/tx                      net/queue_id net/team net/tell net/modes net/policies
cli/                        layout manual cli/calls cli/show net/errors
cli/base/                   cli net/explain net/packets
cli/cmd_bond                cli/calls net/errors net/slaves
cli/cmd_complete            cli/complete cli/completions
cli/cmd_config              cli/check net/apply
cli/cmd_policy              net/policy net/policy_meanwhile
cli/cmd_save                cli/save net/service
cli/cmd_simulate            cli/simulate
cli/complete                cli/complete cli/completions
cli/doctor/                 cli/doctor net/doctor manual
cli/explain/                cli/explain cli/explain_pcap net/explain net/explain_random
                            manual/fields
cli/import/                 import manual/fields
cli/monitor/                cli/calls net/monitor
cli/packets/                cli/flows cli/explain_pcap net/packets manual/fields
cli/policy_file             cli/versions net/policy net/policy_meanwhile
cli/show/                   cli/show cli/show_text cli/schema cli/proc_and_sys cli/calls
cli/simulate                cli/simulate
cli/top/                    cli/top net/top manual/fields
cni/                        net/cni manual/promised
lib/common/                 layout cli/calls cli/show users
daemon/                     layout net/lifecycle net/restart net/iplink
daemon/alb/                 net/alb net/tlb bpf/clients
daemon/announce/            net/announce net/announce_counts
daemon/base/                net/manager net/monitor net/loop net/restart
daemon/bfd_thread/          net/bfd net/bfd_others
daemon/bond/                net/modes net/failover net/restart net/reselect net/fail_over_mac
daemon/bond/attach          net/attach_check net/policy
daemon/bond/bond_bfd        net/bfd
daemon/bond/bond_lacp       net/lacp net/lacp_hold
daemon/bond/bond_rebalance  net/monitor net/rebalance
daemon/bond/evaluate        net/modes net/failover net/restart net/reselect net/monitor
daemon/bond/pins_keep       net/attach_check net/policy net/xsk_rights layout
daemon/bond/port_hooks      net/bypass
daemon/bond/publish         net/modes net/failover net/restart net/rx_hook net/xdp
daemon/control/             net/errors net/group net/monitor net/apply net/handover cli/calls
                            manual/promised
daemon/dataplane/           net/restart net/upgrade net/attach_check net/lifecycle
daemon/dataplane/migrate    net/upgrade manual/promised
daemon/dataplane/stray      net/slave_filters
daemon/dataplane/tcx        net/slave_filters net/attach_check
daemon/dataplane/xdp        net/xdp net/rx_hook
daemon/device/              net/lifecycle net/iplink net/netkit net/stacking net/mac
daemon/device/device_values net/fail_over_mac net/mac net/tlb
daemon/handover/            net/handover net/conversion net/netconf
daemon/lacp_thread/         net/lacp net/lacp_hold net/lacp_opening net/lacp_wire net/lacp_spread
                            net/lacp_fallback net/lacp_ovs net/lacp_down
daemon/manage/              net/apply net/service net/errors net/loops
daemon/manage/adopt         net/restart net/upgrade net/lifecycle
daemon/manage/policy        net/policy net/policy_meanwhile
daemon/manage/team          net/team
daemon/metrics/             net/metrics net/metrics_attack net/metrics_page net/metrics_prometheus
daemon/monitor/             net/carrier net/wake net/quality
daemon/monitor/arp          net/arp bpf/probes
daemon/monitor/verdict      net/bfd net/carrier net/wake
daemon/slave/               net/slaves net/mac net/trouble net/restart net/loops
daemon/slave/own_vlans      net/own_vlans
daemon/slave/slave_multi    net/multicast
daemon/slave/multicast      net/multicast
daemon/slave/slave_team     net/team
daemon/slave/slave_trouble  net/trouble net/multihoming
daemon/slave/slave_rx       net/attach_check net/rx_hook
daemon/slave/slave_mac      net/mac net/fail_over_mac net/tlb
daemon/slave/mac_swap       net/mac net/fail_over_mac net/tlb
daemon/slave/slave_link     net/mac net/iplink net/lifecycle
daemon/bond/part            net/slaves net/faults net/trouble
daemon/parts                net/slaves net/faults net/restart
daemon/slave/rx             net/rx_hook net/slave_filters net/slave_sockets net/attach_check
daemon/slave/xdp            net/xdp net/rx_hook
lib/lacp/                   layout net/lacp_wire net/lacp_standby net/lacp_partner net/lacp_evil
                            net/lacp_junk net/multihoming
include/xbond/              layout bpf/model net/library manual/promised
include/xbond/xsk           cli/versions layout net/xsk net/xsk_threads net/xsk_rights packaging
                            manual/promised
lib/network/                layout net/iplink net/lifecycle users
lib/network/bonding         net/handover net/team import
lib/network/filters         net/slave_filters net/bypass
lib/network/ip              net/arp net/announce net/iplink
lib/network/mac_lists       net/multicast net/announce users
lib/network/netconf         net/netconf
lib/network/nl              net/faults net/iplink net/lifecycle layout
lib/options/                cli/check cli/option_values cli/calls cli/complete import manual
lib/rules/                  net/reselect net/resilience
lib/rules/active            net/reselect net/fail_over_mac net/drain_markers net/alb
lib/rules/buckets           net/rebalance net/resilience
lib/rules/link_state        net/quality net/arp net/carrier
lib/rules/rebalance         net/rebalance
lib/view/                   cli/show cli/show_text cli/schema cli/top cli/doctor manual/fields
                            manual/promised net/metrics
xsk/                        bpf/user_space cli/versions layout net/xsk net/xsk_function
                            net/xsk_rights net/xsk_threads
debian/                     packaging
docs/                       manual report
docs/developers/            layout manual
docs/json/                  cli/schema cli/show manual/fields manual/promised
docs/users/hash.md          bpf/model
man/                        manual
packaging/                  packaging net/service
packaging/completions/      cli/completions
packaging/examples/         packaging net/library net/policy net/xsk net/xsk_function
                            net/xsk_threads
packaging/metrics/          packaging net/metrics_prometheus
packaging/site/             manual/site
packaging/tools/            packaging net/service manual/promised
tests/browser.py            manual/site net/metrics_page
tests/clock.py              cli/flows cli/top cli/doctor
tests/screen.py             cli/top
tests/bench/                layout
tests/bpf/                  bpf
tests/cli/                  cli
tests/demo.sh               packaging/tools
tests/fields.py             manual/fields manual/promised
tests/promised.py           manual/promised
tests/fuzz/                 layout
tests/import/               import
tests/layout/               layout
tests/manual/               manual
tests/net/                  net/modes net/restart net/lacp_wire
tests/packaging/            packaging
tests/report/               report
tests/tools/                bpf/user_space net/fragments net/policy net/xdp
tests/                      layout
Makefile                    layout packaging
.                           layout manual packaging
"""


def rows():
    """{prefix: names}; a line that begins with a space continues the one before."""
    lines = re.sub(r"\n +", " ", TABLE).strip().splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def names_of(path):
    table = rows()
    best = max((prefix for prefix in table if path.startswith(prefix)), key=len, default=".")
    return table[best].split()


def by_table(path):
    """Words for pytest."""
    if re.fullmatch(r"tests/\w+/test_\w+\.py", path):
        return [path]
    names = names_of(path)
    if "users" in names:
        names += [name for user in users_of(re.sub(r"c$", "h", path)) for name in names_of(user)]
    return [path_of(name) for name in dict.fromkeys(names) if name != "users"]


def path_of(name):
    suite, _, file = name.partition("/")
    return f"tests/{suite}/test_{file}.py" if file else f"tests/{suite}"


def changed():
    """Files that differ from the last commit, or are new."""
    lines = subprocess.run(["git", "status", "--porcelain", "-uall", "--no-renames"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    gone = [line[3:] for line in lines if line.startswith((" D", "D "))]
    if gone:
        print(f"check: without {' '.join(gone)}, which is gone; make test has all tests")
    return [line[3:] for line in lines if line[3:] not in gone]


def sources_of(path):
    """The .c files that a file is compiled into; none for one that many include."""
    return [path] if path.endswith(".c") else users_of(path)


def users_of(header):
    """The .c files that include it; none, if they are many."""
    name = re.sub("^(lib|include)/", "", header)
    users = [path for path in glob.glob("*/**/*.c", root_dir=ROOT, recursive=True)
             if f'#include "{name}"' in (ROOT / path).read_text()]
    return users if len(users) <= FEW else []


def exported(source):
    """The functions and data that an object offers to others."""
    lines = subprocess.run(["nm", "-g", "--defined-only", f"{BUILD}/{source[:-2]}.o"],
                           capture_output=True, text=True, check=False).stdout.splitlines()
    return {line.split()[-1] for line in lines} - {"main"}


def linked(programs, sources):
    """Those of the programs that hold any of the sources."""
    wanted = set().union(*(exported(source) for source in sources if
                           not source.endswith(".bpf.c")))
    names = {source.rsplit("/", 1)[1][:-2] for source in sources}
    return [program for program in programs
            if program.rsplit("/", 1)[1] in names or wanted & symbols_of(program)]


def symbols_of(program):
    done = subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True,
                          check=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def programs_of(kind):
    return sorted(path for path in glob.glob(f"{BUILD}/tests/{kind}")
                  if not path.endswith((".o", ".d", ".a", ".gcno", ".gcda")))


def pytest_parts(words):
    """A suite is one call; what is a part of a suite that is there anyway goes."""
    words = sorted({word for word in words if word.rsplit("/", 1)[0] not in words})
    for suite in sorted({word.split("/")[1] for word in words}):
        mine = [word for word in words if word.split("/")[1] == suite]
        yield [*mine, *(BESIDE if suite == "net" else [])]


def parts(paths):
    """(title, command, what it is: a unit test's program, one that reads inputs, or pytest)"""
    paths = [os.path.relpath(path, ROOT) for path in paths] or changed()
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        sys.exit(f"check: {missing[0]}: no such file in this tree; FILE= takes paths as "
                 "daemon/slave/lro.c")
    if not paths:
        sys.exit("check: nothing has changed since the last commit; FILE= names files")
    sources = sorted({source for path in paths for source in sources_of(path)})
    words = [word for path in paths for word in by_table(path)]
    chosen = [(program, [program], "program")
              for program in linked(programs_of("unit/test_*"), sources)]
    chosen += [(program, [program, f"{BUILD}/inputs/{program.rsplit('fuzz_', 1)[1]}"], "input")
               for program in linked(programs_of("fuzz/fuzz_*"), sources)]
    if linked(programs_of("sim/sim"), sources):
        chosen.append(("tests/sim/run", ["tests/sim/run"], "program"))
    chosen += [(" ".join(mine), [*PYTEST, *mine], "pytest") for mine in pytest_parts(words)]
    print(f"check: {' '.join(paths)}\n  " + "\n  ".join(title for title, *_ in chosen), flush=True)
    return chosen
