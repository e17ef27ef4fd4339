"""Many hosts: what was counted when, from a ClickHouse server and from a collector's memory, whatever is killed."""
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

import support
from fleet_case import COLLECT, FleetCase, Host, NatsClient, free_port, skip_without_nats
from fleet_frames import Counting, in_parts, number, text

SECOND = 10 ** 9
HISTORY = ("--last", "2h", "--json")

CONFIG = """<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <http_port>{port}</http_port><listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
  <users_config>users.xml</users_config><default_profile>default</default_profile>
  <default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
</yandex>"""
USERS = """<yandex>
  <profiles><default/></profiles><quotas><default/></quotas>
  <users>
    <default><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></default>
  </users>
</yandex>"""


class Fleet:
    """Hosts that count, and whose frames are lost, come twice and in any order."""

    def __init__(self, seed, hosts, order="abcdefgh"):
        self.random = random.Random(seed)
        self.now_ns = time.time_ns()
        self.begin_ns = self.now_ns - 3000 * SECOND
        self.hosts = [Counting(f"host-{i}", order, self.begin_ns + i, f"zone={'ab'[i % 2]}") for i in range(hosts)]

    def frames(self, rounds):
        """Of each host so many; the last one of each is among them, and no more come behind it than the stream keeps."""
        frames = []
        for host in self.hosts:
            for i in range(rounds):
                for _ in range(self.random.randrange(8)):
                    host.count(self.random.choice(["/", "/login", "/a\tb\\c"]),
                               int(self.random.lognormvariate(13, 1.5)) + 1)
                # Ten seconds lie between two.
                frame = host.frame(self.begin_ns + (host.sequence + 1) * 10 * SECOND)
                times = 1 + self.random.randrange(2) if i == rounds - 1 else self.random.randrange(3)
                frames += [(i + 3 * self.random.random(), host.subject(), frame) for _ in range(times)]
        return [(subject, frame) for _, subject, frame in sorted(frames)]

    def values(self, zone=None):
        return sorted(value for host in self.hosts if zone is None or host.labels == f"zone={zone}"
                      for value in host.values)


def counted(shown):
    """By key, over all slots."""
    counts = {}
    for slot in shown["slots"]:
        for group in slot["groups"]:
            key = tuple(group["key"].values())
            counts[key] = counts.get(key, 0) + group["count"]
    return counts


