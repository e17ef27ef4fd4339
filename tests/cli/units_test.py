"""The units for systemd."""
import os
import re
import subprocess
import unittest

import support
from support import LANDTRACED

UNITS = os.environ["UNITS"]


@support.needs("systemd-analyze")
class Units(support.Case):
    def assert_sound(self, folder, *options):
        """What the unit says is understood, and what it starts is there: for that, the program as it is built."""
        text = support.read_text(os.path.join(UNITS, folder, "landtraced.service"))
        text, replaced = re.subn(r"^ExecStart=\S*/landtraced\b", "ExecStart=" + LANDTRACED, text, flags=re.MULTILINE)
        self.assertEqual(replaced, 1)
        unit = os.path.join(self.folder, "landtraced.service")
        with open(unit, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(["systemd-analyze", *options, "verify", "--man=no", unit], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_systems(self):
        self.assert_sound("systemd")

    def test_a_users(self):
        self.assert_sound("systemd-user", "--user")


if __name__ == "__main__":
    unittest.main()
