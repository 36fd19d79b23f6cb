"""The one option of kernel bonding that this machine's iproute2 does not know, by netlink."""
import os
import socket
import struct

RTM_NEWLINK, NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 16, 1, 4, 2
IFLA_LINKINFO, IFLA_INFO_KIND, IFLA_INFO_DATA = 18, 1, 2
IFLA_BOND_COUPLED_CONTROL = 32


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def kernel_release():
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])


def has_coupled_control():
    """An older kernel ignores the attribute silently."""
    return kernel_release() >= (6, 9)


def set_coupled_control(namespace, dev, on):
    info = attribute(IFLA_INFO_KIND, b"bond") + attribute(
        IFLA_INFO_DATA, attribute(IFLA_BOND_COUPLED_CONTROL, bytes([on])))
    body = struct.pack("=BxHiII", 0, 0, namespace.link(dev)["ifindex"], 0,
                       0) + attribute(IFLA_LINKINFO, info)
    with namespace.inside():
        link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    with link:
        link.send(struct.pack("=IHHII", 16 + len(body), RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 1,
                              0) + body)
        answer = link.recv(65536)
    kind, error = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    assert kind == NLMSG_ERROR
    if error:
        raise OSError(-error, f"coupled_control of {dev}")
