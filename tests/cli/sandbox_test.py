"""Programs whose threads may not read the time stamp counter, or may make no system calls, are recorded as others."""
import os
import platform
import unittest

import support

SANDBOX = os.environ["SANDBOX"]


@unittest.skipUnless(platform.machine() == "x86_64", "SKIPPED: the counter can be switched off on x86-64 only")
class SandboxTest(support.Case):
    def record_sandbox(self, *words):
        """The numbers of its events. In the order of numbers: times are right to a tick alone where there may be no
        calls, so that the events from after the switch may stand before those of the same tick."""
        status, out, err = self.landtrace("record", "-o", self.file, "--", SANDBOX, *words)
        self.assertEqual(status, 0, err)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        return sorted(event["fields"]["n"] for event in events)

    def test_a_program_that_has_no_counter_from_the_start(self):
        for way in ("abi", "native"):
            for how in ("prctl", "syscall", "raw"):
                with self.subTest(way=way, how=how):
                    self.assertEqual(self.record_sandbox(way, how, "before"), list(range(3, 8)))

    def test_a_program_that_switches_it_off_later(self):
        for way in ("abi", "native"):
            for how in ("prctl", "syscall", "raw"):
                with self.subTest(way=way, how=how):
                    self.assertEqual(self.record_sandbox(way, how, "after"), list(range(8)))

    def test_a_program_that_locks_itself_in(self):
        for words in (("abi", "strict"), ("native", "strict"), ("native", "strict_raw")):
            with self.subTest(words=words):
                self.assertEqual(self.record_sandbox(*words, "after"), list(range(8)))

    # Its handler would take the fault for a crash; the shim knows before there is one.
    def test_a_program_with_a_handler_of_its_own(self):
        self.assertEqual(self.record_sandbox("abi", "prctl", "after", "handler"), list(range(8)))

    def test_the_portable_write(self):
        self.environment["LANDTRACE_WRITER"] = "portable"
        for way in ("abi", "native"):
            for how in ("prctl", "raw"):
                with self.subTest(way=way, how=how):
                    self.assertEqual(self.record_sandbox(way, how, "after"), list(range(8)))

    # A histogram with times asks the vDSO, which reads the counter, too.
    def test_a_histogram_of_times(self):
        for how in ("prctl", "raw"):
            with self.subTest(how=how):
                status, out, err = self.landtrace("hist", "job", "--keys", "n", "--vals", "common_timestamp", "--",
                                                  SANDBOX, "native", how, "after")
                self.assertEqual(status, 0, out + err)


if __name__ == "__main__":
    unittest.main()
