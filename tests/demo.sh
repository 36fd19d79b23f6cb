#!/bin/bash
# The demonstration, as `make demo` runs it: two hosts (network namespaces) with four links of 1
# Gbit/s between them, a bondd on each, one TCP connection over all four, and a cut in mid-stream. A
# fifth link of the same kind stays outside the bond, with a TCP connection of its own at the same
# time: what else the machine does slows both. Prints as it goes, ends with a table, and leaves
# nothing behind, whichever way it ends. Fails when no traffic flowed.
set -u
cd "$(dirname "$0")/.." || exit 1

# A GSO packet of 64 KB must fit in the burst, or the shaper cuts it up and two CPUs are too few
# (docs/users/datapath.md).
shaper=(tbf rate 1gbit burst 128kb latency 5ms)
links=(eth1 eth2 eth3 eth4)
beside=eth5
cut=eth2
options=(mode balance-rr bytes_per_slave 1) # whoever has sent the fewest bytes is next
packet_rate=10000

build=$PWD/build
east=xbond-demo-$$-east west=xbond-demo-$$-west
bpffs=/sys/fs/bpf
work='' mounted='' pids=()
declare -A clients

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() { echo "demo: $*" >&2; exit 1; }
in_host() { local host=$1; shift; nsenter --net="/run/netns/$host" -- "$@"; }
# The same as a child of its own, whose pid is $!: only with &.
enter() { local host=$1; shift; exec nsenter --net="/run/netns/$host" -- "$@"; }
directories() {
	echo "XBOND_RUN_DIR=$work/$1/run XBOND_BPF_DIR=$bpffs/$1 XBOND_CONFIG_DIR=$work/$1/etc"
}

# Runs a command of xbond in a host, with the host's directories in its environment.
xbond() {
	local host=$1
	shift
	# shellcheck disable=SC2046
	in_host "$host" env $(directories "$host") "$build/$1" "${@:2}"
}

# The same, shown to the reader first.
show() {
	printf '%s# %s\n' "${1##*-}" "${*:2}"
	if [ "$2" = ip ]; then in_host "$@"; else xbond "$@"; fi || fail "that failed"
}

# shellcheck disable=SC2317
cleanup() {
	local pid host
	trap '' INT TERM HUP
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
	for host in "$east" "$west"; do
		[ -e "/run/netns/$host" ] && ip netns del "$host"
		rm -rf "${bpffs:?}/$host"
	done
	[ -n "$work" ] && rm -rf "$work"
	[ -n "$mounted" ] && umount "$bpffs"
}

# Waits at most 10 s for a command to succeed.
wait_until() {
	local deadline=$((SECONDS + 10))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || fail "waited in vain for: $*"
		sleep 0.05
	done
}

prepare() {
	[ "$(id -u)" = 0 ] || fail "needs root: sudo make demo"
	local file
	for file in bondd bondctl tools/udpseq; do
		[ -x "$build/$file" ] || fail "build/$file is missing: run make demo"
	done
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(mktemp -d /tmp/xbond-demo-XXXXXX) || exit 1
	chmod 755 "$work"
	mountpoint -q $bpffs || { mount -t bpf bpf $bpffs && mounted=1; } ||
		fail "no BPF file system"
}

make_hosts() {
	local host number=0 link
	for host in "$east" "$west"; do
		ip netns add "$host" && in_host "$host" ip link set lo up &&
			mkdir -p "$work/$host/etc" || exit 1
	done
	for link in "${links[@]}" "$beside"; do
		number=$((number + 1))
		in_host "$east" ip link add "$link" index $((100 + number)) type veth \
			peer name "$link" index $((200 + number)) netns "$west" || exit 1
		for host in "$east" "$west"; do
			in_host "$host" tc qdisc add dev "$link" root "${shaper[@]}" || exit 1
			in_host "$host" ip link set "$link" up || exit 1
		done
	done
	in_host "$east" ip addr add 192.0.2.1/30 dev "$beside" || exit 1
	in_host "$west" ip addr add 192.0.2.2/30 dev "$beside" || exit 1
}

start_daemon() {
	local host=$1
	# shellcheck disable=SC2046
	enter "$host" env $(directories "$host") "$build/bondd" 2>"$work/$host/log" &
	pids+=($!)
}

daemon_answers() { [ -S "$work/$1/run/bondd.sock" ]; }

slaves_up() { # HOST COUNT: the bond itself is one more
	local up
	up=$(xbond "$1" bondctl -j show bond0 | grep -o '"mii_status": *"up"' | wc -l)
	[ "$up" = $(($2 + 1)) ]
}

