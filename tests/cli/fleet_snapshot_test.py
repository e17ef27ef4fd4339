"""Many hosts: what they have recorded, frozen at one moment and fetched as one trace."""
import contextlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest

import support
from fleet_case import FleetCase, Host, NatsClient, skip_without_nats
from support import LANDTRACE, PRODUCER

SHIFT_S = 100_000
LATE = "landtrace: a: (no answer|only) "


class ShiftedHost(Host):
    """One whose machine was started SHIFT_S earlier, as far as its clock knows."""

    def __init__(self, case, name, *options):
        holder = case.start_program("unshare", "--time", "--monotonic", str(SHIFT_S), "sleep", "600")
        case.addCleanup(case.stop, holder)
        space = f"/proc/{holder.pid}/ns/time_for_children"
        own = os.stat("/proc/self/ns/time").st_ino
        case.wait_until(lambda: holder.poll() is not None or os.stat(space).st_ino != own)
        if holder.poll() is not None:
            case.skipTest("no time namespaces here")
        self.enter = ["nsenter", f"--time={space}"]
        super().__init__(case, name, *options)

    def start(self):
        if self.words[0] != "nsenter":
            self.words = self.enter + self.words
        super().start()

    def start_program(self, *words, **how):
        return super().start_program(*self.enter, *words, **how)


class SnapshotCase(FleetCase):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "fleet.dat")

    def snapshot(self, *words):
        """What it says of each host; its status and complaints."""
        status, out, err = self.landtrace("fleet", "snapshot", "--json", "-o", self.file, *words)
        hosts = {host["host"]: host for host in json.loads(out)["hosts"]} if out else {}
        return hosts, status, err

    def snapshot_in_time(self, option, *words, late=LATE):
        """The same, and the seconds that it took with this option until none of these was said."""
        def attempt(seconds):
            said = self.snapshot(option, f"{math.ceil(seconds)}s", *words)
            return None if re.search(late, said[2]) else (*said, math.ceil(seconds))

        return self.given_time(attempt)

    def events(self, *words):
        """Of the file, in its order, without those about hosts."""
        status, out, err = self.landtrace("report", "--json", *words, self.file)
        self.assertEqual(status, 0, err)
        lines = [json.loads(line) for line in out.splitlines()]
        return [line for line in lines if "event" in line and not line["event"].endswith("fleet_host")]

    def pretend(self, name, *orders):
        """Says that there is a host, as its agent would."""
        now = time.time_ns()
        status = {"host": name, "boot": "", "domain": "d", "labels": {}, "version": "1", "started": 1, "sequence": now,
                  "time_ns": now, "interval_ms": 60_000, "users": 0, "events": 0, "enabled": 0, "recorded": 0, "lost": 0,
                  "unsent": 0, "orders": list(orders)}
        client = NatsClient(self.port)
        client.publish(f"landtrace.d.{name}.status".encode(), json.dumps(status).encode())
        client.ping()
        client.close()

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if name.startswith("fleet.dat.")]


