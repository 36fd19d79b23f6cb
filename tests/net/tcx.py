"""A program of an object file as TCX, in front of those that are there: tc cannot, nor can an older bpftool."""
import ctypes
import os

from lab import libc

TCX_EGRESS, BPF_F_BEFORE = 47, 8
libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
for function in ("bpf_object__open", "bpf_object__find_program_by_name"):
    getattr(libbpf, function).restype = ctypes.c_void_p


def attach_before(namespace, dev, file, name):
    """At the egress of dev, until that is gone."""
    opened = ctypes.c_void_p(libbpf.bpf_object__open(str(file).encode()))
    assert opened.value and libbpf.bpf_object__load(opened) == 0, file
    program = ctypes.c_void_p(libbpf.bpf_object__find_program_by_name(opened, name.encode()))
    with namespace.inside():
        error = libbpf.bpf_prog_attach(libbpf.bpf_program__fd(program), libc.if_nametoindex(dev.encode()), TCX_EGRESS,
                                       BPF_F_BEFORE)
    libbpf.bpf_object__close(opened)
    assert error == 0, f"{name} on {dev}: {os.strerror(-error)}"
