"""What was recorded is never destroyed: by a command that fails, by a kill, by a reader that goes away."""
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

import support
from support import LANDTRACE, PRODUCER, sequences


class OlderRecording(support.Case):
    """There is a recording of three events at the path already."""

    def setUp(self):
        super().setUp()
        self.record("--count", "3")
        self.before = self.content()

    def content(self, name=None):
        with open(name or self.file, "rb") as file:
            return file.read()

    def assert_kept(self):
        self.assertEqual(self.content(), self.before)
        self.assertEqual(os.listdir(self.folder), ["trace.dat"] if not os.path.exists(os.path.dirname(self.socket))
                         else sorted(["landtrace", "trace.dat"]))

    def test_command_that_cannot_be_started(self):
        for words, expected in ((["no-such-program"], 127), (["/etc/passwd"], 126)):
            status, _, err = self.landtrace("record", "-o", self.file, "--", *words)
            self.assertEqual(status, expected, err)
            self.assert_kept()

    def test_bad_options(self):
        for words in (["--buffer-size", "7X"], ["-e", "job", "--filter", "(("]):
            status, _, err = self.landtrace("record", "-o", self.file, *words, "--", PRODUCER)
            self.assertNotEqual(status, 0, err)
            self.assert_kept()

    def test_nothing_happens(self):
        status, _, err = self.landtrace("record", "-o", self.file, "--", "true")
        self.assertEqual(status, 0, err)
        self.assertIn("is the older recording, as it was", err)
        self.assert_kept()

    def test_events_make_it_the_older_one(self):
        status, _, err = self.landtrace("record", "-o", self.file, "--", PRODUCER, "--count", "5")
        self.assertEqual(status, 0, err)
        self.assertIn(f"the older recording is {self.file}.old now", err)
        self.assertEqual(self.content(self.file + ".old"), self.before)
        self.assertEqual(len(self.report_json()[0]), 5)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "trace" in name and name != "landtrace"),
                         ["trace.dat", "trace.dat.old"])

    def test_what_is_in_the_way_of_moving_it_is_said_before_the_command_runs(self):
        os.mkdir(self.file + ".old")
        trail = os.path.join(self.folder, "trail")
        status, _, err = self.landtrace("record", "-o", self.file, "--", "sh", "-c", f"touch {trail}; {PRODUCER}")
        self.assertEqual(status, 1, err)
        self.assert_one_line(err, f"{self.file}.old is a folder", "move one of them elsewhere")
        self.assertFalse(os.path.exists(trail))
        self.assertEqual(self.content(), self.before)

    def test_it_stays_where_it_cannot_be_moved_at_last(self):
        command = f"mkdir {self.file}.old; exec {PRODUCER} --count 5"
        status, _, err = self.landtrace("record", "-o", self.file, "--", "sh", "-c", command)
        self.assertEqual(status, 1, err)
        self.assertIn(f"what was recorded is {self.file}.new, complete", err)
        self.assertRegex(err, rf"\n.*: 5 events, .* in {self.file}\.new\n")
        self.assertIn(f"{self.file} is the older recording, as it was", err)
        self.assertEqual(self.content(), self.before)
        self.file += ".new"
        self.assertEqual(len(self.report_json()[0]), 5)

    def test_recorder_is_killed_before_anything_happened(self):
        recorder = self.start("record", "-o", self.file)
        self.wait_until(lambda: os.path.exists(self.file + ".new"))
        self.stop(recorder, signal.SIGKILL)
        self.assertEqual(self.content(), self.before)
        self.record("--count", "4")
        self.assertEqual(len(self.report_json()[0]), 4)
        self.assertEqual(self.content(self.file + ".old"), self.before)