class Snapshots(SnapshotCase):
    def test_are_one_trace_of_all_hosts(self):
        a, b, c = Host(self, "a", "zone=x"), Host(self, "b", "zone=y", "--fleet-redact", "source"), ShiftedHost(self, "c")
        self.fleet("enable", "job")
        order = [a, c, b, c, a]
        for i, host in enumerate(order):
            host.emit(100 * (i + 1))
        hosts, status, err = self.snapshot()
        self.assertEqual(status, 0, err)
        self.assert_one_line(err, "landtrace: b: zeros stand for what is left out there: source")
        self.assertEqual({name: host["events"] for name, host in hosts.items()}, {"a": 600, "b": 300, "c": 600})
        self.assertEqual([host["lost"] for host in hosts.values()], [0, 0, 0])
        for name, host in hosts.items():
            self.assertLess(host["bound_ns"], 1e9)
            self.assertAlmostEqual(host["offset_ns"], -SHIFT_S * 1e9 if name == "c" else 0, delta=host["bound_ns"])

        events = self.events()
        self.assertEqual(len(events), 1500)
        # Which host had its turn when, by their aligned times.
        turns = [events[0]["comm"]]
        for event in events:
            if event["comm"] != turns[-1]:
                turns.append(event["comm"])
        self.assertEqual(turns, [f"{host.name}:producer" for host in order])
        self.assertEqual(len({event["pid"] for event in events}), len(order), "a program for each turn")
        report = self.landtrace("report", self.file)[1]
        self.assertRegex(report, r"(?m)^ +c:producer-\d+ +\[\d+\] .* job: ")
        self.assertRegex(report, r"(?m)^ +a-\d+ .* fleet_host: .*clock_ns=.* host=a ")
        self.assertEqual(self.landtrace("report", "--count", self.file)[1].split(), ["1,500", "user_events:job", "3",
                                                                                    "landtrace:fleet_host"])
        self.assertIn("user_events:job  ", self.landtrace("list", self.file)[1])
        exported = os.path.join(self.folder, "exported.json")
        status, _, err = self.landtrace("export", "--format", "chrome", "-o", exported, self.file)
        self.assertEqual(status, 0, err)
        with open(exported, encoding="utf-8") as text:
            self.assertIn("c:producer", text.read())
        if shutil.which("trace-cmd"):
            lines = subprocess.run(["trace-cmd", "report", "-i", self.file], capture_output=True, text=True, check=True,
                                   timeout=support.TIMEOUT_S).stdout
            self.assertEqual(len(re.findall(r"(?m)^ *[abc]:producer-\d+ .* job: ", lines)), 1500)
        self.assertEqual(self.leftovers(), [])

    def test_fields_that_stay_at_home_do_not_travel(self):
        hosts = [Host(self, "a", "", "--fleet-redact", "sequence"), Host(self, "b")]
        self.fleet("enable", "job")
        for host in hosts:
            host.emit(3)
        self.snapshot()
        by_host = {}
        for event in self.events():
            by_host.setdefault(event["comm"][0], []).append(event["fields"]["sequence"])
        self.assertEqual(by_host, {"a": [0, 0, 0], "b": [0, 1, 2]})

    def test_recording_goes_on(self):
        host = Host(self, "a")
        self.fleet("enable", "job")
        host.emit(10)
        for events, complaint in ((10, ""), (30, f"landtrace: {self.file}: the older one is {self.file}.old now\n")):
            hosts, status, err = self.snapshot()
            self.assertEqual((status, err, hosts["a"]["events"]), (0, complaint, events))
            host.emit(20)
        self.assertEqual(len(self.events()), 30)
        os.rename(self.file + ".old", self.file)
        self.assertEqual(len(self.events()), 10)

    def test_all_hosts_end_at_one_moment(self):
        """Programs have written more than rings hold, and go on, not so fast that a ring is full again in a second: a
        host may be late to read it."""
        hosts = [Host(self, name) for name in "abc"]
        self.fleet("enable", "job")
        for host in hosts:
            host.emit(100000)
        programs = [host.start_program(PRODUCER, "--count", 10**9, "--pause", 100, "--wait", support.TIMEOUT_S * 1000,
                                       stdout=subprocess.DEVNULL) for host in hosts]
        self.wait_until(lambda: all(one["events"] > 100000 for host in self.hosts().values() for one in host["orders"]))
        hosts, status, err = self.snapshot()
        for program in programs:
            program.kill()
            program.wait()
        self.assertEqual((status, err, list(hosts)), (0, "", ["a", "b", "c"]))
        events = self.events()
        moments = {line["time"] for line in map(json.loads, self.landtrace("report", "--json", self.file)[1].splitlines())
                   if line.get("event", "").endswith("fleet_host")}
        self.assertEqual(len(moments), 1)
        self.assertLessEqual(events[-1]["time"], moments.pop())
        self.assertEqual([event["time"] for event in events], sorted(event["time"] for event in events))
        for name, host in hosts.items():
            self.assertEqual(sum(event["comm"] == name + ":producer" for event in events), host["events"])
            self.assertGreater(host["events"], 0)

    def test_what_two_orders_recorded_is_there_once(self):
        host = Host(self, "a")
        self.fleet("enable", "job")
        self.fleet("enable", "job", "--filter", "sequence < 5")
        host.emit(40)
        hosts, status, err = self.snapshot()
        self.assertEqual((status, err, hosts["a"]["events"]), (0, "", 40))
        self.assertEqual([event["fields"]["sequence"] for event in self.events()], list(range(40)))

    def test_hosts_and_events_are_chosen(self):
        web, db = Host(self, "web", "role=web"), Host(self, "db", "role=db")
        self.fleet("enable", "*")
        web.emit(5)
        db.emit(7)
        hosts, status, err = self.snapshot("--where", "role=web", "-e", "job")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual({name: host["events"] for name, host in hosts.items()}, {"web": 5})
        hosts, status, err = self.snapshot("-e", "jbo", "-e", "job")
        self.assertEqual(status, 1)
        self.assertIn("no event 'jbo'; did you mean user_events:job?", err)
        self.assertEqual(sum(host["events"] for host in hosts.values()), 12)
        older = os.stat(self.file).st_mtime_ns
        _, status, err = self.snapshot("-e", "nothing")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "nothing was written: hosts have recorded no event that matches nothing")
        self.assertEqual(os.stat(self.file).st_mtime_ns, older)
        self.assertEqual(self.leftovers(), ["fleet.dat.old"])

    def test_where_nothing_is_recorded_it_says_what_to_do(self):
        _, status, err = self.snapshot()
        self.assertEqual(status, 1)
        self.assert_one_line(err, "there is no host yet")
        Host(self, "a")
        _, status, err = self.snapshot()
        self.assertEqual(status, 1)
        self.assertEqual(err.splitlines(),
                         ["landtrace: a: no order records anything here: `landtrace fleet enable EVENT` first",
                          "landtrace: nothing was written: no host had a snapshot"])
        self.fleet("enable", "job")
        _, status, err = self.snapshot()
        self.assertEqual(status, 1)
        self.assert_one_line(err, "nothing was written: no event has happened since hosts began to record")
        self.assertFalse(os.path.exists(self.file))
        self.assertEqual(self.leftovers(), [])

    def test_mistakes_are_said(self):
        Host(self, "a")
        for words, code, said in ((("snapshot", "job"), 2, "want: landtrace fleet snapshot"),
                                  (("snapshot", "-e", "a["), 2, "a["),
                                  (("snapshot", "--where", "role="), 2, "--where"),
                                  (("snapshot", "--where", "role=web"), 1, "there is no host where role=web"),
                                  (("snapshot", "--timeout", "soon"), 2, "--timeout: want a time as 30s"),
                                  (("snapshot", "-o", self.folder), 1, "directory"),
                                  (("snapshot", "-o", self.folder + "/no/f.dat"), 1, "No such file")):
            status, out, err = self.landtrace("fleet", *words)
            self.assertEqual((status, out), (code, ""), err)
            self.assertIn(said, err)
        self.assertEqual(json.loads(self.fleet("hosts", "--json"))[0]["orders"], [])


