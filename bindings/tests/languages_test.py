"""The packages of other languages: built by Debian's tools, offline; their examples are recorded."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

LANDTRACE, LIBRARY, BUILD = os.environ["LANDTRACE"], os.environ["LIBRARY"], os.environ["BUILD"]
BINDINGS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT_S = 240

SAMPLE = {"small": 200, "negative": -3, "medium": 65535, "large": 1 << 40, "low": -1 << 63, "is_set": 1, "part": 0.5,
          "whole": -2.25, "name": "cut at e", "text": "text", "bytes": [1, 0xfe], "type": -5}
NOTHING = {name: type(value)() for name, value in SAMPLE.items()}
EVENTS = ([("req_done", {"id": number, "route": f"/item/{number}"}) for number in range(3)]
          + [("sample", SAMPLE), ("sample", NOTHING), ("tick", {})])


def tool(name):
    """Debian's, whatever else is in $PATH; else what is there."""
    return shutil.which(name, path="/usr/bin") or shutil.which(name)


class Language:
    """What is the same for each; `programs` are examples, each with the options by which it is recorded."""
    programs = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="landtrace-languages-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "trace.dat")

    def run_to_end(self, *words):
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder, LD_LIBRARY_PATH=os.path.dirname(LIBRARY))
        environment.pop("LANDTRACE_SOCKET", None)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S,
                              env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, options, *command):
        out = self.run_to_end(LANDTRACE, "record", "-o", self.file, *options, "--", *command)
        lines = [json.loads(line) for line in self.run_to_end(LANDTRACE, "report", "--json", self.file).splitlines()]
        os.remove(self.file)
        self.assertFalse([line for line in lines if "lost" in line])
        return out, [(line["event"], line["fields"]) for line in lines]

    def test_every_kind_of_field_is_reported_as_it_was_emitted(self):
        for program, options in self.programs:
            with self.subTest(program):
                self.assertEqual(self.record(options, program, "3"), ("3 of 3 had a listener\n", EVENTS))

    def test_nothing_is_emitted_while_nobody_listens(self):
        for program, options in self.programs:
            with self.subTest(program):
                self.assertEqual(self.run_to_end(program, "3"), "0 of 3 had a listener\n")
                _, events = self.record((*options, "-e", "tick"), program, "3")
                self.assertNotIn("req_done", [name for name, _ in events])

    def test_a_c_programs_event_of_the_same_name_and_fields_is_the_same_event(self):
        for program, options in self.programs:
            with self.subTest(program):
                both = f"{program} 3 && {os.environ['C_PROGRAM']} 3"
                _, events = self.record((*options, "-e", "req_done"), "sh", "-c", both)
                self.assertEqual([fields["id"] for _, fields in events], [0, 1, 2, 0, 1, 2])


class Small(Language):
    """Examples with one event, by C."""
    folder_of_sources = ""

    @classmethod
    def build(cls, name, *options):
        target = os.path.join(BUILD, cls.folder_of_sources)
        os.makedirs(target, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", *options, "-I" + os.environ["INCLUDE"],
                        os.path.join(BINDINGS, cls.folder_of_sources, "events.c"), "-o", os.path.join(target, name),
                        "-L" + os.path.dirname(LIBRARY), "-llandtrace"], check=True, timeout=TIMEOUT_S)
        return target

    def test_every_kind_of_field_is_reported_as_it_was_emitted(self):
        for program, options in self.programs:
            self.assertEqual(self.record(options, *program), ("3 of 3 had a listener\n", EVENTS[:3]))

    def test_nothing_is_emitted_while_nobody_listens(self):
        for program, _ in self.programs:
            self.assertEqual(self.run_to_end(*program), "0 of 3 had a listener\n")

    def test_a_c_programs_event_of_the_same_name_and_fields_is_the_same_event(self):
        for program, options in self.programs:
            both = f"{' '.join(program)} && {os.environ['C_PROGRAM']} 3"
            _, events = self.record((*options, "-e", "req_done"), "sh", "-c", both)
            self.assertEqual([fields["id"] for _, fields in events], [0, 1, 2, 0, 1, 2])


