"""<landtrace/reader.hpp> and <landtrace/reader.h>: the example, and the library, read recordings and running domains."""
import ctypes
import errno
import os
import signal
import threading
import unittest

import support

READER = os.environ["READER"]
LIBRARY = ctypes.CDLL(os.environ["READER_LIBRARY"])


class Record(ctypes.Structure):
    _fields_ = [("time_ns", ctypes.c_uint64), ("lost", ctypes.c_uint64), ("system", ctypes.c_char_p),
                ("name", ctypes.c_char_p), ("comm", ctypes.c_char_p), ("tid", ctypes.c_uint32),
                ("tgid", ctypes.c_uint32), ("cpu", ctypes.c_uint32), ("id", ctypes.c_uint32),
                ("fields", ctypes.c_size_t), ("payload", ctypes.c_void_p), ("payload_size", ctypes.c_size_t)]


LIBRARY.landtrace_reader_new.restype = ctypes.c_void_p
LIBRARY.landtrace_reader_lost.restype = ctypes.c_uint64
LIBRARY.landtrace_reader_failure.restype = ctypes.c_char_p
LIBRARY.landtrace_reader_json.restype = ctypes.c_char_p


class Examples(support.Case):
    def read(self, *words):
        process = self.start_program(READER, *words)
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        return process.returncode, out, err

    def test_a_recording_is_read_as_report_prints_it(self):
        self.record("--count", "5")
        status, out, err = self.read(self.file)
        self.assertEqual((status, err), (0, ""))
        events, lost = self.report_json()
        self.assertEqual((len(events), lost), (5, 0))
        self.assertEqual(out.splitlines(), [
            f"{event['time']} {event['comm']}[{event['pid']}] {event['event']} "
            + " ".join(f"{name}={value}" for name, value in event["fields"].items()) for event in events])

    def test_what_cannot_be_read_is_said(self):
        status, out, err = self.read(self.file)
        self.assertEqual((status, out), (1, ""))
        self.assertIn(self.file, err)
        status, out, err = self.read()
        self.assertEqual((status, out), (1, ""))
        self.assertIn(self.socket, err)

    def test_a_running_domain_is_read_until_it_ends(self):
        owner = self.serve()
        producer = self.start_program(support.PRODUCER, "--wait", "60000", "--count", "3")
        reader = self.start_program(READER)
        lines = [reader.stdout.readline().split() for _ in range(3)]
        self.assertEqual([words[2:] for words in lines],
                         [["job", "source=0", f"sequence={number}"] for number in range(3)])
        self.assertEqual({words[1] for words in lines}, {f"producer[{producer.pid}]"})
        # What is emitted just before the end is read, too.
        self.assertEqual(self.start_program(support.PRODUCER, "--count", "2").wait(support.TIMEOUT_S), 0)
        owner.send_signal(signal.SIGKILL)
        out, err = reader.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((reader.returncode, err, len(out.splitlines())), (0, "", 2))


class Live(support.Case):
    """The library listens in this process."""

    def setUp(self):
        super().setUp()
        self.owner = self.serve()
        self.reader = ctypes.c_void_p(LIBRARY.landtrace_reader_new())
        self.addCleanup(LIBRARY.landtrace_reader_free, self.reader)

    def listen(self, ring_bytes=0):
        return LIBRARY.landtrace_reader_listen(self.reader, self.socket.encode(), ctypes.c_uint64(ring_bytes))

    def next(self, timeout_ms):
        record = ctypes.POINTER(Record)()
        status = LIBRARY.landtrace_reader_next(self.reader, timeout_ms, ctypes.byref(record))
        self.assertEqual(bool(record), status == 1)
        return (status, record.contents) if record else (status, None)

    def produce(self, *words):
        self.assertEqual(self.start_program(support.PRODUCER, *words).wait(support.TIMEOUT_S), 0)

    def test_patterns_and_filter_choose_among_what_registers_later(self):
        LIBRARY.landtrace_reader_add_pattern(self.reader, b"user_events:jo*")
        LIBRARY.landtrace_reader_set_filter(self.reader, b"sequence >= 8")
        self.assertEqual(self.listen(), 0)
        self.assertEqual(self.next(0), (-errno.ETIMEDOUT, None))
        self.assertEqual(self.next(30), (-errno.ETIMEDOUT, None))
        self.produce("--event", "other")
        self.produce("--event", "job_text", "--text", "without that field")
        self.produce("--event", "job")
        for sequence in (8, 9):
            status, record = self.next(60000)
            self.assertEqual((status, record.name, record.comm), (1, b"job", b"producer"))
            self.assertIn(b'"sequence":%d}' % sequence, LIBRARY.landtrace_reader_json(self.reader))
        self.owner.send_signal(signal.SIGTERM)
        self.assertEqual(self.next(-1), (0, None))

    def test_what_finds_no_room_is_counted_and_told_with_the_next_event(self):
        one_cpu = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        self.assertEqual(self.listen(64 << 10), 0)
        self.start_program(*one_cpu, support.PRODUCER, "--count", "100000").wait(support.TIMEOUT_S)
        events = 0
        while self.next(0)[0] == 1:
            events += 1
        self.start_program(*one_cpu, support.PRODUCER, "--count", "1").wait(support.TIMEOUT_S)
        status, record = self.next(60000)
        self.assertEqual(status, 1)
        self.assertEqual(events + record.lost, 100000)
        self.assertGreater(record.lost, 0)
        self.assertEqual(LIBRARY.landtrace_reader_lost(self.reader), record.lost)

    def test_a_reader_that_waits_is_stopped_by_another_thread(self):
        self.assertEqual(self.listen(), 0)
        stopper = threading.Timer(0.05, LIBRARY.landtrace_reader_stop, [self.reader])
        stopper.start()
        self.assertEqual(self.next(-1), (0, None))
        stopper.join()

    def test_what_is_wrong_is_said(self):
        LIBRARY.landtrace_reader_set_filter(self.reader, b"sequence >")
        self.assertEqual(self.listen(), -errno.EINVAL)
        self.assertIn(b"sequence >", LIBRARY.landtrace_reader_failure(self.reader))
        self.assertEqual(self.next(-1), (-errno.EBADF, None))
        self.assertEqual(self.listen(), 0)


if __name__ == "__main__":
    unittest.main()
