"""A domain that several recordings and programs share."""
import os
import signal
import time
import unittest

import support
from support import PRODUCER


class WhichDomain(support.Case):
    def test_it_can_be_asked(self):
        status, out, err = self.landtrace("domain")
        self.assertEqual((status, err), (1, ""))
        # Nobody serves the user's own: the one of all users of this machine, if there is one, or the user's own.
        self.assertIn(out.splitlines()[0], (self.socket, "/run/landtrace/domain.sock"))
        process = self.serve()
        status, out, err = self.landtrace("domain")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[:2], [self.socket, "the user's own"])
        self.assertIn(f"process {process.pid} of user", lines[2])
        self.environment["LANDTRACE_SOCKET"] = "/nowhere"
        status, out, _ = self.landtrace("domain")
        self.assertEqual((status, out.splitlines()), (1, ["/nowhere", "named by $LANDTRACE_SOCKET", "nobody serves /nowhere"]))
        self.assertEqual(self.landtrace("domain", "--socket", self.socket)[1].splitlines()[1], "named by --socket")

    def test_what_watches_or_records_one_says_which(self):
        self.serve()
        for words in (["record", "-o", self.file, "--duration", "0.1"], ["hist", "job", "--keys", "a", "--duration", "0.1"],
                      ["latency", "--from", "a", "--to", "b", "--key", "k", "--duration", "0.1"]):
            err = self.landtrace(*words)[2]
            self.assertIn(f"ing the domain at {self.socket}\n", err.splitlines(True)[0])
        self.environment["LANDTRACE_SOCKET"] = self.socket
        err = self.landtrace("record", "-o", self.file, "--duration", "0.1")[2]
        self.assertEqual(err.splitlines()[0], f"landtrace: recording the domain at {self.socket}, named by $LANDTRACE_SOCKET")

    def test_an_empty_one_is_said_to_be(self):
        self.serve()
        self.assertEqual(self.landtrace("list"), (0, "", f"landtrace: no event is registered in the domain at {self.socket}\n"))

    @support.needs_root
    @support.needs_namespaces
    def test_that_of_all_users_is_said_to_be_it(self):
        # In a namespace, where /run is the test's own.
        script = ("mount -t tmpfs none /run && { \"$0\" --system & server=$!; "
                  "until \"$1\" cat --socket /run/landtrace/domain.sock README > /dev/null 2>&1; do "
                  "kill -0 $server || exit 9; sleep 0.02; done; "
                  "for words in ls list 'write trace_marker x' 'cat README' 'mkdir instances/a' domain 'run true'; do "
                  "echo \"== $words\"; \"$1\" $words 2>&1 >/dev/null; done; kill $server; wait; }")
        done = support.subprocess.run(["unshare", "-m", "sh", "-c", script, support.LANDTRACED, support.LANDTRACE], text=True,
                                      cwd=self.folder, env=self.environment, capture_output=True, timeout=support.TIMEOUT_S)
        said = f"landtrace: /run/landtrace/domain.sock: that of all users, because nobody serves {self.socket}\n"
        for part in done.stdout.split("== ")[1:]:
            words, _, err = part.partition("\n")
            if words == "list":
                err = err.replace("landtrace: no event is registered in the domain at /run/landtrace/domain.sock\n", "")
            self.assertEqual(err, "" if words == "domain" else said, part)
        self.assertEqual(done.stdout.count("== "), 7, done)


