"""Programs whose system calls seccomp limits: attached where their filters let the agent in, else refused."""
import os
import struct
import subprocess

import support
from attaching import ATTACHED, Attach
from support import AS_NOBODY, LANDTRACE, needs_root, read_text

LOAD, AND, EQUAL, AT_LEAST, ANSWER = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16
ALLOW, FAIL, KILL = 0x7fff0000, 0x00050000, 0x80000000
EPERM, ENOSYS = 1, 38
MMAP, SOCKET, CLONE, OPENAT, MEMBARRIER, CLONE3 = 9, 41, 56, 257, 324, 435

# Makes itself a thread's, and whatever it calls exec for: its words are the filter and a command, or Python's code.
CONFINE = """
import ctypes, os, sys
lines = bytes.fromhex(sys.argv[1])
class Program(ctypes.Structure):
    _fields_ = [("size", ctypes.c_ushort), ("lines", ctypes.c_char_p)]
libc = ctypes.CDLL(None)
program = Program(len(lines) // 8, lines)
assert libc.prctl(38, 1, 0, 0, 0) == 0
"""
AND_EXEC = CONFINE + """
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""
AND_WAIT = CONFINE + """
os.write(1, b"ready\\n" if libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0 else b"")
os._exit(os.read(0, 1) != b"x")
"""


def of(*lines):
    return b"".join(struct.pack("<HBBI", code, *(jumps or (0, 0)), value) for code, value, *jumps in lines).hex()


ALL_ALLOWED = of((ANSWER, ALLOW))


def all_but(*calls, answer=KILL):
    tests = [(EQUAL, number, len(calls) - i, 0) for i, number in enumerate(calls)]
    return of((LOAD, NUMBER), *tests, (ANSWER, ALLOW), (ANSWER, answer))


def none_but(*calls):
    tests = [(EQUAL, number, len(calls) - i, 0) for i, number in enumerate(calls)]
    return of((LOAD, NUMBER), *tests, (ANSWER, KILL), (ANSWER, ALLOW))


def as_containers_have():
    """What is named is allowed, some of it by its arguments; threads are made by clone()."""
    lines = [(LOAD, NUMBER)]
    for number in (155, 156, 159, *range(161, 177), *range(246, 251), 298, 304, 308, 312, 313, 320, 321, 323):
        lines += [(EQUAL, number, 0, 1), (ANSWER, FAIL | EPERM)]
    lines += [(EQUAL, CLONE3, 0, 1), (ANSWER, FAIL | ENOSYS),
              (EQUAL, CLONE, 0, 4), (LOAD, FIRST_ARGUMENT), (AND, 0x7e020000), (EQUAL, 0, 0, 5), (ANSWER, ALLOW),
              (EQUAL, SOCKET, 0, 4), (LOAD, FIRST_ARGUMENT), (EQUAL, 40, 1, 0), (ANSWER, ALLOW), (ANSWER, FAIL | EPERM),
              (AT_LEAST, 460, 0, 1), (ANSWER, FAIL | ENOSYS), (ANSWER, ALLOW)]
    return of(*lines)


@needs_root
class Confined(Attach):
    def setUp(self):
        super().setUp()
        self.serve()
        if "Seccomp:\t0\n" not in read_text("/proc/self/status"):
            self.skipTest("whoever is confined does not see the filters of others")

    def confined(self, filter_text, way, prefix=()):
        """One of the ways of attached.cc, with this filter from its beginning."""
        return self.program(way, prefix=[*prefix, "python3", "-c", AND_EXEC, filter_text])

    def waiting(self, filter_text):
        process = self.start_program("python3", "-c", AND_WAIT, filter_text, stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_a_filter_that_allows_all(self):
        for way in ("read", "malloc", "malloc_alone"):
            with self.subTest(way):
                process = self.confined(ALL_ALLOWED, way)
                self.attach(process)
                self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_containers(self):
        process = self.confined(as_containers_have(), "tick")

        def attempt(seconds):
            status, _, err = self.landtrace("record", "-o", self.file, "--pid", process.pid, "-p", "tick number=$arg1:s32",
                                            "-p", "libc:poll", "-p", "libc:malloc%return", "--duration", seconds)
            self.assertEqual(status, 0, err)
            self.assertNotIn("could not be probed", err)
            numbers = [event["fields"]["number"] for event in self.report_json()[0] if "number" in event["fields"]]
            return numbers if len(numbers) > 20 else None

        numbers = self.given_time(attempt)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_no_other_calls_are_made_than_those_that_are_looked_at(self):
        """A program that ends at any call that is neither one of them nor its own."""
        looked_at = (0, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 24, 28, 35, 39, 41, 42, 44, 45, 46, 47, 54, 55, 56, 60,
                     61, 62, 72, 77, 89, 101, 107, 110, 157, 158, 186, 202, 204, 217, 219, 228, 230, 234, 257, 262, 273,
                     309, 310, 311, 318, 319, 324, 334, 435, 449)
        write, access, execve, exit_group, set_tid_address, limits = 1, 21, 59, 231, 218, 302
        its_own = (write, access, execve, exit_group, set_tid_address, limits)
        for way in ("tick", "malloc"):
            with self.subTest(way):
                self.file = os.path.join(self.folder, way + ".dat")
                process = self.confined(none_but(*looked_at, *its_own), way)
                recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", "libc:poll fd=+0($arg1):s32",
                                      "-p", "libc:free p=$arg1", "-p", "libc:malloc%return", "-p", "libm:sin")
                self.wait_until(lambda: self.has_agent(process.pid))
                self.wait_for_events(20)
                status, _, err = self.stop(recorder)
                self.assertEqual(status, 0, err)
                self.assertNotIn("could not be probed", err)
                self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_more_than_one_filter(self):
        process = self.confined(all_but(165), "read", prefix=["python3", "-c", AND_EXEC, ALL_ALLOWED, "/usr/bin/env"])
        self.attach(process)
        self.end_of(process, "x")
        without_one = ["python3", "-c", AND_EXEC, all_but(MEMBARRIER, answer=FAIL | EPERM), "/usr/bin/env"]
        process = self.confined(ALL_ALLOWED, "read", prefix=without_one)
        self.refused(process.pid, "cannot be attached: ", "membarrier (it may fail: Operation not permitted)")
        self.end_of(process, "x")

    def test_a_call_that_would_end_it_is_named(self):
        for call, name in ((MMAP, "mmap"), (OPENAT, "openat"), (CLONE, "clone of a thread"), (CLONE3, "clone3")):
            with self.subTest(name):
                process = self.waiting(all_but(call))
                self.refused(process.pid, "seccomp does not let it make a system call that the agent makes, "
                             f"{name} (it may end the program); `landtrace record -p … -- CMD`")
                self.assertFalse(self.has_agent(process.pid))
                self.end_of(process, "x")

    def test_a_call_that_would_fail(self):
        process = self.waiting(all_but(OPENAT, answer=FAIL | EPERM))
        self.refused(process.pid, "openat (it may fail: Operation not permitted)")
        self.end_of(process, "x")

    def test_users_may_not_see_the_filters(self):
        os.chmod(self.folder, 0o777)
        process = self.confined(ALL_ALLOWED, "read", prefix=AS_NOBODY)
        refusal = subprocess.run([*AS_NOBODY, LANDTRACE, "attach", "--socket", self.socket, str(process.pid)], cwd="/",
                                 env=self.environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(refusal.returncode, 1)
        self.assert_one_line(refusal.stderr, "seccomp limits its system calls", "root, outside of a container, may see")
        self.end_of(process, "x")


if __name__ == "__main__":
    support.main_with_probes()
