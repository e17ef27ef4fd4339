"""Many hosts: links that answer late, or carry little."""
import json
import os
import socket
import threading
import time
import unittest

import support
from fleet_case import FleetCase, Host, NatsClient, skip_without_nats


class Between:
    """Stands between a host and the server."""

    def __init__(self, case):
        self.case = case
        self.listening = socket.socket()
        self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self.listening.bind(("127.0.0.1", 0))
        self.listening.listen()
        self.url = f"nats://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        case.addCleanup(self.listening.close)

    def accept(self):
        while True:
            try:
                host = self.listening.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.case.port))
            except OSError:
                return
            for way in (self.to_server, self.to_host):
                threading.Thread(target=self.pass_all, args=(way, host, server), daemon=True).start()

    @staticmethod
    def pass_all(way, host, server):
        with host, server:
            try:
                way(host, server)
            except OSError:
                pass

    @staticmethod
    def pass_bytes(source, sink):
        while some := source.recv(65536):
            sink.sendall(some)

    def to_server(self, host, server):
        self.pass_bytes(host, server)

    def to_host(self, host, server):
        self.pass_bytes(server, host)


class Late(Between):
    """What the stream says of each message comes later than a host ever waits for it."""
    late_s = 9

    def to_host(self, host, server):
        file = server.makefile("rb")
        lock = threading.Lock()

        def send(message):
            try:
                with lock:
                    host.sendall(message)
            except OSError:
                pass

        while line := file.readline():
            is_message = line.startswith((b"MSG ", b"HMSG "))
            content = file.read(int(line.split()[-1]) + 2) if is_message else b""
            if content.startswith(b'{"stream":"LANDTRACE"'):
                timer = threading.Timer(self.late_s, send, [line + content])
                timer.daemon = True
                timer.start()
            else:
                send(line + content)


class Narrow(Between):
    """What a host sends passes at so many bytes a second."""
    bytes_per_s = 40_000

    def to_server(self, host, server):
        while some := host.recv(4096):
            server.sendall(some)
            time.sleep(len(some) / self.bytes_per_s)


class SlowLinks(FleetCase):
    def count(self, between, rows):
        """So many rows of one host; in its last frame they have to come, and behind that its status."""
        host = Host(self, "a", url=between.url)
        client = NatsClient(self.port)
        client.publish(b"$KV.landtrace_orders.o", json.dumps(
            {"id": "o", "kind": "hist", "event": "job", "triggers": ["hist:keys=source,sequence:size=65536"]}).encode())
        client.ping()
        client.close()
        counted = host.emit(rows)
        self.fleet("end", "o")
        self.wait_until(lambda: [one["state"] for one in self.hosts()["a"]["orders"]] == ["ended"])
        self.assertEqual(self.sum_of("o"), counted)

    def test_answers_that_come_late_count(self):
        self.count(Late(self), 10)

    def test_a_frame_that_takes_its_time_arrives(self):
        self.count(Narrow(self), 40_000)

    def test_a_snapshot_that_takes_its_time_arrives(self):
        host = Host(self, "a", url=Narrow(self).url)
        self.fleet("enable", "job")
        host.emit(20_000)
        file = os.path.join(self.folder, "fleet.dat")
        status, _, err = self.landtrace("fleet", "snapshot", "-o", file, "--timeout", f"{support.TIMEOUT_S}s")
        self.assertEqual((status, err), (0, ""))
        self.assertGreater(os.path.getsize(file), 1 << 18)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
