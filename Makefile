# xbond: `make help` lists the targets.
PREFIX ?= /usr/local
DESTDIR ?=
sysconfdir ?= /etc
unitdir ?= /usr/lib/systemd/system
udevdir ?= /usr/lib/udev
networkddir ?= /usr/lib/systemd/network
networkmanagerdir ?= /usr/lib/NetworkManager/conf.d
ifupdown2dir ?= /usr/share/ifupdown2/addons
ifupdownngdir ?= /usr/libexec/ifupdown-ng
bashcompletiondir ?= $(PREFIX)/share/bash-completion/completions
libdir ?= $(PREFIX)/lib
zshcompletiondir ?= $(PREFIX)/share/zsh/site-functions
fishcompletiondir ?= $(PREFIX)/share/fish/vendor_completions.d
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
PYTHON ?= /usr/bin/python3
VERSION := $(shell packaging/version)

V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' $(1) $(2)
MAKEFLAGS += --no-print-directory
endif

# What builds first and then runs something: on all CPUs, unless somebody has said on how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# SAN=address,undefined or SAN=thread: with these sanitizers; COVER=1: counts what runs; FUZZ=1: for
# libFuzzer, and with both of the former if COVER=1 is there, too. Each in a build directory of its
# own.
SAN ?=
COVER ?=
FUZZ ?=
comma := ,
B := build$(addprefix -,$(subst $(comma),-,$(SAN)))$(if $(FUZZ),-fuzz)$(if $(COVER),-cover)
ifneq ($(FUZZ),)
CC := $(CLANG)
# OSS-Fuzz brings others of both (tests/fuzz/oss-fuzz/build.sh).
FUZZ_FLAGS ?= -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ_ENGINE ?= -fsanitize=fuzzer
endif
PACKAGES := libxdp libbpf libnl-3.0 libsystemd jansson inih libmicrohttpd
CLI_PACKAGES := libbpf libnl-3.0 jansson inih libpcap ncursesw libsystemd yaml-0.1
INCLUDES := -I. -Ilib -Iinclude
ARCH_INCLUDE := /usr/include/$(shell uname -m)-linux-gnu

CFLAGS ?= $(if $(COVER),-O0 -g,$(if $(SAN),$(SAN_LEVEL) -g1,$(LEVEL) -g))
INSTRUMENTS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
		$(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined)) \
	$(if $(FUZZ),$(FUZZ_FLAGS) -Wno-gnu-variable-sized-type-not-at-end) \
	$(if $(COVER),$(if $(FUZZ),-fprofile-instr-generate -fcoverage-mapping,--coverage))
# A function that a table or a library calls need not use all that it is given. With sanitizers gcc
# warns of variables that are initialized.
WARNINGS := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wswitch-enum -Wstrict-prototypes \
	-Wmissing-prototypes $(if $(CI),$(if $(SAN),,-Werror))
# A program gets only those functions that it calls: -ffunction-sections here, --gc-sections below.
ALL_CFLAGS = -std=gnu11 -ffunction-sections -fdata-sections $(CPPFLAGS) $(CFLAGS) $(INSTRUMENTS) \
	$(WARNINGS) $(INCLUDES) -I$(B) -D_GNU_SOURCE \
	$(shell $(PKG_CONFIG) --cflags $(sort $(PACKAGES) $(CLI_PACKAGES)))
BPF_CFLAGS := -std=gnu11 -O2 -g -ffreestanding -target bpf -mcpu=v3 -Wall -Wextra $(INCLUDES) \
	-I$(ARCH_INCLUDE) -ffile-prefix-map=$(CURDIR)=.

