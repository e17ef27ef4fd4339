#!/usr/bin/env python3
"""The figures of many hosts: what bench_fleet.cc runs. Prints "name value name value …".

    fleet.py hosts HOSTS KEYS SECONDS [INTERVAL_S]
                                         simulated hosts behind a nats-server and a collector: how soon an order is there,
                                         what a server and a collector take of a CPU, how soon sums are told, what they
                                         have in memory; the sums are checked
    fleet.py collector HOSTS FRAMES      how many frames a second go through a collector that is started late
    fleet.py past HOSTS ROUTES STEPS     frames of an hour come at once: how many a second a collector takes, and one with a store;
                                         how long the command takes that shows p99 by route of the last hour
    fleet.py seen HOSTS KEYS SECONDS     what a scraper and a live page of so many hosts take
    fleet.py agent EVENTS KEYS SECONDS   a real host: what its agent takes of a CPU and has in memory, what an event costs that
                                         it reads, also while the server is stopped
    fleet.py stack ROUNDS                what the event costs that ends the pairs of a latency, with --stack and without

$BUILD is where Landtrace is built ("build"). $SCRAPED: a file for what `seen` has scraped.
"""
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tests", "cli"))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
BENCH, HOSTS_PROGRAM, PAST_PROGRAM = (os.path.join(BUILD, "bench", f"landtrace_bench{name}") for name in ("", "_hosts", "_past"))
for name, program in (("LANDTRACE", "bin/landtrace"), ("LANDTRACED", "bin/landtraced"), ("PRODUCER", "bin/landtrace"),
                      ("SHIM", "lib/landtrace/liblandtrace-preload.so")):
    os.environ.setdefault(name, os.path.join(BUILD, program))
import fleet_case  # noqa: E402
from fleet_case import support  # noqa: E402

