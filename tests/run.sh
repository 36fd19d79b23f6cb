#!/bin/bash
# All tests, as `make test` runs them: format, unit, manual, bondctl, datapath, network, and beside
# these a part of those in the emulated machine. Prints why tests were skipped, ends with what
# failed and the totals, and fails when anything failed. `run.sh local`: without the emulated
# machine and the network.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}
build=${XBOND_BUILD:-build}
output=$(mktemp)
: >"$output.failed"
set -m # what runs beside is a group of its own, so that an interrupted run ends all of it
end() {
    local pid
    for pid in $(jobs -p); do kill -- "-$pid" 2>/dev/null; done
    rm -f "$output"*
}
trap end EXIT
passed=0 failed=0 skipped=0

# Adds what the last line of pytest or cmocka's summary says.
count() {
    local found
    found=$(grep -oE "[0-9]+ $1" "$output" | tail -1 | cut -d' ' -f1)
    echo "${found:-0}"
}

step() { printf '\n== %s (%d s since the start)\n' "$1" "$SECONDS"; }

single() { # NAME COMMAND...: one check that passes, fails, or is skipped (status 77)
    local name=$1 status=0
    shift
    step "$name"
    "$@" || status=$?
    case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) && echo "FAILED $name" | tee -a "$output.failed" ;;
    esac
}

unit() { # PROGRAM: cmocka counts its tests on stderr
    step "$1"
    "$1" >"$output" 2>&1
    local status=$?
    grep -vE '^\[ +(RUN|OK) +\]' "$output"
    local bad
    bad=$(grep -cE '^\[  FAILED  \] [a-z]' "$output")
    local good
    good=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) test.*/\1/p' "$output" | tail -1)
    passed=$((passed + ${good:-0}))
    [ $status = 0 ] && return
    failed=$((failed + (bad > 0 ? bad : 1)))
    echo "FAILED $1" >>"$output.failed"
}

# Adds what the last line of a file says, of pytest or of tests/vm/run.
add() { # FILE STATUS
    tail -1 "$1" >"$output"
    passed=$((passed + $(count passed)))
    skipped=$((skipped + $(count skipped)))
    local bad=$(($(count failed) + $(count error)))
    grep -E '^(FAILED|ERROR) ' "$1" | sort -u >>"$output.failed"
    [ "$2" = 0 ] || failed=$((failed + (bad > 0 ? bad : 1)))
}

in_pytest() { "$python" -m pytest -q -rfEs --tb=short -p no:cacheprovider "$@" 2>&1; }

suite() { # NAME PYTEST WORDS...: a pytest suite; each is a process of its own
    local name=$1
    shift
    step "$name"
    in_pytest "$@" | tee "$output.all"
    add "$output.all" "${PIPESTATUS[0]}"
}

begin() { # NAME COMMAND...: beside what follows, until `finish NAME`
    local name=$1
    shift
    "$@" >"$output.$name" 2>&1 &
    pids[$name]=$!
}

finish() { # NAME TITLE
    local status=0
    wait "${pids[$1]}" || status=$?
    step "$2"
    cat "$output.$1"
    add "$output.$1" "$status"
}

of_net() { printf "tests/net/test_%s.py\n" "$@"; }

side_by_side() { # LISTS of names of files in tests/net: a suite for each list
    local list
    for list in "$@"; do
        # shellcheck disable=SC2046,SC2086  # a list of words
        begin "${list%% *}" in_pytest $(of_net $list)
    done
    for list in "$@"; do
        finish "${list%% *}" "tests/net: $list"
    done
}

others_of_net() { # FILES...: all the other files of tests/net
    local file
    for file in tests/net/test_*.py; do
        [[ " $* " == *" $file "* ]] || echo "$file"
    done
}

