"""USDT places by list, record and hist: what is passed is what the program says, and its semaphores count listeners."""
import collections
import json
import os
import shutil
import signal
import unittest

import support
from support import LANDTRACE, needs_root

FOLDER = os.path.dirname(LANDTRACE)
# Built with -O0, with -O2, and with -O2 to lie where its file says.
PROGRAMS = [shutil.copy(path, FOLDER) for path in os.environ["USDT_PROGRAMS"].split(":")]
PLAIN, OPTIMISED, FIXED = PROGRAMS
LIBRARY = shutil.copy(os.environ["USDT_LIBRARY"], FOLDER)
ROUNDS = 9


def has_places(path):
    return os.path.exists(path) and b"stapsdt" in open(path, "rb").read()


class Usdt(support.Case):
    def rows(self, *words):
        status, out, err = self.landtrace("list", "--usdt", *words, "--json")
        self.assertEqual((status, err), (0, ""))
        return {f"{row['provider']}:{row['name']}": row for row in map(json.loads, out.splitlines())}

    def recorded(self, options, *words):
        """What the program says, and {event: [fields]} of the recording."""
        status, out, err = self.landtrace("record", "-o", self.file, *options, "--", *words)
        self.assertEqual(status, 0, err)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        found = collections.defaultdict(list)
        for event in events:
            found[event["event"]].append(event["fields"])
        said = collections.defaultdict(list)
        for line in out.splitlines():
            name, *values = line.split()
            said[name].append(values)
        return said, found, err

    def refused(self, *words, status=1):
        found, out, err = self.landtrace(*words)
        self.assertEqual((found, out), (status, ""), err)
        self.assertTrue(err.startswith("landtrace: "), err)
        return err


def values(fields):
    return [str(fields[name]) for name in sorted(fields) if name.startswith("arg")]


class List(Usdt):
    def test_names_arguments_places_and_semaphores(self):
        for program in PROGRAMS:
            rows = self.rows(program)
            self.assertEqual({"app:" + name for name in ("guarded", "last", "loop", "memory", "next", "one", "request",
                                                         "sizes", "third", "twice")}, set(rows))
            types = [argument["type"] for argument in rows["app:sizes"]["arguments"]]
            self.assertEqual(types, ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
            self.assertEqual([len(rows[f"app:{name}"]["places"]) for name in ("sizes", "twice", "third")], [1, 2, 1])
            self.assertEqual({name for name, row in rows.items() if row["semaphore"]}, {"app:guarded", "app:twice"})
            request = rows["app:request"]["arguments"]
            self.assertTrue(request[2]["float"])
            self.assertIn("vector register", request[3]["unread"])
            self.assertEqual(rows["app:third"]["arguments"], [])
        status, out, err = self.landtrace("list", "--usdt", OPTIMISED)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines()[0].split(), ["PLACES", "SEMAPHORE", "USDT"])
        self.assertRegex(out, r"\n +2  yes +app:twice arg1:s64\n")
        self.assertRegex(out, r"\n +1  no +app:request arg1:s32 arg2:u64 arg3:x64\(float\) arg4:unread\(float\) arg5:s32")

    def test_of_a_process(self):
        process = self.start_program(OPTIMISED, "watch", self.folder, LIBRARY)
        self.wait_until(lambda: os.path.exists(f"/proc/{process.pid}/maps"))
        self.wait_until(lambda: OPTIMISED in support.read_text(f"/proc/{process.pid}/maps"))
        rows = self.rows(str(process.pid))
        self.assertEqual(rows["app:one"]["object"], OPTIMISED)
        self.stop(process)

    def test_what_has_none(self):
        status, out, err = self.landtrace("list", "--usdt", "/bin/true")
        self.assertEqual((status, out), (0, ""))
        self.assertIn("there are no USDT places in /bin/true", err)
        self.assertIn("no file, library or program 'libnone'", self.refused("list", "--usdt", "libnone"))
        self.assertIn("--json is for --usdt", self.refused("list", "--json", status=2))
        self.assertIn("excludes", self.refused("list", "--usdt", "x", "--users", status=2))
        self.assertIn("no process 999999999", self.refused("list", "--usdt", "999999999"))


