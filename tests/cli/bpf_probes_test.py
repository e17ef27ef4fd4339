"""eBPF programs at places in programs' code: their context is the registers there."""
import os
import re
import subprocess

import bpf_case
import support
from bpf_case import Bpf
from support import LANDTRACE

PROBED = support.copied(os.environ["PROBED"], "probed")
USDT = support.copied(os.environ["USDT_PROGRAMS"].split(":")[1])

# pt_regs of x86-64, as the kernel's headers have it for programs.
PROGRAM = """
#include <linux/bpf.h>
#include <asm/ptrace.h>
#include <bpf/bpf_helpers.h>

struct seen { unsigned long long calls, numbers, returned, place; char route[8]; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, unsigned); __type(value, struct seen); } seen SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 8); __type(key, unsigned); __type(value, unsigned); } pids SEC(".maps");
char LICENSE[] SEC("license") = "GPL";

SEC("uprobe/PROBED:handle_request")
int on_call(struct pt_regs *registers) {
  unsigned zero = 0, pid = bpf_get_current_pid_tgid() >> 32, one = 1;
  struct seen *s = bpf_map_lookup_elem(&seen, &zero);
  if (!s) return 0;
  s->calls++;
  s->numbers += (int)registers->rdi;
  s->place = registers->rip & 0xfff;
  bpf_probe_read_user_str(s->route, sizeof(s->route), (void *)registers->rsi);
  bpf_map_update_elem(&pids, &pid, &one, BPF_ANY);
  return 0;
}

SEC("uretprobe/PROBED:handle_request")
int on_return(struct pt_regs *registers) {
  unsigned zero = 0;
  struct seen *s = bpf_map_lookup_elem(&seen, &zero);
  if (s) s->returned += (int)registers->rax;
  return 0;
}
"""

COUNTING = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, unsigned); __type(value, unsigned long); } hits SEC(".maps");
char LICENSE[] SEC("license") = "GPL";
SEC("SECTION")
int on_hit(void *registers) {
  unsigned zero = 0;
  unsigned long *count = bpf_map_lookup_elem(&hits, &zero);
  if (count) *count += 1;
  return 0;
}
"""


def offset_of(symbol, program=PROBED):
    """In the file of the program, whose segments lie in it as in memory."""
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"(?m)^([0-9a-f]+) [Tt] {symbol}$", listed).group(1), 16)


class Probes(Bpf):
    def probing(self, text=PROGRAM, path=PROBED):
        source = os.path.join(self.folder, "probing.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text.replace("PROBED", path))
        return bpf_case.compiled(source, self.folder, "-D__TARGET_ARCH_x86")

    def assert_seen(self, out, calls=10):
        numbers = sum(range(calls))
        lengths = sum(len("/even") if i % 2 == 0 else len("/odd") for i in range(calls))
        last = "/even" if calls % 2 == 1 else "/odd"
        seen = re.search(r"(?m)^seen:\n  0: (.*)$", out).group(1)
        for name, value in (("calls", calls), ("numbers", numbers), ("returned", numbers + lengths),
                            ("place", offset_of("handle_request") & 0xfff), ("route", f'"{last}"')):
            self.assertIn(f'"{name}":{value}', seen)

    def test_arguments_text_and_result_of_a_function(self):
        status, out, err = self.landtrace("bpf", self.probing(), "--", PROBED, "10")
        self.assertEqual((status, err), (0, ""), out)
        self.assert_seen(out)

    def test_functions_as_kprobe_events_has_them(self):
        text = PROGRAM.replace("uprobe/PROBED", "kprobe/probed").replace("uretprobe/PROBED", "kretprobe/probed")
        program = self.probing(text)
        status, out, err = self.landtrace("bpf", program, "--", PROBED, "10")
        self.assertEqual((status, err), (0, ""), out)
        self.assert_seen(out)

    def test_usdt_places(self):
        program = self.probing(COUNTING.replace("SECTION", f"usdt/{USDT}:app:request"))
        status, out, err = self.landtrace("bpf", program, "--", USDT, "4")
        self.assertEqual((status, err), (0, ""), out)
        self.assertRegex(out, r"(?m)^hits:\n  0: %d$" % len(re.findall(r"(?m)^request ", out)))
        self.assertNotIn("  0: 0\n", out)
        for wrong, why in ((f"usdt/{USDT}:app:none", "cannot be attached to "), (f"usdt/{USDT}:app", "is left out")):
            status, out, err = self.landtrace("bpf", self.probing(COUNTING.replace("SECTION", wrong)), "--", USDT, "4")
            self.assertEqual((status, out), (1, ""), err)
            self.assertIn(why, err)

    def test_without_root(self):
        words = [*support.AS_NOBODY, LANDTRACE, "bpf", self.probing(), "--", PROBED, "7"]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=support.TIMEOUT_S, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assert_seen(ran.stdout, 7)

    def test_interpreted(self):
        self.environment["LANDTRACE_BPF"] = "interpreter"
        status, out, err = self.landtrace("bpf", self.probing(), "--", PROBED, "10")
        self.assertEqual((status, err), (0, ""), out)
        self.assert_seen(out)

    def test_what_is_not_there_is_said(self):
        for path, what in ((PROBED, "no_such_function"), ("/no/such/file", "handle_request")):
            program = self.probing(PROGRAM.replace("handle_request", what), path)
            status, out, err = self.landtrace("bpf", program, "--", "echo", "started")
            self.assertEqual((status, out), (1, ""), err)
            self.assertIn(f"on_call cannot be attached to {path}:{what}: ", err)

    def test_programs_that_cannot_be_probed_are_said(self):
        static = support.copied(os.environ["PROBED_STATIC"], "probed_static")
        status, out, err = self.landtrace("bpf", self.probing(path=static), "--", static, "3")
        self.assertEqual(status, 0)
        self.assertIn("0: {\"calls\":0,", out)
        self.assert_one_line(err, "statically")

    def test_registers_are_only_read(self):
        program = self.probing(PROGRAM.replace("s->calls++;", "s->calls++; *(volatile unsigned long *)&registers->rdi = 1;"))
        status, out, err = self.landtrace("bpf", program, "--", "echo", "started")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("cannot write into ctx", err)

    def test_nothing_is_left_in_the_domain(self):
        self.serve()
        program = self.start("bpf", self.probing())
        self.wait_until(lambda: "uprobes/bpf_" in self.landtrace("cat", "uprobe_events")[1])
        self.stop(program, support.signal.SIGINT)
        self.assertEqual(self.landtrace("cat", "uprobe_events")[1], "")
        killed = self.start("bpf", self.probing())
        self.wait_until(lambda: "uprobes/bpf_" in self.landtrace("cat", "uprobe_events")[1])
        self.stop(killed, support.signal.SIGKILL)
        self.wait_until(lambda: self.landtrace("cat", "uprobe_events")[1] == "")


MEMORY_PROGRAM = """
#include <linux/bpf.h>
#include <asm/ptrace.h>
#include <bpf/bpf_helpers.h>

