# SPDX-License-Identifier: GPL-2.0-or-later
"""Tarball, Debian and RPM packages, as far as that is quick: the tarball is the same each time, apt
finds packages in the repository, all say the same version, dependencies are those of
packaging/deps, and the example of xbond-dev compiles with the installed headers alone and loads.
`make test-packages` builds and installs them.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

from built import BUILD, ROOT

NUMBER = (ROOT / "VERSION").read_text().strip()
ASK = ("answer.h", "flow_hook.h", "send_frame.h")  # headers that want definitions before them
EXAMPLES = {"pick": "classifier", "route": "xdp"}
needs_checkout = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")


def output(*words, cwd=ROOT, **more):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=True, timeout=120,
                          **more).stdout


def dist(tree, directory):
    return directory / output(tree / "packaging/dist", directory).strip().rsplit("/", 1)[1]


def names(archive):
    with tarfile.open(archive) as tar:
        return set(tar.getnames())


@needs_checkout
def test_the_tarball_is_the_same_each_time(tmp_path, monkeypatch):
    """Whatever git is told of modes."""
    one = dist(ROOT, tmp_path / "one")
    for name, value in (("COUNT", "1"), ("KEY_0", "tar.umask"), ("VALUE_0", "0077")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    two = dist(ROOT, tmp_path / "two")
    assert one.name == f"xbond-{NUMBER}.tar.gz"
    assert one.read_bytes() == two.read_bytes()
    assert (tmp_path / "one/SHA256SUMS").read_text() == \
        f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n"
    listed = output("git", "ls-tree", "-r", "--name-only", "HEAD").split("\n")[:-1]
    assert {f"xbond-{NUMBER}/{name}" for name in listed} <= names(one)


@needs_checkout
def test_a_tarball_of_the_tarball(tmp_path):
    """There is no git in an unpacked one. What was built there is left out."""
    with tarfile.open(dist(ROOT, tmp_path / "first")) as tar:
        tar.extractall(tmp_path)
    tree = tmp_path / f"xbond-{NUMBER}"
    assert output(tree / "packaging/version") == \
        f"{NUMBER} ({output('git', 'rev-parse', '--short=12', 'HEAD').strip()})\n"
    (tree / "build").mkdir()
    (tree / "build/bondd").touch()
    one, two = (dist(tree, tmp_path / name) for name in ("one", "two"))
    os.utime(tree / "VERSION")
    assert one.read_bytes() == two.read_bytes()
    assert names(one) == names(tmp_path / "first" / one.name)


@needs_checkout
def test_a_tarball_by_root_in_the_clone_of_a_user(tmp_path):
    """As in a container. It is of the last commit, too."""
    output("git", "clone", "-q", "--no-local", "--depth=1", f"file://{ROOT}", tmp_path / "clone")
    for name in ("version", "dist"):
        shutil.copy(ROOT / "packaging" / name, tmp_path / "clone/packaging")
    for path in (tmp_path / "clone", tmp_path / "clone/.git"):
        os.chown(path, 12345, 12345)
    assert dist(tmp_path / "clone", tmp_path / "its").read_bytes() == \
        dist(ROOT, tmp_path / "ours").read_bytes()
    commit = output("git", "rev-parse", "--short=12", "HEAD").strip()
    assert output(tmp_path / "clone/packaging/version").startswith(f"{NUMBER} ({commit}")


@needs_checkout
def test_the_tarball_has_no_time_of_its_own(tmp_path):
    header = dist(ROOT, tmp_path).read_bytes()[:8]
    assert header[:2] == b"\x1f\x8b" and header[4:] == b"\0\0\0\0"


def build_small(directory, version):
    """A package of one file, and a source package, as packaging/deb leaves them."""
    root = directory / "root/DEBIAN"
    root.mkdir(parents=True)
    (root / "control").write_text(
        f"Package: xbond\nVersion: {version}\nArchitecture: amd64\n"
        "Maintainer: nobody <nobody@xbond.example>\nDescription: small\n")
    output("dpkg-deb", "-b", "--root-owner-group", root.parent,
           directory / f"xbond_{version}_amd64.deb")
    tree = directory / f"xbond-{version}"
    (tree / "debian/source").mkdir(parents=True)
    for name in ("control", "source/format", "changelog"):
        text = (ROOT / "debian" / name).read_text().replace(f"({NUMBER})", f"({version})")
        (tree / "debian" / name).write_text(text)
    output("dpkg-source", "-b", tree, cwd=directory)


def apt(directory, words):
    """apt's configuration, lists and cache are those in the directory, and none of this machine."""
    return output(*words.split(), cwd=directory,
                  env={"PATH": os.environ["PATH"], "APT_CONFIG": f"{directory}/apt.conf"})