folders := daemon daemon/* cli cli/* cni lib/* xsk
sources := $(sort $(wildcard $(addsuffix /*.c,$(folders))))
objects := $(sources:%.c=$(B)/%.o)
mains := $(addprefix $(B)/,daemon/bondd.o cli/bondctl.o cni/plugin.o)
unit_tests := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
xsk_examples := $(addprefix $(B)/tools/,echo forward pin)
tools := $(patsubst tests/tools/%.c,$(B)/tools/%,$(filter-out %.bpf.c,$(wildcard tests/tools/*.c))) \
	$(patsubst tests/tools/%.c,$(B)/tools/%.o,$(wildcard tests/tools/*.bpf.c)) $(xsk_examples)
manuals := $(patsubst man/%.scd,$(B)/man/%,$(wildcard man/*.scd))
# For each page of several verbs, by the line under NAME: the page, and its other names.
manual_names := sed -sn '5{s/ - .*/.8/; /, /{s/, /.8 /g; p}}' man/*.scd
xsk_objects := $(patsubst %.c,$(B)/%.o,$(wildcard xsk/*.c))
xsk_soname := libxbond-xsk.so.0
xsk_libraries := $(B)/$(xsk_soname) $(B)/libxbond-xsk.a
units := $(notdir $(wildcard packaging/*.service packaging/*.socket))
skeletons := $(patsubst %.bpf.c,$(B)/%.skel.h,$(wildcard bpf/*.bpf.c))
# What the LACP simulator takes of the product.
simulated := $(filter $(B)/lib/lacp/%,$(objects)) $(B)/lib/view/lacp_why.o \
	$(B)/daemon/lacp_thread/lacp_thread_hold.o
bpf_headers := $(wildcard bpf/*.h) lib/lacp/state.h lib/lacp/frame.h $(wildcard lib/bfd/*.h)

# gcc takes twice as long to optimize as to compile, so unit tests themselves are not optimized, and
# with sanitizers nothing is. But what loops is.
LEVEL := -O2
SAN_LEVEL := -O0
$(B)/tests/unit/%.o: LEVEL := -O0
looping_tests := $(addprefix $(B)/tests/unit/,test_buckets.o test_rebalance.o test_moves_model.o)
$(looping_tests): LEVEL := -O2
$(addprefix $(B)/,lib/lacp/%.o lib/rules/%.o tests/sim/%.o) $(looping_tests): SAN_LEVEL := -O1

.DEFAULT_GOAL := all
# Every target that `make help` prints, and some more.
.PHONY: help build-tests build-tools built build-sanitized fuzz-targets \
	$(shell sed -n 's/^## \([^:]*\):.*/\1/p' Makefile)
.DELETE_ON_ERROR:
.SECONDARY:

## all: bondd, bondctl, the CNI plugin, the library libxbond-xsk, the BPF objects and the manual pages, in build/ (V=1 shows commands)
all: $(B)/bondd $(B)/bondctl $(B)/cni/xbond $(xsk_libraries) $(manuals)

help:
	@echo 'xbond $(VERSION)'; sed -n 's/^## /  make /p' Makefile

## deps: installs what build and demo need (apt; does nothing when it is there)
deps:
	$(Q)packaging/deps build

## deps-test: the same for the tests and benchmarks
deps-test:
	$(Q)packaging/deps build test html
	$(Q)packaging/deps checks || echo 'make fuzz, tidy and cover will be missing' >&2
	$(Q)packaging/deps vm || echo 'the emulated machine (tests/vm) will be missing' >&2
	$(Q)packaging/deps browser || echo 'the picture of the web page will not be tested' >&2

build/bpf/%.bpf.o: bpf/%.bpf.c $(bpf_headers)
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

build/bpf/%.skel.h: build/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q){ echo '/* NOLINTBEGIN: bpftool wrote this */' && \
		$(BPFTOOL) gen skeleton $< name $(subst .,_,$*)_bpf && echo '/* NOLINTEND */'; } >$@

# Sanitizers and counters leave them as they are.
ifneq ($(B),build)
$(B)/bpf/%.bpf.o $(B)/bpf/%.skel.h: build/bpf/%.bpf.o build/bpf/%.skel.h
	$(Q)mkdir -p $(@D)
	$(Q)cp -p $^ $(@D)
endif

$(B)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The version is compiled anew only when it has changed: build/version holds the last one.
ifneq ($(VERSION),$(shell cat $(B)/version 2>/dev/null))
.PHONY: $(B)/version
endif
$(B)/version:
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(VERSION)' >$@

$(B)/lib/common/paths.o: ALL_CFLAGS += -DXBOND_VERSION='"$(VERSION)"'
$(B)/lib/common/paths.o: $(B)/version

$(B)/daemon/metrics/metrics_http.o: $(wildcard daemon/metrics/page/*)

# Before the first time; after that the .d files say which objects need them.
$(filter-out $(simulated),$(filter $(B)/daemon/%,$(objects))): | $(skeletons)

# Everything but the main files. Each program takes from it what it calls.
$(B)/all.a: $(filter-out $(mains),$(objects))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsT $@ $^

# LIBRARIES are pkg-config's. Of a function in WRAPPED the program has one of its own.
LINKER = $(CC)
# With sanitizers the usual linker takes three times as long as this one, which not all systems have.
FAST_LINKER := $(if $(SAN),$(if $(shell command -v ld.gold),-fuse-ld=gold))
define link
$(call say,LD,$@)
$(Q)$(LINKER) $(FAST_LINKER) $(CFLAGS) $(INSTRUMENTS) -Wl,--gc-sections $(LDFLAGS) \
	$(addprefix -Wl$(comma)--wrap=,$(WRAPPED)) -o $@ $(filter %.o %.a,$^) \
	$(if $(LIBRARIES),$(shell $(PKG_CONFIG) $(LIBRARIES) --libs)) $(MORE_LIBRARIES) -lm
endef
LIBRARIES = $(sort $(PACKAGES) $(CLI_PACKAGES))

$(B)/bondd: LIBRARIES = $(PACKAGES)
$(B)/bondd: $(B)/daemon/bondd.o $(B)/all.a
	$(link)

$(B)/bondctl: LIBRARIES = $(CLI_PACKAGES)
$(B)/bondctl: $(B)/cli/bondctl.o $(B)/all.a
	$(link)

## static: build/bondctl-static, one file for any Linux of this architecture, but without the journal
static: $(B)/bondctl-static
$(B)/bondctl-static: LIBRARIES =
$(B)/bondctl-static: MORE_LIBRARIES = -static -Wl$(comma)--no-warnings $(filter-out -lsystemd, \
	$(shell $(PKG_CONFIG) --static --libs $(filter-out libsystemd,$(CLI_PACKAGES))))
$(B)/bondctl-static: $(B)/cli/bondctl.o $(B)/packaging/static.o $(B)/all.a
	$(link)

# Static, because it is copied to hosts that have none of its libraries (CNI_LDFLAGS= to link it as
# the others are).
CNI_LDFLAGS ?= $(if $(SAN)$(FUZZ)$(COVER),,-static -Wl$(comma)--no-warnings)
$(B)/cni/xbond: LIBRARIES = $(if $(CNI_LDFLAGS),--static) libnl-3.0 jansson
$(B)/cni/xbond: MORE_LIBRARIES = $(CNI_LDFLAGS)
$(B)/cni/xbond: $(B)/cni/plugin.o $(B)/all.a
	$(link)

# libxbond-xsk exports what include/xbond/xsk.h declares; the archive is one object for that. What
# -flto puts beside the code would export all the rest.
$(xsk_objects): | $(skeletons)
$(xsk_objects): ALL_CFLAGS += -fPIC -fvisibility=hidden -fno-lto
$(B)/$(xsk_soname): $(xsk_objects)
	$(call say,SO,$@)
	$(Q)$(CC) $(CFLAGS) $(INSTRUMENTS) $(LDFLAGS) -shared -Wl,-soname,$(xsk_soname) -o $@ $^ \
		$(shell $(PKG_CONFIG) --libs libxdp libbpf)

$(B)/libxbond-xsk.a: $(xsk_objects)
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(B)/xsk/all.o $^ && $(OBJCOPY) --localize-hidden $(B)/xsk/all.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/xsk/all.o

# The first line lets man call tbl, for pages with tables.
$(B)/man/%: man/%.scd
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ printf '%s\n' "'\\\" t"; scdoc <$<; } >$@

$(B)/tests/unit/%: MORE_LIBRARIES = -lcmocka
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/all.a
	$(link)

$(B)/tests/unit/test_attach_check: WRAPPED := attach_program pin_program_id attach_is_there \
	attach_replace attach_is_of_xbond link_get pins_keep event_tell upgrade_is_due upgrade_to \
	dataplane_open_programs clock_gettime
$(B)/tests/unit/test_bfd_thread: WRAPPED := ring_buffer__consume
$(B)/tests/unit/test_pulse: WRAPPED := clock_gettime
$(B)/tests/unit/test_link_list: WRAPPED := nl_call
$(B)/tests/unit/test_lro: WRAPPED := feature_get feature_set link_visit
$(B)/tests/unit/test_slave_mac: WRAPPED := link_get nl_call clock_gettime bond_evaluate xdp_settle_tx
$(B)/tests/unit/test_xdp_hooks: WRAPPED := child_run link_get link_is_veth clock_gettime bpf_obj_get
$(B)/tests/unit/test_xsk_port: WRAPPED := sendto xsk_socket__fd choice_select choice_look ioctl if_indextoname
$(B)/tests/unit/test_xsk_port: MORE_LIBRARIES = -lcmocka -lxdp
$(B)/tests/unit/test_realtime: WRAPPED := packet_open_control pin_open \
	ring_buffer__new ring_buffer__epoll_fd ring_buffer__free
$(B)/tests/unit/test_client_rounds: WRAPPED := client_table_read arp_sender_flush clock_gettime

# What such a program wraps is declared by its definition.
$(B)/tests/unit/%.o $(B)/tests/fuzz/%.o: WARNINGS += -Wno-missing-prototypes

# bpf/ reads words of a packet wherever they are, as the kernel lets it.
$(B)/cli/base/flow_packet.o $(B)/cli/base/captured.o $(B)/tests/fuzz/fuzz_flow.o $(B)/xsk/choice.o: \
	INSTRUMENTS += $(if $(SAN)$(FUZZ),-fno-sanitize=alignment)

# The LACP simulator: tests/sim over the LACP core and what holds a port while bondd is away
# (bpf/slow.h, compiled for this machine).
$(B)/tests/sim/sim: LIBRARIES =
$(B)/tests/sim/sim: $(patsubst %.c,$(B)/%.o,$(wildcard tests/sim/*.c)) $(simulated)
	$(link)
$(B)/tests/sim/hold.o $(B)/tests/fuzz/fuzz_slow.o: INCLUDES := -Itests/sim/kernel $(INCLUDES)

# Fuzz targets (tests/fuzz/README.md): with libFuzzer or, without it, with what feeds them files.
fuzz_targets := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
$(B)/tests/fuzz/%: MORE_LIBRARIES = $(if $(FUZZ),$(FUZZ_ENGINE))
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(if $(FUZZ),,$(B)/tests/fuzz/replay_main.o) $(B)/all.a
	$(link)
$(fuzz_targets): | $(B)/inputs/made
$(B)/inputs/made: tests/fuzz/inputs $(wildcard tests/fuzz/corpus/* tests/import/*/*.txtar)
	$(Q)tests/fuzz/inputs $(@D) && touch $@
$(B)/tests/fuzz/fuzz_netlink: WRAPPED := nl_connect nl_send nl_recv nl_recvmsgs_default nl_socket_modify_cb \
	nl_socket_add_memberships access fopen
$(B)/tests/fuzz/fuzz_events: WRAPPED := sd_journal_open sd_journal_set_data_threshold sd_journal_add_match \
	sd_journal_seek_realtime_usec sd_journal_next sd_journal_get_data sd_journal_close free
# Loops over all buckets would take all the time; sentences and the target's own ways say nothing new.
$(B)/lib/rules/buckets.o $(B)/lib/view/lacp_why.o $(B)/tests/fuzz/fuzz_lacp.o: \
	INSTRUMENTS += $(if $(FUZZ),-fno-sanitize=fuzzer-no-link)
$(B)/tests/fuzz/fuzz_control: WRAPPED := lifecycle_create lifecycle_delete enslave_check \
	link_get_by_name slave_release slave_mac_set mac_swap_try bond_evaluate xdp_settle_tx xdp_ask_again \
	rx_turn_start poll_schedule bypass_read_captures bpf_map_lookup_elem \
	libbpf_num_possible_cpus handover_begin log_line calloc free
$(B)/tests/fuzz/fuzz_shown: WRAPPED := bpf_map_lookup_elem bpf_obj_get bpf_obj_get_info_by_fd \
	libbpf_num_possible_cpus free
# Reporting each comparison of numbers takes most of the time there. It helps with magic numbers:
# well-formed frames come without it, and in text there are none.
compares_in_vain := $(filter $(addsuffix %,$(addprefix $(B)/,lib/lacp/ lib/options/ lib/rules/ \
	lib/view/ cli/doctor/ cli/import/ cli/monitor/ cli/show/ daemon/bond/ daemon/control/ \
	daemon/manage/ daemon/parts)),$(objects)) \
	$(patsubst %,$(B)/tests/fuzz/fuzz_%.o,config control events import lacp pins shown)
$(compares_in_vain): INSTRUMENTS += $(if $(FUZZ),-fno-sanitize-coverage=trace-cmp)
# Of what is undefined, the core of LACP can do these; a build with SAN=undefined looks for all.
$(filter $(B)/lib/lacp/%,$(objects)) $(B)/lib/view/lacp_why.o $(B)/tests/fuzz/fuzz_lacp.o: \
	INSTRUMENTS += $(if $(FUZZ_FLAGS),-fno-sanitize=undefined \
		-fsanitize=bounds$(comma)shift$(comma)signed-integer-overflow \
		-fsanitize-address-use-after-return=never)

# Small programs that tests and benchmarks run.
$(B)/tools/%.bpf.o: tests/tools/%.bpf.c $(bpf_headers) $(wildcard include/xbond/*.h)
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/tools/%.so: tests/tools/%.so.c
	$(call say,SO,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -shared -fPIC $< -o $@ -ldl

$(B)/tools/%: $(B)/tests/tools/%.o $(B)/all.a
	$(Q)mkdir -p $(@D)
	$(link)

$(xsk_examples): $(B)/tools/%: $(B)/packaging/examples/%.o $(B)/libxbond-xsk.a
	$(link)

$(B)/tools/agree: WRAPPED := clock_gettime
$(addprefix $(B)/tests/tools/,progcost.o picks.o): | $(skeletons)

## demo: two hosts, four links, a cut in mid-stream (root; installs what is missing)
demo: deps
	$(Q)$(MAKE) $(PARALLEL) all $(B)/tools/udpseq
	$(Q)tests/demo.sh

# Everything that tests run; what it needs must be there.
build-tests: all $(unit_tests) $(fuzz_targets) $(tools) $(B)/tests/sim/sim

# What tests in guests run.
build-tools: all $(tools)

# For what runs them.
built: deps-test
	$(Q)$(MAKE) $(PARALLEL) build-tools

# What tests/run runs of a build with sanitizers within CI.
build-sanitized: $(B)/bondd $(B)/bondctl $(unit_tests) $(fuzz_targets) $(B)/tests/sim/sim \
	$(addprefix $(B)/tools/,choose hang rawflood readconfig udpseq xdpflood xdpflood.bpf.o xdplive)

## test: a sample of the tests, as CI does (root; installs what is missing; XBOND_TEST_SEED=N repeats a sample; SAN=address,undefined or SAN=thread: with these sanitizers)
test: deps-test
	$(Q)$(MAKE) $(PARALLEL) build-tests
	$(Q)XBOND_BUILD=$(B) SAN=$(SAN) $(PYTHON) tests/run

## test-long: all tests with nearly all variants (root; about an hour)
test-long: deps-test
	$(Q)$(MAKE) $(PARALLEL) build-tests
	$(Q)XBOND_BUILD=$(B) SAN=$(SAN) $(PYTHON) tests/run long

## check: the tests that concern FILE=path,path, or what has changed since the last commit (root)
check:
	$(Q)$(MAKE) $(PARALLEL) build-tests
	$(Q)XBOND_BUILD=$(B) SAN=$(SAN) $(PYTHON) tests/run check $(subst $(comma), ,$(FILE))

## soak: the long tests: slow LACP rate, ten minutes of hold, restarts and crashes, random operations (root; about 45 minutes)
soak: built
	$(Q)XBOND_SOAK=1 $(PYTHON) -m pytest -q -rs --tb=short -p no:cacheprovider -m soak tests/net

## hitless: what restarts, crashes, upgrades and five minutes without bondd lose, with Open vSwitch here and kernel bonding in guests (root; an hour)
hitless: built
	$(Q)XBOND_SOAK=1 $(PYTHON) -m pytest -q --tb=short -p no:cacheprovider tests/net/test_hitless.py
	$(Q)tests/vm/hitless

## chaos: two hosts with a bond between them, and one trouble after the other for MINUTES=5, the same again by SEED=N (BOND=N STEPS=0,1,2: just these of that bond; root)
MINUTES ?= 5
chaos: built
	$(Q)$(PYTHON) tests/chaos $(MINUTES) "$(SEED)" "$(BOND)" "$(STEPS)"

## explore: the LACP core through every history of so many bad moves (MOVES=2 SHARE=64: at one state of so many; SYSTEMS=3: in a triangle; 1: one and a plain partner; some minutes)
MOVES ?= 1
SHARE ?= 1
SYSTEMS ?= 2
explore: $(B)/tests/sim/sim
	$(Q)$(B)/tests/sim/sim -v explore $(MOVES) $(SHARE) 0 $(SYSTEMS)

## sim-mutants: takes each mend of the LACP core out and lets the simulator find that (some minutes)
sim-mutants:
	$(Q)$(PYTHON) tests/sim/mutants.py

## fuzz: libFuzzer on every parser of outside bytes, SECONDS=60 each (ONLY=lacp one of them; see tests/fuzz/README.md)
SECONDS ?= 60
fuzz: deps-test
	$(Q)$(MAKE) $(PARALLEL) FUZZ=1 fuzz-targets
	$(Q)tests/fuzz/run build-fuzz $(SECONDS) $(subst $(comma), ,$(ONLY))

fuzz-targets: $(fuzz_targets)

## tidy: clang-tidy over all programs, by the checks of .clang-tidy (ONLY=lib/network one folder; takes minutes)
CLANG_TIDY ?= clang-tidy
tidy_sources = $(if $(ONLY),$(wildcard $(ONLY)/*.c),$(sources))
tidy: deps-test
	$(Q)$(MAKE) $(PARALLEL) $(skeletons)
	$(Q)printf '%s\n' $(tidy_sources) | xargs -P $$(nproc) -n 4 \
		sh -c '$(CLANG_TIDY) --quiet "$$@" -- $(ALL_CFLAGS) -Wthread-safety -DXBOND_VERSION=\"0\" \
			2>/dev/null' tidy

## cover: unit, sim, fuzz, cli and LACP tests with counters; prints the lines covered (root; NET=1: and all of tests/net)
cover: deps-test
	$(Q)$(MAKE) $(PARALLEL) COVER=1 build-tests
	$(Q)XBOND_BUILD=build-cover tests/cover $(if $(NET),net)

## test-vm: what changes with the kernel or the driver, in emulated machines (TIMES=1: how long its parts took)
test-vm: built
	$(Q)TIMES=$(TIMES) tests/vm/run

## test-vm-full: the same and what takes long: slow timers, churn, more of tests/net, a Debian with systemd, the next Debian
test-vm-full: built
	$(Q)packaging/deps vm-full
	$(Q)VM_SET=full TIMES=$(TIMES) tests/vm/run && tests/vm/systemd && tests/vm/debian

## test-team: all of tests/net with bonds that are teams of the kernel, in emulated machines (root; hours; ONLY=mac,modes some files)
test-team: built
	$(Q)tests/vm/net-device team $(if $(ONLY),$(patsubst %,tests/net/test_%.py,$(subst $(comma), ,$(ONLY))))

## test-arm64: cross-builds for arm64; tests/bpf and files of tests/net in an emulated arm64 (root; hours; ONLY=tests/net/test_alb.py,... these)
test-arm64:
	$(Q)packaging/deps build vm arm64
	$(Q)tests/vm/arm64 $(subst $(comma), ,$(ONLY))

## test-beside: networkd, NetworkManager and ifupdown beside xbond, at boot and after a reboot, in emulated machines (root; half an hour)
test-beside: built
	$(Q)packaging/deps vm-full
	$(Q)tests/vm/tools-beside

## test-boots: boots from cold with three bonds in emulated machines with systemd, whose times are printed (root; half an hour)
test-boots: built
	$(Q)packaging/deps vm-full
	$(Q)tests/vm/systemd boots

## test-recipes: what docs/users/recipes.md says, tried in an emulated machine with systemd (root; two hours)
test-recipes: built
	$(Q)packaging/deps vm-full
	$(Q)VM_KERNELS=$${VM_KERNELS:-6.12} tests/vm/systemd recipes

## image: an OCI image of bondd and the CNI plugin, build/xbond-image.tar (docs/operators/fleets.md)
image: all
	$(Q)packaging/deps image
	$(Q)packaging/image/build $(B)

## test-fleets: pods by podman, the image, the DaemonSet, the Ansible role (root; some minutes)
test-fleets: built
	$(Q)packaging/deps image fleets
	$(Q)$(PYTHON) -m pytest -q -rs --tb=short -p no:cacheprovider tests/fleets

## check-format: the sources against .clang-format, by clang-format 14 (Debian bookworm's)
check-format:
	$(Q)tests/check-format

## bench: measures and prints a table, writes build/bench.json (root; ONLY=name,name a part, QUICK=1 short)
bench: built
	$(Q)$(PYTHON) -m tests.bench

## bench-vm: side by side with kernel bonding and team in the emulated machine, writes build/bench-vm.json
bench-vm: built
	$(Q)tests/vm/bench

## report: the field's tools through xbond beside what was published, writes report/index.html (root; ONLY=1,3 some rows, QUICK=1 short, COMMIT=1 keeps the figures in docs/report)
report:
	$(Q)packaging/deps build report
	$(Q)$(MAKE) $(PARALLEL) build-tools
	$(Q)$(PYTHON) -m tests.report
	$(Q)$(if $(COMMIT),$(PYTHON) -m tests.report.keep report docs/report)

## pictures: measures as bench-vm does, and draws docs/pictures and docs/operators/metrics.png anew (root; a quarter of an hour)
pictures: built
	$(Q)packaging/deps browser
	$(Q)VM_KERNELS=6.12 QUICK=1 ONLY=send,receive,active-backup,balance-xor tests/vm/bench
	$(Q)$(PYTHON) -m tests.pictures
	$(Q)XBOND_SCREENSHOT=$(CURDIR)/docs/operators/metrics.png \
		$(PYTHON) -m pytest -q -p no:cacheprovider tests/net/test_metrics_page.py -k picture

## html: README, docs/, the manual pages and the changelog as a site with a search, build/html/index.html
html:
	$(Q)packaging/deps html
	$(Q)$(MAKE) $(PARALLEL) $(manuals)
	$(Q)packaging/site/build $(B)/html $(manuals)

## report-nfs: one file by NFS over two links of MBIT=10 Mbit/s, in the emulated machine, whose clock follows executed instructions
MBIT ?= 10
report-nfs: built
	$(Q)packaging/deps vm nfs
	$(Q)VM_STEADY=1 VM_SMP=1 VM_LIMIT=$${VM_LIMIT:-840} \
		tests/vm/vm $${VM_KERNELS:-6.12} /usr/bin/python3 -m tests.report.nfs $(MBIT)

## fields: writes what is made from tables of fields and keys: definitions of schemas in docs/json, lists in manuals and pages
fields: $(B)/tools/fields $(B)/bondctl
	$(Q)XBOND_BUILD=$(B) $(PYTHON) tests/fields.py

## promised: adds what is new to the list of what versions 1.x keep, tests/manual/promised.txt (before a release)
promised: $(B)/bondctl $(B)/bondd $(B)/tools/fields
	$(Q)XBOND_BUILD=$(B) $(PYTHON) tests/promised.py

## install: into DESTDIR and PREFIX; without DESTDIR it makes the group xbond, too (sysusers.conf)
install: all
	install -D -m 755 $(B)/bondd $(DESTDIR)$(PREFIX)/sbin/bondd
	install -D -m 755 $(B)/bondctl $(DESTDIR)$(PREFIX)/sbin/bondctl
	install -d -m 755 $(DESTDIR)$(sysconfdir)/xbond $(DESTDIR)$(unitdir)
	for unit in $(units); do \
		sed 's|@sbindir@|$(PREFIX)/sbin|g' packaging/$$unit | \
			install -m 644 /dev/stdin $(DESTDIR)$(unitdir)/$$unit || exit 1; done
	install -m 755 packaging/tools/xbond-ifenslave $(DESTDIR)$(PREFIX)/sbin/xbond-ifenslave
	install -D -m 755 $(B)/cni/xbond $(DESTDIR)$(PREFIX)/lib/cni/xbond
	install -D -m 644 packaging/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/xbond.conf
	install -D -m 644 packaging/tools/90-xbond.rules $(DESTDIR)$(udevdir)/rules.d/90-xbond.rules
	install -m 755 packaging/tools/xbond-device $(DESTDIR)$(udevdir)/xbond-device
	install -D -m 644 packaging/tools/05-xbond.network $(DESTDIR)$(networkddir)/05-xbond.network
	install -D -m 644 packaging/tools/xbond-nm.conf $(DESTDIR)$(networkmanagerdir)/xbond.conf
	for place in $(sysconfdir)/network/if-pre-up.d $(sysconfdir)/network/if-post-down.d $(ifupdownngdir); do \
		sed 's|@sbindir@|$(PREFIX)/sbin|' packaging/tools/ifupdown | \
			install -D -m 755 /dev/stdin $(DESTDIR)$$place/xbond || exit 1; done
	install -D -m 644 packaging/tools/ifupdown2.py $(DESTDIR)$(ifupdown2dir)/xbond.py
	install -d -m 755 $(DESTDIR)$(PREFIX)/share/xbond/metrics $(DESTDIR)$(PREFIX)/share/xbond/json
	install -m 644 docs/json/*.schema.json $(DESTDIR)$(PREFIX)/share/xbond/json
	install -m 644 packaging/metrics/* $(DESTDIR)$(PREFIX)/share/xbond/metrics
	install -D -m 644 packaging/completions/bondctl.bash $(DESTDIR)$(bashcompletiondir)/bondctl
	install -D -m 644 packaging/completions/_bondctl $(DESTDIR)$(zshcompletiondir)/_bondctl
	install -D -m 644 packaging/completions/bondctl.fish $(DESTDIR)$(fishcompletiondir)/bondctl.fish
	for page in $(manuals); do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$(basename $$page) || \
			exit 1; done
	$(manual_names) | while read page names; do for name in $$names; do echo ".so man8/$$page" | \
		install -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/man/man8/$$name || exit 1; done; done
	[ -n "$(DESTDIR)" ] || getent group xbond >/dev/null || groupadd --system xbond || \
		echo "make the group xbond: its members may call bondctl show and the like" >&2

## install-dev: headers for BPF programs of others that choose a slave as xbond does; libxbond-xsk
# All that these include, whichever kind of program includes them.
public_headers = $(sort include/xbond/loader.h include/xbond/xsk.h $(filter %.h, \
	$(foreach kind,XDP TC,$(foreach header,$(wildcard include/xbond/*.bpf.h), \
		$(shell $(CLANG) -MM -x c -ffreestanding -target bpf -DXBOND_SELECT_$(kind) \
			$(INCLUDES) -I$(ARCH_INCLUDE) $(header))))))
install-dev: $(xsk_libraries)
	for header in $(public_headers); do \
		name=$${header#lib/}; to=$(DESTDIR)$(PREFIX)/include/xbond/$${name#include/xbond/} && \
		install -d -m 755 $$(dirname $$to) && \
		sed -E 's|^#include "(xbond/)?([^"]+)"|#include <xbond/\2>|' $$header >$$to && \
		chmod 644 $$to || exit 1; done
	install -d -m 755 $(DESTDIR)$(PREFIX)/share/pkgconfig
	sed 's|@prefix@|$(PREFIX)|; s|@version@|$(firstword $(VERSION))|' packaging/xbond.pc.in | \
		install -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/pkgconfig/xbond.pc
	install -d -m 755 $(DESTDIR)$(libdir)/pkgconfig
	install -m 644 $(xsk_libraries) $(DESTDIR)$(libdir)
	ln -sf $(xsk_soname) $(DESTDIR)$(libdir)/libxbond-xsk.so
	sed 's|@prefix@|$(PREFIX)|; s|@libdir@|$(libdir)|; s|@version@|$(firstword $(VERSION))|' \
		packaging/xbond-xsk.pc.in | \
		install -m 644 /dev/stdin $(DESTDIR)$(libdir)/pkgconfig/xbond-xsk.pc
	[ -n "$(DESTDIR)" ] || ldconfig || true

## uninstall: what install put there; configuration stays
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/bondd $(DESTDIR)$(PREFIX)/sbin/bondctl \
		$(addprefix $(DESTDIR)$(unitdir)/,$(units))
	rm -f $(DESTDIR)$(udevdir)/rules.d/90-xbond.rules $(DESTDIR)$(udevdir)/xbond-device \
		$(DESTDIR)$(networkddir)/05-xbond.network $(DESTDIR)$(networkmanagerdir)/xbond.conf \
		$(DESTDIR)$(sysconfdir)/network/if-*.d/xbond \
		$(DESTDIR)$(ifupdownngdir)/xbond \
		$(DESTDIR)$(ifupdown2dir)/xbond.py
	rm -f $(DESTDIR)$(PREFIX)/lib/cni/xbond $(DESTDIR)$(PREFIX)/sbin/xbond-ifenslave
	rm -rf $(DESTDIR)$(PREFIX)/share/xbond $(DESTDIR)$(PREFIX)/include/xbond
	rm -f $(addprefix $(DESTDIR)$(libdir)/,$(notdir $(xsk_libraries)) libxbond-xsk.so pkgconfig/xbond-xsk.pc)
	rm -f $(DESTDIR)$(PREFIX)/share/pkgconfig/xbond.pc $(DESTDIR)$(PREFIX)/lib/sysusers.d/xbond.conf
	rm -f $(DESTDIR)$(bashcompletiondir)/bondctl $(DESTDIR)$(zshcompletiondir)/_bondctl \
		$(DESTDIR)$(fishcompletiondir)/bondctl.fish
	for page in $(manuals) $$($(manual_names)); do \
		rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$(basename $$page); done

## dist: the source as build/dist/xbond-VERSION.tar.gz, and SHA256SUMS; the same commit gives the same files
dist:
	$(Q)packaging/dist build/dist

## deb: Debian packages xbond, xbond-dev and libxbond-xsk0 of the last commit, in build/deb
deb:
	$(Q)packaging/deps build deb
	$(Q)packaging/deb build/deb

## repo: an apt repository of these packages, in build/repo, for any web server (SUITE=NAME: not this system's code name)
repo: deb
	$(Q)packaging/deps repo
	$(Q)packaging/repo build/deb build/repo $(SUITE)

## rpm: RPM packages xbond, xbond-libs and xbond-devel of the last commit, in build/rpm
rpm:
	$(Q)packaging/deps build rpm
	$(Q)packaging/rpm build/rpm

## test-packages: builds the Debian and RPM packages in bookworm and trixie, and installs, upgrades and removes them there, and Debian's in a guest with systemd under traffic (root; minutes)
test-packages: built
	$(Q)packaging/deps vm-full
	$(Q)tests/packaging/trees && \
		for part in upgrade units removal purge; do tests/vm/systemd $$part || exit 1; done

## clean: removes build/ and build-*/
clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
