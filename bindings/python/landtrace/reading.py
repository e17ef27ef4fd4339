"""Reads what programs have emitted, by the `landtrace` command."""

import json
import os
import shutil
import signal
import subprocess

COMMAND = "landtrace"


class Record:
    """An event that has happened: time (ns), cpu, pid (of the thread), tgid, comm, system, event and fields.

    A field is also an attribute, unless it has one of these names.
    """

    __slots__ = ("time", "cpu", "pid", "tgid", "comm", "system", "event", "fields")

    def __init__(self, line):
        for name in self.__slots__:
            setattr(self, name, line.get(name))
        self.fields = self.fields or {}

    def __getattr__(self, name):
        # copy and pickle look for methods of an object that has nothing yet, and a field must not pass for one.
        if name == "fields" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"neither the event {self.event} nor its fields have {name!r}") from None

    def __repr__(self):
        fields = " ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"<{self.event} at {self.time} ns: {fields}>"


def _start(words):
    program = shutil.which(COMMAND)
    if program is None:
        raise FileNotFoundError(f"there is no program '{COMMAND}' in $PATH: Debian's package landtrace has it")
    return subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8", errors="surrogateescape")


def _signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _as_list(words):
    return [words] if isinstance(words, str) else list(words)


class Reader:
    """Events in the order of time. `lost`: how many are missing, as far as it was read; None where that is unknown.

    It is its own iterator, and a context manager: what reads for it ends with it. An OSError says that it could not
    read to the end.
    """

    def __init__(self, words):
        self.lost = 0
        self._words = words
        self._process = _start(words)

    def __iter__(self):
        return self

    def __next__(self):
        if self._process.stdout.closed:
            raise StopIteration
        is_whole = True
        for text in self._process.stdout:
            is_whole = text.endswith("\n")
            if not is_whole:
                break
            line = json.loads(text)
            if "lost" not in line:
                return Record(line)
            self.lost = None if self.lost is None or line["lost"] is None else self.lost + line["lost"]
        why = self._process.stderr.read().strip()
        self._process.stdout.close()
        self._process.stderr.close()
        status = self._process.wait()
        if status < 0:
            raise OSError(f"{COMMAND} {' '.join(self._words)} was ended by {_signal_name(-status)}: not all was read")
        if status > 0 or not is_whole:
            raise OSError(why or f"{COMMAND} failed")
        raise StopIteration

    def close(self):
        """Ends it; nothing more is read."""
        if self._process.poll() is None:
            self._process.terminate()
        # Before waiting: a command that is writing to a full pipe does not look at signals.
        for stream in (self._process.stdout, self._process.stderr):
            stream.close()
        self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if hasattr(self, "_process"):
            self.close()


def open(path, *, events=(), filter=None, follow=False):  # pylint: disable=redefined-builtin
    """The events of a recording: all, or those of the patterns `events` for which the expression `filter` is true.

    With `follow` it goes on as long as the recording is written.
    """
    words = ["report", "--json"] + (["--follow"] if follow else [])
    for pattern in _as_list(events):
        words += ["-e", pattern]
    if filter is not None:
        words += ["--filter", filter]
    path = os.fspath(path)
    return Reader([*words, "./" + path if path.startswith("-") else path])


def tail(events=(), *, filter=None):  # pylint: disable=redefined-builtin
    """The events of the running domain as they happen, until it is closed."""
    words = ["tail", "--json"]
    for pattern in _as_list(events):
        words += ["-e", pattern]
    if filter is not None:
        words += ["--filter", filter]
    return Reader(words)


def hist(event, *, keys=(), vals=(), filter=None, duration=1.0, command=None):  # pylint: disable=redefined-builtin
    """How often `event` happens in `duration` seconds in the running domain, by its fields `keys`, with sums of `vals`.

    With `command`, a list of words: while that runs, in a domain of its own, whatever it prints being swallowed.
    Returns a dict: `hits`, `dropped`, and `groups`, a list of dicts with `key`, `count` and what `vals` asks for.
    """
    words = ["hist", "--json", event]
    for option, names in (("--keys", keys), ("--vals", vals)):
        if names:
            words += [option, ",".join(_as_list(names))]
    if filter is not None:
        words += ["--filter", filter]
    if command is None:
        words += ["--duration", str(duration)]
    else:
        words += ["--", *map(str, command)]
    out, err = (process := _start(words)).communicate()
    tables = [line for line in out.split("\n") if line.startswith('{"title":')]
    if process.returncode != 0 or not tables:
        raise OSError(err.strip() or f"{COMMAND} hist failed")
    return json.loads(tables[-1])