class KilledRecorder(support.Case):
    def kill_while_recording(self, delay_s, *words):
        producer = [PRODUCER, "--count", "100000000", *words]
        recorder = self.start("record", "-o", self.file, "--", *producer, process_group=0)
        if words:
            self.wait_for_events()
        self.wait_until(lambda: os.path.exists(self.file + ".cpu0") or os.path.exists(self.file + ".cpu1"))
        time.sleep(delay_s)
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()

    def check_readable(self):
        status, out, err = self.landtrace("report", "--json", self.file)
        self.assertEqual(status, 0, err)
        lines = [json.loads(line) for line in out.splitlines()]
        events = [line for line in lines if "lost" not in line]
        lost = sum(line["lost"] for line in lines if "lost" in line)
        for source in sequences(events).values():
            self.assertEqual(source, sorted(set(source)))
            # One thread, and all that is missing was counted.
            self.assertLessEqual(source[-1] + 1 - len(source), lost)
        return len(events), lost, err

    def test_everything_is_readable_and_completed(self):
        self.kill_while_recording(0.3, "--pause", "100")
        events, lost, err = self.check_readable()
        self.assertGreater(events, 0)
        self.assertIn("was not finished by its recorder", err)
        status, out, err = self.landtrace("list", self.file)
        self.assertEqual((status, "job" in out), (0, True), err)
        status, _, err = self.landtrace("recover", self.file)
        self.assertEqual(status, 0, err)
        self.assertIn(f"{events:,} events, {lost:,} lost", err)
        self.assertEqual(self.check_readable(), (events, lost, ""))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("trace")], ["trace.dat"])
        status, _, err = self.landtrace("recover", self.file)
        self.assertEqual(status, 0)
        self.assertIn("is complete already", err)

    def test_what_another_version_left_is_named_and_kept(self):
        self.kill_while_recording(0.2, "--pause", "100")
        magic = b"landtrace unfinished recording "
        names = [name for name in os.listdir(self.folder) if name.startswith("trace")]
        journals = [name for name in names if self.begins_with(name, magic)]
        self.assertEqual(len(journals), 1, names)
        journal = os.path.join(self.folder, journals[0])
        with open(journal, "r+b") as file:
            file.seek(len(magic))
            self.assertNotEqual(file.read(1), b"1")
            file.seek(len(magic))
            file.write(b"1")
        before = {name: self.bytes_of(name) for name in names}
        for words in (("report", self.file), ("list", self.file), ("recover", self.file),
                      ("record", "-o", self.file, "--", PRODUCER, "--count", "5")):
            status, _, err = self.landtrace(*words)
            self.assertEqual(status, 1, (words, err))
            self.assertIn("left unfinished by another version of landtrace", err)
            self.assertEqual({name: self.bytes_of(name) for name in names}, before, words)
        with open(journal, "r+b") as file:
            file.seek(len(magic))
            file.write(b"2")
        self.assertGreater(self.check_readable()[0], 0)

    def bytes_of(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def begins_with(self, name, start):
        return self.bytes_of(name).startswith(start)

    @support.needs("trace-cmd")
    def test_trace_cmd_reads_what_was_recovered(self):
        self.kill_while_recording(0.2, "--pause", "10")
        self.assertEqual(self.landtrace("recover", self.file)[0], 0)
        events, _, _ = self.check_readable()
        theirs = subprocess.run(["trace-cmd", "report", self.file], capture_output=True, text=True, check=True).stdout
        self.assertEqual(theirs.count(" job:"), events)

    def test_random_moments_under_load(self):
        chance = random.Random(5)
        readable = rounds = 0
        # Where others are served first, the program has not come far by then, and more of these are needed.
        while rounds < 5 or (readable == 0 and rounds < 500):
            rounds += 1
            self.kill_while_recording(chance.random() * 0.006)
            readable += self.check_readable()[0]
            before = self.landtrace("report", "--json", self.file)[1]
            self.assertEqual(self.landtrace("recover", self.file)[0], 0)
            self.assertTrue(self.landtrace("report", "--json", self.file)[1] == before)
            os.remove(self.file)
        self.assertGreater(readable, 0)

    def test_next_recording_keeps_what_was_left(self):
        self.kill_while_recording(0.1, "--pause", "100")
        events, _, _ = self.check_readable()
        status, _, err = self.landtrace("record", "-o", self.file, "--", PRODUCER, "--count", "7")
        self.assertEqual(status, 0, err)
        self.assertIn("had been left unfinished", err)
        self.assertEqual(len(self.report_json()[0]), 7)
        self.file += ".old"
        self.assertEqual(len(self.report_json()[0]), events)

    def test_what_is_no_recording_is_not_recovered(self):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("a text\n")
        status, _, err = self.landtrace("recover", self.file)
        self.assertEqual(status, 1)
        self.assert_one_line(err, self.file)
        self.assertEqual(support.read_text(self.file), "a text\n")
        status, _, err = self.landtrace("recover", os.path.join(self.folder, "none"))
        self.assertEqual(status, 1)
        self.assert_one_line(err, "No such file")


class WhileRecording(support.Case):
    def start_slow_recording(self, count):
        recorder = self.start("record", "-o", self.file, "--", PRODUCER, "--count", str(count), "--pause", "2000",
                              process_group=0)
        self.wait_until(lambda: os.path.exists(self.file) and "sequence" in self.landtrace("report", self.file)[1])
        return recorder

    def kill(self, recorder):
        """With its producer, which has the ends of its pipes."""
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.communicate(timeout=support.TIMEOUT_S)

    def test_report_and_list_see_what_has_come(self):
        recorder = self.start_slow_recording(100000)
        status, out, err = self.landtrace("report", "--json", self.file)
        self.assertEqual(status, 0, err)
        found = [json.loads(line)["fields"]["sequence"] for line in out.splitlines()]
        self.assertEqual(found, list(range(len(found))))
        self.assertIn("is still being recorded", err)
        self.assertIn("job", self.landtrace("list", self.file)[1])
        status, _, err = self.landtrace("recover", self.file)
        self.assertEqual(status, 1)
        self.assert_one_line(err, "being written by another process")
        self.kill(recorder)

    def test_what_is_finished_meanwhile_is_read_as_it_was(self):
        """By readers that have begun before: a pipe that nobody reads from yet holds them up."""
        count, mark = 100000, os.path.join(self.folder, "mark")
        command = f"{PRODUCER} --count {count} > {mark}.new; mv {mark}.new {mark}; exec sleep 1000"
        recorder = self.start("record", "-o", self.file, "--buffer-size", "16M", "--", "sh", "-c", command)
        self.wait_until(lambda: os.path.exists(mark))
        self.wait_until(lambda: self.landtrace("report", "--count", "--json", self.file)[1].startswith(f'{{"count":{count}'))
        readers = [self.start(*words, self.file, stdout=subprocess.PIPE)
                   for words in (["report", "--json"], ["export", "--format", "json", "-o", "-"])]
        firsts = [reader.stdout.read(1) for reader in readers]
        self.stop(recorder, signal.SIGINT)
        for reader, first in zip(readers, firsts):
            out, err = reader.stdout.read(), reader.stderr.read()
            self.assertEqual(reader.wait(timeout=support.TIMEOUT_S), 0, err)
            self.assertIn("was still being recorded, and may have more by now", err)
            self.assertNotIn('"lost"', first + out)
            self.assertEqual(len((first + out).splitlines()), count)

    def test_follow_prints_until_the_recorder_has_finished(self):
        recorder = self.start_slow_recording(500)
        status, out, err = self.landtrace("report", "--json", "--follow", self.file)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([json.loads(line)["fields"]["sequence"] for line in out.splitlines()], list(range(500)))
        self.assertEqual(recorder.wait(timeout=support.TIMEOUT_S), 0)

    def test_follow_ends_when_the_recorder_was_killed(self):
        recorder = self.start_slow_recording(100000)
        shown = os.path.join(self.folder, "shown")
        with open(shown, "w", encoding="utf-8") as file:
            follower = self.start("report", "--json", "--follow", self.file, stdout=file)
        self.wait_until(lambda: os.path.getsize(shown) > 0)
        self.kill(recorder)
        _, err = follower.communicate(timeout=support.TIMEOUT_S)
        out = support.read_text(shown)
        self.assertEqual(follower.returncode, 0, err)
        self.assertIn("was not finished by its recorder", err)
        found = [json.loads(line)["fields"]["sequence"] for line in out.splitlines()]
        self.assertEqual(found, list(range(len(found))))


class Pipes(support.Case):
    def shell(self, script):
        environment = dict(self.environment, L=LANDTRACE, P=PRODUCER, F=self.file, TMPDIR=self.folder)
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + script], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=support.TIMEOUT_S)
        return done.returncode, done.stdout, done.stderr

    def test_recording_goes_through_a_pipe(self):
        status, out, err = self.shell("$L record -o - -- $P --count 2000 | $L report --json -")
        self.assertEqual(status, 0, err)
        self.assertEqual(len(out.splitlines()), 2000)
        self.assertIn("emitted 2000", err)  # the program's own output does not go between
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("landtrace-")], [])

    def test_command_that_cannot_be_started(self):
        status, out, err = self.shell("$L record -o - -- no-such-program")
        self.assertEqual((status, out), (127, ""))
        self.assert_one_line(err, "no-such-program")

    @support.needs_root
    def test_what_cannot_be_finished_stays_where_it_is_said_to_be(self):
        """A file that something is mounted on cannot be replaced."""
        status, out, err = self.shell("$L record -o - -- sh -c 'B=$(echo $TMPDIR/landtrace-*/trace.dat); "
                                      "mount --bind $B $B && exec $P --count 20'")
        kept = re.search(r"`landtrace recover (\S+)`", err)
        self.assertTrue(kept, err)
        self.file = kept[1]
        self.addCleanup(subprocess.run, ["umount", "-l", self.file], check=False, stderr=subprocess.DEVNULL)
        self.assertEqual((status, out), (1, ""), err)
        subprocess.run(["umount", self.file], check=True)
        status, _, err = self.landtrace("recover", self.file)
        self.assertEqual(status, 0, err)
        self.assertEqual(len(self.report_json()[0]), 20)

    def test_list_and_report_read_standard_input(self):
        self.record("--count", "20")
        status, out, err = self.shell("cat $F | $L list -; $L report --json - < $F | wc -l")
        self.assertEqual(status, 0, err)
        self.assertIn("job", out)
        self.assertEqual(out.split()[-1], "20")

    def test_reader_that_goes_away_is_no_failure(self):
        self.record("--count", "200000")
        for command in ("$L report $F | head -1", "$L report --json $F | head -1", "$L list -v $F | head -1"):
            status, out, err = self.shell(command)
            self.assertEqual((status, len(out.splitlines()), err), (0, 1, ""), command)

    def test_what_standard_output_has_no_room_for_stays_and_is_named(self):
        status, out, err = self.shell("$L record -o - -- $P --count 20 > /dev/full")
        self.assertEqual((status, out), (1, ""), err)
        kept = re.search(r"standard output: No space left on device; the recording is (\S+)\n", err)
        self.assertTrue(kept, err)
        self.file = kept[1]
        self.assertEqual(len(self.report_json()[0]), 20)

    def test_recording_into_a_pipe_that_nobody_reads(self):
        status, _, err = self.shell("$L record -o - -- $P --count 200000 | true")
        self.assertEqual(status, 0, err)


