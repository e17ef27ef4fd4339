"""bpf() with random arguments, by root and by a guest at once: both end, and the domain goes on."""
import os
import shutil
import subprocess
import tempfile
import unittest

import support

SHIM = os.path.join(os.path.dirname(support.LANDTRACE), "..", "lib", "landtrace", os.path.basename(os.environ["SHIM"]))


class Garbage(support.Case):
    CALLS = 4000

    def setUp(self):
        super().setUp()
        # Where everybody can run it.
        self.programs = tempfile.mkdtemp(prefix="landtrace-garbage-")
        os.chmod(self.programs, 0o755)
        self.addCleanup(shutil.rmtree, self.programs, ignore_errors=True)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bpf_garbage.c")
        self.program = os.path.join(self.programs, "bpf_garbage")
        subprocess.run(["cc", "-O1", "-o", self.program, source], check=True)
        self.server = self.serve()

    def start_garbage(self, seed, prefix=()):
        return self.start_program(*prefix, "env", f"LD_PRELOAD={SHIM}", self.program, seed, self.CALLS,
                                  env=dict(self.environment, LANDTRACE_SOCKET=self.socket))

    def test_the_domain_goes_on(self):
        guests = [support.AS_NOBODY] if os.geteuid() == 0 else []
        for seed in (1, 2):
            running = [self.start_garbage(seed * 10 + i, prefix) for i, prefix in enumerate([(), *guests])]
            for process in running:
                out, err = process.communicate(timeout=support.TIMEOUT_S)
                self.assertEqual((process.returncode, out, err), (0, "made some\n", ""))
        self.assertIsNone(self.server.poll(), "the owner has ended")
        # What they had is gone with them.
        self.wait_until(lambda: self.landtrace("bpf", "list") == (0, "", ""))


if __name__ == "__main__":
    unittest.main()
