"""A domain that cannot be reached: what commands say, and what open() of user_events_data answers under the shim."""
import errno
import os
import signal
import socket
import unittest

import support
from support import AS_NOBODY, LANDTRACE, LANDTRACED, NOBODY, PRODUCER

SHIM = os.path.join(os.path.dirname(os.path.dirname(LANDTRACE)), "lib", "landtrace", "liblandtrace-preload.so")
OPENED = errno.EINVAL  # the file has nothing to read
# What speaks to a domain that runs. None of these may wait for ever, whatever is at the other end.
COMMANDS = (["list"], ["list", "--users"], ["ls"], ["cat", "README"], ["write", "trace_marker", "x"],
            ["mkdir", "instances/a"], ["run", "true"])
# These serve one themselves where nobody does.
RECORDERS = (["record", "-o", "f.dat", "--duration", "0.1"], ["hist", "a", "--keys", "b", "--duration", "0.1"],
             ["latency", "--from", "a", "--to", "b", "--key", "k", "--duration", "0.1"])


class Unreached(support.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "landtrace"), 0o711)
        self.environment["LANDTRACE_SOCKET"] = self.socket

    def listen(self, kind=socket.SOCK_SEQPACKET, backlog=100):
        listener = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(listener.close)
        listener.bind(self.socket)
        listener.listen(backlog)
        return listener

    def errno_of_open(self, *prefix):
        """Of user_events_data where no tracefs has one, or OPENED. Nothing but the program itself says anything."""
        path = os.path.join(self.folder, "user_events_data")
        process = self.start_program(*prefix, "env", "LC_ALL=C", "LD_PRELOAD=" + SHIM, "cat", path)
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        texts = {os.strerror(number): number for number in errno.errorcode}
        head, _, text = err.rpartition(": ")
        self.assertEqual((process.returncode, out, head), (1, "", "cat: " + path), err)
        return texts[text.strip()]

    def assert_all_say(self, *parts, commands=COMMANDS + RECORDERS, prefix=()):
        """All at once: some wait as long as they may."""
        running = [(words, self.start_program(*prefix, LANDTRACE, *words)) for words in commands]
        for words, process in running:
            _, err = process.communicate(timeout=support.TIMEOUT_S)
            with self.subTest(words):
                self.assertEqual(process.returncode, 1, err)
                self.assert_one_line(err, *parts)
        status, out, _ = self.landtrace("domain")
        self.assertEqual(status, 1, out)

    def test_nobody_serves(self):
        for stale in (False, True):
            if stale:
                self.listen().close()
            self.assert_all_say("no domain runs at " + self.socket, "starts one", commands=COMMANDS)
            self.assertEqual(self.errno_of_open(), errno.ENOENT)

    def test_an_owner_that_never_answers(self):
        self.listen()
        self.assert_all_say(self.socket, f"process {os.getpid()},", "does not answer", "kill -CONT")
        self.assertEqual(self.errno_of_open(), errno.ETIMEDOUT)

    def test_an_owner_that_takes_no_connections(self):
        self.listen(backlog=0)
        waiting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(waiting.close)
        waiting.connect(self.socket)
        self.assert_all_say(self.socket, "takes no connections")
        self.assertEqual(self.errno_of_open(), errno.ETIMEDOUT)
        # Its place is not taken: it may only be slow.
        del self.environment["LANDTRACE_SOCKET"]
        status, _, err = self.stop_when_ended(self.start_program(LANDTRACED))
        self.assertEqual(status, 1, err)
        self.assertIn(self.socket, err)
        self.assertTrue(os.path.exists(self.socket))

    def stop_when_ended(self, process):
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        return process.returncode, out, err

    def test_an_owner_that_is_stopped_and_goes_on(self):
        daemon = self.serve()
        self.hold(daemon)
        self.assert_all_say(self.socket, f"process {daemon.pid},", "does not answer", commands=COMMANDS[:2])
        self.assertEqual(self.errno_of_open(), errno.ETIMEDOUT)
        daemon.send_signal(signal.SIGCONT)
        self.assertEqual(self.landtrace("list")[0], 0)
        self.assertEqual(self.errno_of_open(), OPENED)

    def test_who_listens_is_no_domain(self):
        self.listen(socket.SOCK_STREAM)
        self.assert_all_say(self.socket, "no domain")
        self.assertEqual(self.errno_of_open(), errno.ENOENT)

    def test_a_file_in_its_place_stays_there(self):
        with open(self.socket, "w", encoding="utf-8") as file:
            file.write("dear")
        self.assert_all_say(self.socket, "is no socket", commands=RECORDERS)
        status, _, err = self.stop_when_ended(self.start_program(LANDTRACED, "--socket", self.socket))
        self.assertEqual(status, 1, err)
        self.assertEqual(support.read_text(self.socket), "dear")
        self.assertEqual(self.errno_of_open(), errno.ENOENT)

    def test_a_path_that_is_too_long(self):
        self.environment["LANDTRACE_SOCKET"] = "/tmp/" + 110 * "x"
        self.assert_all_say("longer than 107 bytes")
        self.assertEqual(self.errno_of_open(), errno.ENOENT)

    @support.needs_root
    @support.needs("setpriv")
    def test_a_socket_that_this_user_may_not_use(self):
        self.listen()
        os.chmod(self.socket, 0o755)
        self.assert_all_say(self.socket, "this user may not", "Permission denied", prefix=AS_NOBODY)
        self.assertEqual(self.errno_of_open(*AS_NOBODY), errno.EACCES)

    def connect_until_turned_away(self):
        """What the owner holds for a client before us is still being given back when the first of these connect."""
        guests = []
        refused_in_a_row = 0
        while refused_in_a_row < 10:
            guest = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.addCleanup(guest.close)
            guest.settimeout(0.1)
            guest.connect(self.socket)
            try:
                guest.recv(1)
                refused_in_a_row += 1
            except TimeoutError:
                refused_in_a_row = 0
                guests.append(guest)
        return guests

    @support.needs("prlimit")
    def test_an_owner_without_descriptors(self):
        daemon = self.start_program("prlimit", "--nofile=40:40", LANDTRACED)
        self.addCleanup(self.stop, daemon)
        self.wait_until(self.answers)
        guests = self.connect_until_turned_away()
        self.assert_all_say(self.socket, "no descriptor left")
        self.assertEqual(self.errno_of_open(), errno.ENFILE)
        for guest in guests:
            guest.close()
        self.wait_until(self.answers)
        self.assertEqual(self.errno_of_open(), OPENED)

    @support.needs_root
    @support.needs("setpriv")
    @support.needs("prlimit")
    def test_a_user_who_has_all_that_one_may_have(self):
        daemon = self.start_program("prlimit", "--nofile=100:100", LANDTRACED)
        self.addCleanup(self.stop, daemon)
        self.wait_until(self.answers)
        hoard = []
        self.addCleanup(lambda: [one.close() for one in hoard])
        os.seteuid(NOBODY)  # the interpreter itself may not be for everybody
        try:
            for _ in range(100):
                hoard.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                hoard[-1].connect(self.socket)
        finally:
            os.seteuid(0)
        self.assertEqual(self.errno_of_open(*AS_NOBODY), errno.EMFILE)
        process = self.start_program(*AS_NOBODY, LANDTRACE, "ls")
        self.assert_one_line(process.communicate(timeout=support.TIMEOUT_S)[1], "all connections that they may have")
        self.assertEqual(self.errno_of_open(), OPENED)

    @support.needs_root
    @support.needs_namespaces
    def test_without_proc(self):
        without_proc = ["unshare", "-m", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"]
        for words in ([LANDTRACED], [LANDTRACE, "record", "-o", "f.dat", "--duration", "0.1"],
                      [LANDTRACE, "record", "-o", "f.dat", "--", PRODUCER]):
            status, _, err = self.stop_when_ended(self.start_program(*without_proc, *words))
            self.assertEqual(status, 1, err)
            self.assertIn("/proc is not mounted here", err)
        self.assertEqual(self.errno_of_open(*without_proc), errno.ENOENT)
        self.serve()
        self.assertEqual(self.errno_of_open(*without_proc), OPENED)


if __name__ == "__main__":
    unittest.main()
