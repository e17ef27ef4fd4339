"""Landtrace for Python: trace events of a program, and reading those of all programs.

    import landtrace

    job_done = landtrace.Event("job_done", id="u32", route="str")
    job_done.emit(1, "/")                    # costs next to nothing while nobody listens

    with landtrace.span("load"):             # load_begin, load_end
        ...

    @landtrace.traced                        # the same for each call
    def work(): ...

    logging.getLogger().addHandler(landtrace.LogHandler())

    for e in landtrace.open("trace.dat"):    # what `landtrace record` has written
        print(e.time, e.event, e.fields)

Types of fields: u8 ... s64, bool (whatever is true or not), float, double, str, bytes, and char[N] for text that is cut or
padded to N bytes. A value of another type, or one that does not fit, is an error while somebody listens.
Where events go is said by the environment, as for every program: docs of `landtrace record` and landtraced.
"""

import contextlib
import functools
import inspect
import itertools
import logging
import os
import re
import time

from . import _landtrace
from ._landtrace import attach
from .reading import Reader, Record, hist, open, tail

__all__ = ["Event", "LogHandler", "MULTI_FORMAT", "PERSIST", "Reader", "Record", "attach", "hist", "open", "span", "tail",
           "traced"]

PERSIST = 1
MULTI_FORMAT = 2

