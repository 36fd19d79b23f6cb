# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/completions in the real shells. bash and zsh run on a terminal: a key inserts all that
is offered into the line, which then becomes a command that writes its words to a file. fish tells
by `complete -C`.
"""
import shlex
import shutil
import subprocess

import pytest

import pins
from built import BUILD, ROOT
from screen import Screen
from waiting import wait_for

COMPLETIONS = ROOT / "packaging/completions"
PATH = f"{BUILD}:/usr/bin:/bin"
HOSTILE = "$(>found)`id`'"  # as a device may be called
ZSH_RC = """
PS1='READY> ' fpath=({directory} $fpath)
unsetopt prompt_sp
autoload -Uz compinit && compinit -u -D
bindkey -e
zle -C all-matches complete-word _generic
bindkey '^X*' all-matches
zstyle ':completion:all-matches:*' insert true
zstyle ':completion:all-matches::::' completer _all_matches _complete
"""
ALL_KEY = {"bash": "\x1b*", "zsh": "\x18*"}


def shell_command(shell, home):
    if shell == "bash":
        (home / "rc").write_text(f"PS1='READY> '; . {COMPLETIONS}/bondctl.bash\n")
        return ["bash", "--noprofile", "--rcfile", home / "rc", "-i"]
    (home / ".zshrc").write_text(ZSH_RC.format(directory=COMPLETIONS))
    return ["zsh", "-d", "-i"]


class Shell:
    """Tells what a shell offers for the last word of a line."""

    def __init__(self, shell, home, bpf_dir):
        self.shell, self.home, self.number = shell, home, 0
        self.environment = {"XBOND_BPF_DIR": str(bpf_dir), "XBOND_RUN_DIR": str(home), "PATH": PATH,
                            "HOME": str(home), "LC_ALL": "C.UTF-8"}
        self.screen = None
        if shell != "fish":
            self.screen = Screen(*shell_command(shell, home), columns=500,
                                 PWD=str(home), ZDOTDIR=str(home), **self.environment)
            self.screen.wait("READY>")
            self.screen.press(f"cd {home}\r")

    def of_fish(self, line):
        script = f"source {COMPLETIONS}/bondctl.fish; complete -C {shlex.quote(line)}"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True,
                              env=self.environment, cwd=self.home, timeout=30, check=True)
        assert not done.stderr
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    def of_key(self, line, key):
        """The words of the line after the key."""
        self.number += 1
        out, ended = self.home / f"out{self.number}", self.home / f"ended{self.number}"
        self.screen.press(line + key)
        self.screen.press(f"\x01printf '%s\\n' \x05 >{out}; : >{ended}\r")
        wait_for(lambda: self.screen.text() and ended.exists(), f"{line!r} in {self.shell}", 20)
        return out.read_text().splitlines()

    def offers(self, line):
        if not self.screen:
            return set(self.of_fish(line))
        words = self.of_key(line, ALL_KEY[self.shell])
        return set(words[len(line.split(" ")) - 1:]) - {line.split(" ")[-1], ""}

    def tab(self, line):
        """The line after TAB."""
        if self.screen:
            return " ".join(self.of_key(line, "\t"))
        offers = self.of_fish(line)
        assert len(offers) == 1
        return " ".join(line.split(" ")[:-1] + offers)


@pytest.fixture(name="shell", params=["bash", "zsh", "fish"])
def _shell(request, bpf_dir, tmp_path):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    made = pins.Pins(bpf_dir, slaves=3, mode=pins.X.MODE_ACTIVE_BACKUP)
    pins.fill(made.slaves[2].name, HOSTILE.encode().ljust(16, b"\0"))
    for name in ("configs", "capture.pcap"):
        (tmp_path / name).mkdir()
    (tmp_path / "capture.pcap/one").touch()
    shell = Shell(request.param, tmp_path, bpf_dir)
    yield shell
    if shell.screen:
        shell.screen.close()


def test_a_shell(shell):
    """In one shell, because to start one takes the longest."""
    assert shell.tab("bondctl sho") == "bondctl show"
    assert shell.tab("bondctl set bond0 xmit_hash_policy layer2+").startswith(
        "bondctl set bond0 xmit_hash_policy layer2+3")
    assert {"create", "del-slave", "show"} <= shell.offers("bondctl ")
    assert shell.offers("bondctl show ") == {"bond0"}
    assert {"--proc", "--json"} <= shell.offers("bondctl show --")
    assert shell.offers("bondctl set bond0 primary ") == {"eth0", "eth1", "none", HOSTILE}
    assert shell.offers("bondctl set bond0 fail_over_mac ") == {"none", "active", "follow"}
    assert {"primary", "miimon"} <= shell.offers("bondctl set bond0 ")
    assert "lacp_rate" in shell.offers(
        "bondctl create b mode 802.3ad ad_actor_system 02:00:5e:10:00:01 ")
    assert shell.offers("bondctl nonsense ") == set()
    # bash takes what follows the = as a word of its own.
    offered = shell.offers("bondctl capture bond0 --slave=et")
    assert {word.removeprefix("--slave=") for word in offered} == {"eth0", "eth1"}
    # Names of files are the shell's own matter.
    assert shell.tab("bondctl sysfs-tree conf").rstrip("/") == "bondctl sysfs-tree configs"
    assert shell.tab("bondctl explain bond0 --pcap capture.pcap/o").endswith("capture.pcap/one")
    assert shell.tab("bondctl --run-dir=conf").rstrip("/") == "bondctl --run-dir=configs"
    assert not (shell.home / "found").exists()
