"""The extension: linked with liblandtrace as pkg-config finds it, or with $LANDTRACE_LIBRARY and $LANDTRACE_INCLUDE.

A wheel that has the library in it takes the archive: LANDTRACE_LIBRARY=.../liblandtrace.a
"""
import os
import shlex
import subprocess

from setuptools import Extension, setup
from wheel.bdist_wheel import bdist_wheel


def pkg_config(option):
    return shlex.split(subprocess.run(["pkg-config", option, "landtrace"], check=True, stdout=subprocess.PIPE,
                                      text=True).stdout)


class StableWheel(bdist_wheel):
    """One wheel for all versions of Python from 3.10 on."""

    def get_tag(self):
        return ("cp310", "abi3", super().get_tag()[2])


if "LANDTRACE_LIBRARY" in os.environ:
    COMPILE = ["-I" + os.environ["LANDTRACE_INCLUDE"]]
    LINK = [os.environ["LANDTRACE_LIBRARY"]]
    LINK += ["-lstdc++", "-pthread"] if LINK[0].endswith(".a") else []
else:
    COMPILE, LINK = pkg_config("--cflags"), pkg_config("--libs")

setup(ext_modules=[Extension("landtrace._landtrace", ["_landtrace.c"], py_limited_api=True, extra_compile_args=COMPILE,
                             extra_link_args=LINK)],
      cmdclass={"bdist_wheel": StableWheel})
