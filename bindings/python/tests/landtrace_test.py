"""The Python package: each test runs a program under `landtrace record`, and reads what came of it by the package."""
import copy
import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import landtrace

LANDTRACE = os.environ["LANDTRACE"]
TIMEOUT_S = 120


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="landtrace-python-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "trace.dat")
        self.program = os.path.join(self.folder, "program.py")
        os.environ["XDG_RUNTIME_DIR"] = self.folder
        os.environ.pop("LANDTRACE_SOCKET", None)
        os.environ["PATH"] = os.path.dirname(LANDTRACE) + ":" + os.environ["PATH"]

    def write(self, program):
        with open(self.program, "w", encoding="utf-8") as file:
            file.write("import landtrace\n" + textwrap.dedent(program))

    def run_to_end(self, *words):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, program):
        self.write(program)
        return self.run_to_end(LANDTRACE, "record", "-o", self.file, "--", sys.executable, self.program)

    def events(self, program):
        self.record(program)
        return [(e.event, e.fields) for e in landtrace.open(self.file)]


class Emitting(Case):
    def test_each_type_of_field_arrives_as_it_was_given(self):
        self.assertEqual(self.events("""
            e = landtrace.Event("all", a="u8", b="s64", c="bool", d="float", e="double", f="str", g="bytes", h="char[4]", i="u16")
            assert e.emit(255, -1 << 63, True, 0.5, -2.25, "\u00fc", b"\\0\\xff", "longer", 7) is True
            e.emit(i=1, h="", g=b"", f="", e=0.0, d=0, c=False, b=0, a=0)
            """), [("all", {"a": 255, "b": -1 << 63, "c": 1, "d": 0.5, "e": -2.25, "f": "\u00fc", "g": [0, 255],
                            "h": "long", "i": 7}),
                   ("all", {"a": 0, "b": 0, "c": 0, "d": 0.0, "e": 0.0, "f": "", "g": [], "h": "", "i": 1})])

    def test_values_that_do_not_fit_are_errors_and_no_events(self):
        self.assertEqual(self.events("""
            e = landtrace.Event("small", a="u8", b="s16", text="str")
            for values in (256, 0, ""), (-1, 0, ""), (0, 1 << 15, ""), (0, -(1 << 15) - 1, ""), ("", 0, ""), (0, 0, b""), \\
                    (0, 0, "x" * 65536), (0, 0), (0, 0, "", 0):
                try:
                    e.emit(*values)
                except (OverflowError, TypeError, ValueError):
                    continue
                raise SystemExit(f"{values} was taken")
            try:
                e.emit(0, 0, other="")
                raise SystemExit("a field that is none was taken")
            except TypeError:
                pass
            e.emit(1, -2, "fits")
            """), [("small", {"a": 1, "b": -2, "text": "fits"})])

    def test_whatever_is_a_number_or_has_a_truth_is_one(self):
        self.assertEqual(self.events("""
            class Number:
                def __init__(self, value): self.value = value
                def __index__(self): return self.value
            e = landtrace.Event("numbers", a="u8", b="u64", c="s16", d="bool", e="bool", f="bool", self="bool")
            e.emit(Number(255), Number((1 << 64) - 1), Number(-2), None, "text", 1000, self=[0])
            for values in (Number(256), 0, 0), (0, Number(1 << 64), 0), (0, Number(-1), 0), (1.0, 0, 0), ("1", 0, 0):
                try:
                    e.emit(*values, 0, 0, 0, 0)
                except (OverflowError, TypeError):
                    continue
                raise SystemExit(f"{values} was taken")
            """), [("numbers", {"a": 255, "b": (1 << 64) - 1, "c": -2, "d": 0, "e": 1, "f": 1, "self": 1})])

    def test_an_event_without_a_listener_says_so(self):
        event = landtrace.Event("nobody_listens", n="u64")
        self.assertFalse(event.enabled)
        self.assertIs(event.emit(1), False)
        with self.assertRaises(TypeError):
            event.emit()

    def test_other_threads_run_while_an_owner_is_asked(self):
        # The owner is a thread here, which gets to run only if the one that asks lets it; else that gives up.
        self.write("""
            import os, select, socket, threading
            os.environ["LANDTRACE_SOCKET"] = os.path.join(os.environ["XDG_RUNTIME_DIR"], "domain.sock")
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.bind(os.environ["LANDTRACE_SOCKET"])
            listener.listen()
            has_given_up = []
            def serve():
                connection, _ = listener.accept()
                listener.close()
                poll = select.poll()
                poll.register(connection, 0)
                has_given_up.append(bool(poll.poll(0)))
                connection.close()
            owner = threading.Thread(target=serve)
            owner.start()
            landtrace.Event("asked_for")
            owner.join()
            print(has_given_up)
            """)
        self.assertEqual(self.run_to_end(sys.executable, self.program), "[False]\n")

    def test_what_is_no_declaration_is_refused(self):
        for arguments in ({"n": "u12"}, {"n": "char[0]"}, {"n": "char[1025]"}, {"\u00fc": "u8"}):
            with self.assertRaises(ValueError):
                landtrace.Event("refused", **arguments)
        with self.assertRaises(ValueError):
            landtrace.Event("no identifier")
        with self.assertRaisesRegex(ValueError, "event_flags"):
            landtrace.Event("refused", event_flags="u32")
        with self.assertRaises(ValueError):
            landtrace.Event("wide", **{f"n{i}": "char[1024]" for i in range(5)})

    def test_spans_have_a_begin_and_an_end_also_when_an_exception_ends_them(self):
        events = self.events("""
            @landtrace.traced
            def work(n):
                "Says what it does."
                return n + 1
            assert (work(1), work.__name__, work.__doc__) == (2, "work", "Says what it does.")
            try:
                with landtrace.span("load file"):
                    raise KeyError
            except KeyError:
                pass
            """)
        self.assertEqual([name for name, _ in events], ["work_begin", "work_end", "load_file_begin", "load_file_end"])
        work, work_end, load, load_end = [fields["span"] for _, fields in events]
        self.assertEqual((work, load), (work_end, load_end))
        self.assertNotEqual(work, load)
        self.assertTrue(all(fields["duration_ns"] > 0 for name, fields in events if name.endswith("_end")))

    def test_a_traced_functions_span_is_that_of_its_body_whatever_kind_it_is_of(self):
        events = self.events("""
            import asyncio, contextlib, inspect
            inside = landtrace.Event("inside", n="u8")
            async def pause():
                await asyncio.sleep(0)
            @landtrace.traced
            async def coroutine():
                await pause()
                inside.emit(1)
                return "result"
            @landtrace.traced
            def generator():
                inside.emit((yield 1))
                return "returned"
            @landtrace.traced
            async def items():
                await pause()
                inside.emit((yield 1))
                try:
                    yield 2
                except KeyError:
                    inside.emit(4)
                    yield 3
            @contextlib.asynccontextmanager
            @landtrace.traced
            async def context():
                try:
                    yield "resource"
                except KeyError:
                    inside.emit(5)

            async def main():
                assert await coroutine() == "result"
                each = items()
                assert await each.__anext__() == 1 and await each.asend(3) == 2
                assert await each.athrow(KeyError()) == 3
                await each.aclose()
                async with context() as resource:
                    assert resource == "resource"
                    raise KeyError
            def outer():
                assert (yield from generator()) == "returned"
            assert inspect.iscoroutinefunction(coroutine) and inspect.isgeneratorfunction(generator)
            assert inspect.isasyncgenfunction(items)
            asyncio.run(main())
            numbers = outer()
            assert next(numbers) == 1
            try:
                numbers.send(2)
            except StopIteration:
                pass
            """)
        self.assertEqual([fields.get("n", name) for name, fields in events],
                         ["coroutine_begin", 1, "coroutine_end", "items_begin", 3, 4, "items_end",
                          "context_begin", 5, "context_end", "generator_begin", 2, "generator_end"])

    def test_spans_of_processes_that_were_forked_are_told_apart(self):
        # The first span of each of two children: they begin and end by turns, which pipes hand on.
        self.record("""
            import os
            def child(take, give):
                with landtrace.span("load"):
                    os.write(give, b"x")
                    os.read(take, 1)
                os.write(give, b"x")
                os._exit(0)
            to_first, to_second = os.pipe(), os.pipe()
            if os.fork() == 0:
                child(to_first[0], to_second[1])
            if os.fork() == 0:
                os.read(to_second[0], 1)
                child(to_second[0], to_first[1])
            os.wait(), os.wait()
            """)
        events = [(e.event, e.pid, e.span) for e in landtrace.open(self.file)]
        self.assertEqual([name for name, _, _ in events], ["load_begin", "load_begin", "load_end", "load_end"])
        (_, first, one), (_, second, other), *ends = events
        self.assertEqual(ends, [("load_end", first, one), ("load_end", second, other)])
        self.assertNotEqual(first, second)
        trace = json.loads(self.run_to_end(LANDTRACE, "export", self.file, "--format", "chrome", "--span",
                                           "load_begin,load_end,span"))["traceEvents"]
        spans = {span["tid"]: [round(us * 1000) for us in (span["ts"], span["ts"] + span["dur"])]
                 for span in trace if span["ph"] == "X"}
        times = {tid: [round(event["ts"] * 1000) for event in trace if event["ph"] == "i" and event["tid"] == tid]
                 for tid in (first, second)}
        self.assertEqual(spans, times)

    # Another program has all of the names with other fields, and ends when this one says so.
    IN_THE_WAY = """
        import sys
        names = "load_begin", "load_end", "work_begin", "work_end", "python_log", "taken"
        events = [landtrace.Event(name, other="s8") for name in names]
        print("ready", flush=True)
        sys.stdin.read()
        """

    def test_what_others_have_in_the_domain_does_not_fail_the_program(self):
        self.write(self.IN_THE_WAY)
        other = self.program
        self.program = os.path.join(self.folder, "this.py")
        out = self.record(f"""
            import logging, subprocess, sys
            other = subprocess.Popen([sys.executable, {other!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            other.stdout.readline()
            @landtrace.traced
            def work():
                return "done"
            with landtrace.span("load"), landtrace.span("x" * 600):
                print(work())
            logging.getLogger().addHandler(landtrace.LogHandler())
            logging.getLogger().error("logged")
            event = landtrace.Event("taken", n="u64")
            print(event.error.errno, event.error.filename, event.enabled, event.emit(1))
            other.communicate()
            """)
        self.assertEqual(out, f"done\n{errno.EADDRINUSE} taken u64 n False False\n")

    def test_an_event_that_was_refused_is_tried_again(self):
        owner = subprocess.Popen([os.path.join(os.path.dirname(LANDTRACE), "landtraced")], stderr=subprocess.DEVNULL)
        self.addCleanup(owner.wait)
        self.addCleanup(owner.terminate)
        while subprocess.run([LANDTRACE, "list"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            self.assertIsNone(owner.poll())
        self.write(self.IN_THE_WAY)
        other = self.program
        self.program = os.path.join(self.folder, "this.py")
        self.write(f"""
            import subprocess, sys, time
            other = subprocess.Popen([sys.executable, {other!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            other.stdout.readline()
            event = landtrace.Event("taken", n="u64")
            assert event.error is not None
            other.communicate()
            while event.error is not None:
                time.sleep(0.01)
            """)
        self.run_to_end(sys.executable, self.program)

    def test_names_of_spans_are_given_up_before_they_are_too_many(self):
        self.assertEqual(self.events("""
            import gc
            for i in range(1100):
                landtrace.span(f"item {i}")
            gc.collect()
            known = [o for o in gc.get_objects() if isinstance(o, landtrace.Event)]
            landtrace.Event("known", n="u32").emit(len(known))
            """), [("known", {"n": 2 * 1024})])

    def test_log_records_are_events(self):
        self.assertEqual(self.events("""
            import logging
            log = logging.getLogger("app.part")
            log.addHandler(landtrace.LogHandler(logging.WARNING))
            log.propagate = False
            log.warning("%s of %d", "one", 2)
            log.info("not this")
            """), [("python_log", {"level": 30, "logger": "app.part", "message": "one of 2", "file": self.program,
                                   "line": 7})])


    def test_log_records_of_any_text_are_events(self):
        events = self.events("""
            import logging
            log = logging.getLogger("app")
            log.addHandler(landtrace.LogHandler())
            log.propagate = False
            for text in "x" * 100000, "\u00fc" * 20000 + "y", "no \\udcff UTF-8":
                log.warning(text)
            log.handle(log.makeRecord("n" * 70000, 30, "file\\udcff.py", 1, "named", (), None))
            """)
        self.assertEqual([fields["message"] for _, fields in events],
                         ["x" * 32768, "\u00fc" * 16384, "no \\udcff UTF-8", "named"])
        self.assertEqual((events[3][1]["logger"], events[3][1]["file"]), ("n" * 4096, "file\\udcff.py"))


class Reading(Case):
    PROGRAM = """
        e = landtrace.Event("job", id="u32", kind="str")
        for i in range(10):
            e.emit(i, "odd" if i % 2 else "even")
        """

    def test_records_have_their_fields_as_attributes(self):
        self.record(self.PROGRAM)
        with landtrace.open(self.file) as reader:
            records = list(reader)
        self.assertEqual([e.id for e in records], list(range(10)))
        self.assertEqual(reader.lost, 0)
        self.assertEqual(records[0].system, "user_events")
        self.assertLessEqual(records[0].time, records[9].time)
        with self.assertRaises(AttributeError):
            records[0].missing  # pylint: disable=pointless-statement

    def test_only_what_is_asked_for_is_read(self):
        self.record(self.PROGRAM)
        self.assertEqual([e.id for e in landtrace.open(self.file, events="job", filter="id > 7")], [8, 9])
        self.assertEqual(list(landtrace.open(self.file, events=["nothing*"])), [])

    def test_a_recording_is_followed_while_it_is_written(self):
        self.write(self.PROGRAM + """
        import sys
        sys.stdin.read()
        """)
        recorder = subprocess.Popen([LANDTRACE, "record", "-o", self.file, "--", sys.executable, self.program],
                                    stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        while not os.path.exists(self.file) and recorder.poll() is None:
            time.sleep(0.01)
        with landtrace.open(self.file, follow=True) as reader:
            self.assertEqual([next(reader).id for _ in range(10)], list(range(10)))
            recorder.communicate()
            self.assertEqual(list(reader), [])
        self.assertEqual(recorder.returncode, 0)

    def test_a_file_that_is_none_is_an_error_with_its_reason(self):
        with self.assertRaisesRegex(OSError, "missing.dat"):
            list(landtrace.open(os.path.join(self.folder, "missing.dat")))

    def test_a_reader_may_be_closed_before_its_end(self):
        self.record(self.PROGRAM)
        with landtrace.open(self.file) as reader:
            self.assertEqual(next(reader).id, 0)

    def test_a_reader_whose_command_is_killed_is_not_at_its_end(self):
        # More than fits into the pipe: it cannot be through with it.
        self.record("""
            e = landtrace.Event("job", text="str")
            for i in range(3000):
                e.emit("x" * 1000)
            """)
        with landtrace.open(self.file) as reader:
            next(reader)
            reader._process.kill()  # pylint: disable=protected-access
            with self.assertRaisesRegex(OSError, "landtrace report.* was ended by SIGKILL"):
                list(reader)
            self.assertEqual(list(reader), [])

    def test_a_reader_is_closed_while_more_comes_than_its_pipe_takes(self):
        owner = subprocess.Popen([os.path.join(os.path.dirname(LANDTRACE), "landtraced")], stderr=subprocess.DEVNULL)
        self.addCleanup(owner.wait)
        self.addCleanup(owner.terminate)
        while subprocess.run([LANDTRACE, "list"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            self.assertIsNone(owner.poll())
        self.write("""
            import time
            e = landtrace.Event("busy", n="u64")
            with landtrace.tail("busy") as reader:
                while not e.enabled:
                    time.sleep(0.01)
                for n in range(20000):
                    e.emit(n)
                print(next(reader).n)
            """)
        self.assertEqual(self.run_to_end(sys.executable, self.program), "0\n")

    def test_a_reader_stays_at_its_end(self):
        self.record(self.PROGRAM)
        reader, closed = landtrace.open(self.file), landtrace.open(self.file)
        self.assertEqual(len(list(reader)), 10)
        next(closed)
        closed.close()
        failed = landtrace.open(os.path.join(self.folder, "missing.dat"))
        with self.assertRaises(OSError):
            next(failed)
        for ended in (reader, closed, failed):
            self.assertEqual(list(ended), [])
            ended.close()

    def test_records_can_be_copied_and_pickled(self):
        self.record(self.PROGRAM)
        record = list(landtrace.open(self.file))[9]
        for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
            self.assertEqual((other.event, other.time, other.id, other.fields), ("job", record.time, 9, record.fields))
            with self.assertRaises(AttributeError):
                other.missing  # pylint: disable=pointless-statement

    def test_a_histogram_of_a_command(self):
        self.write(self.PROGRAM)
        table = landtrace.hist("job", keys="kind", vals="id", command=[sys.executable, self.program])
        self.assertEqual(table["hits"], 10)
        self.assertEqual({row["key"]["kind"]: (row["count"], row["sums"]["id"]) for row in table["groups"]},
                         {"even": (5, 20), "odd": (5, 25)})

    def test_texts_are_read_whatever_the_programs_locale_is(self):
        self.record(r"""
            landtrace.Event("job", kind="str").emit("\u00fc")
            """)
        self.write(f"""
            print(ascii([e.kind for e in landtrace.open({self.file!r})]))
            """)
        self.assertEqual(self.run_to_end("env", "LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0", sys.executable, self.program),
                         "['\\xfc']\n")

    def test_a_histograms_keys_may_be_any_text(self):
        text = "a\u2028b\x85c\fd"
        self.write(f"""
            landtrace.Event("job", kind="str").emit({text!a})
            """)
        table = landtrace.hist("job", keys="kind", command=[sys.executable, self.program])
        self.assertEqual([row["key"]["kind"] for row in table["groups"]], [text])

    def test_a_histogram_that_is_refused_says_why(self):
        self.write(self.PROGRAM)
        with self.assertRaisesRegex(OSError, "nothing"):
            landtrace.hist("job", keys="nothing", command=[sys.executable, self.program])


if __name__ == "__main__":
    unittest.main()