class Record(Usdt):
    def test_all_are_seen_with_their_arguments(self):
        for program in (OPTIMISED, FIXED):
            said, found, _ = self.recorded(["-e", "usdt:app:*"], program, str(ROUNDS))
            self.assertEqual([values(fields) for fields in found["sizes"]], said["sizes"])
            self.assertEqual([values(fields) for fields in found["memory"]], said["memory"])
            self.assertEqual([values(fields) for fields in found["last"]], said["last"])
            self.assertEqual([values(fields) for fields in found["twice"]], said["twice"])
            self.assertEqual([values(fields) for fields in found["guarded"]], said["guarded"])
            self.assertEqual(len(said["guarded"]), ROUNDS)
            self.assertEqual(len(found["loop"]), sum(n % 4 for n in range(ROUNDS)))
            # One behind the other, with room for one jump.
            self.assertEqual([values(fields) for fields in found["one"]], [[str(n)] for n in range(ROUNDS)])
            self.assertEqual([values(fields) for fields in found["next"]], [[str(n)] for n in range(ROUNDS)])
            self.assertEqual(len(found["third"]), ROUNDS)
            self.assertEqual([fields["arg1"] for fields in found["request"]], list(range(ROUNDS)))
            self.assertEqual({fields["arg5"] for fields in found["request"]}, {-5})
            self.assertTrue(all("arg4" not in fields for fields in found["request"]))
            # Of a floating point number the bits.
            self.assertEqual(found["request"][3]["arg3"], 0x3ff8000000000000)

    def test_without_optimisation(self):
        said, found, err = self.recorded(["-e", "usdt:app:*"], PLAIN, str(ROUNDS))
        for name in ("sizes", "memory", "twice", "guarded"):
            self.assertEqual([values(fields) for fields in found[name]], said[name], name)
        # By its semaphore, though the jump begins before the place.
        self.assertEqual(len(said["guarded"]), ROUNDS)
        # What cannot be probed is said to be left out.
        places = self.rows(PLAIN)["app:last"]["places"]
        self.assertEqual("usdt:app:last is left out" in err, places[0]["probe"] is None, err)

    def test_texts_and_types_by_name(self):
        said, found, _ = self.recorded(["-p", "usdt:app:request route=$arg2:string n=$arg1 low=$arg1:u8"], OPTIMISED, "4")
        self.assertEqual([(fields["route"], fields["n"]) for fields in found["request"]],
                         [("/even", 0), ("/odd", 1), ("/even", 2), ("/odd", 3)])
        self.assertEqual([fields["low"] for fields in found["request"]], list(range(4)))
        self.assertEqual(len(said["request"]), 4)

    def test_a_name_and_a_filter(self):
        _, found, _ = self.recorded(["-p", "mine=usdt:app:sizes a=$arg6", "--filter", "a < -2000000003"], OPTIMISED, "9")
        self.assertEqual(list(found), ["mine"])
        self.assertEqual(len(found["mine"]), 2 * 5)

    def test_a_library_that_is_loaded_later(self):
        for words in (["-e", f"usdt:{LIBRARY}:lib:called"], ["-e", f"usdt:{LIBRARY}:called"]):
            _, found, _ = self.recorded(words, OPTIMISED, "5", LIBRARY)
            self.assertEqual([fields["arg1"] for fields in found["called"]], list(range(5)))

    def test_a_histogram(self):
        status, out, err = self.landtrace("hist", "usdt:app:loop", "--keys", "arg1", "--json", "--", OPTIMISED, str(ROUNDS))
        self.assertEqual(status, 0, err)
        rows = {group["key"]["arg1"]: group["count"] for group in json.loads(out.splitlines()[-1])["groups"]}
        self.assertEqual(rows, collections.Counter(i for n in range(ROUNDS) for i in range(n % 4)))

    @unittest.skipUnless(has_places("/usr/bin/python3"), "this python3 has no USDT places")
    def test_functions_of_python_by_name(self):
        script = os.path.join(self.folder, "job.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("def first(n):\n  return n\ndef second(n):\n  return first(n) + 1\nfor i in range(7): second(i)\n")
        fetches = "file=$arg1:string func=$arg2:string line=$arg3"
        _, found, _ = self.recorded(["-p", f"usdt:python:line {fetches}", "-p", f"usdt:python:function__return {fetches}"],
                                    "/usr/bin/python3", script)
        names = collections.Counter(fields["func"] for fields in found["function__return"] if fields["file"] == script)
        self.assertEqual((names["first"], names["second"]), (7, 7), names)
        lines = collections.Counter(fields["line"] for fields in found["line"] if fields["file"] == script)
        self.assertEqual((lines[2], lines[4]), (7, 7), lines)

    def test_mistakes(self):
        def err_of(*words):
            return self.refused("record", "-o", self.file, *words, "--", OPTIMISED, "1")
        self.assertIn("did you mean sizes?", err_of("-e", "usdt:app:size"))
        self.assertIn("'ap'; did you mean app?", err_of("-e", "usdt:ap:sizes"))
        self.assertIn("no USDT places in /bin/true",
                      self.refused("record", "-o", self.file, "-e", "usdt:a:b", "--", "/bin/true"))
        err = err_of("-p", "usdt:app:one a=$arg2")
        self.assertEqual(err.splitlines()[1:], ["  usdt:app:one a=$arg2", "                 ^"])
        self.assertIn("vector register", err_of("-p", "usdt:app:request a=$arg4"))
        for text in ("usdt:app", "usdt:", "usdt:app:", "usdt:app:one%return"):
            self.assertIn("want usdt:PROVIDER:NAME",
                          self.refused("record", "-e", text, "--", OPTIMISED, "1", status=2))
        self.assertIn("want one", self.refused("hist", "usdt:app:*", "--keys", "arg1", "--", OPTIMISED, status=2))
        self.assertIn("is no function", self.refused("latency", "--function", "usdt:app:one", "--", OPTIMISED, status=2))


class Semaphores(Usdt):
    """The program says how they stand: "WHO guarded twice library", the last -1 while it is not loaded."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.environment["LANDTRACE_SOCKET"] = self.socket
        self.define("guarded")
        self.define("twice")
        self.said = os.path.join(self.folder, "said")

    def define(self, name):
        self.write("-a", "uprobe_events", f"p:g/{name} {OPTIMISED}:usdt:app:{name} $arg*")

    def write(self, *words):
        status, _, err = self.landtrace("write", *words)
        self.assertEqual(status, 0, err)

    def enable(self, name, on):
        self.write(f"events/g/{name}/enable", str(int(on)))

    def start_watching(self):
        out = open(self.said, "w", encoding="utf-8")
        self.addCleanup(out.close)
        return self.start_program(LANDTRACE, "run", "--", OPTIMISED, "watch", self.folder, LIBRARY, stdout=out)

    def states(self):
        with open(self.said, encoding="utf-8") as file:
            return [tuple(line.split()) for line in file.read().splitlines()]

    def wait_for(self, who, *state):
        """It says so at last."""
        wanted = (who, *map(str, state))
        def last():
            own = [line for line in self.states() if line[0] == who]
            return own[-1:] == [wanted]
        self.wait_until(last)

    def touch(self, name):
        open(os.path.join(self.folder, name), "w", encoding="utf-8").close()

    def test_up_and_down_a_hundred_times_while_threads_pass(self):
        process = self.start_watching()
        self.wait_for("program", 0, 0, -1)
        for _ in range(50):
            self.enable("guarded", True)
            self.enable("twice", True)
            self.enable("guarded", False)
            self.enable("twice", False)
        self.enable("twice", True)
        self.wait_for("program", 0, 2, -1)  # both of its places
        self.enable("guarded", True)
        self.wait_for("program", 1, 2, -1)
        self.enable("twice", False)
        self.enable("guarded", False)
        self.wait_for("program", 0, 0, -1)
        self.touch("end")
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)
        self.assertTrue(all(int(line[1]) <= 1 and int(line[2]) <= 2 for line in self.states()))

    def test_what_starts_later_and_what_is_forked(self):
        self.enable("guarded", True)
        process = self.start_watching()
        self.wait_for("program", 1, 0, -1)
        self.assertEqual(self.states()[0], ("program", "1", "0", "-1"))  # from the beginning
        self.touch("fork")
        self.wait_for("child", 1, 0, -1)
        self.enable("guarded", False)
        self.wait_for("parent", 0, 0, -1)
        self.wait_for("child", 0, 0, -1)
        self.enable("twice", True)
        self.wait_for("parent", 0, 2, -1)
        self.wait_for("child", 0, 2, -1)
        self.touch("end")
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)

    def test_two_that_listen(self):
        process = self.start_watching()
        self.write("-a", "uprobe_events", f"p:g/again {OPTIMISED}:usdt:app:guarded")
        self.enable("guarded", True)
        self.wait_for("program", 1, 0, -1)
        self.enable("again", True)
        self.enable("guarded", False)
        self.enable("twice", True)
        self.wait_for("program", 1, 2, -1)
        self.enable("again", False)
        self.wait_for("program", 0, 2, -1)
        self.touch("end")
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)

    def test_a_library_that_comes_and_goes(self):
        self.write("-a", "uprobe_events", f"p:g/called {LIBRARY}:usdt:lib:called $arg*")
        self.enable("called", True)
        process = self.start_watching()
        self.wait_for("program", 0, 0, -1)
        for _ in range(3):
            self.touch("load")
            self.wait_for("program", 0, 0, 1)
            os.remove(os.path.join(self.folder, "load"))
            self.wait_for("program", 0, 0, -1)
        self.touch("load")
        self.wait_for("program", 0, 0, 1)
        self.enable("called", False)
        self.wait_for("program", 0, 0, 0)
        self.touch("end")
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)

    def test_a_recorder_that_is_killed(self):
        process = self.start_watching()
        self.wait_for("program", 0, 0, -1)
        recorder = self.start_recording("-e", f"usdt:{OPTIMISED}:app:guarded")
        self.wait_for("program", 1, 0, -1)
        self.stop(recorder, signal.SIGKILL)
        self.wait_for("program", 0, 0, -1)
        self.touch("end")
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)

    def test_a_counter_by_its_offset_as_kernels_have_it(self):
        place = self.rows(OPTIMISED)["app:guarded"]["places"][0]
        line = f"p:g/plain {OPTIMISED}:0x{place['offset']:016x}(0x{place['semaphore']:x})"
        self.write("uprobe_events", line)
        self.assertEqual(self.landtrace("cat", "uprobe_events")[1], line + "\n")
        process = self.start_watching()
        self.enable("plain", True)
        self.wait_for("program", 1, 0, -1)
        self.enable("plain", False)
        self.wait_for("program", 0, 0, -1)
        self.touch("end")
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)


class KilledOwner(Usdt):
    def test_its_programs_semaphores_go_down(self):
        said = os.path.join(self.folder, "said")
        with open(said, "w", encoding="utf-8") as out:
            recorder = self.start_program(LANDTRACE, "record", "-o", self.file, "-e", "usdt:app:*", "--", OPTIMISED, "watch",
                                          self.folder, LIBRARY, stdout=out)
        def lines():
            with open(said, encoding="utf-8") as file:
                return file.read().splitlines()
        self.wait_until(lambda: lines()[-1:] == ["program 1 2 -1"])
        recorder.send_signal(signal.SIGKILL)
        self.wait_until(lambda: lines()[-1:] == ["program 0 0 -1"])
        open(os.path.join(self.folder, "end"), "w", encoding="utf-8").close()


class RunsAlready(Usdt):
    def test_semaphore_and_places_of_a_program_that_is_attached(self):
        said = os.path.join(self.folder, "said")
        with open(said, "w", encoding="utf-8") as out:
            process = self.start_program(OPTIMISED, "watch", self.folder, LIBRARY, stdout=out)
        self.wait_until(lambda: support.read_text(said).splitlines()[-1:] == ["program 0 0 -1"])
        recorder = self.start_program(LANDTRACE, "record", "-o", self.file, "--pid", str(process.pid), "-e",
                                      "usdt:app:guarded")
        self.wait_until(lambda: support.read_text(said).splitlines()[-1:] == ["program 1 0 -1"])
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 0, err)
        self.wait_until(lambda: support.read_text(said).splitlines()[-1:] == ["program 0 0 -1"])
        open(os.path.join(self.folder, "end"), "w", encoding="utf-8").close()
        self.assertEqual(process.wait(support.TIMEOUT_S), 0)
        self.assertRegex(err, r"[1-9][\d,]* events")


@needs_root
class AsNobody(Usdt):
    def test_without_any_rights(self):
        os.chmod(self.folder, 0o777)
        words = [*support.AS_NOBODY, LANDTRACE, "record", "-o", self.file,
                 "-e", "usdt:app:guarded", "--", OPTIMISED, "5"]
        process = self.start_program(*words)
        _, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("5 events, 0 lost", err)


if __name__ == "__main__":
    support.main_with_probes()
