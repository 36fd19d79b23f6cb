#!/bin/bash -eu
# build.sh: builds the fuzz targets for OSS-Fuzz, in the root of the sources. Compilers and their
# flags are in CC, CXX, CFLAGS and CXXFLAGS, the engine is in LIB_FUZZING_ENGINE. Objects go to
# WORK; targets, corpora, options, dictionaries and libraries go to OUT.

# Ubuntu's /usr/sbin/bpftool is a script that wants the package of the running kernel.
for bpftool in /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool; do
	[ ! -x "$bpftool" ] || export BPFTOOL=$bpftool
done
# /usr/bin/clang compiles the BPF programs, since OSS-Fuzz's own has no BPF. The machines that run
# the targets have no libraries but the C library's, so the others stand beside the targets.
make -j"$(nproc)" FUZZ=1 B="$WORK" CLANG=/usr/bin/clang CC="$CC" LINKER="$CXX $CXXFLAGS" \
	FUZZ_FLAGS= FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
	LDFLAGS='-Wl,--as-needed,--disable-new-dtags,-rpath,\$$ORIGIN/lib' fuzz-targets
mkdir -p "$OUT/lib"
for source in tests/fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	name=${target#fuzz_}
	cp "$WORK/tests/fuzz/$target" "$OUT"
	zip -jqr "$OUT/${target}_seed_corpus.zip" "$WORK/inputs/$name"
	tests/fuzz/options "$OUT" "$name"
	ldd "$WORK/tests/fuzz/$target" | sed -n 's|.* => \(/[^ ]*\) .*|\1|p' |
		grep -vE '/lib(c|m|resolv|pthread|dl|rt)\.so' | xargs -r cp -t "$OUT/lib"
done
