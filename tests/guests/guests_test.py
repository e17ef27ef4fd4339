"""One user of a domain against all: whatever it does, another user's program is served and notices nothing."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.environ["CLI_TESTS"])
import support
from support import PRODUCER

ATTACKER, VICTIM = 65533, 65534
WAIT_MS = support.TIMEOUT_S * 1000


def as_user(uid):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]


@support.needs_root
@support.needs("setpriv")
class Guests(support.Case):
    """A domain that root serves, with an attacker in it."""

    def setUp(self):
        super().setUp()
        shutil.copy(os.environ["ATTACK"], self.folder)
        self.daemon = self.serve()
        self.environment["LANDTRACE_SOCKET"] = self.socket

    def attack(self, *words, uid=ATTACKER):
        """Starts it, and waits until it has done its worst: what it said until then."""
        environment = dict(self.environment, ATTACK_UID=str(ATTACKER))
        process = self.start_program(*(as_user(uid) if uid else []), os.path.join(self.folder, "attack"), *words,
                                     stdin=subprocess.PIPE, env=environment)
        self.addCleanup(process.stdin.close)
        said = []
        for line in process.stdout:
            if line == "ready\n":
                return process, " ".join(said)
            said.append(line.strip())
        self.fail(process.stderr.read())

    def victim(self, *words):
        """A program of another user's: what it said."""
        status, out, err = self.landtrace("run", "--", *as_user(VICTIM), PRODUCER, *words)
        self.assertEqual(status, 0, err)
        return out

    def assert_victims_are_served(self, events=10):
        """As if nobody else were there: recorded to the last event, and at once."""
        file = os.path.join(self.folder, "victim.dat")
        start = time.monotonic()
        for way in ([], ["--abi"]):
            recorder = self.start_recording("-e", "victim", file=file)
            self.assertEqual(self.victim(*way, "--event", "victim", "--wait", WAIT_MS), "emitted %d\n" % events)
            status, _, err = self.stop(recorder, support.signal.SIGINT)
            self.assertEqual(status, 0, err)
            summary = support.Summary(err)
            self.assertEqual((summary.events, summary.lost), (events, 0), err)
        return time.monotonic() - start

    def assert_costs_victims_no_time(self, *attack, **options):
        """In two of three attacks: beside busy ones Linux lets a process wait for seconds, but seldom."""
        def is_not_noticed():
            usual = self.assert_victims_are_served()  # beside whatever else the machine does now
            process, _ = self.attack(*attack, **options)
            took = self.assert_victims_are_served()
            process.stdin.close()
            process.wait()
            return took < 5 * usual + 2

        unnoticed = [is_not_noticed() for _ in range(2)]
        if not all(unnoticed):
            unnoticed.append(is_not_noticed())
        self.assertGreaterEqual(unnoticed.count(True), 2)

    def test_threads_that_never_leave_an_event(self):
        self.assert_costs_victims_no_time("readers")

    def test_connections_of_which_nothing_comes(self):
        _, said = self.attack("connections", "20000")
        self.assertIn("connections", said)
        self.assert_victims_are_served()

    def test_connections_that_always_ask(self):
        self.assert_costs_victims_no_time("requests", "500")

    @support.needs_fuse
    @support.needs_namespaces
    def test_enable_words_in_memory_that_never_answers(self):
        # Those that are registered are set with each recording that begins.
        self.assert_costs_victims_no_time("words", "40", uid=None)

    def memory_of(self, uid):
        """In KiB, as the domain's user is told."""
        status, out, err = self.landtrace("list", "--users", "--socket", self.socket)
        self.assertEqual(status, 0, err)
        lines = [line.split() for line in out.splitlines()]
        return next((int(words[words.index("memory") + 1]) for words in lines if words[1] == str(uid)), 0)

    def test_memory_of_a_guest_is_shown_and_given_back(self):
        process, _ = self.attack("memory")

        def is_shown():
            """Asked at once: the owner gives it back."""
            process.stdin.write(".")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "ready\n")
            return self.memory_of(ATTACKER) > 1_000_000

        self.wait_until(is_shown)
        self.assert_victims_are_served()
        process.stdin.close()
        process.wait()
        self.wait_until(lambda: self.memory_of(ATTACKER) < 100_000)

    def test_rings_full_of_nonsense(self):
        self.stop(self.daemon)
        self.daemon = self.serve("--trace-event", "seen")
        self.attack("scribble")
        self.assert_victims_are_served()
        self.victim("--event", "seen", "--wait", WAIT_MS)
        status, out, err = self.landtrace("cat", "per_cpu/cpu0/stats")
        self.assertEqual(status, 0, err)
        for line in out.splitlines():
            if line.startswith(("entries", "overrun", "dropped events", "read events", "bytes")):
                self.assertLess(int(line.split(":")[1]), 1_000_000, out)

    def test_switches_that_no_trigger_has_thrown(self):
        self.attack("switches")
        self.assert_victims_are_served()
        status, out, err = self.landtrace("cat", "tracing_on")
        self.assertEqual((status, out), (0, "1\n"), err)

    def test_events_that_a_guest_leaves_behind(self):
        self.stop(self.daemon)
        self.daemon = self.serve("--trace-event", "*")
        for number in range(3):
            self.victim("--event", "left_%d" % number)
        self.wait_until(lambda: "left" not in self.landtrace("list")[1])

    def test_more_users_than_there_can_be(self):
        file = os.path.join(self.folder, "all.dat")
        recorder = self.start_recording("-e", "victim", file=file)
        self.assertEqual(self.attack("users", "100", uid=None)[1], "joined 100")
        self.victim("--event", "victim", "--wait", WAIT_MS)
        self.assertEqual(self.attack("users", "100", uid=None)[1], "joined 100")
        self.victim("--event", "victim", "--wait", WAIT_MS)
        status, _, err = self.stop(recorder, support.signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertEqual((support.Summary(err).events, support.Summary(err).lost), (20, 0), err)


FOREIGN = 64_897  # nobody's


@support.needs_root
@support.needs("setpriv")
class ForeignFolder(support.Case):
    """Another user has made the folder in /tmp where this one's domain would be, and listens there."""

    def setUp(self):
        super().setUp()
        self.foreign = "/tmp/landtrace-%d" % FOREIGN
        shutil.rmtree(self.foreign, ignore_errors=True)  # of a test that was killed
        os.mkdir(self.foreign)
        self.addCleanup(shutil.rmtree, self.foreign)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(self.listener.close)
        self.listener.bind(self.foreign + "/domain.sock")
        self.listener.listen(0)
        self.listener.setblocking(False)
        for path, mode in ((self.foreign, 0o755), (self.foreign + "/domain.sock", 0o777)):
            os.chown(path, ATTACKER, ATTACKER)
            os.chmod(path, mode)
        self.home = os.path.join(self.folder, "home")
        os.mkdir(self.home)
        os.chown(self.home, FOREIGN, FOREIGN)
        self.environment["HOME"] = self.home
        self.environment.pop("XDG_RUNTIME_DIR")
        self.me = as_user(FOREIGN)

    def test_programs_do_not_speak_to_it(self):
        shim = os.path.join(os.path.dirname(os.path.dirname(support.LANDTRACE)), "lib", "landtrace",
                            "liblandtrace-preload.so")
        for preload in ("", shim):
            program = self.start_program(*self.me, "env", "LD_PRELOAD=" + preload, PRODUCER)
            program.communicate(timeout=support.TIMEOUT_S)
        self.assertRaises(BlockingIOError, self.listener.accept)

    def test_recordings_are_made_elsewhere_and_programs_find_them(self):
        file = os.path.join(self.home, "t.dat")
        program = self.start_program(*self.me, support.LANDTRACE, "record", "-o", file, "--", PRODUCER)
        _, err = program.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((program.returncode, support.Summary(err).events), (0, 10), err)
        recorder = self.start_program(*self.me, support.LANDTRACE, "record", "-o", file)
        self.wait_until(lambda: os.path.exists(os.path.join(self.home, ".landtrace", "domain.sock")))
        program = self.start_program(*self.me, PRODUCER, "--wait", WAIT_MS)
        self.assertEqual(program.communicate(timeout=support.TIMEOUT_S)[0], "emitted 10\n")
        status, _, err = self.stop(recorder, support.signal.SIGINT)
        self.assertEqual((status, support.Summary(err).events), (0, 10), err)
        self.assertRaises(BlockingIOError, self.listener.accept)

    @support.needs_namespaces
    def test_a_read_only_tmp_is_no_hindrance(self):
        script = "mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp && exec \"$@\""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as home:
            os.chown(home, FOREIGN, FOREIGN)
            self.environment["HOME"] = home
            program = self.start_program("unshare", "-m", "sh", "-c", script, "sh", *self.me, support.LANDTRACE, "record",
                                         "-o", home + "/t.dat", "--", PRODUCER)
            _, err = program.communicate(timeout=support.TIMEOUT_S)
            self.assertEqual((program.returncode, support.Summary(err).events), (0, 10), err)


if __name__ == "__main__":
    unittest.main()
