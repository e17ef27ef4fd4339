"""The units for systemd, as they are installed."""
import os
import re
import socket
import subprocess
import unittest

import support
from support import LANDTRACED

BUILD = os.environ["BUILD"]
CMAKE = os.environ["CMAKE"]


def install(prefix):
    subprocess.run([CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "units"], check=True,
                   stdout=subprocess.DEVNULL, timeout=support.TIMEOUT_S)


class Units(support.Case):
    def install_with_program(self):
        """What the units start is there: the program as it is built."""
        prefix = os.path.join(self.folder, "prefix")
        install(prefix)
        os.makedirs(os.path.join(prefix, "bin"))
        os.symlink(LANDTRACED, os.path.join(prefix, "bin", "landtraced"))
        return prefix

    def assert_sound(self, kind, *options):
        folder = os.path.join(self.install_with_program(), "lib/systemd", kind)
        for unit in "landtraced.service", "landtraced.socket":
            done = subprocess.run(["systemd-analyze", *options, "verify", "--man=no", os.path.join(folder, unit)],
                                  env=dict(self.environment, SYSTEMD_UNIT_PATH=folder + ":"),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=support.TIMEOUT_S)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    @support.needs("systemd-analyze")
    def test_the_systems(self):
        self.assert_sound("system")

    @support.needs("systemd-analyze")
    def test_a_users(self):
        self.assert_sound("user", "--user")

    def test_name_the_program_below_the_prefix_of_the_installation(self):
        for prefix in "one", "two":
            prefix = os.path.join(self.folder, prefix)
            install(prefix)
            for kind, end in ("system", " --system\n"), ("user", "\n"):
                text = support.read_text(os.path.join(prefix, "lib/systemd", kind, "landtraced.service"))
                self.assertIn("\nExecStart=%s/bin/landtraced%s" % (prefix, end), text)


class Profiles(support.Case):
    """The profiles for AppArmor, as the package has them."""
    folder_of_profiles = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "apparmor")

    def test_a_domain_may_be_wherever_it_is_looked_for(self):
        for profile in "usr.bin.landtraced", "abstractions/landtrace":
            text = support.read_text(os.path.join(self.folder_of_profiles, profile))
            for folder in "/run/user/*/landtrace", "/{tmp,var/tmp,dev/shm}/landtrace-*", "@{HOME}/.landtrace":
                self.assertRegex(text, r"owner %s/\*\* rwk?,\n" % re.escape(folder), profile)

    @support.needs("apparmor_parser")
    def test_are_read_by_the_parser(self):
        traced = os.path.join(self.folder, "traced")
        with open(traced, "w", encoding="ascii") as profile:
            profile.write("#include <tunables/global>\nprofile traced /usr/bin/traced {\n"
                          "  #include <abstractions/base>\n  #include <abstractions/landtrace>\n}\n")
        for profile in os.path.join(self.folder_of_profiles, "usr.bin.landtraced"), traced:
            done = subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", "--Include", self.folder_of_profiles,
                                   "--Include", "/etc/apparmor.d", profile], capture_output=True, text=True,
                                  timeout=support.TIMEOUT_S)
            self.assertEqual(done.returncode, 0, done.stderr)


class Activation(support.Case):
    def given_socket(self, path):
        """A program that has a listening socket at 3, as the service manager starts it."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind(path)
        listener.listen()
        script = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ.update(LISTEN_PID=str(os.getpid()), " \
                 "LISTEN_FDS='1'); os.execv(sys.argv[2], sys.argv[2:])"
        return listener, lambda *words: self.start_program("python3", "-c", script, listener.fileno(), LANDTRACED, *words,
                                                           pass_fds=[listener.fileno()], close_fds=True)

    def end(self, daemon):
        daemon.terminate()
        said = daemon.communicate(timeout=support.TIMEOUT_S)[1]
        return daemon.returncode, said

    def test_a_client_that_came_before_the_daemon_is_answered_and_the_socket_stays(self):
        path = os.path.join(self.folder, "domain.sock")
        _, start = self.given_socket(path)
        environment = dict(self.environment, LANDTRACE_SOCKET=path)
        client = self.start("ls", "events", env=environment)
        for _ in range(2):
            daemon = start("--socket", path)
            if client:
                out = client.communicate(timeout=support.TIMEOUT_S)[0]
                self.assertEqual(client.returncode, 0)
                self.assertIn("user_events", out)
                client = None
            else:
                done = subprocess.run([support.LANDTRACE, "ls", "events"], env=environment, timeout=support.TIMEOUT_S,
                                      stdout=subprocess.PIPE, text=True, check=True)
                self.assertIn("user_events", done.stdout)
            self.assertEqual(self.end(daemon), (0, ""))
            self.assertTrue(os.path.exists(path))

    def test_a_socket_of_another_place_is_refused(self):
        _, start = self.given_socket(os.path.join(self.folder, "another"))
        path = os.path.join(self.folder, "domain.sock")
        daemon = start("--socket", path)
        said = daemon.communicate(timeout=support.TIMEOUT_S)[1]
        self.assertEqual(daemon.returncode, 1)
        self.assertIn("LISTEN_FDS: none of them is a listening SOCK_SEQPACKET socket at " + path, said)


if __name__ == "__main__":
    unittest.main()