PATIENCE_S = 120
HOSTS_IN_ONE = 500  # in one process: libnats looks through all of its timers for each
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
        self.set_up()
        self.server = self.start("nats-server", "-js", "-sd", self.folder, "-a", "127.0.0.1", "-p", self.port, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.landtrace("fleet", "hosts", "--json").returncode == 0)
        self.hosts, self.count = [], hosts
        for first in range(0, hosts, HOSTS_IN_ONE):
            self.start_hosts(first, min(HOSTS_IN_ONE, hosts - first), keys, interval_ms)
        # That they have joined is more for the server than that they are there.
        time.sleep(interval_ms / 1000 if len(self.hosts) > 1 else 0)

    def start_hosts(self, first, count, keys, interval_ms):
        program = self.start(HOSTS_PROGRAM, self.url, first, count, keys, interval_ms, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, env=dict(self.environment, LD_PRELOAD=""))
        self.hosts.append(program)
        # Thousands of connections may be more than a machine takes.
        is_told = select.select([program.process.stdout], [], [], PATIENCE_S)[0]
        if not is_told or program.process.stdout.readline() != "ready\n":
            self.end()
            raise RuntimeError(f"hosts {first} to {first + count - 1} have not joined within {PATIENCE_S} s")

    def set_up(self):
        self.folder = tempfile.mkdtemp(prefix="landtrace-bench-fleet-")
        self.port = fleet_case.free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.environment = dict(os.environ, LANDTRACE_FLEET=self.url, LD_PRELOAD="", LANDTRACE_SOCKET="")
        self.programs, self.collector = [], None

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
        """What each process of hosts answers."""
        for hosts in self.hosts:
            hosts.process.stdin.write(what + "\n")
            hosts.process.stdin.flush()
        return [int(hosts.process.stdout.readline()) for hosts in self.hosts]

    def frames(self):
        return sum(self.ask("frames"))

    def order(self, *more):
        """Its id, and how many seconds it took until all hosts had begun it, and until all that was told here."""
        begin = time.monotonic()
        done = self.landtrace("fleet", "hist", "made", "--keys", "route", "--detach", "--for", "1h", *more)
        if done.returncode != 0 and "the order is given" not in done.stderr:
            raise RuntimeError(done.stderr)
        order = (done.stdout or done.stderr.removeprefix("landtrace: ")).split(":")[0]
        if f"applied by {self.count:,} host" not in done.stdout:  # longer than the command waits
            wait_until(lambda: self.applied(order) == self.count, 5)
        reported = time.monotonic() - begin
        return order, max(self.ask("began")) / 1e9 - begin, reported

    def applied(self, order):
        """How many hosts have said so; 0 where the server has no time for the question."""
        done = self.landtrace("fleet", "hosts", "--json")
        hosts = json.loads(done.stdout) if done.returncode == 0 else []
        return sum(one["id"] == order and one["state"] == "applied" for host in hosts for one in host["orders"])

    def settled(self):
        """What the hosts have counted; they count no more."""
        return sum(self.ask("settle"))

    def check(self, order):
        """What the hosts have counted is what is told."""
        counted = self.settled()
        shown = lambda: sum(group["count"] for group in json.loads(self.fleet("show", order, "--json"))["groups"])
        if shown() != counted:
            raise RuntimeError(f"hosts counted {counted}, {shown()} are told")
        return counted

    def answer(self, order, sequence, again_s=30):
        """What the collector says from its memory, as bytes; empty where it does not know it yet. `again_s`: behind which it is
        asked again, where it may not have listened."""
        client, inbox = fleet_case.NatsClient(self.port), b"answer.%d" % time.monotonic_ns()
        client.subscribe(inbox)
        question = f"{sequence} {order} ".encode()
        heard = []
        while not heard:
            begin = time.monotonic()
            client.say(b"PUB landtrace.ask %s %d" % (inbox, len(question)), question)
            while not heard and time.monotonic() < begin + again_s:
                heard.extend(client.ping())
                time.sleep(0.001)
        client.close()
        return time.monotonic() - begin, heard[0][1]

    def ask_server(self, what, question=""):
        client, inbox = fleet_case.NatsClient(self.port), b"answer.%d" % time.monotonic_ns()
        client.subscribe(inbox)
        client.say(b"PUB $JS.API.%s.LANDTRACE %s %d" % (what.encode(), inbox, len(question)), question.encode())
        heard = []
        wait_until(lambda: heard.extend(client.ping()) or heard, 0.001)
        client.close()
        return json.loads(heard[0][1])

    def newest(self, order):
        """Where in the stream the order's last frame is."""
        return self.ask_server("STREAM.MSG.GET", json.dumps({"last_by_subj": f"landtrace.*.*.hist.{order}.>"}))["message"]["seq"]

    def stream(self):
        return self.ask_server("STREAM.INFO", json.dumps({"subjects_filter": "landtrace.*.*.hist.>"}))["state"]

    def frames_there(self):
        return sum(self.stream()["subjects"].values())

    def end(self):
        for program in reversed(self.programs):
            program.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def hosts(count, keys, seconds, interval_s=INTERVAL_MS // 1000):
    fleet = Fleet(count, keys, interval_s * 1000)
    try:
        fleet.start_collector()
        order, began_s, reported_s = fleet.order()
        time.sleep(interval_s)
        two = (fleet.server, fleet.collector)
        begin, before, frames = time.monotonic(), [one.cpu_s() for one in two], fleet.frames()
        time.sleep(seconds)
        wall = time.monotonic() - begin
        server, collector = ((one.cpu_s() - cpu) / wall * 100 for one, cpu in zip(two, before))
        frames = fleet.frames() - frames
        fleet.check(order)
        asked = min(fleet.answer(order, 0)[0] for _ in range(5))
        return {"began": began_s, "reported": reported_s, "server": server, "collector": collector, "both": server + collector,
                "frames": frames / wall, "asked": asked, "server_mb": fleet.server.memory_mb(),
                "collector_mb": fleet.collector.memory_mb()}
    finally:
        fleet.end()


def collector(count, frames):
    """A collector that is started late has all that the stream keeps before it: eight frames of each histogram."""
    fleet = Fleet(count, 20, 2000)
    try:
        order = fleet.order()[0]
        wait_until(lambda: fleet.frames() >= frames, 1)
        counted = fleet.check(order)
        newest = fleet.newest(order)
        begin = time.monotonic()
        fleet.start_collector()
        wait_until(lambda: fleet.answer(order, newest, 0.1)[1].startswith(b"+"), 0)
        wall = time.monotonic() - begin
        there = fleet.frames_there()
        fleet.check(order)
        return {"rate": there / wall, "per_cpu_s": there / fleet.collector.cpu_s(), "there": there, "counted": counted,
                "memory_mb": fleet.collector.memory_mb()}
    finally:
        fleet.end()


class Page:
    """A live page's stream: what comes is kept by who looks for it."""

    def __init__(self, fleet):
        self.program = fleet.start(os.environ["LANDTRACE"], "ui", "--fleet", stdout=subprocess.PIPE, env=fleet.environment)
        self.url = self.program.process.stdout.readline().strip()
        self.stream = urllib.request.urlopen(self.url + "stream", timeout=PATIENCE_S)
        self.bytes, self.news, self.hosts = 0, 0, {}
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.stream:
            self.bytes += len(line)
            if line.startswith(b"data: "):
                self.news += 1
                self.hosts.update((host["number"], host) for host in json.loads(line[6:])["hosts"])

    def ask(self, what):
        """Seconds, and the answer."""
        begin = time.monotonic()
        with urllib.request.urlopen(self.url + what, timeout=PATIENCE_S) as answer:
            return time.monotonic() - begin, answer.read()

    def follower(self):
        return next(Process(pid) for pid in children_of(self.program.pid))


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(word) for word in children.read().split()]


