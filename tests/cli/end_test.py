"""What ends a recording, and what then becomes of data and programs."""
import fcntl
import os
import pty
import re
import signal
import subprocess
import termios
import time
import unittest

import support
from support import PRODUCER

FOREVER = ["--count", "100000000", "--pause", "1000"]


class End(support.Case):
    def record_forever(self, **options):
        process = self.start("record", "-o", self.file, "--", PRODUCER, *FOREVER, **options)
        self.wait_for_events()
        return process

    def assert_recorded(self):
        events, lost = self.report_json()
        self.assertGreater(len(events), 0)
        self.assertEqual(lost, 0)

    def test_duration_without_command(self):
        start = time.monotonic()
        status, _, err = self.landtrace("record", "-o", self.file, "--duration", "0.5")
        self.assertEqual(status, 0, err)
        self.assertGreaterEqual(time.monotonic() - start, 0.5)
        self.assertEqual(self.report_json(), ([], 0))

    def test_duration_ends_the_recording_not_the_command(self):
        def attempt(seconds):
            count = int(6000 * seconds)  # a pause is a millisecond and more
            status, out, err = self.landtrace("record", "-o", self.file, "--duration", seconds, "--", PRODUCER, "--count",
                                              count, "--pause", "1000", "--exit", "5")
            self.assertEqual(status, 5)
            summary = support.Summary(err, out)
            self.assertEqual(summary.emitted, summary.events)
            return 0 < summary.events < count

        self.given_time(attempt)

    def test_interrupt_without_command(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start_recording()
            self.landtrace("run", "--", PRODUCER)
            process.send_signal(number)
            _, err = process.communicate(timeout=support.TIMEOUT_S)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(len(self.report_json()[0]), 10)
            self.assertFalse(os.path.exists(self.socket))

    def test_signals_reach_the_command(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.file = os.path.join(self.folder, f"{number}.dat")  # events of an older one are none of this command's
            process = self.record_forever()
            process.send_signal(number)
            _, err = process.communicate(timeout=support.TIMEOUT_S)
            self.assertEqual(process.returncode, 128 + number, err)
            self.assert_recorded()

    def test_terminal_interrupt_gives_the_command_time_for_last_events(self):
        script = f"trap '{PRODUCER} --event last --count 3; exit 3' INT; {PRODUCER} --count 5; while :; do sleep 0.05; done"
        master, slave = pty.openpty()
        process = self.start("record", "-o", self.file, "--", "sh", "-c", script, stdin=slave, stdout=slave, stderr=slave,
                             preexec_fn=take_terminal)
        os.close(slave)
        self.wait_for_events(5)
        os.write(master, b"\x03")
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 3)
        os.close(master)
        self.assertEqual([event["event"] for event in self.report_json()[0]], ["job"] * 5 + ["last"] * 3)

    def test_second_interrupt_does_not_wait_for_a_deaf_command(self):
        script = f"trap '' INT; {PRODUCER}; echo $$; exec sleep 1000"
        process = self.start("record", "-o", self.file, "--", "sh", "-c", script)
        process.stdout.readline()
        child = int(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        self.wait_until(lambda: not self.is_pending(process, signal.SIGINT))  # two that wait are one
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(len(self.report_json()[0]), 10)
        os.kill(child, signal.SIGKILL)

    @staticmethod
    def is_pending(process, number):
        waiting = re.search(r"ShdPnd:\s*(\w+)", support.read_text(f"/proc/{process.pid}/status"))[1]
        return int(waiting, 16) & 1 << number - 1

    def test_recording_ends_with_the_command_not_with_what_it_left_running(self):
        script = f"{PRODUCER} --count 5 --event first; {PRODUCER} --count 100000 --pause 10000 > /dev/null 2>&1 & echo $!"
        status, out, err = self.landtrace("record", "-o", self.file, "--", "sh", "-c", script)
        left_running = int(out.split()[-1])
        self.addCleanup(os.kill, left_running, signal.SIGKILL)
        self.assertEqual(status, 0, err)
        os.kill(left_running, 0)
        self.assert_recorded()

    def test_killed_recorder_does_the_command_no_harm(self):
        path = self.folder + "/out"

        def attempt(seconds):
            count = int(10000 * seconds)  # a pause is a millisecond and more
            script = f"{PRODUCER} --count {count} --pause 1000; {PRODUCER} --abi --count 5; echo status $?"
            with open(path, "w", encoding="ascii") as out:
                process = self.start("record", "-o", self.file, "--", "sh", "-c", script, stdout=out)
            self.wait_for_events()
            process.kill()
            process.wait()
            self.wait_until(lambda: "status" in support.read_text(path))
            emitted = int(support.read_text(path).split()[1])
            self.assertGreater(emitted, 0)
            os.remove(self.file)
            return emitted < count

        self.given_time(attempt)

    def test_progress_on_a_terminal(self):
        master, slave = pty.openpty()
        process = self.start("record", "-o", self.file, "--", "sh", "-c", f"{PRODUCER} --count 1000; cat",
                             stdin=subprocess.PIPE, stderr=slave)
        os.close(slave)
        shown = b""
        while not re.search(rb"\r\x1b\[K[\d,]+ events  [\d,]+/s  0 lost  ", shown):
            shown += os.read(master, 4096)
        process.stdin.close()
        process.wait(timeout=support.TIMEOUT_S)
        self.assertIn("landtrace: 1,000 events, 0 lost", read_all(master))


def take_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def read_all(master):
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:
        pass
    os.close(master)
    return shown.decode()


if __name__ == "__main__":
    unittest.main()
