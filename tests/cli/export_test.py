"""landtrace export: recordings in other formats, read by others' programs."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import PRODUCER, needs


class Export(support.Case):
    def exported(self, *words, file=None):
        """Its last line."""
        status, out, err = self.landtrace("export", file or self.file, *words)
        self.assertEqual((status, out), (0, ""), err)
        return err.splitlines()[-1]

    def run_in_folder(self, *words, **options):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=support.TIMEOUT_S, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode(errors="replace")


@needs("perf")
class Perf(Export):
    def script(self, *words):
        # It takes names of functions from the files; none of the user's settings.
        return self.run_in_folder("perf", "script", *words, env=dict(os.environ, HOME=self.folder))

    def test_every_event_with_its_thread_and_fields(self):
        self.record("--abi")
        self.assertEqual(self.exported("--format", "perf"), "landtrace: 10 events in perf.data")
        lines = self.script().splitlines()
        self.assertEqual(len(lines), 10)
        ours = [line for line in self.report().splitlines() if not line.startswith("#")]
        for line, our in zip(lines, ours):
            comm, pid, cpu, time, name, fields = re.fullmatch(
                r" *(\S+) +(\d+) \[(\d+)\] +([\d.]+): user_events:(\w+): (.*)", line).groups()
            self.assertRegex(our, rf"{comm}-{pid} +\[{cpu}\] \.{{5}} +[\d.]+: {name}: ")
            self.assertAlmostEqual(float(time), float(re.search(r" ([\d.]+): ", our)[1]), delta=2e-6)
            self.assertEqual(re.findall(r"sequence=(\d+)", fields), re.findall(r"sequence=(?:0x\w+ \()?(\d+)", our))

    def test_only_what_is_wanted(self):
        self.record("--abi")
        self.assertEqual(self.exported("--format", "perf", "-e", "job", "--limit", "3"), "landtrace: 3 events in perf.data")
        self.assertEqual(len(self.script().splitlines()), 3)
        status, _, err = self.landtrace("export", self.file, "--format", "perf", "-e", "jbo")
        self.assertEqual(status, 1)
        self.assertIn("did you mean user_events:job?", err)

    def test_through_a_pipe(self):
        self.record("--abi")
        pipe = subprocess.Popen([support.LANDTRACE, "export", self.file, "--format", "perf", "-o", "-"], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(pipe.stderr.close)
        out = self.run_in_folder("perf", "script", "-i", "-", stdin=pipe.stdout)
        pipe.stdout.close()
        self.assertEqual(pipe.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(len(out.splitlines()), 10)

    def test_stacks_have_the_functions_of_their_objects(self):
        program = shutil.copy(os.environ["STACK_PROGRAM"], os.path.join(self.folder, "stacks"))
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", program)[0], 0)
        self.exported("--format", "perf")
        frames = [line.split() for line in self.script("-F", "comm,ip,sym,dso").splitlines() if line.startswith("\t")]
        self.assertEqual((frames[0][1], frames[0][2]), ("innermost_function", f"({program})"))
        names = [frame[1] for frame in frames]
        self.assertLess(names.index("sorting_function"), names.index("main"))
        self.assertEqual(names[-1], "_start")
        self.assertIn("libc.so.6", " ".join(frame[2] for frame in frames))

    def test_converted_further(self):
        self.record("--abi")
        self.exported("--format", "perf")
        self.run_in_folder("perf", "data", "convert", "--to-json", "out.json")
        self.assertEqual(support.read_text(f"{self.folder}/out.json").count('"timestamp"'), 10)

    def test_an_empty_recording(self):
        self.landtrace("record", "-o", self.file, "--", "true")
        self.assertEqual(self.exported("--format", "perf"), "landtrace: 0 events in perf.data")
        self.assertEqual(self.run_in_folder("perf", "script"), "")


class Files(Export):
    def test_an_older_file_is_kept(self):
        self.record()
        self.exported("--format", "perf")
        self.assertEqual(self.exported("--format", "perf", "-e", "job"),
                         "landtrace: 10 events in perf.data; what was there is perf.data.old")
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "perf" in name),
                         ["perf.data", "perf.data.old"])

    def test_what_cannot_be(self):
        self.record()
        before = os.stat(self.file)
        for words, said in ((["--format", "nosuch"], "there are perf"),
                            (["--format", "perf", "-o", self.file], "the recording itself"),
                            (["--format", "perf", "-o", self.folder], "folder"),
                            (["--format", "perf", "-o", "/nosuch/file"], "No such file")):
            status, out, err = self.landtrace("export", self.file, *words)
            self.assertIn(status, (1, 2))
            self.assertEqual(out, "")
            self.assert_one_line(err, said)
        self.assertEqual(os.stat(self.file).st_mtime_ns, before.st_mtime_ns)
        status, _, err = self.landtrace("export", f"{self.folder}/nosuch.dat", "--format", "perf")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "nosuch.dat", "No such file")
        self.assertFalse(os.path.exists(f"{self.folder}/perf.data"))

    def test_a_full_disk_leaves_nothing(self):
        self.record()
        if not os.path.exists("/dev/full"):
            self.skipTest("SKIPPED: no /dev/full here")
        status, _, err = self.landtrace("export", self.file, "--format", "perf", "-o", "/dev/full")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "No space left")


if __name__ == "__main__":
    unittest.main()