def seen(count, keys, seconds):
    """A scraper asks each 15 s as a rule; a page is open."""
    fleet = Fleet(count, keys)
    try:
        port = fleet_case.free_port()
        serving = fleet.start(os.environ["LANDTRACE"], "collect", "--metrics", f"127.0.0.1:{port}", "--metrics-by", "route",
                              env=fleet.environment)
        order = fleet.order()[0]
        counted = fleet.check(order)

        def scrape():
            begin = time.monotonic()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
                return time.monotonic() - begin, answer.read()

        def has_all():
            lines = [line.split() for line in scrape()[1].decode().splitlines() if order in line]
            return sum(int(line[-1]) for line in lines if line[0].startswith("landtrace_fleet_hits")) == counted
        wait_until(has_all, 0.5)
        begin = time.monotonic()
        page = Page(fleet)
        wait_until(lambda: len(page.hosts) == count)
        figures = {"page_s": time.monotonic() - begin}
        wait_until(lambda: sum(group["count"] for event in json.loads(page.ask(f"counts?order={order}&by=route")[1])["events"]
                               for group in event["groups"]) == counted, 0.5)
        metering = [Process(pid) for pid in children_of(serving.pid)]
        programs = {"page": [page.program, page.follower()], "metrics": [serving, *metering]}
        before = {name: sum(one.cpu_s() for one in of) for name, of in programs.items()}
        begin, bytes_before, news_before = time.monotonic(), page.bytes, page.news
        asked = []
        while time.monotonic() - begin < seconds:
            asked.append((page.ask(f"counts?order={order}&by=route")[0], *scrape()))
            time.sleep(5)
        wall = time.monotonic() - begin
        for name, of in programs.items():
            figures[name] = (sum(one.cpu_s() for one in of) - before[name]) / wall * 100
            figures[name + "_mb"] = sum(one.memory_mb() for one in of)
        figures |= {"page_kb_per_s": (page.bytes - bytes_before) / wall / 1000, "news_per_s": (page.news - news_before) / wall,
                    "counts_s": median([one[0] for one in asked]), "scrape_s": median([one[1] for one in asked]),
                    "scrape_kb": len(asked[-1][2]) / 1000, "lines": asked[-1][2].count(b"\n")}
        if os.environ.get("SCRAPED"):
            with open(os.environ["SCRAPED"], "wb") as file:
                file.write(asked[-1][2])
        return figures
    finally:
        fleet.end()


class Store(Fleet):
    """… and what `landtrace fleet up` starts: a collector with a store."""

    def __init__(self):
        self.set_up()
        up = self.start(os.environ["LANDTRACE"], "fleet", "up", "--listen", f"127.0.0.1:{self.port}", "--store", self.folder,
                        env=self.environment, stdout=subprocess.PIPE)
        said = up.process.stdout.readline() + up.process.stdout.readline()
        if "in a store" not in said:
            raise RuntimeError(said)


def past(count, routes, steps):
    """What is told of an hour that is over, from memory and from a store."""
    figures = {}
    for source in ("memory", "store"):
        fleet = Store() if source == "store" else Fleet(0, 1)
        try:
            if source == "memory":
                fleet.start_collector()
            begin = time.monotonic()
            order, sent, counted = subprocess.run([PAST_PROGRAM, fleet.url, str(count), str(routes), str(steps)], check=True,
                                                  capture_output=True, text=True).stdout.split()
            words = ("show", order, "--last", "2h", "--json")

            def has_all():
                done = fleet.landtrace("fleet", *words)
                shown = json.loads(done.stdout) if done.returncode == 0 else {"slots": []}
                return (sum(group["count"] for slot in shown["slots"] for group in slot["groups"]) == int(counted) and
                        shown["source"] == source and not shown["is_behind"])
            wait_until(has_all, 0.2)
            figures[f"{source}_frames_per_s"] = int(sent) / (time.monotonic() - begin)
            took = []
            for _ in range(7):
                begin = time.monotonic()
                fleet.fleet("show", order, "--last", "1h")
                took.append(time.monotonic() - begin)
            figures[f"{source}_s"] = median(took)
            if fleet.collector:
                figures["memory_mb"] = fleet.collector.memory_mb()
                figures["memory_frames_per_cpu_s"] = int(sent) / fleet.collector.cpu_s()
        finally:
            fleet.end()
    return figures