class HistoryCase(FleetCase):
    def setUp(self):
        super().setUp()
        self.landtrace("fleet", "hosts")  # makes the stream

    def publish(self, frames):
        client = NatsClient(self.port)
        for subject, frame in frames:
            client.publish(subject, frame)
        client.ping()
        client.close()

    def history(self, order, *words):
        status, out, err = self.landtrace("fleet", "show", order, *HISTORY, *words)
        self.assertIn(status, (0, 1), err)
        return json.loads(out) if status == 0 else None

    def history_from(self, source, order, *words, has=lambda shown: True):
        """What is shown when it has all of the stream, and this."""
        return self.awaited(lambda: (shown := self.history(order, *words)) and shown["source"] == source and
                            not shown["is_behind"] and has(shown) and shown)

    def wait_for(self, fleet, source):
        """What is shown when it has all that the hosts counted."""
        return self.history_from(source, fleet.hosts[0].order,
                                 has=lambda shown: sum(counted(shown).values()) == len(fleet.values()))

    def assert_is_exact(self, fleet, source):
        order = fleet.hosts[0].order
        shown = self.wait_for(fleet, source)
        slot = shown["slots"][0]
        self.assertEqual((slot["hits"], slot["dropped"]), (len(fleet.values()), 0))
        self.assertEqual(slot["starts_without_end"], sum(host.sequence for host in fleet.hosts))
        self.assertEqual(sum(group["latency_ns"]["sum"] for group in slot["groups"]), sum(fleet.values()))
        routes = {}
        for host in fleet.hosts:
            for (route, _), hits in host.counts.items():
                routes[route,] = routes.get((route,), 0) + hits
        self.assertEqual(counted(shown), routes)
        by_host = {}
        for (host, _), hits in counted(self.history_from(source, order, "--per", "host")).items():
            by_host[host] = by_host.get(host, 0) + hits
        self.assertEqual(by_host, {host.host: len(host.values) for host in fleet.hosts if host.values})
        every = self.history_from(source, order, "--every", "1m")
        self.assertGreater(len(every["slots"]), 100)
        self.assertGreater(sum(1 for slot in every["slots"] if slot["groups"]), 1)
        self.assertEqual(counted(every), routes, "slots add up to the whole")
        self.assert_percentiles(fleet, source)

    def assert_percentiles(self, fleet, source):
        order = fleet.hosts[0].order
        by_zone = self.history_from(source, order, "--per", "zone")
        for zone in "ab":
            buckets = {}
            for group in by_zone["slots"][0]["groups"]:
                if group["key"]["zone"] == zone:
                    for bucket in group["latency_ns"]["buckets"]:
                        buckets[bucket["from"]] = buckets.get(bucket["from"], 0) + bucket["count"]
            self.assertEqual(sum(buckets.values()), len(fleet.values(zone)))
        only_a = self.history_from(source, order, "--where", "zone=a")
        self.assertEqual(sum(counted(only_a).values()), len(fleet.values("a")))
        for group in self.history_from(source, order)["slots"][0]["groups"]:
            values = sorted(value for host in fleet.hosts for route, value in host.events
                            if route == group["key"]["route"])
            for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
                exact = values[int(part * len(values))]
                near = values[max(0, int(part * len(values)) - 1)]
                self.assertTrue(0.97 * near <= group["latency_ns"][name] <= 1.03 * exact,
                                (name, near, exact, group["latency_ns"][name]))


    def assert_is_counted_though_it_has_gone(self, source):
        """Two of three hosts have removed what the third one still counts."""
        begin_ns = time.time_ns() - 600 * SECOND
        hosts = [Counting(name, "own", begin_ns) for name in "abc"]
        hosts[0].trigger = "hist:size=128"  # how many rows it has room for is its own affair
        frames = []
        for host in hosts:
            host.count("/", 1000)
            frames.append((host.subject(), host.frame(begin_ns + 10 * SECOND)))
        frames += [(host.subject(), host.gone(begin_ns + 20 * SECOND)) for host in hosts[:2]]
        hosts[2].count("/", 1000)
        frames.append((hosts[2].subject(), hosts[2].frame(begin_ns + 30 * SECOND)))
        self.publish(frames)
        shown = self.history_from(source, "own", has=lambda shown: sum(counted(shown).values()) >= 4)
        self.assertEqual((counted(shown), shown["misfits"]), ({("/",): 4}, []))
        self.assertRegex(self.fleet("history"), "own .* 3 +route,latency_ns ")