struct record { unsigned pid; int number; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(map_flags, BPF_F_MMAPABLE); __uint(max_entries, 2); __type(key, unsigned);
         __type(value, unsigned long); } counts SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 8); __type(key, unsigned); __type(value, unsigned); } pids SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 1 << 20); } records SEC(".maps");
char LICENSE[] SEC("license") = "GPL";
unsigned long calls;

SEC("uprobe")
int on_call(struct pt_regs *registers) {
  unsigned zero = 0, one = 1;
  unsigned long *count = bpf_map_lookup_elem(&counts, &zero), *step = bpf_map_lookup_elem(&counts, &one);
  struct record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
  if (!record) return 0;
  record->pid = bpf_get_current_pid_tgid() >> 32;
  record->number = registers->rdi;
  __sync_fetch_and_add(&calls, 1);
  if (count && step) __sync_fetch_and_add(count, *step);
  bpf_ringbuf_submit(record, 0);  // last: whoever has seen the record finds it counted
  return 0;
}
"""


BUSY_PROGRAM = """
__attribute__((noinline)) int handle_request(int number) {
  for (volatile int i = 0; i < 200; ++i) continue;
  return number;
}
int main(void) {
  for (unsigned i = 0;; ++i) handle_request((int)i);
}
"""


class Unmodified(support.UnderTracefs, Bpf):
    """A tool with libbpf, under the shim."""

    def watched(self, probed, records):
        """What the tool says of a process of `probed`, beside another one of it."""
        source = os.path.join(self.folder, "memory.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(MEMORY_PROGRAM)
        program = bpf_case.compiled(source, self.folder)
        tool = os.path.join(self.folder, "bpf_memory_tool")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["cc", "-O1", os.path.join(here, "bpf_memory_tool.c"), "-lbpf", "-o", tool], check=True)
        # Programs that start from the first probe on can be probed while they run.
        return self.shell(f"""
            echo 'p:early {probed}:main' > /sys/kernel/tracing/uprobe_events
            {probed} 10000000 > /dev/null & one=$!
            {probed} 10000000 > /dev/null & other=$!
            {tool} {program} {probed} {offset_of("handle_request", probed)} $one {records}; status=$?
            kill $one $other
            cat /sys/kernel/tracing/uprobe_events
            exit $status""")

    def test_uprobes_of_one_process_ring_buffers_and_memory_of_maps(self):
        self.assertEqual(self.watched(PROBED, 1000), "records enough others 0 gaps 0 count right\nstill there\n"
                                                     f"p:uprobes/early {PROBED}:main\n")

    def test_a_tool_is_woken_for_records_that_are_complete(self):
        """Of a program that does little else than to write some, and so is often interrupted in the middle of one."""
        source, busy = os.path.join(self.folder, "busy.c"), os.path.join(self.folder, "busy")
        with open(source, "w", encoding="utf-8") as file:
            file.write(BUSY_PROGRAM)
        subprocess.run(["cc", "-O1", source, "-o", busy], check=True)
        self.assertRegex(self.watched(busy, 2_000_000), r"^records enough others 0 gaps \d+ count right\n")


if __name__ == "__main__":
    bpf_case.main()
