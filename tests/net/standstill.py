"""A process whose main thread stands still while its other threads run: as bondd, when the kernel
lets a request wait.
"""
import contextlib
import ctypes
import os
import pathlib

from waiting import wait_for

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


def _state(tid):
    return pathlib.Path(f"/proc/{tid}/task/{tid}/stat").read_text().rsplit(")", 1)[1].split()[0]


@contextlib.contextmanager
def standstill(pid):
    """The main thread of a child is stopped for the time of the block; it may be
    killed meanwhile.
    """
    ptrace(PTRACE_SEIZE, pid)
    ptrace(PTRACE_INTERRUPT, pid)
    wait_for(lambda: _state(pid) == "t", "the main thread to stop")
    os.waitid(os.P_PID, pid, os.WSTOPPED)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            ptrace(PTRACE_DETACH, pid)