class Memory(HistoryCase):
    def test_has_what_was_counted_when(self):
        collector = self.start("collect")
        fleet = Fleet(1, 12)
        self.publish(fleet.frames(8))  # of more than a minute
        self.assert_is_exact(fleet, "memory")
        self.publish(fleet.frames(20))
        self.assert_is_exact(fleet, "memory")
        collector.kill()
        collector.wait()
        client = NatsClient(self.port, headers=True)
        self.addCleanup(client.close)
        client.subscribe(b"answer")

        def has_seen_its_end():
            client.say(b"PUB landtrace.ask answer 0", b"")
            return any(b" 503" in what for _, what in client.ping())

        self.wait_until(has_seen_its_end)  # the server
        status, _, err = self.landtrace("fleet", "show", "abcdefgh", *HISTORY)
        self.assertEqual(status, 1)
        self.assert_one_line(err, "no collector answers", "landtrace collect")
        collector = self.start("collect")
        self.wait_for(fleet, "memory")  # from the stream, as far as that goes back

    def test_orders_and_times(self):
        self.start("collect")
        fleet = Fleet(2, 3)
        self.publish(fleet.frames(4))
        self.wait_for(fleet, "memory")
        self.assertRegex(self.fleet("history"), r"^ORDER +FROM +TO +HOSTS +KEYS +WHAT\n"
                                                r"abcdefgh  .* 3 +route,latency_ns +user_events:a -> user_events:b\n$")
        self.assertRegex(self.fleet("latency", "--from", "a", "--to", "b", "--by", "route", "--last", "2h"), "/login")
        text = self.fleet("show", "abcdefgh", "--last", "2h", "--every", "10m")
        self.assertRegex(text, r"TIME +route +COUNT +P50 +P90 +P99 +P99.9\n")
        for words, status, message in (
                (("show", "abcdefgh", "--last", "x"), 2, "--last: want a time"),
                (("show", "abcdefgh", "--since", "noon"), 2, "--since: want a time"),
                (("show", "abcdefgh", "--since", "1h", "--until", "2h"), 2, "ends before it begins"),
                (("show", "abcdefgh", "--last", "1h", "--since", "1h"), 2, "in place of"),
                (("show", "abcdefgh", "--every", "1m"), 2, "--every: want --last or --since"),
                (("show", "abcdefgh", "--last", "30d", "--every", "1s"), 2, "longer --every"),
                (("show", "abcdefgh", "--last", "1h", "--every", "90s"), 1, "whole minutes"),
                (("show", "abcdefgh", "--last", "1h", "--where", "zone="), 2, ""),
                (("show", "nosuchorder", "--last", "1h"), 1, "nothing was counted"),
                (("latency", "--from", "a", "--to", "c", "--last", "1h"), 1, "landtrace fleet history"),
                (("enable", "a", "--last", "1h"), 2, "history, show, hist and latency")):
            done, out, err = self.landtrace("fleet", *words)
            self.assertEqual((done, out), (status, ""), words)
            self.assertIn(message, err)

    def test_of_several_orders_the_last_one_of_many_hosts_is_shown(self):
        self.start("collect")
        fleet = Fleet(6, 4)
        self.publish(fleet.frames(4))
        self.wait_for(fleet, "memory")
        evil = Counting("evil", "zzzz", time.time_ns() - 60 * SECOND)
        evil.count("/evil", 1000)
        self.publish([(evil.subject(), evil.frame(time.time_ns() + 30 * SECOND))])
        self.wait_until(lambda: "zzzz" in self.fleet("history"))
        words = ("fleet", "latency", "--from", "a", "--to", "b", "--by", "route", "--last", "2h")
        status, out, err = self.landtrace(*words)
        self.assertEqual(status, 0, err)
        self.assertIn("2 orders counted this in that time; this is abcdefgh", err)
        self.assertNotIn("/evil", out)
        later = Fleet(7, 2, "later123")
        self.publish(later.frames(4))
        self.wait_for(later, "memory")
        self.assertIn("this is later123", self.landtrace(*words)[2])

    def test_histograms_that_have_gone(self):
        self.start("collect")
        self.assert_is_counted_though_it_has_gone("memory")

    def test_is_bounded_and_says_so(self):
        self.start("collect", "--memory", "200K")  # the keys and the newest counts are more than half of that
        fleet = Fleet(3, 12)
        # Of each host the stream keeps the last eight frames: a collector that waits meanwhile misses no minute.
        for _ in range(15):
            self.publish(fleet.frames(4))
            self.wait_until(lambda: (shown := self.history("abcdefgh")) and
                            (shown["dropped_bytes"] > 0 or sum(counted(shown).values()) == len(fleet.values())))
        self.assertGreater(self.awaited(lambda: self.history("abcdefgh"))["dropped_bytes"], 0)
        status, _, err = self.landtrace("fleet", "show", "abcdefgh", "--last", "2h")
        self.assertEqual(status, 0)
        self.assertIn("memory reaches back to", err)

    def test_a_host_that_takes_the_room_of_others_is_named(self):
        self.start("collect", "--memory", "200K")
        fleet = Fleet(5, 3)
        self.publish(fleet.frames(4))
        self.wait_for(fleet, "memory")
        evil = Counting("evil", "abcdefgh", fleet.begin_ns)
        for i in range(1500):
            evil.count(f"/{i}", 1000)
        self.publish([(evil.subject(), evil.frame(fleet.now_ns))])
        shown = self.awaited(lambda: (shown := self.history("abcdefgh")) and shown["no_room"] == ["evil"] and shown)
        self.assertEqual((sum(counted(shown).values()), shown["reaches_ns"]), (len(fleet.values()), 0))
        status, _, err = self.landtrace("fleet", "show", "abcdefgh", "--last", "2h")
        self.assertEqual(status, 0)
        self.assertIn("more than a collector's memory has room for: evil (landtrace collect --memory)", err)

    def test_that_has_no_room_for_one_minute_says_so(self):
        self.start("collect", "--memory", "1K")
        self.publish(Fleet(4, 3).frames(4))
        for words in (("history",), ("show", "abcdefgh")):
            said = []
            self.wait_until(lambda: said.append(self.landtrace("fleet", *words, "--last", "2h")) or
                            "memory reaches back to" in said[-1][2])
            self.assertEqual(said[-1][0], 1, said[-1])
            self.assertIn("nothing was counted", said[-1][2])


