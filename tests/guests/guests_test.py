"""One user of a domain against all: whatever it does, another user's program is served and notices nothing."""
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.environ["CLI_TESTS"])
import support
from support import PRODUCER

ATTACKER, VICTIM = 65533, 65534


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
            self.assertEqual(self.victim(*way, "--event", "victim", "--wait", "5000"), "emitted %d\n" % events)
            status, _, err = self.stop(recorder, support.signal.SIGINT)
            self.assertEqual(status, 0, err)
            summary = support.Summary(err)
            self.assertEqual((summary.events, summary.lost), (events, 0), err)
        return time.monotonic() - start

    def test_threads_that_never_leave_an_event(self):
        usual = self.assert_victims_are_served()
        self.attack("readers")
        self.assertLess(self.assert_victims_are_served(), 5 * usual + 2)


if __name__ == "__main__":
    unittest.main()
