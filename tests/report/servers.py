# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers for the report, of Debian's packages, in a namespace and with everything in a directory
of their own: sshd, smbd, and whatever else listens. Knows namespaces, not bonds.
"""
import contextlib
import pathlib
import shutil
import subprocess
import tempfile

from namespace import end, run
from waiting import wait_for

from .parse import ToolError, first_line

SSH_PORT, SMB_PORT = 2222, 445
# The cheapest for a CPU that has AES, so that the links are what limits a copy.
CIPHER = "aes128-gcm@openssh.com"
SSHD = """ListenAddress 0.0.0.0
Port {port}
HostKey {dir}/host
AuthorizedKeysFile {dir}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
Subsystem sftp /usr/lib/openssh/sftp-server
"""
SMBD = """[global]
server role = standalone server
map to guest = bad user
guest account = root
smb ports = {port}
disable netbios = yes
load printers = no
disable spoolss = yes
log file = {dir}/log
lock directory = {dir}
state directory = {dir}
cache directory = {dir}
pid directory = {dir}
private dir = {dir}
ncalrpc dir = {dir}/ncalrpc
[files]
path = {dir}/files
guest ok = yes
read only = no
"""


@contextlib.contextmanager
def directory():
    """In memory, so that no disk is measured."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="xbond-report-", dir="/dev/shm"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def serving(namespace, port, log, *command, **options):
    """A server from when it listens."""
    with open(log, "w") as output:  # smbd ends with its whole process group
        child = namespace.spawn(*command, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                                start_new_session=True, **options)

    def listens():
        if child.poll() is not None:
            raise ToolError(f"{command[0]}: {first_line(log.read_text())}")
        return f":{port} " in namespace.run("ss", "-Hltn").stdout
    try:
        wait_for(listens, f"{command[0]} to listen", 15)
        yield
    finally:
        end(child)


@contextlib.contextmanager
def sshd(namespace):
    """The words of an scp that may log in; {dir} in them is the directory."""
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # sshd insists on it
    with directory() as made:
        for name in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made / name)
        (made / "sshd_config").write_text(SSHD.format(port=SSH_PORT, dir=made))
        (made / "files").mkdir()
        with serving(namespace, SSH_PORT, made / "out", "/usr/sbin/sshd", "-D", "-e", "-f",
                     made / "sshd_config"):
            yield made, ("scp", "-q", "-c", CIPHER, "-P", SSH_PORT, "-i", made / "user", "-o",
                         "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
                         "LogLevel=ERROR")


@contextlib.contextmanager
def smbd(namespace):
    """Its directory; what is in files/ is the share `files`."""
    with directory() as made:
        (made / "smb.conf").write_text(SMBD.format(port=SMB_PORT, dir=made))
        (made / "files").mkdir()
        with serving(namespace, SMB_PORT, made / "out", "smbd", "-F", "--no-process-group", "-s",
                     made / "smb.conf"):
            yield made
