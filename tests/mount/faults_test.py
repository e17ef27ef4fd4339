"""What a mount goes through: a thousand clients, clients that die in the middle, noise on the socket, unmounting in use."""
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

CROWD = os.environ["CROWD"]
REQUEST = struct.Struct("=IIIIII4Q")  # ipc::Request
MAGIC, VERSION = 0x5172544C, 2
OPERATIONS = [*range(0, 20), *range(64, 69), *range(128, 132), *range(192, 200), 0xFFFFFFFF]


@support.needs_fuse
@support.needs_root
class FaultsTest(support.Case):
    def setUp(self):
        super().setUp()
        self.mounted = os.path.join(self.folder, "mounted")
        os.mkdir(self.mounted)
        self.addCleanup(support.works, "umount", "-l", self.mounted)
        self.daemon = self.serve("--mount", self.mounted, "--trace-event", "user_events:*")

    def crowd(self, way, *words):
        done = subprocess.run([CROWD, way, self.mounted, *map(str, words)], capture_output=True, text=True,
                              timeout=4 * support.TIMEOUT_S)
        if done.returncode == 77:
            self.skipTest("SKIPPED: " + done.stdout.strip())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def path(self, name):
        return os.path.join(self.mounted, name)

    def sources(self):
        """Of the trace's lines: {source: [i, …]}"""
        found = {}
        for source, i in re.findall(r"source=0x\w+ \((\d+)\) i=0x\w+ \((\d+)\)", support.read_text(self.path("trace"))):
            found.setdefault(int(source), []).append(int(i))
        return found

    def assert_it_works(self):
        with open(self.path("trace"), "w", encoding="utf-8"):
            pass  # emptied
        self.assertEqual(self.crowd("together", 2, 10), "written 20\n")
        self.assertEqual(self.sources(), {0: list(range(10)), 1: list(range(10))})
        self.assertIsNone(self.daemon.poll())

    def files_of_the_daemon(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    def test_a_thousand_clients_at_once(self):
        self.assert_it_works()
        before = self.files_of_the_daemon()
        self.assertEqual(self.crowd("together", 1000, 10), "written 10000\n")
        everything = {source: list(range(10)) for source in range(1000)}
        with open(self.path("trace"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.crowd("together", 1000, 10), "written 10000\n")
        self.assertEqual(self.sources(), everything)
        # The threads that take requests keep some for asking where writers run.
        self.wait_until(lambda: self.files_of_the_daemon() <= before + 2 * 16)
        self.assert_it_works()

    def test_clients_that_are_killed_anywhere(self):
        self.crowd("mortal", 100)
        self.assert_it_works()

    def test_clients_that_die_inside_an_ioctl(self):
        self.crowd("inside", 10)
        self.assert_it_works()

    def noise(self, seed, over):
        """Connections that say what nobody should."""
        numbers = random.Random(seed)
        any_number = lambda: numbers.choice((0, 1, 2, 0xFFFF, numbers.getrandbits(32), numbers.getrandbits(64)))
        while not over.is_set():
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                connection.settimeout(0.05)
                try:
                    connection.connect(self.socket)
                    for _ in range(5):
                        text = numbers.randbytes(numbers.choice((0, 1, 7, 100, 5000)))
                        size = numbers.choice((len(text), len(text) + 1, 0, 0xFFFFFFFF, 65536))
                        message = REQUEST.pack(MAGIC, VERSION, numbers.choice(OPERATIONS), size, any_number() & 0xFFFFFFFF,
                                               any_number() & 0xFFFFFFFF, *(any_number() for _ in range(4))) + text
                        message = numbers.choice((message, message[:numbers.randrange(len(message))], text,
                                                  numbers.randbytes(numbers.randrange(200))))
                        if numbers.randrange(3) == 0:  # with a descriptor that nobody asked for
                            with open("/dev/null", "rb") as null:
                                socket.send_fds(connection, [message], [null.fileno()])
                        else:
                            connection.send(message)
                        connection.recv(1 << 17)
                except OSError:
                    pass

    def test_noise_on_the_socket(self):
        over = threading.Event()
        talkers = [threading.Thread(target=self.noise, args=(seed, over)) for seed in range(4)]
        for talker in talkers:
            talker.start()
        try:
            for _ in range(20):
                self.assertEqual(self.crowd("together", 10, 100), "written 1000\n")
        finally:
            over.set()
            for talker in talkers:
                talker.join()
        self.assert_it_works()

    def test_unmounting_while_files_are_open(self):
        pipe = os.open(self.path("trace_pipe"), os.O_RDONLY)
        self.addCleanup(os.close, pipe)
        client = subprocess.Popen([sys.executable, "-c", CLIENT, self.mounted], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(support.end, client)
        self.assertEqual(client.stdout.readline(), "open\n")
        self.assertEqual(self.landtrace("umount", self.mounted), (0, "", ""))
        self.assertEqual(os.listdir(self.mounted), [])
        client.stdin.write("\n")
        client.stdin.flush()
        self.assertEqual(client.stdout.readline(), "12\n")
        self.assertIn("still_there: source=0x7 (7) i=0x9 (9)", os.read(pipe, 4096).decode())
        support.end(client)
        self.assertEqual(self.landtrace("mount", self.mounted), (0, "", ""))
        self.assert_it_works()


# Registers on the mount, and writes one event when it is told to.
CLIENT = """
import ctypes, fcntl, os, struct, sys
data = os.open(sys.argv[1] + "/user_events_data", os.O_RDWR)
word, name = ctypes.c_uint32(), ctypes.create_string_buffer(b"still_there u32 source;u32 i")
reg = bytearray(struct.pack("=IBBHQQI", 28, 0, 4, 0, ctypes.addressof(word), ctypes.addressof(name), 0))
fcntl.ioctl(data, 0xC0082A00, reg, True)
print("open", flush=True)
sys.stdin.readline()
print(os.write(data, struct.pack("=III", struct.unpack_from("=I", reg, 24)[0], 7, 9)), flush=True)
sys.stdin.readline()
"""

if __name__ == "__main__":
    support.unittest.main()
