"""What an event costs: cost.py [TURNS] prints nanoseconds for an empty turn and for one that emits, of 20 rounds the best:
what others add, while they have the processor, is not the event's.
"""
import sys
import time

import landtrace

ROUNDS = 20
TURNS = (int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000) // ROUNDS
COST = landtrace.Event("cost", a="u64", b="u64")


def empty():
    begin = time.perf_counter_ns()
    for _ in range(TURNS):
        pass
    return (time.perf_counter_ns() - begin) / TURNS


def emitting():
    emit = COST.emit
    begin = time.perf_counter_ns()
    for i in range(TURNS):
        emit(i, i)
    return (time.perf_counter_ns() - begin) / TURNS


print(f"{min(empty() for _ in range(ROUNDS)):.2f} {min(emitting() for _ in range(ROUNDS)):.2f}")
