"""What clients of bondd --metrics may do to harm it: come in crowds, be slow, send too much or
nonsense. Others are answered all the same, and bondd does its work.
"""
import contextlib
import random
import re
import socket

import pytest

from namespace import memory_kb
from waiting import wait_for
from webclient import Server, receive_all

CROWD = 1000
SOURCES = 100  # addresses that the crowd comes from
MAX_VISITS = 32
LISTEN = "0A"  # in /proc/net/tcp


@pytest.fixture(name="server")
def _server(lone):
    host = lone(2, bondd=False)
    host.environment["XBOND_METRICS"] = "0.0.0.0:9977"
    host.start_bondd()
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", *host.links)
    server = Server(host)
    wait_for(server.answers, "an answer")
    return server


def taken(server):
    """How many connections bondd has. Those that wait in the kernel's queue are no file yet."""
    rows = [line.split() for line in
            server.host.run("cat", "/proc/net/tcp").stdout.splitlines()[1:]]
    return sum(row[1].endswith(f":{server.address[1]:04X}") and row[3] != LISTEN and row[9] != "0"
               for row in rows)


def come(server, number):
    """A connection from one of many addresses, which does not wait to be taken."""
    with server.host.inside():
        client = socket.socket()
    client.setblocking(False)
    client.bind((f"127.0.1.{number % SOURCES + 1}", 0))
    client.connect_ex(server.address)
    return client


def is_open(client):
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def test_a_crowd_that_says_nothing(server):
    """1000 connections: few are taken, those do not last, and who asks gets an answer."""
    with contextlib.ExitStack() as crowd:
        clients = [crowd.enter_context(come(server, number)) for number in range(CROWD)]
        wait_for(lambda: taken(server) == MAX_VISITS, "the server to be full")
        assert server.host.ping_bondd()
        server.host.ctl("set", "bond0", "miimon", 50)
        wait_for(lambda: sum(not is_open(client) for client in clients) > MAX_VISITS,
                 "more of them to be closed than there is room for")
        # while the kernel lists them, one may go and another one come
        wait_for(lambda: taken(server) <= MAX_VISITS, "no more to be taken")
    wait_for(server.answers, "an answer", 15)
    wait_for(lambda: not taken(server), "all to be closed")


def test_readers_that_do_not_read(server):
    """They keep their answers, and nobody else waits for them."""
    with contextlib.ExitStack() as readers:
        for number in range(MAX_VISITS - 4):
            client = readers.enter_context(come(server, number))
            client.setblocking(True)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.answers()
        assert server.host.ping_bondd()


def test_one_address_does_not_take_all(server):
    with contextlib.ExitStack() as clients:
        for _ in range(3 * MAX_VISITS):
            clients.enter_context(come(server, 0))
        assert server.answers()


NONSENSE = [
    b"\x00" * 100000, b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n", b"GET\r\n\r\n",
    b"\r\n" * 1000,
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 100000,
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"GET /%00/%ff HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


def test_nonsense(server):
    for request in NONSENSE:
        with server.connect() as client, contextlib.suppress(OSError):
            client.sendall(request)
        assert server.answers(), request[:60]
    assert server.host.ping_bondd()


def in_pieces(server, *pieces):
    """All bytes that come back; each piece is a segment of its own."""
    with server.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError):  # the server may have closed it
            for piece in pieces:
                client.sendall(piece)
            client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            return receive_all(client)
        return b""


def test_odd_ways_to_ask(server):
    """One answer on each connection, whatever comes behind the request."""
    asked = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert in_pieces(server, asked).startswith(b"HTTP/1.1 200 "), "a client that half closes"
    assert in_pieces(server, *(bytes([byte]) for byte in asked)).startswith(b"HTTP/1.1 200 ")
    assert in_pieces(server, 50 * asked).count(b"HTTP/1.1 ") == 1, "pipelined requests"
    for method in (b"PUT", b"DELETE", b"CONNECT", b"TRACE", b"BREW", b"get", b"G" * 5000):
        answer = in_pieces(server, asked.replace(b"GET", method))
        assert not re.search(rb"^HTTP/1\.[01] 2", answer), method
    for nothing in (b"GET /metrics\r\n",  # as HTTP/0.9 has it
                    b"GET /met\0rics HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        assert b"xbond_build" not in in_pieces(server, nothing), nothing
    assert server.answers()


def mutated(chance, request):
    """With bytes changed, doubled, and left out."""
    made = bytearray(request)
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(made))
        made[at:at + chance.randrange(3)] = chance.choice(
            (b"", bytes([chance.randrange(256)]), b"\r\n", b"\0", b"%", made[:at] * 3))
    return bytes(made)


def test_requests_of_any_content(server):
    """Some hundreds that are not quite right; nobody is harmed, and nothing is kept."""
    chance = random.Random(17)
    asked = (b"GET /metrics HTTP/1.1\r\nHost: localhost:9977\r\nAccept: "
             b"application/openmetrics-text;version=1.0.0;q=0.5,text/plain\r\n\r\n")
    for _ in range(20):
        in_pieces(server, asked)
    before = memory_kb(server.host.bondd.pid)
    for _ in range(400):
        in_pieces(server, mutated(chance, asked))
    assert server.answers() and server.host.ping_bondd()
    assert memory_kb(server.host.bondd.pid) < before + 4096
    wait_for(lambda: not taken(server), "all to be closed")
