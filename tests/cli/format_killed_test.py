"""What `landtrace record --format` leaves where it is killed: all until the last flush, for others' readers."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import support
from support import PRODUCER


class Killed(support.Case):
    def kill_one(self, name, is_enough):
        """Records until `is_enough` of what there is, then kills the recorder: the path of what is left."""
        path = os.path.join(self.folder, f"out.{name}")
        partial = path + ".partial"
        recording = self.start("record", "--format", name, "-o", path, "--", PRODUCER, "--abi", "--count", "100000000", "--pause", "1000")
        children = f"/proc/{recording.pid}/task/{recording.pid}/children"
        self.wait_until(lambda: os.path.exists(partial) and is_enough(partial) and support.read_text(children).split())
        self.stop_both(recording, int(support.read_text(children).split()[0]))
        self.assertFalse(os.path.exists(path))
        return partial

    def stop_both(self, recording, producer):
        recording.send_signal(signal.SIGKILL)
        recording.wait()
        os.kill(producer, signal.SIGKILL)

    def recover(self, partial):
        """By the name that it was recorded under."""
        path = partial[:-len(".partial")]
        status, out, err = self.landtrace("recover", path)
        self.assertEqual((status, out), (0, ""), err)
        self.assert_one_line(err, path, "what was written until its recorder was killed")
        self.assertFalse(os.path.exists(partial))
        return path

    def sequences(self, numbers):
        numbers = [int(number, 0) for number in numbers]
        self.assertGreater(len(numbers), 50)
        self.assertEqual(numbers, list(range(len(numbers))))

    def test_json_lines(self):
        partial = self.kill_one("json", lambda path: support.read_text(path).count("\n") > 100)
        lines = support.read_text(partial).split("\n")[:-1]
        self.sequences(str(json.loads(line)["fields"]["sequence"]) for line in lines)
        with open(partial, "a", encoding="utf-8") as file:
            file.write(lines[0][:-5])  # as a full disk leaves it
        path = self.recover(partial)
        self.assertEqual(support.read_text(path).splitlines(), lines)
        self.assertEqual(self.landtrace("recover", path)[0], 1, "it is no recording, and is whole")

    def test_chrome_without_its_end(self):
        partial = self.kill_one("chrome", lambda path: support.read_text(path).count('"job"') > 100)
        text = support.read_text(partial)
        events = json.loads(text[:text.rindex("}") + 1] + "]}")["traceEvents"]
        self.sequences(str(event["args"]["sequence"]) for event in events if event["name"] == "job")
        whole = json.loads(support.read_text(self.recover(partial)))
        self.assertEqual((whole["traceEvents"], whole["stackFrames"]), (events, {}))

    def test_folded_stacks_add_up(self):
        def count(path):
            return sum(int(line.rsplit(" ", 1)[1]) for line in support.read_text(path).splitlines())
        partial = self.kill_one("folded", lambda path: count(path) > 100 and len(support.read_text(path).splitlines()) > 2)
        self.assertEqual({line.rsplit(" ", 1)[0] for line in support.read_text(partial).splitlines()}, {"producer;user_events:job"})
        self.assertGreater(count(partial), 100)

    @support.needs("babeltrace2")
    def test_ctf(self):
        def size(path):
            return sum(entry.stat().st_size for entry in os.scandir(path) if entry.name.startswith("channel"))
        partial = self.kill_one("ctf", lambda path: size(path) > 10_000)
        read = subprocess.run(["babeltrace2", partial], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        self.sequences(re.findall(r"sequence = (\d+)", read.stdout))
        stream = min(entry.path for entry in os.scandir(partial) if entry.name.startswith("channel") and entry.stat().st_size > 0)
        with open(stream, "r+b") as file:
            head = file.read(30)
            file.seek(0, os.SEEK_END)
            file.write(head)  # of a packet that is not whole
        path = self.recover(partial)
        again = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual((again.stdout, again.stderr), (read.stdout, read.stderr))

    def test_perfetto_packets(self):
        partial = self.kill_one("perfetto", lambda path: os.stat(path).st_size > 20_000)
        with open(partial, "rb") as file:
            data = file.read()
        at = packets = 0
        while at < len(data):
            self.assertEqual(data[at], 0x0a)  # Trace.packet
            at, size, shift = at + 1, 0, 0
            while True:
                byte = data[at]
                size |= (byte & 0x7f) << shift
                at, shift = at + 1, shift + 7
                if byte < 0x80:
                    break
            at += size
            packets += 1
        self.assertEqual(at, len(data))
        self.assertGreater(packets, 100)
        with open(partial, "ab") as file:
            file.write(data[:5])
        with open(self.recover(partial), "rb") as file:
            self.assertEqual(file.read(), data)

    def test_what_is_being_recorded_is_left_alone(self):
        for form in ("json", "ctf"):
            path = os.path.join(self.folder, "busy." + form)
            recording = self.start("record", "--format", form, "-o", path, "--", "sh", "-c", f"{PRODUCER}; cat", stdin=subprocess.PIPE)
            self.assertEqual(recording.stdout.readline(), "emitted 10\n")
            for words in (["recover", path], ["record", "--format", form, "-o", path, "--", PRODUCER]):
                status, _, err = self.landtrace(*words)
                self.assertEqual(status, 1, err)
                self.assertIn("being recorded", err)
            recording.stdin.close()
            recording.stdin = None
            self.assertIn("10 events in " + path, recording.communicate(timeout=support.TIMEOUT_S)[1])

    def test_what_cannot_be_completed_is_said(self):
        for form in ("speedscope", "perf"):
            partial = self.kill_one(form, lambda path: True)
            status, _, err = self.landtrace("recover", partial)
            self.assertEqual(status, 1)
            self.assert_one_line(err, partial)
            os.remove(partial)

    def test_the_next_recording_keeps_it(self):
        partial = self.kill_one("json", lambda path: support.read_text(path).count("\n") > 10)
        left = support.read_text(partial)
        path = partial[:-len(".partial")]
        status, _, err = self.landtrace("record", "--format", "json", "-o", path, "--", PRODUCER, "--abi", "--count", "3")
        self.assertEqual(status, 0, err)
        self.assertIn(f"{partial}, which a recorder that was killed had left, is {path}.killed now", err)
        self.assertEqual(support.read_text(path).count("\n"), 3)
        self.assertEqual(support.read_text(path + ".killed"), left)
        self.assertFalse(os.path.exists(partial))

    def test_the_next_folder_keeps_it(self):
        partial = self.kill_one("ctf", lambda path: any(name.startswith("channel") for name in os.listdir(path)))
        path = partial[:-len(".partial")]
        for _ in range(2):
            status, _, err = self.landtrace("record", "--format", "ctf", "-o", path, "--", PRODUCER, "--abi", "--count", "3")
            self.assertEqual(status, 0, err)
        self.assertTrue(os.path.exists(os.path.join(path + ".killed", "metadata")))
        shutil.copytree(path + ".killed", partial)
        self.assertEqual(self.landtrace("record", "--format", "ctf", "-o", path, "--", PRODUCER, "--abi", "--count", "3")[0], 0)
        self.assertFalse(os.path.exists(partial))

    def test_the_end_of_a_folded_recording_has_each_line_once(self):
        path = os.path.join(self.folder, "out.folded")
        recording = self.start("record", "--format", "folded", "-o", path, "--", PRODUCER, "--abi", "--count", "100000000", "--pause", "1000")
        partial = path + ".partial"
        self.wait_until(lambda: os.path.exists(partial) and len(support.read_text(partial).splitlines()) > 2)
        self.stop(recording, signal.SIGINT)
        self.assertRegex(support.read_text(path), r"^producer;user_events:job \d+\n$")


if __name__ == "__main__":
    unittest.main()