class Many(SnapshotCase):
    def test_hosts_may_be_more_than_files_that_may_be_open(self):
        """All of them begin at one moment, with the events of one that is there."""
        host = Host(self, "a")
        self.fleet("enable", "job")
        host.emit(100)
        ghosts = [f"ghost-{number}" for number in range(60)]
        for name in ghosts:
            self.pretend(name)
        client = NatsClient(self.port)
        client.subscribe(b"landtrace.*.a.snapshot.>")
        snapshot = self.start_program("prlimit", "--nofile=40:", LANDTRACE, "fleet", "snapshot", "--json", "-o", self.file,
                                      "--timeout", f"{support.TIMEOUT_S}s")
        parts = []
        self.wait_until(lambda: parts.extend(client.ping()) or (parts and parts[-1][0].endswith(b".end")))
        for some in (parts[:1], parts[1:]):
            for subject, payload in some:
                for name in ghosts:
                    client.publish(b".".join([b"landtrace.d", name.encode(), *subject.split(b".")[3:]]), payload)
            client.ping()
        client.close()
        out, err = snapshot.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((snapshot.returncode, err), (0, ""))
        hosts = {one["host"]: one["events"] for one in json.loads(out)["hosts"]}
        self.assertEqual(hosts, dict.fromkeys(["a", *ghosts], 100))
        self.assertEqual(len(self.events()), 6100)


