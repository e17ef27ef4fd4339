"""Emitted = reported + counted as lost, in every mode."""
import itertools
import os
import unittest

import support
from support import PRODUCER, sequences


class Loss(support.Case):
    def check(self, words, options, start=()):
        status, out, err = self.landtrace("record", "-o", self.file, *options, "--", *start, PRODUCER, *words)
        self.assertEqual(status, 0, err)
        summary = support.Summary(err, out)
        events, lost = self.report_json()
        self.assertEqual(summary.emitted, summary.events + summary.lost, summary.text)
        self.assertEqual((len(events), lost), (summary.events, summary.lost), summary.text)
        for source in sequences(events).values():
            self.assertEqual(source, sorted(set(source)))
        return summary, events

    def test_discarded_are_counted_exactly(self):
        for size, threads in itertools.product(("256K", "1M", "4M"), ("1", "3")):
            with self.subTest(size=size, threads=threads):
                self.check(["--count", "200000", "--threads", threads], ["--buffer-size", size])

    def test_discarded_in_unmodified_programs_and_children(self):
        self.check(["--abi", "--count", "100000", "--children", "2"], ["--buffer-size", "256K"])

    def test_discarded_by_portable_writers(self):
        self.environment["LANDTRACE_WRITER"] = "portable"
        self.check(["--count", "80000", "--threads", "3"], ["--buffer-size", "256K"])

    def test_overwrite_keeps_the_last(self):
        for size, threads in itertools.product(("256K", "2M"), (1, 3)):
            with self.subTest(size=size, threads=threads):
                # Each thread emits 3.6 MB, more than a ring holds. A thread that moves fills several: on no more CPUs
                # than there are threads, something is lost however they move.
                cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
                summary, events = self.check(["--count", "150000", "--threads", str(threads)],
                                             ["--overwrite", "--buffer-size", size], ["taskset", "-c", cpus])
                self.assertGreater(summary.lost, 0)
                if threads == 1:
                    self.assertEqual(sequences(events)[0][-1], 149999)

    def test_overwrite_of_one_cpu_has_no_gap(self):
        _, events = self.check(["--count", "50000"], ["--overwrite", "--buffer-size", "64M"])
        self.assertEqual(sequences(events)[0], list(range(50000)))


if __name__ == "__main__":
    unittest.main()