# The lots share two CPUs, and no deadline is long enough for every coincidence. Up to four tests
# that failed there run once more, alone; the end says which of them pass only then.
again() {
    local tests
    mapfile -t tests < <(sed -nE '/^FAILED tests\/net\// {s/^FAILED //; s/ - .*//; p}' \
        "$output.failed")
    [ ${#tests[@]} -gt 0 ] && [ ${#tests[@]} -le 4 ] || return
    step "once more, alone: ${tests[*]}"
    in_pytest "${tests[@]}" | tee "$output.all"
    local good
    tail -1 "$output.all" >"$output"
    good=$(count passed)
    failed=$((failed - good)) passed=$((passed + good))
    sed -i "s/^FAILED tests\/net\//beside others: &/" "$output.failed"
    grep -E '^(FAILED|ERROR) ' "$output.all" | sed 's/^/alone, too: /' >>"$output.failed"
}

end_with_totals() {
    [ ! -s "$output.failed" ] || { echo; cut -c1-300 "$output.failed"; }
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ]
    exit
}

units() {
    local program
    for program in "$build"/tests/unit/test_*; do
        case $program in *.o | *.d | *\*) continue ;; esac
        unit "$program"
    done
    unit tests/sim/run
    unit tests/fuzz/replay
}

# Of the tests, what runs a second time in CI, with programs that are built with sanitizers.
sanitized() {
    export SAN=address,undefined XBOND_BUILD=build-address-undefined HISTORIES=1000
    set -o pipefail
    nice make -s -j2 build-tests >/dev/null &&
        tests/run.sh sanitized | sed -E 's/^(FAILED|ERROR) /&with sanitizers: /'
}

declare -A pids
if [ "${1:-}" = sanitized ]; then
    units
    suite "tests/cli" tests/cli tests/import
    # shellcheck disable=SC2046
    suite "tests/net: a part" $(of_net mac service group trouble lacp_partner)
    end_with_totals
fi
single "check-format" tests/check-format
if [ "${1:-}" = local ]; then
    : without the emulated machine
elif lacks=$(tests/vm/ready); then
    last=$(awk '!/^#/ { last = $1 } END { print last }' tests/vm/kernels)
    begin vm env VM_SET=small VM_KERNELS="${VM_KERNELS:-$last}" tests/vm/run
else
    lacks="SKIPPED: the emulated machine: $lacks"
fi
units
for directory in tests/manual tests/packaging tests/report tests/cli tests/import tests/layout \
    tests/bpf; do
    suite "$directory" "$directory"
done
[ "${1:-}" != local ] || end_with_totals

# Files of tests/net that leave the machine idle most of the time run in lots, side by side; then
# those whose traffic takes a CPU, two at a time; the others have the machine to themselves.
lots=(
    "errors service explain explain_random mac iplink fragments lacp_wire lacp_spread slaves
     rx_backlog loops"
    "lifecycle stacking queue_id xdp library rx_hook attach_check doctor"
    "top lacp_ovs lacp_junk lacp_standby lacp_opening lacp_partner lacp_down announce netkit
     cni policy policy_meanwhile team"
    "slave_filters slave_sockets upgrade lacp_fallback bypass resilience rebalance soak"
    "lacp lacp_hold drain_markers restart modes"
    "arp quality reselect announce_counts fail_over_mac apply group multicast tlb alb"
    "bfd bfd_others carrier tell wake monitor packets manager multihoming
     metrics metrics_attack metrics_page metrics_prometheus trouble"
)
[ "${CI:-}" != true ] || [ -n "${SAN:-}" ] || begin sanitized sanitized
side_by_side "${lots[@]}"
if [ -n "${pids[vm]:-}" ]; then
    finish vm "tests/vm (make test-vm has the rest)"
else
    step "tests/vm"
    echo "$lacks"
    skipped=$((skipped + 1))
fi
[ -z "${pids[sanitized]:-}" ] || finish sanitized "with address and undefined sanitizer"
pairs=("failover" "lacp_evil policies")
side_by_side "${pairs[@]}"
again
# shellcheck disable=SC2046,SC2086
suite "tests/net, the others" $(others_of_net $(of_net ${lots[*]} ${pairs[*]}))
end_with_totals
