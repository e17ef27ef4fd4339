"""Probes by names, types and lines of the source: programs are compiled here, with and without optimisation."""
import json
import os
import shutil
import subprocess
import unittest

import support
from support import LANDTRACE, needs_root, works

LIBRARIES = os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace")
shutil.copy(os.environ["DWARF"], LIBRARIES)

SOURCE = r"""
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
struct request { unsigned id; const char *route; int status; unsigned mode : 3, kind : 5; char name[16]; short s;
                 int codes[4]; struct request *next; double ratio; };
struct wide { long a[6]; };
int counter = 5;
static inline __attribute__((always_inline)) int clamp(int v) {
  int r = v > 100 ? 100 : v;
  return r + puts("clamped");
}
__attribute__((noinline)) int handle(int id, struct request *req, unsigned long size) {
  int local = id * 2 + counter;
  req->status += local;
  puts("handled");
  counter += local > 1000 || size == 1;
  return local - 1000;
}
__attribute__((noinline)) bool many(struct wide w, double scale, char c, short s, long l3, long l4, long l5, long l6,
                                    long l7) {
  puts("many");
  return w.a[1] * scale + c + s + l3 + l4 + l5 + l6 + l7 > 0;
}
__attribute__((noinline)) struct wide make(int n) { struct wide w = {{n, 7}}; puts("made"); return w; }
__attribute__((noinline)) const char *called(int n) { puts("called"); return n % 2 ? "odd" : "even"; }
__attribute__((noinline)) void nothing(double d) { puts("nothing"); counter += d; }
int main(void) {
  struct request other = {.id = 99, .route = "/other"};
  struct request r = {.next = &other, .s = -3, .mode = 5, .kind = 17, .codes = {1, -2, 3, 4}};
  for (int i = 0; i < 3; ++i) {
    r.id = i; r.route = i % 2 ? "/odd" : "/even"; r.status = -i; snprintf(r.name, 16, "n%d", i);
    handle(i - 1, &r, 4096 + i);
    many(make(i), 1.5, 'q', -7, 3, 4, 5, 6, 1ll << 40);
    called(i); nothing(0); clamp(counter + i);
  }
  return clamp(7) & 0;
}
"""
# gcc makes work.constprop.0 of it.
CHANGED = r"""
#include <stdio.h>
static __attribute__((noinline)) int work(int n, int mode) {
  int sum = puts("worked");
  for (int i = 0; i < n; ++i) sum += printf("%d\n", i * mode);
  return sum;
}
int main(int argc, char **argv) { return work(argc, 3) + work(argc + 1, 3) < 0; }
"""
LINE_OF = {text: number for number, text in enumerate(SOURCE.splitlines(), 1)}
AT_RETURN = next(number for text, number in LINE_OF.items() if "counter += local" in text)
IN_CLAMP = next(number for text, number in LINE_OF.items() if "return r + puts" in text)

# Of an unrolled loop debugging information knows one copy.
BUILDS = [f"{compiler} {options} -fno-unroll-loops" for compiler in ("gcc", "clang") if works(compiler, "--version")
          for options in ("-gdwarf-4 -O0", "-gdwarf-5 -O0", "-gdwarf-4 -O2", "-gdwarf-5 -O2")]


class Dwarf(support.Case):
    def compiled(self, build, source=SOURCE, name="app.c", program="app"):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([*build.split(), name, "-o", program], cwd=self.folder, check=True, capture_output=True)
        return os.path.join(self.folder, program)

    def fields(self, program, *probes):
        """Of each event, without the addresses."""
        words = [word for probe in probes for word in ("-p", probe)]
        status, _, err = self.landtrace("record", "-o", self.file, *words, "--", program)
        self.assertEqual(status, 0, err)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        return [{name: value for name, value in event["fields"].items() if not name.startswith("__probe")}
                for event in events]

    def refused(self, program, probe):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", probe, "--", program)
        self.assertEqual(status, 1, err)
        return err