class Host:
    """A real one: a daemon with its agent, and a program with events."""

    def __init__(self, fleet, events, keys):
        self.folder = tempfile.mkdtemp(prefix="landtrace-bench-host-")
        self.socket = os.path.join(self.folder, "domain.sock")
        environment = dict(fleet.environment, LANDTRACE_SOCKET=self.socket)
        self.environment = environment
        self.daemon = Program(os.environ["LANDTRACED"], "--socket", self.socket, "--fleet", fleet.url, "--fleet-host", "real", env=environment)
        wait_until(lambda: "real" in fleet.landtrace("fleet", "hosts").stdout)
        self.agent = Process(children_of(self.daemon.pid)[0])
        self.keys, self.events = keys, events
        self.emitter = Program(BENCH, "--role", "fleet-emitter", self.socket, events + 1, keys, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment)
        self.emitter.process.stdout.readline()

    def emit(self, event, times):
        """The ns that each took, None where nobody wants it yet."""
        self.emitter.process.stdin.write(f"{event} {times}\n")
        self.emitter.process.stdin.flush()
        ns, is_on = self.emitter.process.stdout.readline().split()
        return float(ns) if is_on == "1" else None

    def emit_all(self):
        for event in range(self.events):
            self.emit(event, self.keys)

    def end(self):
        self.emitter.end()
        self.daemon.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def median(of):
    return sorted(of)[len(of) // 2]


def cost(host, seconds, events=1_000_000):
    """ns of an event that the agent reads, and of one that nobody does, in turns."""
    of, end = ([], []), time.monotonic() + seconds
    while time.monotonic() < end:
        for number, event in ((0, 0), (1, host.events)):
            of[number].append(host.emit(event, events))
        host.emit_all()
    return median(of[0]), median(of[1])


def agent(events, keys, seconds):
    fleet = Fleet(0, 1)
    host = None
    try:
        host = Host(fleet, events, keys)
        # Nobody reads the histogram of one event: it stands in the tree.
        trigger = ("events/user_events/bench_alone/trigger", "hist:keys=id:vals=value")
        subprocess.run([os.environ["LANDTRACE"], "write", *trigger], check=True, env=host.environment)
        wait_until(lambda: host.emit(events, 10) is not None)
        order = fleet.fleet("hist", "bench_fleet_*", "--keys", "id", "--vals", "value", "--detach", "--for", "1h").split(":")[0]
        wait_until(lambda: host.emit(0, 10) is not None)
        host.emit_all()
        time.sleep(INTERVAL_MS / 1000)
        before, begin = (host.agent.cpu_s(), host.daemon.cpu_s()), time.monotonic()
        while time.monotonic() - begin < seconds:
            host.emit_all()
            time.sleep(1)
        wall = time.monotonic() - begin
        of_agent, of_daemon = ((one.cpu_s() - cpu) / wall * 100 for one, cpu in zip((host.agent, host.daemon), before))
        memory = host.agent.memory_mb("VmHWM")
        with_ns, without_ns = cost(host, seconds)
        os.kill(fleet.server.process.pid, 19)
        away_ns, alone_ns = cost(host, seconds)
        away_mb = host.agent.memory_mb("VmHWM")
        os.kill(fleet.server.process.pid, 18)
        fleet.fleet("end", order)
        return {"agent": of_agent, "daemon": of_daemon, "memory_mb": memory, "with_ns": with_ns, "without_ns": without_ns,
                "cost": with_ns / without_ns, "cost_away": away_ns / alone_ns, "memory_away_mb": away_mb, "frames": events,
                "frame_kb": fleet.stream()["bytes"] / fleet.frames_there() / 1000}
    finally:
        if host:
            host.end()
        fleet.end()


def stack(rounds):
    """Orders come and go in turns: it is one machine's moment that they share."""
    fleet = Fleet(0, 1)
    host = None
    try:
        host = Host(fleet, 2, 1000)
        of = {"plain": [], "stack": []}
        for _ in range(rounds):
            for name, options in (("plain", ()), ("stack", ("--stack",))):
                order = fleet.fleet("latency", "--from", "bench_fleet_0", "--to", "bench_fleet_1", "--key", "id", "--detach", "--for", "1h",
                                    *options).split(":")[0]
                wait_until(lambda: host.emit(1, 10) is not None)
                of[name].append(median([host.emit(1, 100_000) for _ in range(5)]))
                fleet.fleet("end", order)
                wait_until(lambda: host.emit(1, 10) is None)
        plain, with_stack = median(of["plain"]), median(of["stack"])
        return {"plain_ns": plain, "stack_ns": with_stack, "ratio": with_stack / plain}
    finally:
        if host:
            host.end()
        fleet.end()


def main():
    measures = {"hosts": (hosts, 3, 4), "seen": (seen, 3), "collector": (collector, 2), "past": (past, 3), "agent": (agent, 3),
                "stack": (stack, 1)}
    measure, *words = measures.get(sys.argv[1] if len(sys.argv) > 1 else "", (None,))
    if len(sys.argv) - 2 not in words or not all(word.isdecimal() for word in sys.argv[2:]):
        sys.exit(__doc__)
    print(*(f"{name} {value:.4f}" for name, value in measure(*map(int, sys.argv[2:])).items()))


main()