class SharedDomain(support.Case):
    def setUp(self):
        super().setUp()
        self.host = self.start_recording()

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 0, err)
        return support.Summary(err)

    def test_programs_join(self):
        status, out, err = self.landtrace("run", "--", PRODUCER, "--abi")
        self.assertEqual((status, out), (0, "emitted 10\n"), err)
        self.environment["LANDTRACE_SOCKET"] = self.socket
        self.assertEqual(self.landtrace("run", PRODUCER, "--exit", "4")[0], 4)
        self.assertEqual(self.stop(self.host).events, 20)

    def test_list_shows_what_is_registered_and_enabled(self):
        producer = self.start("run", "--", PRODUCER, "--count", "100000", "--pause", "1000")
        self.wait_until(lambda: "job" in self.landtrace("list")[1])
        for words in ([], ["--socket", self.socket]):
            self.assertEqual(self.landtrace("list", *words)[1], "user_events:job  u32 source; u32 sequence  [enabled]\n")
        producer.kill()
        producer.wait()
        self.assertIn("job", self.landtrace("list")[1], "who listens to an event keeps it")

    def test_list_of_events_that_nobody_wants(self):
        self.stop(self.host)
        self.host = self.start_recording("-e", "nothing")
        producer = self.start("run", "--", PRODUCER, "--count", "100000", "--pause", "1000")
        self.wait_until(lambda: self.landtrace("list")[1] == "user_events:job  u32 source; u32 sequence\n")
        producer.kill()
        self.wait_until(lambda: self.landtrace("list")[1] == "")

    def test_second_recording_has_its_own_events(self):
        other = os.path.join(self.folder, "other.dat")
        second = self.start_recording("-e", "second_*", "--buffer-size", "1M", file=other)
        self.landtrace("run", "--", PRODUCER, "--event", "first", "--count", "5")
        self.landtrace("run", "--", PRODUCER, "--event", "second_a", "--count", "7")
        self.assertEqual(self.stop(second).events, 7)
        self.landtrace("run", "--", PRODUCER, "--event", "second_b", "--count", "9")
        self.assertEqual(self.stop(self.host).events, 21)

    def test_running_program_is_caught_by_a_later_recording(self):
        self.start("run", "--", PRODUCER, "--count", "100000", "--pause", "1000")
        other = os.path.join(self.folder, "other.dat")
        later = self.start_recording(file=other)
        self.wait_for_events(file=other)
        self.assertGreater(self.stop(later).events, 0)

    def test_recording_survives_the_end_of_its_domain(self):
        other = os.path.join(self.folder, "other.dat")
        second = self.start_recording(file=other)
        self.landtrace("run", "--", PRODUCER)
        self.host.kill()
        _, err = second.communicate(timeout=support.TIMEOUT_S)
        self.assertIn("the domain has ended", err)
        self.assertEqual(support.Summary(err).events, 10)
        self.assertEqual(second.returncode, 0)

    def test_end_of_the_domain_is_noticed_while_nothing_happens(self):
        other = os.path.join(self.folder, "other.dat")
        for mode in ([], ["--overwrite"]):
            second = self.start_recording(*mode, file=other)
            time.sleep(0.2)
            self.stop(self.host)
            _, err = second.communicate(timeout=support.TIMEOUT_S)
            self.assertIn("the domain has ended", err)
            self.host = self.start_recording()

    def test_file_that_is_being_written_is_left_alone(self):
        self.assertIn("recording the domain", self.host.stderr.readline())  # the file has its lock now
        status, _, err = self.landtrace("record", "-o", self.file)
        self.assertEqual(status, 1)
        self.assert_one_line(err, self.file, "another process")

    def test_dead_hosts_socket_is_taken_over(self):
        self.host.kill()
        self.host.wait()
        self.assertEqual(self.landtrace("record", "-o", self.file, "--duration", "0.1")[0], 0)

    @support.needs_root
    @support.needs("setpriv")
    def test_other_users_may_emit_but_not_record(self):
        os.chmod(self.folder, 0o777)
        drop = support.AS_NOBODY
        self.environment["LANDTRACE_SOCKET"] = self.socket
        status, out, err = self.landtrace("run", "--", *drop, PRODUCER)
        self.assertEqual((status, out), (0, "emitted 10\n"), err)
        status, _, err = self.landtrace("run", "--", *drop, support.LANDTRACE, "record", "-o", self.folder + "/x.dat")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "only the user who runs the domain")


if __name__ == "__main__":
    unittest.main()
