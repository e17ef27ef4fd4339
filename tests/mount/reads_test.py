"""What reading files of a mount gives to descriptors that change, and to who has the system copy them."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402


@support.needs_fuse
@support.needs_root
class ReadsTest(support.Case):
    def setUp(self):
        super().setUp()
        self.mounted = os.path.join(self.folder, "mounted")
        os.mkdir(self.mounted)
        self.addCleanup(support.works, "umount", "-l", self.mounted)
        self.serve("--mount", self.mounted)
        self.put("trace_marker", "here")

    def path(self, name):
        return os.path.join(self.mounted, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def open(self, name, flags=os.O_RDONLY):
        file = os.open(self.path(name), flags)
        self.addCleanup(os.close, file)
        return file

    def test_trace_pipe_ends_for_a_descriptor_that_waits_now(self):
        for flags in (os.O_RDONLY, os.O_RDONLY | os.O_NONBLOCK):
            pipe = os.open(self.path("trace_pipe"), flags)
            self.assertIn(b"here", os.read(pipe, 4096))
            self.put("tracing_on", "0")
            for _ in range(2):
                os.set_blocking(pipe, False)
                with self.assertRaises(BlockingIOError):
                    os.read(pipe, 4096)
                os.set_blocking(pipe, True)
                self.assertEqual(os.read(pipe, 4096), b"")
            os.close(pipe)
            self.put("tracing_on", "1")
            self.put("trace_marker", "here")

    def test_copies_that_the_system_makes_are_whole_or_empty(self):
        """Which of the two is the kernel's to say (docs/compatibility.md)."""
        copy = os.path.join(self.folder, "copy")
        for name in ("trace", "events/header_page"):
            shutil.copyfile(self.path(name), copy)
            self.assertIn(support.read_text(copy), ("", support.read_text(self.path(name))), name)

    def test_what_splice_does_not_take_from_trace_pipe_stays_there(self):
        pipe = self.open("trace_pipe")
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        taken = os.splice(pipe, writer, 4096)
        self.assertIn(b"here", os.read(reader if taken else pipe, 4096))


if __name__ == "__main__":
    unittest.main()