class Trouble(SnapshotCase):
    def setUp(self):
        super().setUp()
        self.host = Host(self, "a")
        self.fleet("enable", "job")
        self.host.emit(50_000)

    def test_hosts_that_do_not_answer_are_named(self):
        away, stopped = Host(self, "b"), Host(self, "c", interval=60)  # … which is not away for minutes
        away.kill()
        self.wait_until(lambda: self.host_state("b") == "away")
        os.kill(stopped.agent(), signal.SIGSTOP)
        hosts, status, err, seconds = self.snapshot_in_time("--timeout")
        os.kill(stopped.agent(), signal.SIGKILL)
        self.assertEqual((status, hosts["a"]["problem"], list(hosts)), (0, "", ["a"]))
        self.assertRegex(err, r"(?m)^landtrace: b: away for \d+ s$")
        self.assertRegex(err, rf"(?m)^landtrace: c: no answer within {seconds} s; ")
        self.assertEqual(len(self.events()), hosts["a"]["events"])

    def test_a_host_that_is_killed_meanwhile(self):
        def attempt(seconds):
            killed = Host(self, "b", interval=60)
            agent = killed.agent()
            os.kill(agent, signal.SIGSTOP)  # it has not answered before
            client = NatsClient(self.port)
            client.subscribe(b"$KV.landtrace_orders.>")
            snapshot = self.start("fleet", "snapshot", "-o", self.file, "--timeout", f"{math.ceil(seconds)}s")
            self.wait_until(client.ping)
            killed.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(agent, signal.SIGKILL)
            client.close()
            out, err = snapshot.communicate(timeout=support.TIMEOUT_S)
            return None if re.search(LATE, err) else (snapshot.returncode, out, err)

        status, out, err = self.given_time(attempt)
        self.assertEqual(status, 0, err)
        self.assertIn(" 1 host", out)
        self.assert_one_line(err, "landtrace: b: ")
        self.assertEqual({event["comm"] for event in self.events()}, {"a:producer"})

    def test_parts_that_come_again_or_not_at_all(self):
        """A host that is killed amid its parts, one whose parts are damaged on their way, one of an older version, and a
        network that repeats all it has seen."""
        self.pretend("ghost")
        self.pretend("damaged")
        self.pretend("old")
        listens, is_over = threading.Event(), threading.Event()
        again = threading.Thread(target=self.repeat, args=[listens, is_over])
        again.start()
        try:
            self.assertTrue(listens.wait(support.TIMEOUT_S))
            hosts, status, err, seconds = self.snapshot_in_time(
                "--timeout", late="landtrace: (a|damaged|old): (no answer|only) |ghost: no answer")
        finally:
            is_over.set()
            again.join()
        self.assertEqual((status, list(hosts)), (0, ["a"]), err)
        self.assertGreater(hosts["a"]["events"], 1000)
        self.assertEqual(len(self.events()), hosts["a"]["events"])
        self.assertIn(f"landtrace: ghost: only 5 bytes of its snapshot came, and then nothing for {seconds} s\n", err)
        self.assertIn("landtrace: damaged: what came is not what was sent: try it again\n", err)
        self.assertIn("landtrace: old: an order of the kind 'snapshot' is not known here\n", err)
        self.assertGreater(self.repeated, 1)
        self.assertLessEqual(set(self.leftovers()), {"fleet.dat.old"})  # of an attempt that had too little time

    def repeat(self, listens, is_over):
        orders, parts, sender = (NatsClient(self.port) for _ in range(3))
        parts.subscribe(b"landtrace.*.*.snapshot.>")
        orders.subscribe(b"$KV.landtrace_orders.>")
        listens.set()
        seen, self.repeated = set(), 0
        while not is_over.is_set():
            for subject, payload in parts.ping():
                if payload not in seen:
                    seen.add(payload)
                    self.repeated += 1
                    sender.publish(subject, payload)
                    self.send_damaged(sender, subject.split(b"."), payload)
            for subject, payload in orders.ping():
                if payload:
                    self.send_some(sender, subject.split(b".")[-1])
            sender.ping()
            time.sleep(0.005)
        for client in (orders, parts, sender):
            client.close()

    def send_damaged(self, sender, subject, payload):
        """What `a` sends, as another host's."""
        if subject[2] == b"a":
            data = payload if subject[-1] == b"end" else payload[:-1] + bytes([payload[-1] ^ 1])
            sender.publish(b".".join([b"landtrace", b"d", b"damaged", *subject[3:]]), data)

    def send_some(self, sender, order):
        head = (1).to_bytes(8, "little") + (0).to_bytes(8, "little")
        for part, payload in ((b"0", head + b"short"), (b"1", b"garbage"), (b"end", b"garbage")):
            sender.publish(b"landtrace.d.ghost.snapshot.%s.%s" % (order, part), payload)
        self.pretend("old", {"id": order.decode(), "state": "refused", "events": 0, "refusals": [
            {"event": "", "reason": "an order of the kind 'snapshot' is not known here"}]})

    def test_the_orders_end_is_said_and_what_may_be_the_cause(self):
        self.pretend("ghost")
        hosts, status, err, _ = self.snapshot_in_time("--for", "--timeout", "1m")
        self.assertEqual((status, list(hosts)), (0, ["a"]), err)
        self.assertIn("landtrace: ghost: no answer until the order's end (--for); a host of this version needs leave "
                      "to publish ", err)

    def test_what_is_interrupted_leaves_nothing(self):
        self.pretend("ghost")
        snapshot = self.start("fleet", "snapshot", "-o", self.file, "--timeout", "1m")
        self.wait_until(lambda: "snapshot" in self.orders())
        status, out, err = self.stop(snapshot)
        self.assertEqual((status, out), (1, ""))
        self.assert_one_line(err, "landtrace: interrupted: nothing was written")
        self.assertNotIn("snapshot", self.fleet("orders"))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("fleet.dat")], [])


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