class Java(Small, unittest.TestCase):
    needs = ("javac", "java")
    folder_of_sources = "java"

    @classmethod
    def setUpClass(cls):
        java = os.path.dirname(os.path.dirname(os.path.realpath(tool("javac"))))
        include = os.path.join(java, "include")
        target = cls.build("libevents.so", "-I" + include, "-I" + os.path.join(include, "linux"))
        subprocess.run([tool("javac"), "-d", target, os.path.join(BINDINGS, "java", "Events.java")], check=True,
                       timeout=TIMEOUT_S)
        cls.programs = (((tool("java"), "-Djava.library.path=" + target, "-cp", target, "Events"), ()),)


class Node(Small, unittest.TestCase):
    needs = ("node",)
    folder_of_sources = "node"

    @classmethod
    def setUpClass(cls):
        node = os.path.realpath(tool("node"))
        include = os.path.join(os.path.dirname(os.path.dirname(node)), "include", "node")
        if not os.path.exists(os.path.join(include, "node_api.h")):
            raise unittest.SkipTest("there are no headers of Node (Debian's package libnode-dev)")
        os.environ["EVENTS_ADDON"] = os.path.join(cls.build("events.node", "-I" + include), "events.node")
        cls.programs = (((node, os.path.join(BINDINGS, "node", "example.js")), ()),)


class Rust(Language, unittest.TestCase):
    needs = ("cargo", "rustc")

    @classmethod
    def setUpClass(cls):
        target = os.path.join(BUILD, "rust")
        subprocess.run([tool("cargo"), "build", "--frozen", "--quiet", "--release", "--examples", "--target-dir", target],
                       cwd=os.path.join(BINDINGS, "rust"), check=True, timeout=TIMEOUT_S,
                       env=dict(os.environ, RUSTC=tool("rustc"), CARGO_HOME=os.path.join(target, "home"),
                                LANDTRACE_LIBRARY_DIR=os.path.dirname(LIBRARY)))
        cls.programs = ((os.path.join(target, "release", "examples", "requests"), ()),)


class Go(Language, unittest.TestCase):
    needs = ("go",)

    @classmethod
    def setUpClass(cls):
        target = os.path.join(BUILD, "go")
        os.makedirs(target, exist_ok=True)
        with open(os.path.join(target, "landtrace.pc"), "w", encoding="utf-8") as file:
            file.write("Name: landtrace\nDescription: the tree's\nVersion: 0\n"
                       f"Cflags: -I{os.environ['INCLUDE']}\nLibs: -L{os.path.dirname(LIBRARY)} -llandtrace\n")
        environment = dict(os.environ, GOCACHE=os.path.join(target, "cache"), GOPATH=os.path.join(target, "path"),
                           GOFLAGS="-mod=mod", GOPROXY="off", PKG_CONFIG_PATH=target)
        by_files, by_library = os.path.join(target, "by_files"), os.path.join(target, "by_library")
        for program, cgo, tags in ((by_files, "0", ""), (by_library, "1", "landtrace_cgo")):
            subprocess.run([tool("go"), "build", "-tags", tags, "-o", program, "./example"], check=True,
                           cwd=os.path.join(BINDINGS, "go"), timeout=TIMEOUT_S, env=dict(environment, CGO_ENABLED=cgo))
        cls.programs = ((by_library, ()),)
        # The files need a mount: /dev/fuse, and a mount namespace.
        tried = subprocess.run([LANDTRACE, "run", "--tracefs", "--", "true"], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        if tried.returncode == 0:
            cls.programs += ((by_files, ("--tracefs",)),)
        else:
            print("without the files of a mount:", tried.stderr)


if __name__ == "__main__":
    missing = [name for name in globals()[sys.argv[1]].needs if tool(name) is None]
    if missing:
        print(f"SKIPPED: there is no {' and no '.join(missing)} (Debian's packages rustc, cargo, golang-go, nodejs, default-jdk-headless)")
        sys.exit(0)
    unittest.main()