# kind, size and how it is declared; the kinds are those of _landtrace.c.
FIELD_KINDS = {
    **{f"u{bits}": ("u", bits // 8, f"u{bits} {{}}") for bits in (8, 16, 32, 64)},
    **{f"s{bits}": ("s", bits // 8, f"s{bits} {{}}") for bits in (8, 16, 32, 64)},
    "bool": ("o", 1, "u8 {}"),
    "float": ("f", 4, "struct float {} 4"),
    "double": ("d", 8, "struct double {} 8"),
    "str": ("t", 4, "__rel_loc char[] {}"),
    "bytes": ("b", 4, "__rel_loc u8[] {}"),
}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
CHARS = re.compile(r"char\[([1-9][0-9]{0,3})\]", re.ASCII)
MAX_CHARS = 1024


def _field_kind(type_name):
    chars = CHARS.fullmatch(type_name)
    if chars and int(chars[1]) <= MAX_CHARS:
        return "c", int(chars[1]), f"{type_name} {{}}"
    try:
        return FIELD_KINDS[type_name]
    except KeyError:
        raise ValueError(f"no type of a field: {type_name!r}; there are {', '.join(FIELD_KINDS)} and char[N]") from None


class Event(_landtrace.Event):
    """An event of this name with these fields. It is there as long as the object.

    Where it is in nobody's power here, the domain having no room or another program other fields under the name, say,
    nothing fails: `error` says why nobody can listen, and the library tries again. What is invalid is a ValueError, or an
    OSError if the domain says so.
    """

    def __new__(cls, event_name, /, *, event_flags=0, **fields):
        if not isinstance(event_flags, int):
            raise ValueError("event_flags are the event's flags: a field cannot be called that")
        for word in (event_name, *fields):
            if not IDENTIFIER.fullmatch(word):
                raise ValueError(f"no identifier: {word!r}")
        kinds = [_field_kind(type_name) for type_name in fields.values()]
        texts = ";".join(text.format(name) for name, (_, _, text) in zip(fields, kinds))
        offsets = itertools.accumulate((size for _, size, _ in kinds), initial=0)
        layout = tuple((kind, offset, size) for (kind, size, _), offset in zip(kinds, offsets))
        return super().__new__(cls, f"{event_name} {texts}".strip().encode(), tuple(fields), layout, event_flags)

    def __init__(self, /, *_, **__):
        super().__init__()

    @property
    def error(self):
        """An OSError: why the event is not in the domain; None: it is, or there is no domain."""
        refusal = self._refusal
        return OSError(refusal, os.strerror(refusal), self.declaration) if refusal else None

    def __repr__(self):
        return f"<landtrace.Event {self.declaration!r}>"


_span_numbers = None


# A recording has the spans of many processes, of which some were forked from one: none may have another's numbers.
def _begin_span_numbers():
    global _span_numbers  # pylint: disable=global-statement
    _span_numbers = itertools.count(int.from_bytes(os.urandom(8), "little") >> 1)


_begin_span_numbers()
os.register_at_fork(after_in_child=_begin_span_numbers)


class _NoEvent:
    enabled = False

    def emit(self, *_):
        return False


# What is in the way of an event is not this program's doing, and no reason to fail in the middle of it.
def _event_or_none(name, **fields):
    try:
        return Event(name, **fields)
    except OSError:
        return _NoEvent()


# As many as anybody can tell apart; the domain, too, has room for so many.
@functools.lru_cache(maxsize=1024)
def _span_events(name):
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    word = word if IDENTIFIER.fullmatch(word) else "_" + word
    return _event_or_none(word + "_begin", span="u64"), _event_or_none(word + "_end", span="u64", duration_ns="u64")


class span:  # pylint: disable=invalid-name
    """`with span("load"):` makes the events load_begin and load_end, with a number that both have, and the duration.

    As a page: landtrace view --span load_begin,load_end,span

    Names are to be few, as each is two events: of over 1024 those that were not used for longest are given up. Where the
    domain has no room for them, or other events of these names, the block runs all the same.
    """

    __slots__ = ("_begin", "_end", "_number", "_started")

    def __init__(self, name):
        self._set_events(_span_events(name))

    def _set_events(self, events):
        self._begin, self._end = events
        self._number = None

    def __enter__(self):
        if self._begin.enabled or self._end.enabled:
            self._number = next(_span_numbers)
            self._begin.emit(self._number)
            self._started = time.perf_counter_ns()
        return self

    def __exit__(self, *_):
        if self._number is not None:
            self._end.emit(self._number, time.perf_counter_ns() - self._started)
            self._number = None


def _span_of(events):
    made = span.__new__(span)
    made._set_events(events)  # pylint: disable=protected-access
    return made


def _call_within(function, events):
    begin, end = events

    def call(*args, **kwargs):
        if not (begin.enabled or end.enabled):
            return function(*args, **kwargs)
        with _span_of(events):
            return function(*args, **kwargs)

    return call


def _await_within(function, events):
    async def call(*args, **kwargs):
        with _span_of(events):
            return await function(*args, **kwargs)

    return call


def _generate_within(function, events):
    def call(*args, **kwargs):
        with _span_of(events):
            return (yield from function(*args, **kwargs))

    return call


# What is sent and thrown goes on to it, which a loop over its items would not do.
def _generate_async_within(function, events):
    async def call(*args, **kwargs):
        with _span_of(events):
            async with contextlib.aclosing(function(*args, **kwargs)) as items:
                try:
                    item = await items.__anext__()
                    while True:
                        try:
                            sent = yield item
                        except GeneratorExit:
                            raise
                        except BaseException as error:  # pylint: disable=broad-except
                            item = await items.athrow(error)
                        else:
                            item = await items.asend(sent)
                except StopAsyncIteration:
                    return

    return call


def traced(function=None, *, name=None):
    """A decorator: each call is a span, named like the function if nothing else is said.

    That of an `async` function goes from its first step to its last one, with what it waits for; that of a generator from
    its first item to its end.
    """
    if function is None:
        return functools.partial(traced, name=name)
    if inspect.iscoroutinefunction(function):
        within = _await_within
    elif inspect.isgeneratorfunction(function):
        within = _generate_within
    elif inspect.isasyncgenfunction(function):
        within = _generate_async_within
    else:
        within = _call_within
    return functools.wraps(function)(within(function, _span_events(name or function.__name__)))


def _cut(text, most):
    """At most so many bytes of it, as UTF-8; what cannot be that (of a file's name, say) is escaped."""
    if len(text) <= most and text.isascii():
        return text
    return text.encode(errors="backslashreplace")[:most].decode(errors="ignore")


class LogHandler(logging.Handler):
    """Each log record as the event `python_log`, or of another name.

    Messages are cut to what an event has room for, 32768 bytes; names of loggers and files to 4096.
    """

    def __init__(self, level=logging.NOTSET, event="python_log"):
        super().__init__(level)
        self._event = _event_or_none(event, level="u8", logger="str", message="str", file="str", line="u32")

    def emit(self, record):
        if not self._event.enabled:
            return
        try:
            message = record.getMessage() if self.formatter is None else self.format(record)
            self._event.emit(min(max(record.levelno, 0), 255), _cut(record.name, 4096), _cut(message, 32768),
                             _cut(record.pathname, 4096), record.lineno)
        except Exception:  # pylint: disable=broad-except
            self.handleError(record)