class Store(HistoryCase):
    def setUp(self):
        super().setUp()
        self.store_port = free_port()
        self.store_folder = os.path.join(self.folder, "store")
        os.makedirs(self.store_folder)
        self.set_up_store()
        self.start_store()
        self.address = f"clickhouse://127.0.0.1:{self.store_port}/traces"

    def set_up_store(self, password=""):
        for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
            with open(os.path.join(self.store_folder, name), "w", encoding="utf-8") as file:
                file.write(text.format(folder=self.store_folder, port=self.store_port, password=password))

    def start_store(self):
        self.store = self.start_program("clickhouse-server", "--config-file",
                                        os.path.join(self.store_folder, "config.xml"),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.store_answers)

    def kill_store(self):
        self.store.send_signal(signal.SIGKILL)
        self.store.wait()

    def store_answers(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.store_port}/ping", timeout=5) as reply:
                return reply.read() == b"Ok.\n"
        except OSError:
            return False

    def sql(self, text):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.store_port}/?database=traces", data=text.encode(),
                                    timeout=support.TIMEOUT_S) as reply:
            return reply.read().decode().strip()

    def rows(self):
        try:
            return int(self.sql("SELECT count() FROM landtrace_frames"))
        except urllib.error.HTTPError:  # the table is not there yet
            return 0

    def collect(self, *words):
        return self.start("collect", "--store", self.address, *words)

    def kill_collector(self, collector):
        collector.send_signal(signal.SIGKILL)
        collector.wait()

    def test_a_collector_ends_well_whose_threads_end_late(self):
        collector = self.start("collect", "--store", self.address,
                               env=dict(self.environment, LD_PRELOAD=os.environ["LATE_THREADS"]))
        fleet = Fleet(4, 20)
        self.publish(fleet.frames(6))
        self.wait_for(fleet, "store")  # the answers take random numbers of OpenSSL
        self.assertEqual(self.stop(collector), (0, "", ""))

    def test_has_exactly_what_hosts_counted_whatever_is_killed(self):
        """Two collectors; frames are lost, come twice and in any order; a collector and the store are killed."""
        collectors = [self.collect()]
        fleet = Fleet(4, 20)
        self.publish(fleet.frames(6))
        self.wait_until(lambda: self.rows() > 0)  # this one has them, whatever becomes of the next
        killed = self.collect()
        self.publish(fleet.frames(6))
        self.wait_until(lambda: self.rows() > 20)
        self.publish(fleet.frames(6))
        self.kill_collector(killed)
        self.publish(fleet.frames(6))
        self.kill_store()
        self.publish(fleet.frames(6))
        shown = self.awaited(lambda: self.history("abcdefgh"))
        self.assertEqual(shown["source"], "memory")
        self.assertIn("the store clickhouse://127.0.0.1", shown["note"])
        collectors.append(self.collect())
        self.start_store()
        self.publish(fleet.frames(6))
        self.assert_is_exact(fleet, "store")

        # All that the stream has is inserted once more: to this collector it is another store.
        before = self.rows()
        self.sql("OPTIMIZE TABLE landtrace_frames FINAL")
        merged = self.rows()
        self.assertLessEqual(merged, before)
        self.sql("SYSTEM STOP MERGES")
        again = self.start("collect", "--store", self.address.replace("127.0.0.1", "localhost"))
        self.wait_until(lambda: self.rows() >= merged + 8 * 20)
        self.assert_is_exact(fleet, "store")

        # An order that has ended, of which the stream has nothing any more.
        for collector in [*collectors, again]:
            self.assertEqual(self.stop(collector)[0], 0)
        self.kill_server()
        shutil.rmtree(os.path.join(self.folder, "nats"))
        self.start_server()
        self.collect()
        self.wait_until(lambda: self.landtrace("fleet", "history")[0] == 0)
        self.assert_is_exact(fleet, "store")

    def test_histograms_that_have_gone(self):
        self.collect()
        self.assert_is_counted_though_it_has_gone("store")

    def test_real_hosts(self):
        self.collect()
        hosts = [Host(self, name, f"zone={name}") for name in ("a", "b")]
        order = self.order("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")
        total = sum(host.emit(100 * (i + 1)) for i, host in enumerate(hosts))
        self.wait_until(lambda: (shown := self.history(order)) and shown["source"] == "store" and
                        sum(counted(shown).values()) == total)
        self.fleet("end", order)
        shown = self.history_from("store", order, "--per", "zone")
        self.assertEqual({key[0]: hits for key, hits in counted(shown).items()}, {"a": 100, "b": 200})
        self.assertIn("user_events:job: 300 events", self.fleet("hist", "job", "--last", "1h"))

    def test_times_of_a_store_are_those_of_frames(self):
        self.collect()
        host = Counting("h", "abcdefgh", time.time_ns() - 600 * SECOND)
        begin = host.generation_ns // (10 * SECOND) * 10 * SECOND + 20 * SECOND
        frames = []
        for i in range(5):
            for _ in range(i + 1):
                host.count("/", 1000)
            frames.append((host.subject(), host.frame(begin + i * 10 * SECOND + 5 * SECOND)))
        self.publish(frames)
        self.wait_until(lambda: (shown := self.history("abcdefgh")) and shown["source"] == "store" and
                        sum(counted(shown).values()) == 15)
        status, out, err = self.landtrace("fleet", "show", "abcdefgh", "--json", "--every", "10s", "--since",
                                          f"@{begin // SECOND + 10}", "--until", f"@{begin // SECOND + 40}")
        self.assertEqual(status, 0, err)
        slots = json.loads(out)["slots"]
        self.assertEqual([slot["hits"] for slot in slots], [2, 3, 4])
        self.assertEqual([slot["from_ns"] for slot in slots], [begin + 10 * SECOND * i for i in (1, 2, 3)])

    def test_frames_that_make_no_sense_are_passed_over(self):
        self.collect()
        host = Counting("h", "abcdefgh", time.time_ns() - 600 * SECOND)
        host.count("/", 1000)
        frame = host.frame(time.time_ns())
        self.publish([(host.subject(), b"nonsense"), (host.subject().replace(b".h.", b".other."), frame),
                      (host.subject(), frame)])
        self.wait_until(lambda: (shown := self.history("abcdefgh")) and shown["source"] == "store" and
                        counted(shown) == {("/",): 1})
        self.assertEqual(self.sql("SELECT count() FROM landtrace_frames"), "1")

    def test_frames_in_parts(self):
        """Two collectors, each of which gets some of a frame's parts; what is lost of one frame is in the next."""
        for _ in range(2):
            self.collect()
        other = Counting("other", "other123", time.time_ns() - 600 * SECOND)
        self.publish([(other.subject(), other.frame(time.time_ns()))])
        self.wait_until(lambda: self.rows() == 1)
        host = Counting("h", "abcdefgh", time.time_ns() - 600 * SECOND)
        parts = []
        for i in range(3):
            for n in range(400):
                host.count(f"/{n}", 1000 + i)
            parts.append(in_parts(host.subject(), host.frame(time.time_ns() - (3 - i) * SECOND), 1500))
        self.assertGreater(len(parts[0]), 3)
        self.publish(parts[0][:-1])  # the others never come
        self.publish(parts[1][1:])   # the first one comes behind the last one
        time.sleep(1.5)
        sequences = "SELECT groupUniqArray(sequence) FROM landtrace_frames WHERE host = 'h'"
        self.assertEqual(self.sql(sequences), "[]")
        self.publish(parts[1][:1])
        self.wait_until(lambda: self.sql(sequences) == "[2]")
        self.publish(reversed(parts[2]))
        self.publish(parts[2] + [(host.subject() + b".9", b"nonsense")])
        self.wait_until(lambda: "3" in self.sql(sequences))
        self.assertEqual(counted(self.history_from("store", "abcdefgh")), {(f"/{n}",): 3 for n in range(400)})

    def test_a_host_that_sends_many_last_parts_keeps_nobody_out(self):
        """To look for all that each of them lacks would take millions of round trips."""
        self.collect()
        evil, host = (Counting(name, "abcdefgh", time.time_ns() - 600 * SECOND) for name in ("evil", "h"))
        last = number(1, 1) + number(2, 1) + number(3, 10 ** 6) + number(4, 1) + number(5, 10 ** 6 - 1) + text(6, "x")
        no_numbers = (b".x", b".007", b".99999999999999999999")
        self.publish([(evil.subject() + b".%d" % i, last) for i in range(3000)] +
                     [(evil.subject() + end, last) for end in no_numbers])
        host.count("/", 1000)
        self.publish([(host.subject(), host.frame(time.time_ns()))])
        self.wait_until(lambda: self.rows() == 1)

    def test_as_long_as_no_server_says_what_is_there_no_frame_is_given_up(self):
        """As while servers agree on a leader: of more histograms of a host than may wait for parts."""
        self.map_looks(True)
        answers = NatsClient(self.port)
        answers.subscribe(b"looks")
        answering = threading.Thread(target=self.refuse_looks, args=[answers])
        answering.start()
        self.collect()
        histograms = [Counting("h", "abcdefgh", time.time_ns() - 600 * SECOND, event=f"user_events:a -> user_events:b{i}")
                      for i in range(66)]
        for host in histograms:
            host.count("/", 1000)
            self.publish(in_parts(host.subject(), host.frame(time.time_ns() - SECOND), 100))
        self.wait_until(lambda: len(self.refused) == len(histograms))
        self.map_looks(False)
        answering.join()
        answers.close()
        self.wait_until(lambda: self.rows() == len(histograms))

    def map_looks(self, is_mapped):
        """Whether what is asked of the stream's messages comes to the subject `looks`."""
        config = os.path.join(self.folder, "nats.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f'listen: 127.0.0.1:{self.port}\njetstream {{ store_dir: "{self.folder}/nats" }}\n')
            if is_mapped:
                file.write('mappings: { "$JS.API.STREAM.MSG.GET.LANDTRACE": "looks" }\n')
        self.server.terminate()
        self.server.wait()
        self.server = self.start_program("nats-server", "-c", config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)

    def refuse_looks(self, answers):
        self.refused = set()
        error = b'{"type":"x","error":{"code":503,"err_code":10008,"description":"temporarily unavailable"}}'
        with contextlib.suppress(OSError):  # until the server ends
            while line := answers.file.readline():
                words = line.split()
                if words[0] == b"MSG":
                    self.refused.add(answers.file.read(int(words[-1]) + 2))
                    answers.publish(words[3], error)

    def test_what_is_older_than_keep_is_dropped(self):
        self.collect()
        host = Counting("h", "abcdefgh", time.time_ns() - 600 * SECOND)
        host.count("/", 1000)
        self.publish([(host.subject(), host.frame(time.time_ns()))])
        self.wait_until(lambda: (shown := self.history("abcdefgh")) and shown["source"] == "store" and counted(shown))
        self.sql("INSERT INTO landtrace_frames (stored, order_id, event, host) VALUES "
                 "('2020-01-01 00:00:00', 'o', 'e', 'h')")
        self.assertEqual(self.sql("SELECT count() FROM landtrace_frames"), "2")
        collector = self.collect("--keep", "7d")
        self.wait_until(lambda: self.sql("SELECT count() FROM landtrace_frames WHERE order_id = 'o'") == "0")
        self.assertEqual(self.rows(), 1)
        self.assertEqual(collector.poll(), None)

    def test_users_and_other_schemas(self):
        self.kill_store()
        self.set_up_store("secret/@ word")
        self.start_store()
        user = os.path.join(self.folder, "user")
        with open(user, "w", encoding="utf-8") as file:
            file.write("default:secret/@ word\n")
        wrong = self.start("collect", "--store", self.address.replace("127.", "default:wrong@127."))
        self.assertRegex(wrong.stderr.readline(), "the store clickhouse://127.0.0.1:[0-9]+/traces says: .*[Pp]assword")
        self.assertNotIn("wrong", self.stop(wrong)[2])
        host = Counting("h", "abcdefgh", time.time_ns() - 600 * SECOND)
        host.count("/", 1000)
        self.publish([(host.subject(), host.frame(time.time_ns()))])
        by_file = self.collect("--store-user", user)
        self.wait_until(lambda: (shown := self.history("abcdefgh")) and shown["source"] == "store")
        self.stop(by_file)
        encoded = self.start("collect", "--store", self.address.replace("127.", "default:secret%2F%40%20word@127."))
        self.wait_until(lambda: (shown := self.history("abcdefgh")) and shown["source"] == "store")
        self.stop(encoded)

    def test_wrong_words(self):
        for words, message in ((("--store", "http://x"), "want clickhouse://"),
                               (("--store", "clickhouse://"), "want clickhouse://"),
                               (("--store", "clickhouse://u:geheim@h:x/"), "want clickhouse://"),
                               (("--store", self.address, "--keep", "long"), "--keep: want a time"),
                               (("--memory", "much"), "--memory")):
            status, _, err = self.landtrace("collect", *words)
            self.assertEqual(status, 2, words)
            self.assertIn(message, err)
            self.assertNotIn("geheim", err)
        status, _, err = self.landtrace("collect", "--store", self.address, "--store-user", "/nowhere")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "/nowhere", "USER:PASSWORD")


if __name__ == "__main__":
    skip_without_nats()
    if not os.path.exists(COLLECT) or shutil.which("clickhouse-server") is None:
        print("SKIPPED: tests with a store: " + ("clickhouse-server is not installed" if os.path.exists(COLLECT) else
                                                 "built without libcurl (libcurl4-openssl-dev)"))
        del Store
    unittest.main()
