"""HTTP as the tests of metrics speak it: one request on a connection, and no client that corrects
what is wrong with it.
"""
import json
import socket


class Answer:
    """status, headers (names in small letters) and body."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value.strip()
                        for name, _, value in (line.partition(":") for line in lines)}

    @property
    def text(self):
        return self.body.decode()


class Server:
    """Where a host answers: ADDR:PORT in its namespace, or a path."""

    def __init__(self, host, address=("127.0.0.1", 9977)):
        self.host, self.address = host, address

    def connect(self, timeout=10):
        with self.host.inside():
            family = socket.AF_UNIX if isinstance(self.address, str) else \
                socket.AF_INET6 if ":" in self.address[0] else socket.AF_INET
            client = socket.socket(family)
        client.settimeout(timeout)
        try:
            client.connect(self.address)
        except OSError:
            client.close()
            raise
        return client

    def send(self, request):
        """Bytes of a request, whatever they are. Returns all bytes of the answer."""
        with self.connect() as client:
            client.sendall(request)
            return receive_all(client)

    def ask(self, path, *headers, method="GET"):
        lines = [f"{method} {path} HTTP/1.1", *(headers or ("Host: localhost",)), "", ""]
        return Answer(self.send("\r\n".join(lines).encode()))

    def answers(self):
        """Is anybody there?"""
        try:
            return self.ask("/metrics").status == 200
        except OSError:
            return False

    def bonds(self):
        return json.loads(self.ask("/bonds.json").body)


def receive_all(client):
    parts = []
    while part := client.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)
