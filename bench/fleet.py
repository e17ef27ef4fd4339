#!/usr/bin/env python3
"""Simulated hosts behind a nats-server and a collector: how soon an order is there, what the server and the collector take of
a CPU, how soon sums are told, what both have in memory. What is told is checked against what the hosts have counted.

    bench/fleet.py HOSTS KEYS SECONDS        prints "name value name value …", times in seconds, shares of a CPU in percent

$BUILD is where Landtrace is built ("build").
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tests", "cli"))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
HOSTS_PROGRAM = os.path.join(BUILD, "bench", "landtrace_bench_hosts")
for name, program in (("LANDTRACE", "bin/landtrace"), ("SHIM", "lib/landtrace/liblandtrace-preload.so"), ("PRODUCER", "bin/landtrace")):
    os.environ.setdefault(name, os.path.join(BUILD, program))
import fleet_case  # noqa: E402

PATIENCE_S = 300
INTERVAL_MS = 10_000
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def wait_until(condition, pause_s=0.02):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("waited in vain")
        time.sleep(pause_s)


class Process:
    """Its CPU time and its memory."""

    def __init__(self, pid):
        self.pid = pid

    def read(self, name):
        with open(f"/proc/{self.pid}/{name}", encoding="ascii") as file:
            return file.read()

    def cpu_s(self):
        fields = self.read("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_S

    def memory_mb(self, which="VmRSS"):
        return next(int(line.split()[1]) for line in self.read("status").splitlines() if line.startswith(which)) / 1000


class Program(Process):
    def __init__(self, *words, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        self.process = subprocess.Popen([str(word) for word in words], text=True, **options)
        super().__init__(self.process.pid)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Fleet:
    """A server, a collector and simulated hosts."""

    def __init__(self, hosts, keys, interval_ms=INTERVAL_MS):
        self.folder = tempfile.mkdtemp(prefix="landtrace-bench-fleet-")
        self.port = fleet_case.free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.environment = dict(os.environ, LANDTRACE_FLEET=self.url, LD_PRELOAD="", LANDTRACE_SOCKET="")
        self.programs = []
        self.server = self.start("nats-server", "-js", "-sd", self.folder, "-a", "127.0.0.1", "-p", self.port, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.landtrace("fleet", "hosts", "--json").returncode == 0)
        self.collector = None
        self.hosts = self.start(HOSTS_PROGRAM, self.url, hosts, keys, interval_ms, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, env=dict(self.environment, LD_PRELOAD=""))
        if self.hosts.process.stdout.readline() != "ready\n":
            raise RuntimeError("the hosts do not start")

    def start(self, *words, **options):
        self.programs.append(Program(*words, **options))
        return self.programs[-1]

    def start_collector(self):
        self.collector = self.start(os.environ["LANDTRACE"], "collect", env=self.environment)

    def landtrace(self, *words):
        return subprocess.run([os.environ["LANDTRACE"], *words], env=self.environment, text=True, capture_output=True)

    def fleet(self, *words):
        done = self.landtrace("fleet", *words)
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def ask(self, what):
        self.hosts.process.stdin.write(what + "\n")
        self.hosts.process.stdin.flush()
        return int(self.hosts.process.stdout.readline())

    def order(self, *more):
        """Its id, and how many seconds it took until all hosts had begun it, and until that was told here."""
        begin = time.monotonic()
        said = self.fleet("hist", "made", "--keys", "route", "--detach", "--for", "1h", *more)
        reported = time.monotonic() - begin
        return said.split(":")[0], self.ask("began") / 1e9 - begin, reported, said

    def check(self, order):
        """What the hosts have counted is what is told."""
        counted = self.ask("settle")
        shown = lambda: sum(group["count"] for group in json.loads(self.fleet("show", order, "--json"))["groups"])
        if shown() != counted:
            raise RuntimeError(f"hosts counted {counted}, {shown()} are told")
        return counted

    def answer(self, order, sequence):
        """What the collector says from its memory, as bytes; empty where it does not know it yet."""
        client = fleet_case.NatsClient(self.port)
        client.subscribe(b"answer")
        question = f"{sequence} {order} ".encode()
        begin = time.monotonic()
        client.say(b"PUB landtrace.ask answer %d" % len(question), question)
        heard = []
        wait_until(lambda: heard.extend(client.ping()) or heard, 0.001)
        client.close()
        return time.monotonic() - begin, heard[0][1]

    def end(self):
        for program in reversed(self.programs):
            program.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def hosts(count, keys, seconds):
    fleet = Fleet(count, keys)
    try:
        fleet.start_collector()
        order, began_s, reported_s, said = fleet.order()
        if f"applied by {count:,} host" not in said:
            raise RuntimeError(said)
        time.sleep(INTERVAL_MS / 1000)
        two = (fleet.server, fleet.collector)
        begin, before, frames = time.monotonic(), [one.cpu_s() for one in two], fleet.ask("frames")
        time.sleep(seconds)
        wall = time.monotonic() - begin
        server, collector = ((one.cpu_s() - cpu) / wall * 100 for one, cpu in zip(two, before))
        frames = fleet.ask("frames") - frames
        fleet.check(order)
        asked = min(fleet.answer(order, 0)[0] for _ in range(5))
        return {"began": began_s, "reported": reported_s, "server": server, "collector": collector, "both": server + collector,
                "frames": frames / wall, "asked": asked, "server_mb": fleet.server.memory_mb(),
                "collector_mb": fleet.collector.memory_mb()}
    finally:
        fleet.end()


def main():
    if len(sys.argv) != 4 or not all(word.isdecimal() for word in sys.argv[1:]):
        sys.exit(__doc__)
    print(*(f"{name} {value:.4f}" for name, value in hosts(*map(int, sys.argv[1:])).items()))


main()