make_bonds() {
	local host number=0
	for host in "$east" "$west"; do
		start_daemon "$host"
		wait_until daemon_answers "$host"
		number=$((number + 1))
		show "$host" bondctl create bond0 "${options[@]}"
		show "$host" bondctl add-slave bond0 "${links[@]}"
		show "$host" ip link set bond0 up
		show "$host" ip addr add 10.0.0.$number/24 dev bond0
	done
	for host in "$east" "$west"; do wait_until slaves_up "$host" ${#links[@]}; done
}

# One TCP connection from east to ADDRESS for SECONDS, in the background; reports to $work/ADDRESS.
listening() { in_host "$west" ss -Hltn "src $1" | grep -q ':5201 '; }
start_tcp() {
	enter "$west" iperf3 -s -1 -B "$1" >/dev/null 2>&1 &
	pids+=($!)
	wait_until listening "$1"
	enter "$east" iperf3 -c "$1" -t "$2" -f m >"$work/$1" 2>&1 &
	clients[$1]=$!
	pids+=($!)
}
end_tcp() { wait "${clients[$1]}" || fail "iperf3: $(cat "$work/$1")"; }

# samples[n]: microseconds, then bytes that west has received on each link, the one beside last.
samples=()
# shellcheck disable=SC2016
sample() {
	samples+=("${EPOCHREALTIME/[.,]/} $(in_host "$west" awk -v want="${links[*]} $beside" '
		{ sub(":", " "); bytes[$1] = $2 }
		END {
			n = split(want, name, " ")
			for (i = 1; i <= n; i++) printf "%d ", bytes[name[i]]
		}' /proc/net/dev)")
}

# Between two samples: Gbit/s of each link of the bond, their sum, Gbit/s of the link beside, and
# how many times that the sum is.
rates() {
	echo "${samples[$1]} ${samples[$2]}" | awk '{
		half = NF / 2
		for (i = 2; i <= half; i++) {
			rate = ($(half + i) - $i) * 8 / ($(half + 1) - $1) / 1000
			if (i == half)
				break
			sum += rate
			printf "%7.2f", rate
		}
		printf "%9.2f%9.2f%8.2f\n", sum, rate, (rate ? sum / rate : 0) }'
}

heading() {
	printf '%-16s' "$1"
	printf '%7s' "${links[@]}"
	printf '%9s%9s%8s\n' total beside times
}

# Prints the rates of so many seconds, one by one.
watch_seconds() {
	local n last
	for ((n = 0; n < $1; n++)); do
		sleep 1
		sample
		last=$((${#samples[@]} - 1))
		printf '%-16s%s\n' "  second $last" "$(rates $((last - 1)) $last)"
	done
}

carrier() { in_host "$west" ip link set "$cut" "$1" || exit 1; }

# samples: 0..4 before, 5..8 while the link is cut, 9..13 after
tcp_over_all() {
	say "One TCP connection over all links; $cut is cut at second 5 and comes back at second 9"
	echo "Gbit/s; beside: another TCP connection, over a link of its own ($beside)"
	heading ""
	start_tcp 192.0.2.2 15
	start_tcp 10.0.0.2 14
	sleep 0.5
	sample
	watch_seconds 4
	carrier down
	echo "  -- $cut cut"
	watch_seconds 4
	carrier up
	echo "  -- $cut back"
	watch_seconds 4
	end_tcp 10.0.0.2
	end_tcp 192.0.2.2
	grep -E 'sender|receiver' "$work/10.0.0.2"
}

# Number of one field of udpseq's report.
field() { grep -oE "\"$1\": *[0-9.]+" "$2" | grep -oE '[0-9.]+$'; }

lost() { echo $(($(field sent "$work/$1-sent") - $(field received "$work/$1-received"))); }

# Four seconds of packets, the reports in $work/RUN-*; a run named "cut" has a cut in the middle.
udp_over_all() {
	local run=$1 receiver sender
	enter "$west" "$build/tools/udpseq" recv >"$work/$run-received" 2>"$work/$run-ready" &
	receiver=$!
	pids+=("$receiver")
	wait_until grep -q ready "$work/$run-ready"
	enter "$east" "$build/tools/udpseq" send --to 10.0.0.2 --rate $packet_rate \
		--count $((packet_rate * 4)) >"$work/$run-sent" &
	sender=$!
	pids+=("$sender")
	sleep 1
	[ "$run" != cut ] || carrier down
	sleep 2
	[ "$run" != cut ] || carrier up
	wait "$sender" || fail "udpseq did not send"
	kill "$receiver"
	wait "$receiver" || fail "udpseq did not receive"
	printf '  %-6s %s sent, %s received\n' "$run" "$(field sent "$work/$run-sent")" \
		"$(field received "$work/$run-received")"
}

udp_with_a_cut_and_without() {
	say "$packet_rate small numbered UDP packets per second: uncut, then $cut is cut and back"
	udp_over_all uncut
	udp_over_all cut
}

look_inside() {
	say "What a bond tells"
	show "$east" bondctl show bond0
	printf '\nand what lies in its maps, with nothing but bpftool:\n'
	printf 'east# bpftool map dump pinned %s/bond0/settings\n' "$bpffs/$east"
	bpftool map dump pinned "$bpffs/$east/bond0/settings" |
		grep -E '"(settings|path|xmit|packets|bytes)' | sed 's/^ \{16\}//'
}

summary() {
	say "Result"
	heading "one TCP conn."
	printf '%-16s%s\n' before "$(rates 0 4)" "$cut cut" "$(rates 5 8)" after "$(rates 9 12)"
	printf '\n%-40s%12s%12s\n' "small packets" "$cut cut" uncut
	printf '%-40s%12s%12s\n' "lost, of $(field sent "$work/cut-sent")" \
		"$(lost cut)" "$(lost uncut)"
	printf '%-40s%12s%12s\n' "longest time without one, ms" \
		"$(field longest_silence_ms "$work/cut-received")" \
		"$(field longest_silence_ms "$work/uncut-received")"
}

# Every phase must have carried more than the link beside.
judge() {
	local window
	for window in "0 4" "5 8" "9 12"; do
		# shellcheck disable=SC2086
		rates $window | awk '{ exit !($NF > 1.2) }' ||
			fail "too little traffic (samples $window)"
	done
	[ "$(field received "$work/cut-received")" -gt 0 ] || fail "no UDP packet arrived"
}

prepare
say "Two hosts, four links of 1 Gbit/s for a bond and one beside (veth, ${shaper[*]})"
make_hosts
say "A bond on each host"
make_bonds
tcp_over_all
udp_with_a_cut_and_without
look_inside
summary
judge
