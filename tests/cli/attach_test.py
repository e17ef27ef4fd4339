"""Programs that run already: `landtrace attach`, and that they do not notice."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import support
from attaching import ATTACHED, STOPPED, Attach
from support import AS_NOBODY, LANDTRACE, needs_root

STATIC = support.copied(os.environ["PROBED_STATIC"], "probed_static")


class Unnoticed(Attach):
    """No call returns EINTR, and none takes much longer."""

    def setUp(self):
        super().setUp()
        self.serve()

    def waits(self, way):
        for _ in range(20):
            process = self.program(way)
            time.sleep(0.3)
            status, _, err = self.landtrace("attach", process.pid)
            if status == 0 or "has ended" not in err:  # beside other programs it may be over before it is attached
                break
        self.assertRegex(err, STOPPED)
        out = self.end_of(process)
        self.assertIn("interrupted 0 ", out)
        return int(re.search(r"took (\d+) ms", out)[1])

    def test_calls_that_the_system_begins_anew_take_their_time_and_no_more(self):
        for way in ("sleep", "poll", "select", "futex"):
            with self.subTest(way):
                took = self.waits(way)
                self.assertGreaterEqual(took, 1499)

    def test_calls_that_would_answer_that_they_were_interrupted(self):
        for way in ("epoll", "signal", "semaphore"):
            with self.subTest(way):
                self.assertGreaterEqual(self.waits(way), 1499)

    def test_a_program_that_waits_for_input(self):
        process = self.program("read")
        self.attach(process)
        self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_a_busy_loop_with_and_without_threads(self):
        for way in ("busy", "busy_alone"):
            with self.subTest(way):
                process = self.program(way)
                self.attach(process)
                process.send_signal(signal.SIGUSR1)
                self.end_of(process)

    def test_a_program_that_does_nothing_but_malloc(self):
        for way in ("malloc", "malloc_alone"):
            with self.subTest(way):
                process = self.program(way)
                self.attach(process)
                self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_handlers_that_interrupt_malloc(self):
        for _ in range(3):
            process = self.program("handlers")
            self.attach(process)
            process.send_signal(signal.SIGUSR1)
            self.end_of(process)

    def test_a_fork_while_the_agent_begins_leaves_the_child_no_lock(self):
        process = self.program("fork_and_load")
        self.attach(process)
        self.assertIn("child 0\n", self.end_of(process, "x"))

    def test_interpreters(self):
        for words in (["bash"], ["python3", "-c", "import sys; print('ready', flush=True); exec(sys.stdin.read())"]):
            with self.subTest(words[0]):
                process = self.start_program(*words, stdin=subprocess.PIPE)
                self.addCleanup(process.stdin.close)
                self.wait_until(lambda: os.path.exists(f"/proc/{process.pid}/maps") and
                                "libc" in support.read_text(f"/proc/{process.pid}/maps"))
                time.sleep(0.3)
                self.attach(process)
                line = "echo $((6 * 7))\n" if words[0] == "bash" else "print(6 * 7)\n"
                self.assertIn("42\n", self.end_of(process, line))

    def test_many_times(self):
        """Whatever programs do, while others have the processors. None ends before it is told to, however long the
        command has to wait for its turn. LANDTRACE_ATTACHES: how often."""
        for _ in range(2):
            self.start_program("python3", "-c", "while True: pass")
        shell = ["bash", "-c", "echo ready; read number; echo $((6 * number)), interrupted 0"]
        python = ["python3", "-c", "print('ready', flush=True); print(6 * int(input()), ', interrupted 0', sep='')"]
        programs = [*([ATTACHED, way] for way in ("malloc", "malloc_alone", "tick", "read", "futex_until_input")),
                    shell, python]
        for i in range(int(os.environ.get("LANDTRACE_ATTACHES", "21"))):
            words = programs[i % len(programs)]
            process = self.start_program(*words, stdin=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), "ready\n")
            self.attach(process)
            out = self.end_of(process, "7\n")
            self.assertIn("interrupted 0", out, f"{i}: {words}")
            self.assertEqual("42, " in out, words[0] != ATTACHED, f"{i}: {words}")
            process.stdin.close()


class Told(Attach):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_a_program_that_is_attached_already(self):
        process = self.program("read")
        self.attach(process)
        status, _, err = self.landtrace("attach", process.pid)
        self.assertEqual(status, 0)
        self.assert_one_line(err, f"{process.pid} (attached) is attached to the domain at {self.socket} already")

    def test_another_domain_than_that_which_it_is_in(self):
        process = self.program("read")
        self.attach(process)
        other = os.path.join(self.folder, "other.sock")
        self.serve_at(other)
        status, _, err = self.landtrace("attach", "--socket", other, process.pid)
        self.assertEqual(status, 1)
        self.assert_one_line(err, f"it is in the domain at {self.socket} already")

    def serve_at(self, socket):
        process = self.start_program(support.LANDTRACED, "--socket", socket)
        self.addCleanup(self.stop, process)
        self.wait_until(lambda: self.landtrace("cat", "--socket", socket, "README")[0] == 0)
        return process

    def test_the_next_domain_when_nobody_serves_the_first_any_more(self):
        process = self.program("read")
        other = os.path.join(self.folder, "other.sock")
        first = self.serve_at(other)
        status, _, err = self.landtrace("attach", "--socket", other, process.pid)
        self.assertEqual(status, 0, err)
        self.stop(first)
        self.attach(process)

    def test_what_cannot_be_attached(self):
        self.refused(999999999, "there is no process 999999999")
        self.refused(2, "it is a thread of the kernel")
        ended = self.start_program("true")
        self.wait_until(lambda: support.read_text(f"/proc/{ended.pid}/stat").split()[2] == "Z")
        self.refused(ended.pid, "it has ended")
        static = self.start_program(STATIC, "100000000")
        self.refused(static.pid, "(probed_static)", "it is linked statically")

    def test_what_is_no_pid(self):
        for word in ("x", "0", "12x", "99999999999"):
            status, _, err = self.landtrace("attach", word)
            self.assertEqual(status, 2)
            self.assert_one_line(err, f"PID: want the number of a process, not '{word}'")

    def test_a_program_that_a_signal_has_stopped(self):
        process = self.program("read")
        self.hold(process)
        self.refused(process.pid, "a signal has stopped it", f"kill -CONT {process.pid}")
        process.send_signal(signal.SIGCONT)
        self.attach(process)

    def test_a_program_that_a_debugger_has(self):
        if not shutil.which("strace"):
            self.skipTest("there is no strace")
        process = self.program("read")
        tracer = self.start_program("strace", "-o", "/dev/null", "-p", process.pid)
        self.wait_until(lambda: "TracerPid:\t0\n" not in support.read_text(f"/proc/{process.pid}/status"))
        self.refused(process.pid, "traces it already", f"process {tracer.pid} (strace)")
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        self.attach(process)

    @needs_root
    def test_users_attach_their_own_and_no_others(self):
        process = self.program("read")
        os.chmod(self.folder, 0o777)
        folder = os.path.join(self.folder, "nobody")
        os.mkdir(folder)
        os.chown(folder, support.NOBODY, support.NOBODY)
        self.environment = dict(self.environment, XDG_RUNTIME_DIR=folder)
        self.socket = os.path.join(folder, "landtrace", "domain.sock")
        owner = self.start_program(*AS_NOBODY, support.LANDTRACED)
        self.addCleanup(self.stop, owner)
        self.wait_until(lambda: support.listens(self.socket))
        self.refused(process.pid, "another user's (uid 0)", prefix=AS_NOBODY)
        own = self.program("read", prefix=AS_NOBODY)
        status = subprocess.run([*AS_NOBODY, LANDTRACE, "attach", str(own.pid)], env=self.environment, cwd="/",
                                capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(status.returncode, 0, status.stderr)
        untouchable = self.program("untouchable", prefix=AS_NOBODY)
        self.refused(untouchable.pid, "has rights of its own", prefix=AS_NOBODY)

    def test_no_domain(self):
        process = self.program("read")
        self.environment["LANDTRACE_SOCKET"] = os.path.join(self.folder, "none.sock")
        self.refused(process.pid, "no domain runs at", "none.sock", "landtraced")


class WithPid(Attach):
    """record, hist and latency of programs that run already."""
    PROBE = "tick number=$arg1:s32"

    def code_of(self, process):
        """The first bytes of tick() in the program's memory."""
        symbols = subprocess.run(["nm", ATTACHED], capture_output=True, text=True, check=True).stdout
        offset = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T tick"))
        maps = support.read_text(f"/proc/{process.pid}/maps")
        base = next(int(line.split("-")[0], 16) for line in maps.splitlines() if line.endswith("/attached"))
        with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(base + offset)
            return memory.read(5)

    def record_pid(self, *words):
        status, out, err = self.landtrace("record", "-o", self.file, *words)
        self.assertEqual((status, out), (0, ""), err)
        return err

    def test_calls_are_recorded_for_a_time_and_then_the_code_is_as_before(self):
        process = self.program("tick")
        before = self.code_of(process)
        def attempt(seconds):
            err = self.record_pid("--pid", process.pid, "-p", self.PROBE, "--duration", seconds)
            self.assertIn(f"{process.pid} (attached) is attached to the domain", err)
            numbers = [event["fields"]["number"] for event in self.report_json()[0]]
            self.wait_until(lambda: self.code_of(process) == before)
            return numbers if len(numbers) > 20 else None

        for _ in range(2):  # for the second the program is attached already, to a domain that nobody serves
            numbers = self.given_time(attempt)
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        ticks = int(re.search(r"ticks (\d+)", self.end_of(process, "x"))[1])
        self.assertGreater(ticks, numbers[-1])

    def test_it_ends_with_the_programs(self):
        processes = [self.program("tick") for _ in range(2)]
        recorder = self.start("record", "-o", self.file, "-p", self.PROBE,
                              *[word for process in processes for word in ("--pid", process.pid)])
        pids = {process.pid for process in processes}
        self.wait_until(lambda: {event["pid"] for event in self.events_so_far()} == pids)
        self.end_of(processes[0], "x")
        time.sleep(0.2)
        self.assertIsNone(recorder.poll())
        self.end_of(processes[1], "x")
        _, err = recorder.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertEqual({event["pid"] for event in self.report_json()[0]}, pids)

    def test_it_ends_on_an_interrupt(self):
        process = self.program("tick")
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", self.PROBE)
        self.wait_for_events(6)
        status, _, err = self.stop(recorder, signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertGreater(len(self.report_json()[0]), 5)
        self.end_of(process, "x")

    def test_who_records_is_killed(self):
        """The program has its own code back by itself, and can be recorded again."""
        process = self.program("tick")
        before = self.code_of(process)
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", self.PROBE)
        self.wait_until(lambda: self.code_of(process) != before)
        recorder.kill()
        recorder.wait()
        self.wait_until(lambda: self.code_of(process) == before)

        def attempt(seconds):
            self.record_pid("--pid", process.pid, "-p", self.PROBE, "--duration", seconds)
            return len(self.report_json()[0]) > 5

        self.given_time(attempt)

    def test_histograms_and_latencies(self):
        process = self.program("tick")
        for words, found in ((["hist", "-p", "libc:poll", "--keys", "common_pid", "--json"], str(process.pid)),
                             (["latency", "--function", "attached:tick"], "mean")):
            def attempt(seconds):
                status, out, err = self.landtrace(*words, "--pid", process.pid, "--duration", seconds)
                self.assertEqual(status, 0, err)
                return found in out

            self.given_time(attempt)

    def test_children_that_are_forked_later(self):
        process = self.program("fork")
        before = self.code_of(process)
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", self.PROBE)
        self.wait_until(lambda: self.code_of(process) != before)
        self.assertIn("child 0\n", self.end_of(process, "x"))
        _, err = recorder.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0, err)
        events, _ = self.report_json()
        self.assertEqual([event["fields"]["number"] for event in events], list(range(100)))
        self.assertNotIn(process.pid, {event["pid"] for event in events})

    def wait_until_it_waits(self, recorder, process):
        """For the lock: it has the file open that the lock is on."""
        folder = f"/proc/{recorder.pid}/fd"
        self.wait_until(lambda: f"/proc/{process.pid}/mem" in subprocess.run(
            ["find", folder, "-type", "l", "-printf", "%l\n"], capture_output=True, text=True).stdout.splitlines())

    def test_one_that_ends_before_it_is_attached_keeps_no_other_from_being_recorded(self):
        ending, process = self.program("tick"), self.program("tick")
        memory = os.open(f"/proc/{ending.pid}/mem", os.O_RDONLY)
        self.addCleanup(os.close, memory)
        fcntl.flock(memory, fcntl.LOCK_EX)  # as who attaches has it: others wait
        recorder = self.start("record", "-o", self.file, "--pid", ending.pid, "--pid", process.pid, "-p", self.PROBE)
        self.assertIn("recording the domain", recorder.stderr.readline())
        self.wait_until_it_waits(recorder, ending)
        ending.kill()
        ending.wait()
        fcntl.flock(memory, fcntl.LOCK_UN)
        self.wait_for_events()
        status, _, err = self.stop(recorder, signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertIn(f"landtrace: there is no process {ending.pid}\n", err)
        self.assertEqual({event["pid"] for event in self.report_json()[0]}, {process.pid})

    def test_one_whose_memory_has_gone_and_that_has_not_ended_yet_counts_as_ended(self):
        """The system takes a while to give back what it had."""
        ending = self.start_program("python3", "-c", "import mmap, time; memory = mmap.mmap(-1, 256 << 20)\n"
                                    "for at in range(0, len(memory), 4096): memory[at] = 1\n"
                                    "print('ready', flush=True); time.sleep(1000)")
        self.assertEqual(ending.stdout.readline(), "ready\n")
        process = self.program("tick")
        memory = os.open(f"/proc/{ending.pid}/mem", os.O_RDONLY)
        self.addCleanup(os.close, memory)
        fcntl.flock(memory, fcntl.LOCK_EX)
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "--pid", ending.pid, "-p", self.PROBE)
        self.assertIn("recording the domain", recorder.stderr.readline())
        self.wait_until_it_waits(recorder, ending)
        ending.kill()
        fcntl.flock(memory, fcntl.LOCK_UN)
        self.wait_for_events()
        status, _, err = self.stop(recorder, signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertIn(f"landtrace: {ending.pid} (python3", err)
        self.assertEqual({event["pid"] for event in self.report_json()[0]}, {process.pid})

    def test_where_all_have_ended_before_they_are_attached_nothing_is_recorded(self):
        process = self.program("tick")
        memory = os.open(f"/proc/{process.pid}/mem", os.O_RDONLY)
        self.addCleanup(os.close, memory)
        fcntl.flock(memory, fcntl.LOCK_EX)
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", self.PROBE)
        self.assertIn("recording the domain", recorder.stderr.readline())
        self.wait_until_it_waits(recorder, process)
        process.kill()
        process.wait()
        fcntl.flock(memory, fcntl.LOCK_UN)
        _, err = recorder.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((recorder.returncode, err), (1, f"landtrace: there is no process {process.pid}\n"))
        self.assertFalse(os.path.exists(self.file))

    def spoil(self, process):
        """Its tick() begins otherwise than its file's, with an instruction that does nothing here."""
        before = self.code_of(process)
        symbols = subprocess.run(["nm", ATTACHED], capture_output=True, text=True, check=True).stdout
        offset = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T tick"))
        maps = support.read_text(f"/proc/{process.pid}/maps")
        base = next(int(line.split("-")[0], 16) for line in maps.splitlines() if line.endswith("/attached"))
        with open(f"/proc/{process.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(base + offset)
            memory.write(b"\xb8\x01\x00\x00\x00")
        self.assertNotEqual(self.code_of(process), before)

    def test_programs_in_which_a_function_cannot_be_probed_are_told(self):
        processes = [self.program("tick") for _ in range(3)]
        for process in processes[:2]:
            self.spoil(process)
        pids = [word for process in processes for word in ("--pid", process.pid)]
        recorder = self.start("record", "-o", self.file, "-p", self.PROBE, *pids)
        for process in processes[:2]:
            self.wait_until(lambda: self.landtrace("functions", process.pid, "tick")[2] != "")
        self.wait_until(lambda: processes[2].pid in {event["pid"] for event in self.events_so_far()})
        why = "could not be probed at attached:tick: the program's code differs from the file's\n"
        status, out, err = self.landtrace("functions", processes[0].pid, "tick")
        self.assertEqual((status, err), (0, f"landtrace: process {processes[0].pid} {why}"))
        self.assertIn("/attached\n", out)
        self.assertEqual(self.landtrace("functions", processes[2].pid, "tick")[2], "")
        status, _, err = self.stop(recorder, signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertIn(f"landtrace: 2 of 3 programs {why}", err)
        self.assertEqual({event["pid"] for event in self.report_json()[0]}, {processes[2].pid})

    def test_libraries_that_come_and_go(self):
        process = self.start_program("python3", "-c", "import sys, ctypes, _ctypes; print('ready', flush=True)\n"
                                     "for line in sys.stdin: exec(line); print('done', flush=True)", stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")

        def tell(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "done\n")

        library = os.path.join(self.folder, "libcome.so")
        source = os.path.join(self.folder, "come.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int come(int n) { volatile int a[4] = {n}; return a[0] + 7; }\n")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", f"{library}:come n=$arg1:s32")
        self.wait_until(lambda: self.has_agent(process.pid))
        for i in range(3):
            tell(f"l = ctypes.CDLL({library!r}); assert l.come({i}) == {i + 7}")
            self.assertIn("libcome.so", support.read_text(f"/proc/{process.pid}/maps"))
            # It is looked at when the loader tells of it, and probed some time later.
            self.wait_until(lambda: (tell(f"assert l.come({i + 10}) == {i + 17}"),
                                     i + 10 in {event["fields"]["n"] for event in self.events_so_far()})[1])
            tell("h = l._handle; del l; _ctypes.dlclose(h)")
            self.assertNotIn("libcome.so", support.read_text(f"/proc/{process.pid}/maps"))
        self.stop(process, signal.SIGKILL)
        _, err = recorder.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0, err)
        numbers = [event["fields"]["n"] for event in self.report_json()[0]]
        self.assertLessEqual({10, 11, 12}, set(numbers))

    def test_libraries_that_are_closed_at_once(self):
        """Who looks at them for their probes does so while they go."""
        library = os.path.join(self.folder, "libcome.so")
        source = os.path.join(self.folder, "come.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int come(int n) { volatile int a[4] = {n}; return a[0] + 7; }\n")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        process = self.start_program("python3", "-c", "import sys, ctypes, _ctypes, time\nprint('ready', flush=True)\n"
                                     "for i in range(int(sys.stdin.readline())):\n"
                                     f"  l = ctypes.CDLL({library!r})\n"
                                     "  for k in range(i % 30): assert l.come(k) == k + 7\n"
                                     "  time.sleep(i % 7 / 300)\n"
                                     "  h = l._handle; del l; _ctypes.dlclose(h)\nprint('done', flush=True)", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        recorder = self.start("record", "-o", self.file, "--pid", process.pid, "-p", f"{library}:come n=$arg1:s32")
        self.wait_until(lambda: self.has_agent(process.pid))
        out, err = process.communicate("700\n", timeout=support.TIMEOUT_S)
        self.assertEqual((process.returncode, out, err), (0, "done\n", ""))
        _, err = recorder.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertGreater(len(self.report_json()[0]), 0)

    def test_what_is_mistyped(self):
        process = self.program("tick")
        for words, parts in ((["--pid", "999999999", "-p", "tick"], ["--pid: there is no process 999999999"]),
                             (["--pid", "x", "-p", "tick"], ["--pid: want the number of a process, not 'x'"]),
                             (["--pid", process.pid, "-p", "tick", "--", "true"], ["want programs that run already, or"]),
                             (["--pid", process.pid, "-p", "tik"], ["no function 'tik'", "did you mean tick?"])):
            status, _, err = self.landtrace("record", "-o", self.file, *words)
            self.assertNotEqual(status, 0)
            self.assert_one_line(err, *parts)
        self.assertFalse(self.has_agent(process.pid))


class Late(Attach):
    """Programs that were in the domain before it had probes."""

    def setUp(self):
        super().setUp()
        self.serve()

    def expect_ticks_of(self, process):
        self.assertFalse(self.has_agent(process.pid))

        def attempt(seconds):
            status, _, err = self.landtrace("record", "-o", self.file, "-p", f"{ATTACHED}:tick", "--duration", seconds)
            self.assertEqual(status, 0, err)
            return len(self.report_json()[0]) > 5

        self.given_time(attempt)
        self.assertTrue(self.has_agent(process.pid))
        self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_under_the_shim(self):
        self.expect_ticks_of(self.program("tick", prefix=[LANDTRACE, "run", "--"]))

    def test_whoever_locks_their_folders(self):
        """Any user may, of any process."""
        process = self.program("tick", prefix=[LANDTRACE, "run", "--"])
        folder = os.open(f"/proc/{process.pid}", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.expect_ticks_of(process)

    def test_somebody_else_who_attaches_is_not_waited_for_without_end(self):
        process = self.program("tick")
        memory = os.open(f"/proc/{process.pid}/mem", os.O_RDONLY)
        self.addCleanup(os.close, memory)
        fcntl.flock(memory, fcntl.LOCK_EX)
        self.refused(process.pid, "somebody else attaches to it just now; try again")

    def test_others_are_left_alone(self):
        process = self.program("tick")
        self.landtrace("record", "-o", self.file, "-p", f"{ATTACHED}:tick", "--duration", "0.5")
        self.assertFalse(self.has_agent(process.pid))


@support.needs_fuse
class LateInRunsOwnDomain(support.UnderTracefs, support.Case):
    """The same where `landtrace run --tracefs` serves the domain, and root's commands are under its guard (seccomp)."""

    def ticking(self, script):
        """Run beside a program that ticks, $p, which was there before."""
        os.chmod(self.folder, 0o777)
        status, out, err = self.run_tracefs("sh", "-c", f"""
            cd {self.folder}; tracing=/sys/kernel/tracing; rm -f in out; mkfifo in && {ATTACHED} tick < in > out & p=$!
            until [ -p in ]; do sleep 0.01; done; exec 5> in; until grep -qs ready out; do sleep 0.01; done
            define() {{ echo 'p:t {ATTACHED}:tick' > $tracing/uprobe_events && echo 1 > $tracing/events/uprobes/t/enable; }}
            wait_for_ticks() {{ until [ $(grep -c ' t: ' $tracing/trace) -gt 5 ]; do sleep 0.02; done; echo ticked; }}
            {script}""")
        self.assertEqual(status, 0, err)
        return out, err

    @needs_root
    def test_they_are_attached_when_the_first_probe_is_defined(self):
        self.assertEqual(self.ticking("define; wait_for_ticks"), ("ticked\n", ""))

    @needs_root
    def test_who_is_under_the_guard_attaches_others_under_it(self):
        _, err = self.ticking(f"{LANDTRACE} attach $p")
        self.assertRegex(err, STOPPED)
        _, err = self.ticking(f"{LANDTRACE} record -o x.dat --pid $p -p {ATTACHED}:tick --duration 0.1")
        self.assertNotIn("seccomp", err)

    @needs_root
    def test_who_has_another_filter_is_not_taken_for_one_of_them(self):
        code = ("import ctypes, time; lines = bytes.fromhex('060000000000ff7f'); "  # all is allowed
                "kept = ctypes.create_string_buffer(lines); libc = ctypes.CDLL(None);"
                "program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(kept));"
                "assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0;"
                "print('limited', flush=True); time.sleep(60)")
        _, err = self.ticking(f"""python3 -c "{code}" > limited & l=$!; until grep -qs limited limited; do sleep 0.01; done
            {LANDTRACE} attach $l; kill $l""")
        self.assertIn("seccomp limits its system calls", err)

    @needs_root
    def test_what_cannot_be_attached_is_told_once(self):
        out, err = self.ticking("kill -STOP $p; define; until grep -q 'cannot be attached' stderr; do sleep 0.01; done; "
                                "sleep 0.6; kill -CONT $p; wait_for_ticks")
        self.assertEqual(out, "ticked\n")
        self.assertRegex(err, r"\Alandtrace: probes do not come to a program that runs already: \d+ \(attached\) cannot "
                              r"be attached: a signal has stopped it; `kill -CONT \d+` lets it go on\n\Z")

    @unittest.skipUnless(support.works(*support.AS_NOBODY_WITH_FUSE, "unshare", "-Ur", "unshare", "-m", "true"),
                         "SKIPPED: no user namespaces here")
    def test_of_a_user(self):
        for user in ("4242", str(support.NOBODY)):  # the second is the number of all others in a user namespace, too
            with self.subTest(user):
                self.prefix = [word.replace(str(support.NOBODY), user) for word in support.AS_NOBODY_WITH_FUSE]
                os.chmod(self.folder, 0o777)
                self.environment["XDG_RUNTIME_DIR"] = os.path.join(self.folder, user)
                os.mkdir(self.environment["XDG_RUNTIME_DIR"])
                os.chmod(self.environment["XDG_RUNTIME_DIR"], 0o777)
                self.assertEqual(self.ticking("define; wait_for_ticks"), ("ticked\n", ""))


class InTheMiddle(Attach):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_who_attaches_is_killed(self):
        """At any moment: the program goes on, and can be attached again."""
        for i in range(60):
            process = self.program("malloc")
            attacher = self.start("attach", process.pid)
            time.sleep(0.0005 * i)
            attacher.kill()
            attacher.wait()
            self.wait_until(lambda: "TracerPid:\t0\n" in support.read_text(f"/proc/{process.pid}/status"))
            status, _, err = self.landtrace("attach", process.pid)
            self.assertEqual(status, 0, err)
            self.assertIn("interrupted 0 ", self.end_of(process, "x"))

    def test_the_program_ends(self):
        for i in range(40):
            process = self.program("malloc")
            attacher = self.start("attach", process.pid)
            time.sleep(0.0005 * i)
            process.kill()
            process.wait()
            _, err = attacher.communicate(timeout=support.TIMEOUT_S)
            self.assertIn(attacher.returncode, (0, 1))
            self.assertRegex(err, r"^landtrace: (\d+ \(.*\) (is attached|has ended|cannot be attached: it has ended)|"
                                  r"there is no process).*\n$")

    def test_the_program_calls_exec(self):
        for i in range(20):
            process = self.start_program("sh", "-c", "echo ready; sleep 0.05; exec sleep 1000")
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(0.003 * i)
            status, _, err = self.landtrace("attach", process.pid)
            self.assertIn(status, (0, 1))
            self.assertRegex(err, r"is attached to|it has become another program")
            self.assertIsNone(process.poll())

    def test_the_loader_is_not_done(self):
        """It waits for a pipe that it is to load, and the program has no C library yet."""
        pipe = f"{self.folder}/pipe"
        os.mkfifo(pipe)
        process = self.start_program("env", f"LD_PRELOAD={pipe}", "sleep", "1000")
        self.wait_until(lambda: support.read_text(f"/proc/{process.pid}/comm") == "sleep\n")
        attacher = self.start("attach", process.pid)
        time.sleep(0.3)
        self.assertIsNone(attacher.poll())
        os.close(os.open(pipe, os.O_WRONLY))
        _, err = attacher.communicate(timeout=support.TIMEOUT_S)
        self.assertRegex(err, STOPPED)
        self.assertTrue(self.has_agent(process.pid))

    def test_two_at_once(self):
        for _ in range(5):
            process = self.program("malloc")
            both = [self.start("attach", process.pid) for _ in range(2)]
            texts = [one.communicate(timeout=support.TIMEOUT_S)[1] for one in both]
            self.assertEqual([one.returncode for one in both], [0, 0], texts)
            self.assertEqual(sum(" already" in text for text in texts), 1, texts)
            self.end_of(process, "x")


if __name__ == "__main__":
    support.main_with_probes()
