"""eBPF programs whose processes are killed in the middle of anything: what they were in goes on for the others."""
import json
import os
import random
import re
import signal
import time

import bpf_case
import support
from bpf_case import Bpf

# Events: while nobody listens, a billion of them takes a second or two.
ENDLESS = 1 << 50

# A map of each kind is changed at each event, a record reserved and filled.
PROGRAM = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct event { unsigned long long common; int source_at; };
struct record { unsigned pid; char comm[16]; unsigned char rest[172]; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 64); __type(key, unsigned); __type(value, unsigned long); } few SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_LRU_HASH); __uint(max_entries, 64); __type(key, unsigned); __type(value, unsigned long); } recent SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 1); __type(key, unsigned); __type(value, unsigned long); } all SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 65536); } records SEC(".maps");
char LICENSE[] SEC("license") = "GPL";

SEC("tracepoint/user_events/request")
int on_event(struct event *event) {
  unsigned zero = 0, key = bpf_get_prandom_u32() & 255;
  unsigned long one = 1, *count = bpf_map_lookup_elem(&all, &zero);
  if (count) *count += 1;
  if (bpf_map_update_elem(&few, &key, &one, BPF_ANY) != 0) { key &= 63; bpf_map_delete_elem(&few, &key); }
  bpf_map_update_elem(&recent, &key, &one, BPF_ANY);
  key ^= 1;
  bpf_map_delete_elem(&few, &key);
  struct record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
  if (!record) return 0;
  record->pid = bpf_get_current_pid_tgid() >> 32;
  bpf_get_current_comm(record->comm, sizeof(record->comm));
  bpf_ringbuf_submit(record, 0);
  return 0;
}
"""


class Killed(Bpf):
    def setUp(self):
        super().setUp()
        self.read, self.pids = {}, {}
        source = os.path.join(self.folder, "killed.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.object = bpf_case.compiled(source, self.folder)
        self.serve()

    def start_tracer(self, name):
        out = open(os.path.join(self.folder, name), "w+", encoding="utf-8")
        self.addCleanup(out.close)
        tracer = self.start("bpf", self.object, stdout=out)
        self.wait_until(lambda: " link " in self.landtrace("bpf", "list")[1])
        return tracer, out.name

    @staticmethod
    def end(tracer):
        tracer.send_signal(signal.SIGINT)
        return tracer.wait(timeout=support.TIMEOUT_S)

    def produce(self, count, *options):
        return self.start_program(support.PRODUCER, "--event", "request", "--count", count, *options,
                                  env=dict(self.environment, LANDTRACE_SOCKET=self.socket))

    def pids_in(self, name):
        """How many records of each process have been printed; only what is new is read."""
        with open(name, encoding="utf-8") as file:
            file.seek(self.read.get(name, 0))
            for line in iter(file.readline, ""):
                if not line.endswith("\n"):
                    break
                self.read[name] = self.read.get(name, 0) + len(line)
                if line.startswith('{"map":"records"'):
                    pid = int.from_bytes(bytes.fromhex(json.loads(line)["data"][:8]), "little")
                    self.pids[pid] = self.pids.get(pid, 0) + 1
        return self.pids

    def has_read_all(self, name):
        """Whether what one more emits is seen: it is behind all that was in the ring, which has room for 327."""
        one = self.produce(1)
        self.assertEqual(one.wait(timeout=support.TIMEOUT_S), 0)
        time.sleep(0.2)
        return one.pid in self.pids_in(name)

    def test_a_producer_at_any_moment(self):
        tracer, name = self.start_tracer("out")
        chance = random.Random(5)
        for _ in range(25):
            producers = [self.produce(ENDLESS) for _ in range(2)]
            seen = {producer.pid for producer in producers}
            self.wait_until(lambda: seen <= set(self.pids_in(name)))
            time.sleep(chance.random() / 50)  # somewhere in the middle
            for producer in producers:
                self.stop(producer, signal.SIGKILL)
        # What they held is free again in a moment, which records may wait for in vain; then each one arrives.
        first = self.produce(1_000_000, "--pause", 1000)
        self.wait_until(lambda: first.pid in self.pids_in(name))
        self.stop(first)
        self.wait_until(lambda: self.has_read_all(name))
        last = self.produce(300, "--pause", 1000)
        self.assertEqual(last.wait(timeout=support.TIMEOUT_S), 0)
        self.wait_until(lambda: self.pids_in(name).get(last.pid, 0) == 300)
        self.assertIn("faults 0 exceeded 0 missed 0", self.landtrace("bpf", "list")[1])
        self.assertEqual(self.end(tracer), 0)
        out = support.read_text(name)
        self.assertRegex(out, r"(?m)^all:\n  0: \d{4,}")
        for map_name in ("few", "recent"):
            elements = re.search(rf"(?m)^{map_name}:\n((?:  .*\n)*)", out).group(1)
            keys = re.findall(r"(?m)^  (\d+): 1$", elements)
            self.assertEqual(len(keys), len(set(keys)), "a key is there twice")
            others = [line for line in elements.splitlines() if not re.fullmatch(r"  \d+: 1|  \(.*full\)", line)]
            self.assertEqual(others, [])

    def test_a_consumer_at_any_moment(self):
        producer = self.produce(ENDLESS)
        chance = random.Random(6)
        for _ in range(15):
            tracer = self.start("bpf", self.object)
            time.sleep(chance.random() / 4)  # before it has loaded, attached or shown anything, or behind that
            self.stop(tracer, signal.SIGKILL)
            self.assertIsNone(producer.poll(), "the traced program has ended")
        self.wait_until(lambda: self.landtrace("bpf", "list")[1] == "")
        # All is as if they had never been.
        tracer, name = self.start_tracer("out")
        self.wait_until(lambda: producer.pid in self.pids_in(name))
        self.assertEqual(self.end(tracer), 0)
        self.assertIsNone(producer.poll())


if __name__ == "__main__":
    bpf_case.main()