class Pager(support.Case):
    """On a terminal $PAGER shows the text, and in a pipe nobody does."""

    def on_a_terminal(self, *words, **environment):
        script = " ".join([LANDTRACE, *words])
        done = subprocess.run(["script", "-qec", script, "/dev/null"], cwd=self.folder, capture_output=True, text=True,
                              env=dict(self.environment, **environment), timeout=support.TIMEOUT_S, check=False,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout

    @support.needs("script")
    def test_pager_is_used_on_a_terminal_alone(self):
        self.record("--count", "5")
        status, out = self.on_a_terminal("report", self.file, PAGER="sed s/^/paged:/")
        self.assertEqual((status, out.count("paged:")), (0, len(self.report().splitlines())))
        for words, pager in ((["report", "--no-pager", self.file], "sed s/^/paged:/"), (["report", self.file], ""),
                             (["report", self.file], "no-such-pager")):
            status, out = self.on_a_terminal(*words, PAGER=pager)
            self.assertEqual((status, out.count("paged:"), out.count("sequence=")), (0, 0, 5), out)

    @support.needs("script")
    def test_recording_is_not_written_to_a_terminal(self):
        status, out = self.on_a_terminal("record", "-o", "-", "--", PRODUCER)
        self.assertEqual(status, 2)
        self.assertIn("nothing for a terminal", out)


if __name__ == "__main__":
    unittest.main()
