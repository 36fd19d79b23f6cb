"""Programs of an object file as TCX, in a place among those that are there: tc cannot, nor can an
older bpftool.
"""
import ctypes
import os

from namespace import libc

TCX_INGRESS, TCX_EGRESS, BPF_F_BEFORE = 46, 47, 8
libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
for function in ("bpf_object__open", "bpf_object__find_program_by_name"):
    getattr(libbpf, function).restype = ctypes.c_void_p


class Tcx:
    """On dev until it is gone, or until detach(); behind the others unless flags say else."""

    def __init__(self, namespace, dev, file, name, hook=TCX_EGRESS, flags=0):
        self.namespace, self.dev, self.hook = namespace, dev, hook
        self.object = ctypes.c_void_p(libbpf.bpf_object__open(str(file).encode()))
        assert self.object.value and libbpf.bpf_object__load(self.object) == 0, file
        program = libbpf.bpf_object__find_program_by_name(self.object, name.encode())
        self.fd = libbpf.bpf_program__fd(ctypes.c_void_p(program))
        with namespace.inside():
            error = libbpf.bpf_prog_attach(self.fd, libc.if_nametoindex(dev.encode()), hook, flags)
        assert error == 0, f"{name} on {dev}: {os.strerror(-error)}"

    def detach(self):
        with self.namespace.inside():
            error = libbpf.bpf_prog_detach2(self.fd, libc.if_nametoindex(self.dev.encode()),
                                            self.hook)
        assert error == 0, os.strerror(-error)

    def close(self):
        libbpf.bpf_object__close(self.object)


def attach_before(namespace, file, name):
    """At the egress of bond0, in front of all others, until that is gone."""
    Tcx(namespace, "bond0", file, name, flags=BPF_F_BEFORE).close()


def order(namespace, dev, hook=TCX_INGRESS):
    """Names of the programs on dev, in the order in which they run."""
    ids, count = (ctypes.c_uint32 * 64)(), ctypes.c_uint32(64)
    with namespace.inside():
        error = libbpf.bpf_prog_query(libc.if_nametoindex(dev.encode()), hook, 0, None, ids,
                                      ctypes.byref(count))
    assert error == 0, os.strerror(-error)
    return [name_of(each) for each in ids[:count.value]]


def name_of(program_id):
    """None: it has gone meanwhile. The name is at its place in struct bpf_prog_info."""
    info, size = (ctypes.c_char * 256)(), ctypes.c_uint32(256)
    fd = libbpf.bpf_prog_get_fd_by_id(program_id)
    if fd < 0:
        return None
    error = libbpf.bpf_obj_get_info_by_fd(fd, info, ctypes.byref(size))
    os.close(fd)
    assert error == 0, os.strerror(-error)
    return info.raw[64:80].partition(b"\0")[0].decode()
