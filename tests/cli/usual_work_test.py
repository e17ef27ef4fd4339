"""Programs that people use do their usual work as before while functions of their C library are probed, at entry and at
return: the same output, the same status, nothing more on stderr.
"""
import os
import shutil
import subprocess
import unittest

import support

PROBES = ("libc.so.6:mem*", "libc.so.6:str*", "libc.so.6:*alloc", "libc.so.6:*alloc%return", "libc.so.6:free",
          "libc.so.6:*open*", "libc.so.6:read%return", "libc.so.6:write", "libc.so.6:pthread_*", "libc.so.6:sig*",
          "libc.so.6:*fork", "libc.so.6:wait*%return", "libc.so.6:poll", "libc.so.6:*printf", "libc.so.6:qsort")

PYTHON = r"""
import collections, hashlib, json, re, subprocess, sys, threading
words = re.findall(r"\w+", open(json.__file__).read())
print(collections.Counter(words).most_common(5), hashlib.sha256(" ".join(words).encode()).hexdigest())
print(json.loads(json.dumps({str(i): [i, i / 7, None] for i in range(2000)}))["1999"])
sums = []
threads = [threading.Thread(target=lambda n=n: sums.append(sum(i * n for i in range(20000)))) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(sums), subprocess.run(["sh", "-c", "cat | tr a-z A-Z"], input=b"said by a child", capture_output=True))
try: {}["nothing"]
except KeyError as error: print(repr(error))
sys.exit(3)
"""
BASH = r"""
set -e
declare -A count
while read -r word; do count[$word]=$(( ${count[$word]:-0} + 1 )); done < <(printf '%s\n' a b a c b a)
for word in $(printf '%s\n' "${!count[@]}" | sort); do echo "$word ${count[$word]}"; done
trap 'echo caught; exit 4' USR1
f() { local n=$1; (( n == 0 )) && return; echo -n "$n "; f $((n - 1)); }
f 20; echo
seq 300 | sort -r | sed -n '7p;$p' | tr '\n' ' '
(sleep 0; exit 2) || echo "of a child: $?"
kill -USR1 $$
"""
GIT = r"""
set -e
export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
rm -rf tree; git init -q -b main tree; cd tree
for i in 1 2 3 4 5; do seq $((i * 100)) >f$i; git add .; git commit -q -m "commit $i"; done
git checkout -q -b side HEAD~2; echo x >>f1; git commit -q -a -m side; git merge -q -m merged main
git log --format='%h %s' --graph; git diff --stat HEAD~1; git gc -q; git fsck; git status --short; git grep -c 99
"""
SQLITE = r"""
create table t(id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
insert into t select i, printf('name%05d', i * 7919 % 5000), i / 3.0 from n;
create index by_name on t(name);
select count(*), sum(value), min(name), max(name) from t where name like 'name04%';
select id % 7, group_concat(name) from (select * from t order by name limit 30) group by 1;
select nothing from t;
"""
PERL = r"""
my %count; $count{$_ % 7} += $_ for 1 .. 20000;
print join(",", map { "$_=$count{$_}" } sort keys %count), "\n";
my $text = join " ", map { sprintf "%03d", $_ } 1 .. 500; my @found = $text =~ /(\d)\1/g; print scalar(@found), "\n";
print sort { $b <=> $a } map { "$_\n" } (3, 11, 2); print `echo from a child`;
eval { die "caught\n" }; print $@; exit 5;
"""
NODE = r"""
const { execFileSync } = require("child_process"); const { createHash } = require("crypto");
const text = JSON.stringify(Array.from({ length: 20000 }, (_, i) => ({ i, t: "x".repeat(i % 9) })));
console.log(createHash("sha256").update(text).digest("hex"), JSON.parse(text).length);
console.log(execFileSync("sh", ["-c", "echo of a child"]).toString());
Promise.all([1, 2, 3].map(n => new Promise(r => setTimeout(() => r(n * n), n)))).then(all => {
  console.log(all); try { null.x } catch (e) { console.log(e.name) } process.exit(6); });
"""
JAVA = r"""
import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
public class Work {
  public static void main(String[] words) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    List<Future<Long>> sums = new ArrayList<>();
    for (int n = 1; n <= 8; ++n) {
      final int m = n;
      sums.add(threads.submit(() -> LongStream.range(0, 50000).map(i -> i * m).sum()));
    }
    for (Future<Long> sum : sums) System.out.println(sum.get());
    threads.shutdown();
    Map<Integer, Long> count = IntStream.range(0, 100000).boxed().collect(
        Collectors.groupingBy(i -> i % 5, TreeMap::new, Collectors.counting()));
    Process child = new ProcessBuilder("echo", "of a child").start();
    System.out.println(count + " " + new String(child.getInputStream().readAllBytes()));
    try { Object o = null; o.hashCode(); } catch (NullPointerException e) { System.out.println("caught"); }
    System.gc(); System.exit(7);
  }
}
"""


class UsualWork(support.Case):
    def run_words(self, words, source):
        return subprocess.run(words, input=source, env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, timeout=support.TIMEOUT_S)

    def assert_unchanged(self, words, source=""):
        program = shutil.which(words[0])
        if program is None:
            self.skipTest(f"there is no {words[0]} here")
        words = [program, *words[1:]]
        wanted = self.run_words(words, source)
        self.assertTrue(wanted.stdout or wanted.stderr)
        probes = [word for probe in PROBES for word in ("-p", probe)]
        done = self.run_words([support.LANDTRACE, "record", "-o", self.file, *probes, "--", *words], source)
        self.assertEqual((done.stdout, done.returncode), (wanted.stdout, wanted.returncode), done.stderr)
        said = [line for line in done.stderr.splitlines() if not line.startswith("landtrace: ")]
        self.assertEqual(said, wanted.stderr.splitlines())
        _, out, _ = self.landtrace("report", "--count", self.file)
        self.assertGreater(len(out.splitlines()), 10, "functions that were called")

    def test_python(self):
        self.assert_unchanged(["python3", "-"], PYTHON)

    def test_bash(self):
        self.assert_unchanged(["bash", "-s"], BASH)

    @unittest.skipUnless(shutil.which("git"), "there is no git here")
    def test_git(self):
        self.assert_unchanged(["sh", "-s"], GIT)

    def test_sqlite(self):
        self.assert_unchanged(["sqlite3", ":memory:"], SQLITE)

    def test_perl(self):
        self.assert_unchanged(["perl", "-"], PERL)

    def test_node(self):
        self.assert_unchanged(["node", "-"], NODE)

    def test_java(self):
        if shutil.which("javac") is None:
            self.skipTest("there is no javac here")
        with open(os.path.join(self.folder, "Work.java"), "w", encoding="utf-8") as file:
            file.write(JAVA)
        self.assert_unchanged(["java", "Work.java"])


if __name__ == "__main__":
    support.main_with_probes()