def apt_of(directory, repository, suite):
    for name in ("etc/apt", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"):
        (directory / name).mkdir(parents=True)
    (directory / "status").touch()
    (directory / "apt.conf").write_text(
        f'Dir "{directory}/";\nDir::State::status "{directory}/status";\n'
        'APT::Architecture "amd64";\nAPT::Sandbox::User "";\n')
    (directory / "etc/apt/sources.list").write_text("".join(
        f"{kind} [trusted=yes] file:{repository} {suite} main\n" for kind in ("deb", "deb-src")))


@pytest.mark.skipif(not shutil.which("apt-ftparchive"), reason="apt-ftparchive is not installed")
def test_apt_finds_the_packages_of_the_repository(tmp_path):
    """Of each suite its own, also after one of them was made again."""
    for suite, version in (("one", "9.1"), ("two", "9.2"), ("one", "9.3")):
        build_small(tmp_path / version, version)
        output(ROOT / "packaging/repo", tmp_path / version, tmp_path / "repository", suite)
    for suite, version in (("one", "9.3"), ("two", "9.2")):
        user = tmp_path / suite
        apt_of(user, tmp_path / "repository", suite)
        apt(user, "apt-get -q update")
        assert f" o=xbond,a={suite},n={suite},l=xbond,c=main," in apt(user, "apt-cache policy")
        policy = apt(user, "apt-cache policy xbond")
        assert re.findall(r"^ {5}(\S+) ", policy, re.M) == [version]
        apt(user, "apt-get -q download xbond")
        apt(user, "apt-get -q --download-only source xbond")
        for name in (f"xbond_{version}{end}" for end in ("_amd64.deb", ".dsc", ".tar.xz")):
            assert (user / name).read_bytes() == (tmp_path / version / name).read_bytes()


def test_all_say_the_same_version():
    """And whether it is released."""
    first = (ROOT / "debian/changelog").read_text().splitlines()[0]
    suite = re.fullmatch(rf"xbond \({re.escape(NUMBER)}\) (\w+); urgency=\w+", first)[1]
    when = re.search(rf"^## \[{re.escape(NUMBER)}\] - (unreleased|\d{{4}}(-\d\d){{2}})$",
                     (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert (suite == "UNRELEASED") == (when == "unreleased")
    assert re.search(r"^Version: @version@$", (ROOT / "packaging/xbond.spec.in").read_text(), re.M)


def test_build_dependencies_are_those_of_deps():
    """But for what is part of any build, or is run."""
    wanted = set(output("packaging/deps", "--list", "build").split()) - {
        "gcc", "make", "libc6-dev", "linux-libc-dev", "iproute2", "iperf3", "procps", "util-linux"}
    control = (ROOT / "debian/control").read_text()
    line = re.search(r"^Build-Depends: ((?:.*\n)(?: .*\n)*)", control, re.M)[1]
    named = set(re.split(r",\s*", line.strip()))
    assert named - {"debhelper-compat (= 13)", "dh-sequence-installsysusers"} == wanted


def test_deps_where_there_is_no_apt(tmp_path):
    """`make rpm` goes on: rpmbuild says what is missing there."""
    os.symlink("/bin/cat", tmp_path / "cat")
    done = subprocess.run(["/bin/sh", ROOT / "packaging/deps", "build", "rpm"], check=False,
                          capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, "") and "BuildRequires" in done.stderr


@pytest.mark.skipif(not shutil.which("musl-gcc"), reason="musl-gcc is not installed")
def test_musl_compiles_all_but_the_library(tmp_path):
    """With the headers of the kernel and of other libraries beside it, and none of glibc's."""
    headers = pathlib.Path("/usr/include")
    for name in ("linux", "asm-generic", "bpf", "xdp", "systemd", "jansson.h", "jansson_config.h",
                 "ini.h", "pcap", "yaml.h", "microhttpd.h", "curses.h", "ncurses_dll.h",
                 "unctrl.h", "term.h", f"{os.uname().machine}-linux-gnu/asm"):
        (tmp_path / pathlib.Path(name).name).symlink_to(headers / name)
    output("musl-gcc", "-std=gnu11", "-fsyntax-only", "-w", "-Werror=implicit-function-declaration",
           "-D_GNU_SOURCE", '-DXBOND_VERSION=""', "-I.", "-Ilib", "-Iinclude", f"-I{BUILD}",
           "-isystem", tmp_path, "-isystem", headers / "libnl3",
           *(path for folder in ("lib", "cli", "cni", "daemon")
             for path in (ROOT / folder).rglob("*.c")))


def test_the_static_bondctl(tmp_path):
    """It needs no library, and says that it has no journal."""
    output("make", "static")
    program = ROOT / "build/bondctl-static"
    assert "no dynamic section" in output("readelf", "-d", program)
    with subprocess.Popen([program, "monitor", "--since", "-1h"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True,
                          env={"XBOND_RUN_DIR": str(tmp_path)}) as monitor:
        said = monitor.stderr.readline()
        monitor.terminate()
    assert said.startswith("bondctl: cannot read the journal: Operation not supported;")


@pytest.mark.skipif(not shutil.which("rpmspec"), reason="rpmspec is not installed")
def test_the_spec_is_read(tmp_path):
    text = (ROOT / "packaging/xbond.spec.in").read_text().replace("@version@", NUMBER)
    (tmp_path / "xbond.spec").write_text(text)
    packages = output("rpmspec", "-q", "--qf", "%{name} %{version}\n", tmp_path / "xbond.spec")
    assert packages.splitlines() == [f"xbond{name} {NUMBER}" for name in ("", "-libs", "-devel")]


def test_debian_knows_the_licence_of_each_file():
    text = (ROOT / "debian/copyright").read_text()
    patterns = re.search(r"^Files: (xsk.*\n(?: .*\n)*)", text, re.M)[1].split()
    named = {path for pattern in patterns for path in ROOT.glob(pattern)}
    assert named == {path for folder in ("bpf", "include", "lib", "xsk", "daemon", "cli", "cni",
                                         "packaging/examples")
                     for path in (ROOT / folder).rglob("*.[ch]")
                     if " OR LGPL-2.1-or-later" in path.read_text().split("\n")[0]}


@pytest.fixture(scope="module", name="headers")
def _headers(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dev")
    output("make", "install-dev", f"DESTDIR={directory}", "PREFIX=/usr")
    return directory / "usr/include"


def compile_flags(headers):
    return ["-O2", "-g", "-ffreestanding", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror",
            f"-I{headers}", f"-I/usr/include/{os.uname().machine}-linux-gnu"]


def test_headers_stand_alone(headers):
    """Each can be included first, and includes nothing that is not installed."""
    for header in sorted(headers.rglob("*.h")):
        name = header.relative_to(headers)
        if name.name in ASK or name.name.startswith(("abi_", "names_")):
            continue  # those are parts of abi.h and select.bpf.h
        if name.name in ("loader.h", "xsk.h"):
            output("cc", f"-I{headers}", "-Wall", "-Wextra", "-Werror", "-x", "c", "-c", "-", "-o",
                   "/dev/null", input=f"#include <{name}>\n")
            continue
        output("clang", *compile_flags(headers), "-Wno-unused-function", "-x", "c", "-c", "-", "-o",
               "/dev/null", cwd=headers, input=f"#include <{name}>\n")


@pytest.mark.parametrize("compiler", ["cc", "c++"])
@pytest.mark.parametrize("how", [[], ["--static"]], ids=["shared", "static"])
def test_the_library_for_af_xdp_links(headers, tmp_path, compiler, how):
    """The program of its page, with nothing but what is installed; the bond is not there."""
    text = (ROOT / "docs/developers/xsk.md").read_text().split("    #include <stdio.h>", 1)[1]
    text = "#include <stdio.h>" + text.split("    cc send.c", 1)[0]
    library = headers.parent / "lib"
    words = output("pkg-config", *how, "--cflags", "--libs", "xbond-xsk", env={
        **os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig"),
        "PKG_CONFIG_SYSROOT_DIR": str(headers.parents[1])}).split()
    if how:
        words = [str(library / "libxbond-xsk.a") if word == "-lxbond-xsk" else word
                 for word in words]
    output(compiler, "-Wall", "-Werror", "-x", {"cc": "c", "c++": "c++"}[compiler], "-",
           "-x", "none", "-o", tmp_path / "send", *words, input=text)
    done = subprocess.run([tmp_path / "send"], capture_output=True, text=True, check=False,
                          env={"LD_LIBRARY_PATH": "" if how else str(library)}, timeout=60)
    assert (done.returncode, "no such bond: bond0" in done.stderr) == (1, True), done.stderr


def test_the_archive_exports_its_own_names_alone(headers, tmp_path):
    """With the flags of distributions that optimize when they link, too."""
    output("make", f"B={tmp_path}", "CFLAGS=-O1 -flto=auto -ffat-lto-objects",
           f"{tmp_path}/libxbond-xsk.a")
    names = [re.findall(r" [A-TV-Z] (\w+)", output("nm", "-g", library))
             for library in (tmp_path / "libxbond-xsk.a", headers.parent / "lib/libxbond-xsk.a")]
    assert names[0] and names[0] == names[1]
    assert all(name.startswith("xbond_") for name in names[0])


BY_DLOPEN = """
#include <dlfcn.h>
#include <stdio.h>
#include <xbond/xsk.h>

int main(int argc, char **argv)
{
	struct xbond_xsk_options options = { sizeof(options) };
	char why[XBOND_XSK_WHY_SIZE];
	struct xbond_xsk *xsk;

	for (int turn = 0; turn < argc; turn++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		__typeof__(&xbond_xsk_open) open = NULL;

		if (library)
			*(void **)&open = dlsym(library, "xbond_xsk_open");
		if (!open)
			return puts(dlerror());
		if (open(&xsk, "bond0", &options, why))
			puts(why);
		dlclose(library);
	}
	return 0;
}
"""


@pytest.mark.parametrize("compiler", ["cc", "c++"])
def test_the_library_for_af_xdp_by_dlopen(headers, tmp_path, compiler):
    """Again after dlclose(), too, and with no more static TLS than such libraries always get
    (xsk/choice.c). tests/net/test_xsk.py sends and receives by a library that is loaded so.
    """
    library = headers.parent / "lib/libxbond-xsk.so"
    output(compiler, "-Wall", "-Werror", f"-I{headers}", "-x", {"cc": "c", "c++": "c++"}[compiler],
           "-", "-o", tmp_path / "load", input=BY_DLOPEN)
    assert output(tmp_path / "load", library).count("no such bond: bond0") == 2
    tls, = re.findall(r"^ +TLS +(.*)", output("readelf", "-lW", library), re.M)
    assert int(tls.split()[4], 16) <= 8


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_load(headers, tmp_path, name):
    made = tmp_path / f"{name}.o"
    output("clang", *compile_flags(headers), "-c", ROOT / f"packaging/examples/{name}.bpf.c", "-o",
           made, cwd=tmp_path)
    pin = f"/sys/fs/bpf/xbond-test-{name}-{os.getpid()}"
    try:
        output("bpftool", "prog", "load", made, pin, "type", EXAMPLES[name])
    finally:
        if os.path.exists(pin):
            os.unlink(pin)


def test_all_maps_are_told():
    """Whoever does not use loader.h reads which maps to give; one left out would be empty."""
    pins = dict(re.findall(r'#define (XBOND_PIN_\w+) "(\w+)"', (ROOT / "bpf/abi.h").read_text()))
    maps = {name: pins[pin] for name, pin in re.findall(
        r'{ "([\w.]+)", (XBOND_PIN_\w+) }', (ROOT / "include/xbond/loader.h").read_text())}
    assert len(maps) > 10
    example = (ROOT / "packaging/examples/pick.bpf.c").read_text()
    assert dict(re.findall(r"map name ([\w.]+) pinned (\w+)", example)) == \
        {name: pin for name, pin in maps.items() if not name.startswith("xbond_xdp_")}
    table = (ROOT / "docs/developers/select.md").read_text().split("| map of the object | pin |")[1]
    rows = [line.split("|")[1:3] for line in table.split("\n\n")[0].splitlines()[2:]]
    assert maps == {name: pin for row in rows
                    for name, pin in zip(*(re.findall(r"`([\w.]+)`", cell) for cell in row))}


def printed(page, title):
    """The programs and calls of a section of a page: its indented blocks."""
    text = (ROOT / "docs/developers" / page).read_text()
    section = text.split(f"## {title}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", section, re.M)
    return [re.sub(r"^    ", "", block, flags=re.M) for block in blocks]


def test_what_is_printed_compiles(headers, tmp_path):
    """By the calls that the pages print themselves."""
    program, build_program = printed("select.md", "The program")
    loader, build_loader = printed("select.md", "The loader")
    asserts, = printed("select.md", "What holds, and what does not")
    policy, build_policy = printed("policy.md", "The function")[:2]
    (tmp_path / "forward.bpf.c").write_text(program + asserts)
    (tmp_path / "forward.c").write_text(loader)
    (tmp_path / "by_vlan.bpf.c").write_text(policy)
    function, build_function = printed("xsk.md", "A function of your own")
    (tmp_path / "gre.bpf.c").write_text(function)
    for build in (build_program, build_loader, build_policy.split("bondctl")[0], build_function):
        output("sh", "-ec", re.sub(r"^(clang|cc) ", rf"\1 -Wall -Werror -I{headers} ", build),
               cwd=tmp_path)
    assert {"forward.bpf.o", "forward", "by_vlan.bpf.o", "gre.bpf.o"} <= set(os.listdir(tmp_path))


@pytest.mark.parametrize("path", ["debian/control", "packaging/xbond.spec.in"])
def test_the_description_has_all_modes(path):
    modes = re.findall(r'^\t{ "([\w.-]+)", "', (ROOT / "lib/common/mode.c").read_text(), re.M)
    text = (ROOT / path).read_text()
    assert len(modes) == 7 and [mode for mode in modes if mode not in text] == []


ANOTHER = """
#define READ_ONCE(x) (x)
%s
#include <linux/bpf.h>
#include <xbond/select.bpf.h>
char _license[] SEC("license") = "GPL";
struct packet { int a; };
struct encap { int a; };
struct vlan_header { int a; };
struct net_device { int a; };
struct list_head { int a; };
int table, settings, buckets, cursor, wake, doubt, moves, loads, losses, devices, payload, xdp_all;
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct packet);
} counters SEC(".maps");
int hash_of(struct packet *packet) { return READ_ONCE(packet->a); }
SEC("%s") int another(struct %s *ctx) { table++; return xbond_send(ctx); }
"""
TAKEN = ("xbond_", "flow_", "flowlet_", "encap_", "select_", "choose_", "netdev_", "losses_",
         "drain_", "steer_", "successor_", "neighbour_", "tlb_", "tx_", "xdp_", "bpf_", "another",
         "_license", "hash_of")


@pytest.mark.parametrize("words", [("", "xdp.frags", "xdp_md"),
                                   ("#define XBOND_SELECT_TC", "tc", "__sk_buff")],
                         ids=["xdp", "tc"])
def test_programs_keep_their_names(headers, tmp_path, words):
    """What select.bpf.h takes for itself begins as docs/developers/select.md says."""
    made = tmp_path / "another.o"
    output("clang", *compile_flags(headers), "-x", "c", "-c", "-", "-o", made, cwd=tmp_path,
           input=ANOTHER % words)
    symbols = {line.split()[-1] for line in output("llvm-nm", made).splitlines()}
    theirs = set(re.findall(r"\w+", re.search(r"^int (table.*);", ANOTHER, re.M)[1])) | {"counters"}
    others = {name for name in symbols - theirs if not name.startswith(TAKEN)
              and not name.startswith(("LBB", ".L"))}
    assert theirs <= symbols and not others


def test_pkg_config_knows_the_headers(headers):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(headers.parent / "share/pkgconfig")}
    assert output("pkg-config", "--modversion", "xbond", env=environment).strip() == NUMBER
    assert output("pkg-config", "--variable=includedir", "xbond",
                  env=environment).strip() == "/usr/include"
