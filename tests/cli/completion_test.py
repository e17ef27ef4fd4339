"""What shells complete behind `landtrace`, as it is installed."""
import os
import shutil
import subprocess
import unittest

import support
from support import LANDTRACE

BUILD = os.environ["BUILD"]
CMAKE = os.environ["CMAKE"]


class Completion(support.Case):
    def setUp(self):
        super().setUp()
        self.prefix = os.path.join(self.folder, "prefix")
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", self.prefix, "--component", "completions"], check=True,
                       stdout=subprocess.DEVNULL, timeout=support.TIMEOUT_S)
        os.makedirs(os.path.join(self.prefix, "bin"))
        self.program = os.path.join(self.prefix, "bin", "landtrace")
        os.symlink(LANDTRACE, self.program)
        self.environment["PATH"] = os.path.dirname(self.program) + ":" + self.environment["PATH"]

    def output(self, *words):
        return subprocess.run(words, env=self.environment, check=True, stdout=subprocess.PIPE, text=True, cwd=self.folder,
                              timeout=support.TIMEOUT_S).stdout

    def complete(self, *words):
        helper = os.path.join(self.prefix, "share/landtrace/complete")
        return self.output(helper, *words).splitlines()

    def in_shell(self, shell, word_breaks=" "):
        """How that shell is asked to complete words: a function of a line that gives candidates."""
        if shell == "bash":
            script = f""". /usr/share/bash-completion/bash_completion; . "$1/share/bash-completion/completions/landtrace"
                COMP_WORDS=("${{@:2}}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE="${{COMP_WORDS[*]}}"
                COMP_LINE="${{COMP_LINE// : /:}}"; COMP_POINT=${{#COMP_LINE}}; COMP_WORDBREAKS="{word_breaks}"
                compopt() {{ :; }}; _landtrace; printf '%s\\n' "${{COMPREPLY[@]}}" """
            return lambda *words: self.output("bash", "-c", script, "bash", self.prefix, "landtrace", *words).splitlines()
        if shell == "zsh":
            # compadd and _files are the line editor's.
            script = """_landtrace() { eval "$(<$1/share/zsh/site-functions/_landtrace)" }
                words=("${@:2}"); CURRENT=${#words}
                compadd() { print -rl -- "${(@P)@[-1]}" }; _files() { print -r "(files)" }; _landtrace $1"""
            return lambda *words: self.output("zsh", "-f", "-c", script, "zsh", self.prefix, "landtrace", *words).splitlines()
        folder = os.path.join(self.prefix, "share/fish/vendor_completions.d/landtrace.fish")
        return lambda *words: self.output("fish", "--no-config", "-c", f"source {folder}; complete -C $argv[1]",
                                          " ".join(["landtrace", *words])).splitlines()

    def serve_events(self):
        """An event that stays."""
        self.serve()
        status, _, err = self.landtrace("write", "dynamic_events", "u:kept_event u32 id;char[8] kind")
        self.assertEqual(status, 0, err)

    def test_commands_and_their_options_are_those_of_the_help(self):
        self.assertLess({"record", "report", "hist", "doctor"}, set(self.complete("")))
        self.assertLess({"--keys", "--vals", "-p", "--probe"}, set(self.complete("hist", "--")))
        self.assertNotIn("--keys", self.complete("report", "--"))

    def test_events_and_fields_are_those_of_the_running_domain(self):
        self.assertEqual(self.complete("record", "-e", ""), [])
        self.serve_events()
        self.assertEqual(self.complete("record", "-e", ""), ["user_events:kept_event"])
        self.assertEqual(self.complete("hist", ""), ["user_events:kept_event"])
        self.assertEqual(self.complete("hist", "kept_event", "--keys", ""), ["common_pid", "id", "kind"])
        self.assertEqual(self.complete("hist", "user_events:kept_event", "--keys", "id,k"),
                         ["id,common_pid", "id,id", "id,kind"])
        self.assertEqual(self.complete("hist", "another", "--keys", ""), [])
        # What is no name is no script of sed either.
        for words in (["-e", "kept_event/e touch evaluated #"], [r"kept_event\|/e touch evaluated #"]):
            self.assertEqual(self.complete("hist", *words, "--keys", ""), [])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "evaluated")))

    def test_functions_are_those_of_the_object(self):
        found = self.complete("record", "-p", "libc.so.6:mallo")
        self.assertIn("libc.so.6:malloc", found)
        self.assertTrue(all(name.startswith("libc.so.6:mallo") for name in found), found)
        self.assertIn("libc.so.6:", self.complete("record", "-p", ""))
        self.assertEqual(self.complete("record", "-p", "no such object:f"), [])
        self.assertIn("libc.so.6:memcpy", self.complete("record", "-p", "libc.so.6:memcp"))  # chosen when it is loaded

    def test_the_words_of_the_program_that_is_run_are_left_to_the_shell(self):
        self.assertEqual(self.complete("record", "--", "ls", "--"), [])

    @unittest.skipUnless(os.path.exists("/usr/share/bash-completion/bash_completion"), "bash-completion is not installed")
    def test_bash(self):
        complete = self.in_shell("bash")
        self.assertEqual(complete("top-f"), ["top-functions"])
        self.serve_events()
        self.assertEqual(complete("record", "-e", "user_events:k"), ["user_events:kept_event"])
        self.assertEqual(complete("hist", "kept_event", "--keys", "k"), ["kind"])

    @unittest.skipUnless(os.path.exists("/usr/share/bash-completion/bash_completion"), "bash-completion is not installed")
    def test_bash_reads_a_functions_name_as_it_is(self):
        shutil.copy(os.environ["ODD_NAMES"], os.path.join(self.folder, "odd.so"))
        odd = ["odd.so:" + name for name in
               ("odd_$(touch${IFS}evaluated)", "odd_'quoted'", "odd_[a-z]*", "odd_`touch${IFS}evaluated`")]
        complete = self.in_shell("bash")
        # What is typed, and the candidate as the shell reads it then: behind an opened quote it closes that.
        for opened in "", "'", '"':
            found = complete("record", "-p", opened + "odd.so:odd_")
            self.assertEqual(self.output("bash", "-c", f"printf '%s\\n' {' '.join(opened + each + opened for each in found)}"),
                             "\n".join(odd) + "\n", found)
        self.assertEqual(complete("record", "-p", "odd.so:odd_\\$\\("), [r"odd.so:odd_\$\(touch\$\{IFS\}evaluated\)"])
        self.assertEqual(complete("record", "-p", "odd.so:_Z"),
                         [r"odd.so:_ZN4core3ptr10drop\$LT\$T\$GT\$17h0123456789abcdefE"])
        # Where colons part words, as they do by default, the last part alone is completed.
        complete = self.in_shell("bash", " :")
        self.assertEqual(complete("record", "-p", "odd.so", ":", "odd_\\["), [r"odd_\[a-z\]\*"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "evaluated")))

    @support.needs("fish")
    def test_fish(self):
        complete = self.in_shell("fish")
        self.assertEqual(complete("top-f"), ["top-functions"])
        self.serve_events()
        self.assertEqual(complete("hist", "kept_event", "--keys", "k"), ["kind"])
        shutil.copy(os.environ["ODD_NAMES"], os.path.join(self.folder, "odd.so"))
        self.assertIn("odd.so:odd_$(touch${IFS}evaluated)", complete("record", "-p", "odd.so:odd_"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "evaluated")))

    @support.needs("zsh")
    def test_zsh(self):
        complete = self.in_shell("zsh")
        self.assertIn("top-functions", complete("top-f"))  # the editor takes those that begin so
        self.assertEqual(complete("report", ""), ["(files)"])
        self.serve_events()
        self.assertIn("kind", complete("hist", "kept_event", "--keys", "k"))
        shutil.copy(os.environ["ODD_NAMES"], os.path.join(self.folder, "odd.so"))
        # The editor writes what is added so that the shell reads it as it is; what was typed comes as it was typed.
        self.assertIn("odd.so:odd_$(touch${IFS}evaluated)", complete("record", "-p", "odd.so:odd_"))
        self.assertEqual(complete("record", "-p", "odd.so:odd_\\$\\("), ["odd.so:odd_$(touch${IFS}evaluated)"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "evaluated")))


if __name__ == "__main__":
    unittest.main()
