#!/bin/bash
# All tests, as `make test` runs them: format, unit, manual, bondctl, datapath, network, and last a
# part of those in the emulated machine. Prints why tests were skipped, ends with the totals, and fails when anything failed.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}
output=$(mktemp)
trap 'rm -f "$output"' EXIT
passed=0 failed=0 skipped=0

# Adds what the last line of pytest or cmocka's summary says.
count() {
    local found
    found=$(grep -oE "[0-9]+ $1" "$output" | tail -1 | cut -d' ' -f1)
    echo "${found:-0}"
}

step() { printf '\n== %s\n' "$1"; }

single() { # NAME COMMAND...: one check that passes or fails
    local name=$1
    shift
    step "$name"
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
}

unit() { # PROGRAM: cmocka counts its tests on stderr
    step "$1"
    "$1" >"$output" 2>&1
    local status=$?
    grep -vE '^\[ +(RUN|OK) +\]' "$output"
    local bad
    bad=$(grep -cE '^\[  FAILED  \] [a-z]' "$output")
    passed=$((passed + $(sed -nE 's/^\[  PASSED  \] ([0-9]+) test.*/\1/p' "$output" | tail -1 | grep . || echo 0)))
    [ $status = 0 ] || failed=$((failed + (bad > 0 ? bad : 1)))
}

suite() { # DIRECTORY: a pytest suite; each is a process of its own
    step "$1"
    "$python" -m pytest -q -rs --tb=short -p no:cacheprovider "$1" 2>&1 | tee "$output"
    local status=${PIPESTATUS[0]}
    tail -1 "$output" >"$output.last" && mv "$output.last" "$output"
    passed=$((passed + $(count passed)))
    skipped=$((skipped + $(count skipped)))
    local bad=$(($(count failed) + $(count error)))
    [ "$status" = 0 ] || failed=$((failed + (bad > 0 ? bad : 1)))
}

machine() { # the emulated machine; without it one test counts as skipped
    step "tests/vm"
    local lacks
    if ! lacks=$(tests/vm/ready); then
        echo "SKIPPED: the emulated machine: $lacks"
        skipped=$((skipped + 1))
        return
    fi
    VM_SET=small tests/vm/run 2>&1 | tee "$output"
    local status=${PIPESTATUS[0]}
    tail -1 "$output" >"$output.last" && mv "$output.last" "$output"
    passed=$((passed + $(count passed)))
    skipped=$((skipped + $(count skipped)))
    local bad
    bad=$(count failed)
    [ "$status" = 0 ] || failed=$((failed + (bad > 0 ? bad : 1)))
}

single "check-format" make check-format
for program in build/tests/unit/test_*; do
    case $program in *.o | *.d | *\*) continue ;; esac
    unit "$program"
done
unit tests/sim/run
for directory in tests/manual tests/packaging tests/cli tests/lacp tests/bpf tests/net; do
    [ -d "$directory" ] && suite "$directory"
done
machine

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
