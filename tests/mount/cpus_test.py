"""What comes through a mount stands under the CPU that its writer ran on, wherever the owner runs."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

CPUS = sorted(os.sched_getaffinity(0))

# Registers `job u32 number` in the tree, and writes 3 of it and 3 markers from each of the CPUs when it is told to.
WRITER = """
import ctypes, fcntl, os, struct, sys
data = os.open(sys.argv[1] + "/user_events_data", os.O_RDWR)
marker = os.open(sys.argv[1] + "/trace_marker", os.O_WRONLY)
word, name = ctypes.c_uint32(), ctypes.create_string_buffer(b"job u32 number")
reg = bytearray(struct.pack("=IBBHQQI", 28, 0, 4, 0, ctypes.addressof(word), ctypes.addressof(name), 0))
fcntl.ioctl(data, 0xC0082A00, reg, True)
index = struct.unpack_from("=I", reg, 24)[0]
print("ready", flush=True)
sys.stdin.readline()
for cpu in map(int, sys.argv[2:]):
    os.sched_setaffinity(0, {cpu})
    for number in range(3):
        os.write(data, struct.pack("=II", index, 10 * cpu + number))
        os.write(marker, b"from %d" % cpu)
"""


@support.needs_fuse
@support.needs_root
@unittest.skipUnless(len(CPUS) > 1, "SKIPPED: one CPU")
class CpusTest(support.Case):
    def setUp(self):
        super().setUp()
        self.mounted = os.path.join(self.folder, "mounted")
        os.mkdir(self.mounted)
        self.addCleanup(support.works, "umount", "-l", self.mounted)
        self.daemon = self.serve("--mount", self.mounted)
        for thread in os.listdir(f"/proc/{self.daemon.pid}/task"):
            with contextlib.suppress(ProcessLookupError):  # a thread of FUSE's that had nothing to do
                os.sched_setaffinity(int(thread), {CPUS[0]})
        self.writer = self.start_program(sys.executable, "-c", WRITER, self.mounted, *CPUS, stdin=subprocess.PIPE)
        self.assertEqual(self.writer.stdout.readline(), "ready\n")
        self.put("events/user_events/job/enable", "1")

    def path(self, name):
        return os.path.join(self.mounted, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        return support.read_text(self.path(name))

    def write_all(self):
        _, err = self.writer.communicate("\n", timeout=support.TIMEOUT_S)
        self.assertEqual((self.writer.returncode, err), (0, ""))

    def assert_all_are_there(self, text):
        """Lines of a trace, whoever prints them."""
        events = re.findall(r"\[(\d+)\].* job: number=0x\w+ \((\d+)\)", text)
        self.assertEqual([(int(cpu), int(number)) for cpu, number in events],
                         [(cpu, 10 * cpu + number) for cpu in CPUS for number in range(3)])
        markers = re.findall(r"\[(\d+)\].*: from (\d+)", text)
        self.assertEqual([(int(cpu), int(source)) for cpu, source in markers], [(cpu, cpu) for cpu in CPUS for _ in range(3)])

    def test_in_the_trace_and_the_files_of_each_cpu(self):
        self.write_all()
        self.assert_all_are_there(self.read("trace"))
        for cpu in CPUS:
            text = self.read(f"per_cpu/cpu{cpu}/trace")
            self.assertEqual(re.findall(r"\((\d+)\)", text), [str(10 * cpu + number) for number in range(3)])
            self.assertEqual(text.count(f"from {cpu}\n"), 3)
            self.assertIn("entries: 6\noverrun: 0\n", self.read(f"per_cpu/cpu{cpu}/stats"))
            pages = os.open(self.path(f"per_cpu/cpu{cpu}/trace_pipe_raw"), os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, pages)
            self.assertEqual(os.read(pages, 4096).count(b"from "), 3)

    def test_in_filters_and_histograms(self):
        self.put("events/user_events/job/trigger", "hist:keys=cpu")
        self.put("events/ftrace/print/trigger", "hist:keys=common_cpu")
        self.put("events/user_events/job/filter", f"CPU == {CPUS[-1]}")
        self.write_all()
        numbers = re.findall(r"job: number=0x\w+ \((\d+)\)", self.read("trace"))
        self.assertEqual(numbers, [str(10 * CPUS[-1] + number) for number in range(3)])
        for event in ("user_events/job", "ftrace/print"):
            counts = re.findall(r"\{ (?:common_)?cpu: +(\d+) \} hitcount: +(\d+)", self.read(f"events/{event}/hist"))
            self.assertEqual(sorted((int(cpu), int(count)) for cpu, count in counts), [(cpu, 3) for cpu in CPUS])

    def test_in_recordings(self):
        recorder = self.start_recording("-e", "user_events:job")
        self.write_all()
        self.assertEqual(self.stop(recorder, signal.SIGINT)[0], 0)
        events, lost = self.report_json()
        jobs = [(event["cpu"], event["fields"]["number"]) for event in events if event["event"].endswith("job")]
        self.assertEqual((jobs, lost), ([(cpu, 10 * cpu + number) for cpu in CPUS for number in range(3)], 0))

    def test_under_the_shim(self):
        self.write_all()
        self.put("trace", "")
        words = ["run", "--tracefs", "--", "taskset", "-c", CPUS[-1], "sh", "-c", "echo shim > /sys/kernel/tracing/trace_marker"]
        status, _, err = self.landtrace(*words)
        self.assertEqual(status, 0, err)
        self.assertRegex(self.read("trace"), rf"\[0*{CPUS[-1]}\].*: shim")


if __name__ == "__main__":
    unittest.main()
