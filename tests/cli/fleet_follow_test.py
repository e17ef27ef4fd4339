"""Many hosts: who follows what a fleet counts, and turns to something else while it comes."""
import json
import subprocess
import threading
import unittest

from fleet_case import PROGRAM, FleetCase, NatsClient, skip_without_nats


class Follow(FleetCase):
    TIMES = 1500

    def publish(self):
        client = NatsClient(self.port)
        frame = bytes(30_000)
        while not self.is_over:
            for _ in range(20):
                client.publish(b"landtrace.d.h.hist.busy.1.e", frame)
            client.ping()
        client.close()

    def test_what_is_followed_no_longer_may_go_on_coming(self):
        self.is_over = False
        follower = self.start_program(PROGRAM, "follow", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env=dict(self.environment, LANDTRACE_FLEET_OPTIONS=json.dumps({"servers": self.url})))
        self.assertTrue(follower.stdout.read(1))  # it is connected
        publishing = threading.Thread(target=self.publish)
        publishing.start()
        reading = threading.Thread(target=follower.stdout.read)
        reading.start()
        follower.stdin.write("+busy\n-busy\n" * self.TIMES)
        follower.stdin.close()
        self.wait_until(lambda: follower.poll() is not None)
        self.is_over = True
        publishing.join()
        reading.join()
        self.assertEqual(follower.returncode, 0)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
