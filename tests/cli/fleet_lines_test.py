"""Many hosts: events as lines, and probes that hosts define for an order."""
import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import threading
import unittest

import support
from fleet_case import PROGRAM, FleetCase, Host, NatsClient, skip_without_nats
from support import LANDTRACE, PRODUCER, OnTerminal


class Lines(OnTerminal, FleetCase):
    def test_of_all_hosts_as_they_come(self):
        hosts = [Host(self, "web-1"), Host(self, "db-1", "", "--fleet-redact", "source")]
        tail = self.start("fleet", "tail", "job", "--filter", "sequence < 50")
        self.assertRegex(tail.stderr.readline(), r"^landtrace: order [a-z0-9]{8}: applied by 2 hosts\n$")
        for host in hosts:
            host.emit(80)
        lines = [tail.stdout.readline() for _ in range(100)]
        web = [line for line in lines if " web-1 " in line]
        self.assertEqual(len(web), 50)
        for sequence, line in enumerate(web):
            self.assertRegex(line, r"^\d\d:\d\d:\d\d\.\d{6} web-1 producer-\d+ job: source=0x0 \(0\) "
                                   rf"sequence={sequence:#x} \({sequence}\)\n$")
        db = [line for line in lines if " db-1 " in line]
        self.assertRegex(db[49], r"^\S+ db-1 producer-\d+ job: source=\(left out\) sequence=49\n$")
        status, out, err = self.stop(tail)
        self.assertEqual((status, out, err), (0, "", ""))

    def test_a_host_speaks_for_no_other_one_and_a_program_for_no_host(self):
        web = Host(self, "web-1")
        program = os.path.join(self.folder, "a\nb")
        os.symlink(PRODUCER, program)
        tail = self.start("fleet", "tail", "job")
        order = self.order_of(tail)
        client = NatsClient(self.port)
        for line in ("10:31:07.123456 web-1 x-1 job: forged", "forged\n => forged", "10:31:07.123456 db-1 x-1 job: own"):
            client.publish(f"landtrace.system.db-1.lines.{order}".encode(), line.encode() + b"\n")
        client.ping()
        client.close()
        self.assertEqual(tail.stdout.readline(), "10:31:07.123456 db-1 x-1 job: own\n")
        web.finish_counting(web.start_program(program, "--count", 1, "--wait", support.TIMEOUT_S * 1000), 1)
        self.assertRegex(tail.stdout.readline(), r"^\S+ web-1 a\\nb-\d+ job: ")
        status, out, err = self.stop(tail)
        self.assertEqual((status, out), (0, ""))
        self.assertIn("landtrace: fleet: db-1: 3 lines left out that do not name the host who sent them\n", err)

    def test_what_would_move_a_terminals_cursor_is_written(self):
        Host(self, "web-1")
        client = NatsClient(self.port)

        def publish():
            """When the order is there: the command listens before it gives that."""
            orders = []
            self.wait_until(lambda: orders.extend(self.hosts()["web-1"]["orders"]) or orders)
            subject = f"landtrace.system.web-1.lines.{orders[0]['id']}"
            client.publish(subject.encode(), b"10:31:07.123456 web-1 \x1b[2J\r\x9b end\n")
            client.ping()

        sender = threading.Thread(target=publish)
        sender.start()
        _, out = self.on_terminal(LANDTRACE, "fleet", "tail", "job", stop_when=b" end")
        sender.join()
        client.close()
        self.assertIn("10:31:07.123456 web-1 \\x1b[2J\\r\\x9b end\n", out)
        self.assertNotIn("\x1b[2J", out)

    def test_the_last_ones_come_before_the_end(self):
        host = Host(self, "web-1")
        for _ in range(5):
            tail = self.start("fleet", "tail", "job")
            self.order_of(tail)
            host.emit(40)
            status, out, err = self.stop(tail)
            self.assertEqual((status, out.count(" job: "), err), (0, 40, ""))

    def test_who_does_not_read_keeps_it_from_no_end(self):
        """As a pager that has a screen full of lines."""
        host = Host(self, "web-1")
        tail = self.start("fleet", "tail", "job")
        self.order_of(tail)
        host.emit(3000)  # more than a pipe holds
        tail.send_signal(signal.SIGINT)
        self.assertEqual(tail.wait(timeout=support.TIMEOUT_S), 1)
        out, err = tail.communicate(timeout=support.TIMEOUT_S)
        self.assertGreater(out.count(" job: "), 100)
        self.assertEqual(err, "landtrace: fleet: the last lines were not printed: nobody reads them\n")

    def test_a_reader_that_has_gone_is_its_end_and_no_failure(self):
        host = Host(self, "web-1")
        tail = self.start("fleet", "tail", "job")
        self.order_of(tail)
        tail.stdout.close()
        host.emit(1)
        self.assertEqual(tail.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(tail.stderr.read(), "")

    def test_an_output_that_has_no_room_is_a_failure(self):
        host = Host(self, "web-1")
        with open("/dev/full", "w", encoding="utf-8") as full:
            tail = self.start("fleet", "tail", "job", stdout=full)
        self.order_of(tail)
        host.emit(1)
        self.assertEqual(tail.wait(timeout=support.TIMEOUT_S), 1)
        self.assertIn("standard output: No space left on device", tail.stderr.read())

    def test_nobody_is_left_behind_where_the_order_is_refused(self):
        Host(self, "web-1")
        be_subreaper()  # who is left behind is a child of this process
        before = children()
        status, out, err = self.landtrace("fleet", "tail", "job", "--sign", "/nowhere")
        self.assertEqual((status, out), (1, ""))
        self.assert_one_line(err, "/nowhere")
        self.assertEqual(children(), before)

    def test_what_never_came_is_counted(self):
        """The server is away for longer than a host keeps lines."""
        host = Host(self, "web-1")
        tail = self.start("fleet", "tail", "job")
        self.order_of(tail)
        emitted = lost = 0
        printed, said = [], []

        def read(file, lines):
            for line in file:
                lines.append(line)

        readers = [threading.Thread(target=read, args=both) for both in ((tail.stdout, printed), (tail.stderr, said))]
        for reader in readers:
            reader.start()
        for pause_us in (10_000, 30_000, 100_000):  # it has to look 64 times meanwhile
            self.kill_server()
            emitted += host.emit(300, "--pause", pause_us)
            self.start_server()
            before = len(printed)
            singles = []
            self.wait_until(lambda: singles.append(host.emit(1)) or len(printed) > before)  # it hears its host again
            emitted += len(singles)
            if said:
                break
        tail.send_signal(signal.SIGINT)
        status = tail.wait(timeout=support.TIMEOUT_S)
        for reader in readers:
            reader.join()
        self.assertEqual(said[-1:], ["landtrace: fleet: what was printed is not all\n"])
        for line in said[:-1]:
            lost = int(re.fullmatch(r"landtrace: fleet: web-1: (\d+) lines never came: .*\n", line)[1])
        self.assertEqual(len(printed) + lost, emitted)
        self.assertEqual(status, 1)

    def test_more_of_them_than_a_message_may_have_come_in_several(self):
        self.kill_server()
        path = os.path.join(self.folder, "nats.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nmax_payload: 1024\njetstream {{ store_dir: \"{self.folder}/nats\" }}\n")
        self.server = self.start_program("nats-server", "-c", path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)
        host = Host(self, "web-1")
        tail = self.start("fleet", "tail", "job")
        self.order_of(tail)
        host.emit(300)
        tail.send_signal(signal.SIGINT)
        out, err = tail.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((tail.returncode, out.count(" job: "), err), (0, 300, ""))

    def order_of(self, tail):
        return re.match(r"landtrace: order ([a-z0-9]{8}): applied by", tail.stderr.readline())[1]


def be_subreaper():
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
            found += file.read().split()
    return sorted(found)


class Server(support.Case):
    """In place of NATS: it knows how far what it has sent was taken in."""

    def setUp(self):
        super().setUp()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listening.close)
        self.tail = self.start_tail()
        self.connection = self.listening.accept()[0]
        self.connection.settimeout(support.TIMEOUT_S)
        self.addCleanup(self.connection.close)
        self.file = self.connection.makefile("rwb")
        self.addCleanup(self.file.close)
        self.send(b'INFO {"server_id":"x","version":"2.9.0","proto":1,"max_payload":1048576,"headers":true}\r\n')
        self.number = None
        while self.number is None:
            line = self.answer_one()
            if line.startswith(b"SUB ") and b".lines." in line:
                self.number = line.split()[-1]

    def start_tail(self):
        listens, its_end = os.pipe()
        self.addCleanup(os.close, listens)
        port = self.listening.getsockname()[1]
        environment = dict(self.environment, LANDTRACE_FLEET_OPTIONS=json.dumps({"servers": f"nats://127.0.0.1:{port}"}))
        tail = self.start_program(PROGRAM, "tail", "order", its_end, env=environment, pass_fds=(its_end,))
        os.close(its_end)
        return tail

    def send(self, data):
        self.file.write(data)
        self.file.flush()

    def answer_one(self):
        line = self.file.readline()
        assert line, "tail has ended"
        if line == b"PING\r\n":
            self.send(b"PONG\r\n")
        return line

    def send_lines(self, host, text, times=1):
        """Returns when all of it was taken in."""
        message = f"MSG landtrace.d.{host}.lines.order {self.number.decode()} {len(text)}\r\n{text}\r\n".encode()
        for _ in range(times):
            self.file.write(message)
        self.send(b"PING\r\n")
        while self.answer_one() != b"PONG\r\n":
            pass

    def go_on_answering(self):
        def answer():
            with contextlib.suppress(AssertionError, OSError, ValueError):  # until the test ends
                while True:
                    self.answer_one()
        threading.Thread(target=answer, daemon=True).start()

    def test_what_comes_faster_than_it_is_read_is_dropped_and_said(self):
        line = "10:31:07.123456 web-1 x-1 job: " + 4000 * "x" + "\n"
        self.send_lines("web-1", line, 40)  # a pipe holds less
        line = "10:31:07.123456 web-1 x-1 job: y\n"
        self.send_lines("web-1", line, 70_000)  # and libnats 65,536 messages
        lines = 0
        while lines < 60_000:
            printed = self.tail.stdout.readline()
            self.assertTrue(printed, "it has ended")
            lines += printed == line
        self.send_lines("web-1", line.replace("y", "the last one"))
        self.go_on_answering()
        while (line := self.tail.stdout.readline()) and "the last one" not in line:
            lines += 1
        self.assertIn("the last one", line)
        status, out, err = self.stop(self.tail)
        self.assertEqual((status, out), (0, ""))
        dropped = re.fullmatch("landtrace: fleet: ([0-9]+) messages with lines were dropped here: they came faster than "
                               "they were read\n", err)
        self.assertEqual(int(dropped[1]) + lines, 70_000)

    def test_where_it_does_not_answer_at_the_end_lines_may_be_missing(self):
        line = "10:31:07.123456 web-1 x-1 job: y\n"
        self.send_lines("web-1", line)
        self.assertEqual(self.tail.stdout.readline(), line)
        said = "landtrace: fleet: the server did not answer at the end: the last lines may be missing\n"
        self.assertEqual(self.stop(self.tail), (1, "", said))

    def test_hosts_are_called_as_they_call_themselves(self):
        self.send_lines("web%2Eexample%2Ecom", "forged\n")
        self.send_lines("a\x1b[2J", "forged\n")
        self.go_on_answering()
        for name in ("web.example.com", "a\\x1b[2J"):
            self.assertEqual(self.tail.stderr.readline(),
                             f"landtrace: fleet: {name}: 1 lines left out that do not name the host who sent them\n")
        self.assertEqual(self.stop(self.tail), (0, "", ""))