class Values(Dwarf):
    """The same values whatever the program was compiled with."""

    def each_build(self):
        for build in BUILDS:
            yield self.compiled(build), "-O0" in build

    def test_parameters_and_members(self):
        for program, _ in self.each_build():
            found = self.fields(program, "handle id size req->route req->status req->name req->next->id req->codes "
                                         "req->codes[1] req->kind short=req->s")
            self.assertEqual(found, [
                {"id": i - 1, "size": 4096 + i, "route": ["/even", "/odd"][i % 2], "status": -i, "name": f"n{i}",
                 "req_next_id": 99, "codes": [1, -2, 3, 4], "req_codes_1": -2, "kind": 17, "short": -3}
                for i in range(3)])

    def test_returns_have_their_type_and_know_the_call(self):
        for program, _ in self.each_build():
            found = self.fields(program, "handle%return id req->status ret=$retval")
            self.assertEqual([event["id"] for event in found], [-1, 0, 1])
            self.assertEqual([event["status"] for event in found], [3, 4, 5])
            self.assertEqual([event["ret"] for event in found], [-997, -995, -993])
            self.assertEqual(self.fields(program, "called%return text=$retval:string n"),
                             [{"text": ["even", "odd"][i % 2], "n": i} for i in range(3)])
            self.assertEqual(self.fields(program, "make%return $retval->a[1] n"),
                             [{"a": 7, "n": i} for i in range(3)])

    def test_what_is_counted_by_may_be_a_parameter(self):
        program = self.compiled(BUILDS[-1])
        for words in (["hist", "app:handle", "--keys", "id,size"], ["latency", "--function", "app:handle", "--by", "id,size"]):
            status, out, err = self.landtrace(*words, "--json", "--", program)
            self.assertEqual(status, 0, err)
            last = [line for line in out.splitlines() if line.startswith("{")][-1]
            rows = [group["key"] for group in json.loads(last)["groups"]]
            self.assertEqual(sorted((row["id"], row["size"]) for row in rows), [(-1, 4096), (0, 4097), (1, 4098)])
        status, _, err = self.landtrace("hist", "app:handle", "--keys", "sice", "--", program)
        self.assertEqual(status, 1)
        self.assert_one_line(err, "--keys: 'sice' is no argument of the probe, and not known as a parameter: ",
                             "there are: id, req, size", "'app:handle sice=$arg1'")

    def test_all_parameters_but_those_that_cannot_be_fetched(self):
        for program, _ in self.each_build():
            self.assertEqual(self.fields(program, "many $params w.a[1]"),
                             [{"c": ord("q"), "s": -7, "l3": 3, "l4": 4, "l5": 5, "l6": 6, "l7": 1 << 40, "a": 7}] * 3)

    def test_lines_with_their_variables(self):
        for program, is_plain in self.each_build():
            names = "id local counter" if is_plain else "counter"
            found = self.fields(program, f"app:app.c:{AT_RETURN} {names}")
            self.assertEqual([event["counter"] for event in found], [5] * 3)
            if is_plain:
                self.assertEqual([(event["id"], event["local"]) for event in found], [(-1, 3), (0, 5), (1, 7)])

    def test_a_line_of_an_inlined_function_is_at_all_its_places(self):
        for program, is_plain in self.each_build():
            found = self.fields(program, f"app.c:{IN_CLAMP}" + (" v" if is_plain else ""))
            self.assertEqual(len(found), 4)
            if is_plain:
                self.assertEqual([event["v"] for event in found], [5, 6, 7, 7])

    def test_functions_are_listed_with_their_parameters(self):
        for program, _ in self.each_build():
            status, out, err = self.landtrace("functions", program, "handle", "--args")
            self.assertEqual(status, 0, err)
            line = next(number for text, number in LINE_OF.items() if "int handle(" in text)
            self.assertRegex(out, r"handle\(int id, struct request \*req, (long )?unsigned (int|long|long int) size\)"
                                  rf" -> int  app\.c:{line}\n")
            one = json.loads(self.landtrace("functions", program, "many", "--args", "--json")[1])
            self.assertEqual(one["parameters"][0]["type"], "struct wide")
            self.assertIn("name one of its members: a", one["parameters"][0]["refused"])
            self.assertIn("vector register", one["parameters"][1]["refused"])
            self.assertEqual(one["parameters"][2], {"name": "c", "type": "char"})


