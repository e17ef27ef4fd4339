"""What tests of programs that run already share."""
import os
import re
import subprocess

import support
from support import LANDTRACE

ATTACHED = support.copied(os.environ["ATTACHED"], "attached")
STOPPED = re.compile(r"landtrace: (\d+) \((.*)\) is attached to the domain at (\S+); a thread of it was stopped for "
                     r"(\d+\.\d\d) ms\n")


class Attach(support.Case):
    def program(self, *words, prefix=()):
        """Starts one of the ways of attached.cc, and waits until it is there."""
        process = self.start_program(*prefix, ATTACHED, *words, stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def attach(self, process):
        """Milliseconds for which it was stopped."""
        status, out, err = self.landtrace("attach", process.pid)
        if status != 0 and process.poll() is not None:
            self.fail(f"{process.args} has ended with {process.returncode}: {process.communicate()}: {err}")
        self.assertEqual((status, out), (0, ""), err)
        match = STOPPED.fullmatch(err)
        self.assertIsNotNone(match, err)
        self.assertEqual((int(match[1]), match[3]), (process.pid, self.socket))
        self.assertTrue(self.has_agent(process.pid))
        return float(match[4])

    def has_agent(self, pid):
        return "liblandtrace-agent.so" in support.read_text(f"/proc/{pid}/maps")

    def end_of(self, process, text=""):
        """What it has seen."""
        out, err = process.communicate(input=text, timeout=support.TIMEOUT_S)
        self.assertEqual((process.returncode, err), (0, ""), out)
        return out

    def refused(self, pid, *parts, prefix=()):
        process = self.start_program(*prefix, LANDTRACE, "attach", pid)
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((process.returncode, out), (1, ""), err)
        self.assert_one_line(err, *parts)
