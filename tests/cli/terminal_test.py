"""What is shown on a terminal: nothing of a program's text moves the cursor, and everything fits."""
import os
import unittest

import support
from support import LANDTRACE, PRODUCER

HOSTILE = "a\x1b[2Jb\n  x-1 [000] 1.0: job: forged\x9b\u009b\r"
SHOWN = "a\\x1b[2Jb\\n  x-1 [000] 1.0: job: forged\\x9b\\u009b\\r"


class Texts(support.OnTerminal, support.Case):
    def record_text(self):
        text = HOSTILE.encode("utf-8", "surrogateescape").replace("\x9b".encode() + "\u009b".encode(), b"\x9b\xc2\x9b")
        status, _, err = self.landtrace("record", "-o", self.file, "--", "sh", "-c", 'exec "$0" --text "$1"', PRODUCER, os.fsdecode(text))
        self.assertEqual(status, 0, err)
        return text

    def test_a_report_shows_control_characters_on_a_terminal(self):
        self.record_text()
        for pager in ("cat", "tail -n +1"):
            status, out = self.on_terminal(LANDTRACE, "report", self.file, environment={"PAGER": pager})
            self.assertEqual(status, 0)
            self.assertEqual(out.count(f"text={SHOWN}"), 10, repr(out))
            self.assertNotIn("\x1b[2J", out)

    def test_elsewhere_it_has_the_kernels_layout(self):
        text = self.record_text()
        with open(self.folder + "/out", "wb") as file:
            self.assertEqual(self.landtrace("report", self.file, stdout=file)[0], 0)
        with open(self.folder + "/out", "rb") as file:
            self.assertEqual(file.read().count(b"text=" + text), 10)

    def test_json_is_json_on_a_terminal(self):
        self.record_text()
        _, out = self.on_terminal(LANDTRACE, "report", "--json", "--no-pager", self.file)
        self.assertEqual(out.count("\x1b"), 0)
        self.assertEqual(out.count("\\u001b[2J"), 10)

    def test_a_table_is_for_reading_on_a_terminal_alone(self):
        self.record_text()
        words = [LANDTRACE, "export", self.file, "--format", "csv"]
        _, out = self.on_terminal(*words)
        self.assertEqual((out.count("\x1b"), out.count("\u009b")), (0, 0), repr(out))
        self.assertEqual((out.count("a\\x1b[2Jb"), out.count("\\u009b\\r")), (10, 10), repr(out))
        self.assertEqual(out.count("time,cpu,"), 1)
        piped = self.start_program(*words).communicate()[0]
        self.assertEqual((piped.count("a\x1b[2Jb"), piped.count("\u009b")), (10, 10))

    def test_a_histogram_shows_them_everywhere(self):
        text = self.record_text()
        words = [LANDTRACE, "hist", "job", "--keys", "text", "--", PRODUCER, "--text", os.fsdecode(text)]
        _, out = self.on_terminal(*words)
        self.assertIn(f"text={SHOWN} ", out.replace("\n", ""))
        self.assertIn(f"text={SHOWN} ", self.start_program(*words).communicate()[0])

    def test_files_of_a_domain_are_safe_to_look_at(self):
        self.serve()
        self.landtrace("write", "trace_marker", "red\x1b[31m")
        _, out = self.on_terminal(LANDTRACE, "cat", "trace")
        self.assertIn("tracing_mark_write: red\\x1b[31m\n", out)
        self.assertIn("tracing_mark_write: red\x1b[31m\n", self.landtrace("cat", "trace")[1])

    def test_messages_are_safe_to_read(self):
        status, _, err = self.landtrace("record", "-o", self.file, "--", "no\x1b[2Jsuch")
        self.assertEqual(status, 127)
        self.assertIn("'no\\x1b[2Jsuch'", err)


class Small(support.OnTerminal, support.Case):
    columns, rows = 50, 12

    def lines_of(self, *words, **options):
        status, out = self.on_terminal(LANDTRACE, *words, **options)
        self.assertEqual(status, 0, out)
        return out.splitlines()

    def test_help_is_broken_between_words(self):
        for self.columns in (30, 50, 80):
            for words in (["--help"], ["record", "--help"]):
                lines = self.lines_of(*words)
                text = lines[:lines.index("Examples:")] if "Examples:" in lines else lines
                # A name is in one piece, and usage is what is typed.
                long = [line for line in text if len(line) > self.columns and not line.startswith(("Usage:", "  -"))]
                self.assertEqual(long, [])
        self.columns = 50
        lines = self.lines_of("record", "--help")
        at = lines.index("  --overwrite")
        self.assertEqual(lines[at + 1:at + 3], ["      Keep the newest events when a buffer is", "      full; write at the end"])

    def test_a_chart_that_is_redrawn_stays_on_the_screen(self):
        self.serve()
        for self.columns, keys in ((50, "sequence"), (30, "sequence"), (30, "common_pid.execname")):
            producer = self.start_program(PRODUCER, "--count", "4000", "--pause", "30000")
            words = [LANDTRACE, "hist", "job", "--keys", keys, "--interval", "0.1"]

            def attempt(seconds):
                status, out = self.on_terminal(*words, "--duration", 2 * seconds)
                self.assertEqual(status, 0, out)
                pages = out.split("\x1b[H\x1b[2J")[1:]
                return pages if len(pages) > 2 else None

            pages = self.given_time(attempt)
            for page in pages[:-1]:
                lines = page.splitlines()
                self.assertLessEqual(len(lines), self.rows - 1, page)
                self.assertLessEqual(max(len(line) for line in lines), self.columns, page)
            producer.kill()
            producer.wait()

    def test_a_chart_at_the_end_has_everything_in_few_columns(self):
        self.columns = 40
        lines = self.lines_of("hist", "--keys", "sequence", "job", "--", PRODUCER, "--count", "30")
        rows = [line for line in lines if line.startswith("sequence=")]
        self.assertEqual(len(rows), 30)
        self.assertTrue(all(len(row) <= 40 and "#" in row for row in rows), rows)

    def test_progress_stays_in_its_line(self):
        self.columns = 20
        quiet = ["sh", "-c", 'exec "$0" --count 1000000 --pause 10000 >/dev/null', PRODUCER]
        status, out = self.on_terminal(LANDTRACE, "record", "-o", self.file, "--", *quiet,
                                       stop_when=lambda output: output.count(b"\r\x1b[K") > 3)
        self.assertEqual(status, 130, out)
        drawn = [part.split("\n")[0] for part in out.split("\r\x1b[K")[1:]]
        self.assertGreater(len(drawn), 2, out)
        self.assertLess(max(len(text) for text in drawn[:-1]), 20)
        self.assertIn(" events", drawn[1])

    def test_the_doctor_breaks_lines(self):
        self.columns = 40
        out = self.on_terminal(LANDTRACE, "doctor")[1]
        long = [line for line in out.splitlines() if len(line) > 40 and " " in line.strip().replace("-> ", "")]
        self.assertEqual(long, [])


if __name__ == "__main__":
    unittest.main()
