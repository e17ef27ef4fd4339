"""What the tests of many hosts share: a nats-server, hosts (daemons with a socket each), and a client of NATS."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading

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


TAKEN_PORTS = []  # until this process ends


def free_port():
    """Nobody has it, no other test takes it, and no connection has it as its own end."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as given:
        begin = int(given.read().split()[0])
    while True:
        port = random.randrange(begin // 2, begin)
        taken = socket.socket(socket.AF_UNIX)
        try:
            taken.bind(f"\0landtrace-test-port-{port}")
            with socket.socket() as listening:
                listening.bind(("127.0.0.1", port))
        except OSError:
            taken.close()
            continue
        TAKEN_PORTS.append(taken)
        return port


class NatsClient:
    """As much of the protocol as it takes to hear what is sent, and to send it again."""

    def __init__(self, port, user=None, password=None, headers=False):
        """With headers what is heard begins with them."""
        self.refused = []
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=support.TIMEOUT_S)
        self.file = self.socket.makefile("rwb")
        self.file.readline()  # INFO
        options = {"verbose": False, "pedantic": False, "headers": headers, "no_responders": headers} | ({"user": user, "pass": password} if user else {})
        self.say(b"CONNECT " + json.dumps(options).encode())
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
            if line.startswith((b"MSG ", b"HMSG ")):
                words = line.split()
                heard.append((words[1], self.file.read(int(words[-1]))))
                self.file.read(2)
            if line.startswith(b"-ERR"):
                self.refused.append(line)
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

    def __init__(self, case, name, labels="", *options, url=None, interval=1):
        self.case, self.name = case, name
        self.socket = os.path.join(case.folder, name, "domain.sock")
        os.makedirs(os.path.dirname(self.socket), exist_ok=True)
        self.words = [LANDTRACED, "--socket", self.socket, "--fleet", url or case.url, "--fleet-host", name,
                      "--fleet-interval", interval, *(["--fleet-labels", labels] if labels else []), *options]
        self.start()

    def start(self):
        """What the last one has said is in the stream."""
        started = lambda: self.case.hosts().get(self.name, {}).get("started")
        before = started()
        self.daemon = self.case.start_program(*self.words)
        self.case.addCleanup(self.case.stop, self.daemon)
        self.case.wait_until(lambda: self.daemon.poll() is not None or started() != before)
        self.case.assertIsNone(self.daemon.poll())

    def agent(self):
        """The process that speaks with the fleet."""
        return int(support.read_text(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children"))

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def start_program(self, *words, **how):
        return self.case.start_program(*words, env=dict(self.case.environment, LANDTRACE_SOCKET=self.socket), **how)

    def emit(self, count, *words):
        """By a program that ends when all of it is counted."""
        return self.finish_counting(self.start_counting(count, *words), count)

    def start_counting(self, count, *words):
        return self.start_program(PRODUCER, "--count", count, "--wait", support.TIMEOUT_S * 1000, *words)

    def finish_counting(self, program, count):
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
        self.assertIsNone(self.server.poll(), "nats-server has ended")

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

    def awaited(self, look):
        """What look() returns when that is something."""
        seen = []
        self.wait_until(lambda: seen.append(look()) or seen[-1])
        return seen[-1]

    def hosts(self, *words):
        """Asked again where the server does not answer: it is killed, or has other things to do."""
        def ask():
            status, out, err = self.landtrace("fleet", "hosts", "--json", *words)
            print(err, end="", file=sys.stderr)
            return [out] if status == 0 else None

        return {host["host"]: host for host in json.loads(self.awaited(ask)[0])}

    def orders(self):
        """As hosts() does."""
        def ask():
            status, out, err = self.landtrace("fleet", "orders")
            print(err, end="", file=sys.stderr)
            return [out] if status == 0 else None

        return self.awaited(ask)[0]

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

    def groups(self, order, *words):
        """Of an order of which something is there: the server may have other things to do for a while."""
        return self.awaited(lambda: self.shown(order, *words))["groups"]

    def asked(self, question):
        """What a collector says."""
        client = NatsClient(self.port)
        client.subscribe(b"answer")

        def ask():  # nobody may be there yet
            client.say(b"PUB landtrace.ask answer %d" % len(question), question.encode())
            return client.ping()

        heard = self.awaited(ask)
        client.close()
        return heard[0][1]

    def sum_of(self, order):
        """0 where there is nothing; asked again where the server has other things to do."""
        def ask():
            status, out, err = self.landtrace("fleet", "show", order, "--json")
            return None if "Timeout" in err else [json.loads(out)["groups"] if status == 0 else []]

        return sum(group["count"] for group in self.awaited(ask)[0])


class ClusterCase(FleetCase):
    """Three servers, with three replicas of all that is kept."""

    def start_server(self):
        self.ports = [free_port() for _ in range(3)]
        self.routes = [free_port() for _ in range(3)]
        self.url = ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)
        self.environment["LANDTRACE_FLEET"] = self.url
        self.servers = [self.start_one(number) for number in range(3)]
        self.wait_until(lambda: self.landtrace("fleet", "hosts", "--json")[0] == 0)

    def start_one(self, number):
        return self.start_program("nats-server", "-js", "-n", f"n{number}", "-sd", os.path.join(self.folder, f"nats{number}"),
                                  "-a", "127.0.0.1", "-p", self.ports[number], "--cluster_name", "fleet",
                                  "-cluster", f"nats://127.0.0.1:{self.routes[number]}",
                                  "-routes", ",".join(f"nats://127.0.0.1:{route}" for route in self.routes),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_one(self, number):
        self.servers[number].send_signal(signal.SIGKILL)
        self.servers[number].wait()

    def stream(self):
        """What a server that runs says of the stream, None where it says nothing."""
        for port, server in zip(self.ports, self.servers):
            if server.poll() is not None:
                continue
            client = NatsClient(port)
            client.subscribe(b"answer")
            client.say(b"PUB $JS.API.STREAM.INFO.LANDTRACE answer 0", b"")
            heard = []
            self.wait_until(lambda: heard.extend(client.ping()) or heard)
            client.close()
            return json.loads(heard[0][1])
        return None

    def leader(self):
        """The number of the server that leads the stream; it may take a moment until there is one."""
        found = []

        def has_one():
            said = self.stream()
            name = (said or {}).get("cluster", {}).get("leader", "")
            found[:] = [int(name[1:])] if name else []
            return found and self.servers[found[0]].poll() is None

        self.wait_until(has_one)
        return found[0]


class Unreliable:
    """Stands between hosts and their server: of the frames that hosts send it loses some, sends some twice, and some
    behind the next one."""

    def __init__(self, case, chance):
        self.case, self.chance = case, chance
        self.lost = self.repeated = self.reordered = 0
        self.is_reliable = False
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        case.addCleanup(self.listening.close)

    def accept(self):
        while True:
            try:
                host = self.listening.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.case.port))
            except OSError:
                return
            threading.Thread(target=self.pass_bytes, args=(server, host), daemon=True).start()
            threading.Thread(target=self.pass_messages, args=(host, server), daemon=True).start()

    @staticmethod
    def pass_bytes(source, sink):
        with source, sink:
            try:
                while some := source.recv(65536):
                    sink.sendall(some)
            except OSError:
                pass

    def pass_messages(self, source, sink):
        """Those that are published, one by one, all else as it is."""
        held = b""
        file = source.makefile("rb")
        try:
            while line := file.readline():
                if not line.startswith(b"PUB "):
                    sink.sendall(line)
                    continue
                message = line + file.read(int(line.split()[-1]) + 2)
                for one in self.fate(message, b".hist." in line and not self.is_reliable):
                    if one is None:
                        held, message = message, b""
                        continue
                    sink.sendall(one)
                    held = self.flush(held, sink)
        except OSError:
            pass
        finally:
            sink.close()

    @staticmethod
    def flush(held, sink):
        if held:
            sink.sendall(held)
        return b""

    def fate(self, message, is_frame):
        """What is sent of it; None: it waits for the next one."""
        chance = self.chance.random() if is_frame else 1
        if chance < 0.3:
            self.lost += 1
            return []
        if chance < 0.6:
            self.repeated += 1
            return [message, message]
        if chance < 0.8:
            self.reordered += 1
            return [None]
        return [message]