class Probes(FleetCase):
    def test_are_there_for_their_order(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("functions cannot be probed on this machine yet")
        host = Host(self, "a")
        order = self.order("hist", "-p", "libc.so.6:malloc size=$arg1", "--keys", "size.log2", "--detach")
        shim = os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace", os.path.basename(os.environ["SHIM"]))
        program = self.start_program("ls", "/", env=dict(self.environment, LANDTRACE_SOCKET=host.socket, LD_PRELOAD=shim))
        self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)
        self.wait_until(lambda: self.sum_of(order) > 10)
        definitions = lambda: self.landtrace("cat", "--socket", host.socket, "dynamic_events")[1]
        self.assertIn("fleet_" + order, definitions())
        self.fleet("end", order)
        self.wait_until(lambda: "fleet_" not in definitions())

    def test_are_recorded_by_an_order_of_their_own(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("functions cannot be probed on this machine yet")
        host = Host(self, "a")
        order = self.order("probe", "libc.so.6:malloc size=$arg1", "--detach")
        orders = self.fleet("orders")
        self.assertIn("probe 'libc.so.6:malloc size=$arg1'", orders)
        self.assertNotIn("fleet_", orders)
        shim = os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace", os.path.basename(os.environ["SHIM"]))
        program = self.start_program("ls", "/", env=dict(self.environment, LANDTRACE_SOCKET=host.socket, LD_PRELOAD=shim))
        self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)
        self.wait_until(lambda: self.hosts()["a"]["orders"][0]["events"] > 10)
        snapshot = os.path.join(self.folder, "snapshot.dat")
        self.fleet("snapshot", "-o", snapshot)
        self.assertIn(" malloc: ", self.landtrace("report", snapshot)[1])
        self.fleet("end", order)
        self.wait_until(lambda: "malloc" not in self.landtrace("cat", "--socket", host.socket, "dynamic_events")[1])
        status, out, err = self.landtrace("fleet", "probe")
        self.assertEqual((status, out), (2, ""))
        self.assert_one_line(err, "probe")

    def test_what_a_host_does_not_have_is_refused(self):
        Host(self, "a")
        for probe, reason in (("nowhere.so:f", "there is no 'nowhere.so'"), ("libc.so.6:nosuchfunction", "nosuchfunction")):
            status, out, err = self.landtrace("fleet", "enable", "-p", probe)
            self.assertEqual(status, 1, out)
            self.assertIn("refused by 1 host", out)
            self.assert_one_line(err, "landtrace: a: ", reason)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
