"""What `landtrace functions` says of programs and libraries, and of files that are neither."""
import json
import os
import re
import shutil
import subprocess
import unittest

import support
from support import PRODUCER

STATIC_PROGRAM = os.environ["STATIC_PROGRAM"]
LINE = re.compile(r" *(\d+)  (one-store|quiet|alone|no) +(yes|no) +(\S.*)")


class Functions(support.OnTerminal, support.Case):
    def table(self, *words, said=""):
        """{name: (size, entry, return)} of what is printed."""
        status, out, err = self.landtrace("functions", *words)
        self.assertEqual((status, err), (0, said))
        head, *lines = out.splitlines()
        self.assertEqual(head.split(), ["SIZE", "ENTRY", "RETURN", "FUNCTION"])
        found = {}
        for line in lines:
            size, entry, returns, name = LINE.fullmatch(line).groups()
            found[name] = (int(size), entry, returns)
        return found

    def objects(self, *words):
        status, out, err = self.landtrace("functions", "--json", *words)
        self.assertEqual((status, err), (0, ""))
        return [json.loads(line) for line in out.splitlines()]

    def fails(self, *words, status=1):
        got, out, err = self.landtrace("functions", *words)
        self.assertEqual((got, out, err.count("\n")), (status, "", 1), err)
        return err

    def test_a_library_is_found_by_its_name(self):
        rows = self.table("libc.so.6", "*open")
        self.assertNotEqual(rows["fopen"][1], "no")
        self.assertEqual(rows["fopen"][2], "yes")
        self.assertNotEqual(rows["dlopen"][1], "no")
        self.assertEqual(rows["dlopen"][2], "no")
        self.assertEqual(self.table("libc", "*open"), rows)

    def test_nearly_all_of_the_c_library_can_be_probed(self):
        (counts,) = self.objects("--summary", "libc.so.6")
        self.assertGreater(counts["functions"], 3000)
        self.assertGreaterEqual(counts["entries"], 0.99 * counts["functions"])
        self.assertEqual(sum(counts["ways"].values()), counts["entries"])
        self.assertEqual(sum(counts["entries_refused"].values()), counts["functions"] - counts["entries"])
        self.assertEqual(sum(counts["returns_refused"].values()), counts["entries"] - counts["returns"])
        status, out, _ = self.landtrace("functions", "--summary", "libc.so.6")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"libc\.so\.6: 3,\d+ functions\nentries +3,\d+ +99\.\d %\n")

    def test_what_cannot_be_probed_says_why(self):
        status, out, _ = self.landtrace("functions", "--refused", "libc.so.6")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\n +\d+  \S+ +no +swapcontext: it looks at its return address or returns more than once, ")
        self.assertNotIn(" fopen", out)
        for line in out.splitlines()[1:]:
            self.assertIn(": ", line)

    def test_a_program_s_functions_have_names_offsets_and_sizes(self):
        (main,) = self.objects(PRODUCER, "main")
        self.assertEqual((main["name"], main["return"], main["entry_refused"], main["return_refused"]), ("main", True, None, None))
        with open(PRODUCER, "rb") as program:
            program.seek(main["offset"])
            self.assertNotEqual(program.read(main["size"]), bytes(main["size"]))
        (start,) = self.objects(PRODUCER, "_start")
        self.assertEqual((start["return"], start["return_refused"]), (False, "no-return-address"))

    def test_an_alias_is_listed_by_the_name_that_was_asked_for(self):
        self.assertEqual(list(self.table("libc.so.6", "_IO_puts")), ["_IO_puts"])
        self.assertEqual(list(self.table("libc.so.6", "puts")), ["puts"])

    def test_cpp_functions_go_by_their_names_in_the_source(self):
        names = [row["name"] for row in self.objects("libstdc++.so.6", "std::terminate")]
        self.assertEqual(names, ["_ZSt9terminatev"])

    def test_a_stripped_program_s_functions_are_known_by_their_offsets(self):
        stripped = os.path.join(self.folder, "stripped")
        subprocess.run(["strip", "-o", stripped, PRODUCER], check=True)
        known = {row["offset"] for row in self.objects(PRODUCER)}
        rows = self.objects(stripped)
        nameless = [row["offset"] for row in rows if row["name"] is None]
        self.assertGreater(len(nameless), 3)
        self.assertLessEqual(set(nameless), known)
        self.assertIn(f"{nameless[0]:#x}", self.table(stripped))

    def test_what_is_loaded_into_programs_for_us_is_not_probed(self):
        (counts,) = self.objects("--summary", os.environ["SHIM"])
        self.assertEqual((counts["entries"], list(counts["entries_refused"])), (0, ["own-code"]))

    def test_a_static_program(self):
        said = f"landtrace: {STATIC_PROGRAM} is linked statically: nothing can be loaded into it, so none of these can be probed\n"
        self.assertNotEqual(self.table(STATIC_PROGRAM, "main", said=said)["main"][1], "no")

    def test_a_mistyped_name_says_what_may_be_meant(self):
        self.assertRegex(self.fails("libc.so.6", "fopne"), "^landtrace: no function 'fopne' in libc.so.6; did you mean '?fopen")
        self.assertIn("no function of libc.so.6 matches 'zebra*'", self.fails("libc.so.6", "zebra*"))
        self.assertIn("no file, library or program 'libcc.so.6'; did you mean", self.fails("libcc.so.6"))

    def test_what_is_no_program(self):
        self.assertIn("No such file or directory", self.fails("./nothing"))
        text = os.path.join(self.folder, "text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("not a program\n" * 100)
        self.assertIn("not an ELF file", self.fails(text))
        self.assertIn("is not a file", self.fails(self.folder))
        self.assertIn("is not a file", self.fails("/dev/null"))
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        self.assertIn("is not a file", self.fails(fifo))

    def test_programs_for_other_machines(self):
        other = os.path.join(self.folder, "other")
        for offset, value, said in ((4, b"\1", "32 bits"), (18, b"\xb7\0", "aarch64, and probes are for x86-64 only yet")):
            shutil.copy(PRODUCER, other)
            with open(other, "r+b") as file:
                file.seek(offset)
                file.write(value)
            self.assertIn(said, self.fails(other))

    @unittest.skipIf(os.geteuid() != 0, "becomes another user")
    def test_a_file_that_may_not_be_read(self):
        private = os.path.join(self.folder, "private")
        shutil.copy(PRODUCER, private)
        os.chmod(private, 0)
        process = self.start("functions", private, user=support.NOBODY)
        _, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 1)
        self.assertIn("Permission denied", err)

    def test_a_file_of_many_gigabytes(self):
        huge = os.path.join(self.folder, "huge")
        shutil.copy(PRODUCER, huge)
        os.truncate(huge, 8 << 30)
        self.assertEqual(self.table(huge), self.table(PRODUCER))

    def test_a_reader_that_goes_away(self):
        process = self.start("functions", "libc.so.6")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(process.stderr.read(), "")

    def test_a_narrow_terminal(self):
        self.rows, self.columns = 24, 40
        status, out = self.on_terminal(support.LANDTRACE, "functions", "--no-pager", "--refused", "libc.so.6", "set*")
        self.assertEqual(status, 0)
        lines = out.splitlines()
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertLessEqual(len(line), 40)

    def test_options_that_exclude_each_other(self):
        self.assertIn("exclude each other", self.fails("--refused", "--summary", "libc.so.6", status=2))


if __name__ == "__main__":
    unittest.main()
