"""What the tests of many hosts share: a nats-server, hosts (daemons with a socket each), and a client of NATS."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import support
from support import LANDTRACED, PRODUCER

PROGRAM = os.path.join(os.path.dirname(os.environ["SHIM"]), "landtrace-fleet")
COLLECT = os.path.join(os.path.dirname(PROGRAM), "landtrace-collect")
for program in (PROGRAM, COLLECT):
    if os.path.exists(program):
        shutil.copy(program, os.path.join(os.path.dirname(support.LANDTRACE), "..", "lib", "landtrace"))


def skip_without_nats():
    """For the beginning of a test's main program."""
    for missing, text in ((not os.path.exists(PROGRAM), "built without libnats (libnats-dev)"),
                          (shutil.which("nats-server") is None, "nats-server is not installed")):
        if missing:
            print("SKIPPED: " + text)
            sys.exit()


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class NatsClient:
    """As much of the protocol as it takes to hear what is sent, and to send it again."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=support.TIMEOUT_S)
        self.file = self.socket.makefile("rwb")
        self.file.readline()  # INFO
        self.say(b'CONNECT {"verbose":false,"pedantic":false}')
        self.ping()

    def say(self, line, payload=None):
        self.file.write(line + b"\r\n" + (b"" if payload is None else payload + b"\r\n"))
        self.file.flush()

    def ping(self):
        """Returns when the server has taken all that was said; what came meanwhile."""
        self.say(b"PING")
        heard = []
        while True:
            line = self.file.readline()
            if line == b"PONG\r\n":
                return heard
            if line.startswith(b"MSG "):
                words = line.split()
                heard.append((words[1], self.file.read(int(words[-1]))))
                self.file.read(2)
            assert line, "the server has gone"

    def subscribe(self, subject):
        self.say(b"SUB " + subject + b" 1")
        self.ping()

    def publish(self, subject, payload):
        self.say(b"PUB %s %d" % (subject, len(payload)), payload)

    def close(self):
        self.file.close()
        self.socket.close()


class Host:
    """A daemon with its own domain."""

    def __init__(self, case, name, labels="", *options):
        self.case, self.name = case, name
        self.socket = os.path.join(case.folder, name, "domain.sock")
        os.makedirs(os.path.dirname(self.socket), exist_ok=True)
        self.words = [LANDTRACED, "--socket", self.socket, "--fleet", case.url, "--fleet-host", name,
                      "--fleet-interval", "1", *(["--fleet-labels", labels] if labels else []), *options]
        self.start()

    def start(self):
        self.daemon = self.case.start_program(*self.words)
        self.case.addCleanup(self.case.stop, self.daemon)
        self.case.wait_until(lambda: self.daemon.poll() is not None or self.case.host_state(self.name) == "here")
        self.case.assertIsNone(self.daemon.poll())

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def start_program(self, *words, **how):
        return self.case.start_program(*words, env=dict(self.case.environment, LANDTRACE_SOCKET=self.socket), **how)

    def emit(self, count, *words):
        """By a program that ends when all of it is counted."""
        program = self.start_program(PRODUCER, "--count", count, "--wait", support.TIMEOUT_S * 1000, *words)
        out, err = program.communicate(timeout=support.TIMEOUT_S)
        self.case.assertEqual((program.returncode, out), (0, f"emitted {count}\n"), err)
        return count


class FleetCase(support.Case):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.environment["LANDTRACE_FLEET"] = self.url
        self.start_server()

    def start_server(self):
        store = os.path.join(self.folder, "nats")
        self.server = self.start_program("nats-server", "-js", "-sd", store, "-a", "127.0.0.1", "-p", self.port,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)

    def kill_server(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()

    def server_answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def fleet(self, *words):
        """What it prints, if it goes well."""
        status, out, err = self.landtrace("fleet", *words)
        self.assertEqual(status, 0, err)
        return out

    def hosts(self, *words):
        status, out, _ = self.landtrace("fleet", "hosts", "--json", *words)
        return {host["host"]: host for host in json.loads(out)} if status == 0 else {}

    def host_state(self, name):
        host = self.hosts().get(name)
        return None if host is None else "away" if host["away"] else "here"

    def order(self, *words):
        """Its id, where all hosts have taken it."""
        return self.fleet(*words).split(":")[0]

    def shown(self, order, *words):
        """What `show` has of it, None where that is nothing."""
        status, out, _ = self.landtrace("fleet", "show", order, "--json", *words)
        return json.loads(out) if status == 0 else None

    def sum_of(self, order):
        shown = self.shown(order)
        return 0 if shown is None else sum(group["count"] for group in shown["groups"])