class Refusals(Dwarf):
    def test_say_what_was_wrong_and_where(self):
        program = self.compiled("gcc -g -O2")
        err = self.refused(program, "handle id req->statu")
        self.assertIn("req has no 'statu'; it has id, route, status, mode, kind, name, s, codes, next, ratio\n", err)
        self.assertIn("\n  handle id req->statu\n            ^", err)
        self.assertIn("no parameter or variable here; there are: id, req, size", self.refused(program, "handle ix"))
        self.assertIn("for which probes have no type: :x64 shows its bits", self.refused(program, "handle req->ratio"))
        self.assertIn("vector register", self.refused(program, "nothing d"))
        self.assertIn("returns void", self.refused(program, "nothing%return $retval"))
        self.assertIn("'clamp' is inlined at 2 places", self.refused(program, "clamp v"))
        self.assertIn("nearest lines that have some: ", self.refused(program, "app.c:3"))
        self.assertIn("no source file 'ap.c' ", self.refused(program, "ap.c:3"))
        self.assertIn("it has app.c", self.refused(program, "ap.c:3"))

    def test_a_function_of_which_a_changed_copy_is_left(self):
        for build in ("gcc -O2", "gcc -O2 -g"):
            program = self.compiled(build, CHANGED)
            err = self.refused(program, "work")
            self.assertIn("there is no function 'work' in ", err)
            self.assertIn("did you mean work.constprop.0?", err)
            self.assertIn("did you mean work.constprop.0?", self.landtrace("functions", program, "work")[2])
            self.assertEqual(len(self.fields(program, "work.constprop.0")), 2)

    def test_without_debugging_information(self):
        program = self.compiled("gcc -O2")
        self.assertIn("app has no debugging information: compile it with -g", self.refused(program, "handle id"))
        self.assertIn("has no debugging information", self.refused(program, "app.c:12"))
        # What needs none works, and looks as it always did.
        self.assertEqual(self.fields(program, "handle%return $retval n=$arg1:s32")[1]["n"], 0)
        self.assertRegex(self.landtrace("report", self.file)[1], r"arg1=0x[0-9a-f]+ n=0\n")
        self.assertIn("has no debugging information", self.landtrace("functions", program, "--args")[2])

    def test_a_damaged_file_ends_nothing(self):
        program = self.compiled("gcc -g -O2")
        with open(program, "r+b") as file:
            whole = file.read()
            sections = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True, text=True).stdout
            begin = min(int(line.split("]")[1].split()[3], 16) for line in sections.splitlines() if ".debug_" in line)
            file.seek(begin)
            file.write(bytes((byte * 7 + at * 13) & 0xff for at, byte in enumerate(whole[begin:begin + 2048])))
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "handle id", "--", program)
        self.assertIn(status, (0, 1), err)
        self.assertNotIn("Traceback", err)
        self.assertEqual(self.fields(program, "handle n=$arg1:s32")[0]["n"], -1)


class Others(Dwarf):
    @unittest.skipUnless(works("rustc", "--version"), "no rustc")
    def test_rust(self):
        source = ("pub struct Request { pub id: u32, pub status: i64 }\n"
                  "#[no_mangle] #[inline(never)] pub fn handle(id: i32, req: &Request, name: &str) -> i32 {\n"
                  "    println!(\"{} {}\", name, req.id); id - 5 }\n"
                  "fn main() { for i in 0..2 { handle(i - 1, &Request { id: 7, status: -9 }, \"abc\"); } }\n")
        for options in ("-C opt-level=0", "-C opt-level=2"):
            program = self.compiled(f"rustc -g {options}", source, "app.rs")
            self.assertEqual(self.fields(program, "handle id req.id req.status name.length"),
                             [{"id": i - 1, "req_id": 7, "status": -9, "length": 3} for i in range(2)])
            self.assertEqual([event["ret"] for event in self.fields(program, "handle%return ret=$retval")], [-6, -5])

    @unittest.skipUnless(works("g++", "--version"), "no g++")
    def test_cpp(self):
        source = ("#include <string>\n#include <cstdio>\n"
                  "namespace shop { struct Server { int port = 80; int run(const std::string& name, int n);\n"
                  "  void over(int); void over(long); }; \n"
                  "int Server::run(const std::string& name, int n) { puts(name.c_str()); return n - 9; }\n"
                  "void Server::over(int) { puts(\"i\"); }\nvoid Server::over(long) { puts(\"l\"); } }\n"
                  "int main() { shop::Server s; s.run(\"abc\", 4); s.over(1); s.over(2l); }\n")
        for options in ("-O0", "-O2"):
            program = self.compiled(f"g++ -g {options}", source, "app.cc")
            self.assertEqual(self.fields(program, "app:shop::Server::run this->port name._M_dataplus._M_p n",
                                         "app:shop::Server::run%return $retval n"),
                             [{"port": 80, "_M_p": "abc", "n": 4}, {"retval": -5, "n": 4}])

    def test_debugging_information_that_is_apart(self):
        program = self.compiled("gcc -g -O2")
        for command in ("objcopy --only-keep-debug app app.debug", "strip app", "objcopy --add-gnu-debuglink=app.debug app"):
            subprocess.run(command.split(), cwd=self.folder, check=True)
        offset = json.loads(self.landtrace("functions", program, "--args", "--json")[1].splitlines()[0])["offset"]
        self.assertGreater(offset, 0)
        self.assertEqual(len(self.fields(program, f"app:app.c:{AT_RETURN}")), 3)

    @needs_root
    def test_a_file_that_the_asker_cannot_read(self):
        program = self.compiled("gcc -g -O2")
        os.chmod(program, 0o711)
        os.chmod(self.folder, 0o777)
        process = self.start_program(*support.AS_NOBODY, LANDTRACE, "record", "-o", "/dev/null",
                                     "-p", f"{program}:handle id", "--", program)
        _, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("ermission denied", err)


if __name__ == "__main__":
    support.main_with_probes()
