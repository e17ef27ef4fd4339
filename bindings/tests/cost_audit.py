"""What Python's own sys.audit() costs, with two numbers as cost.py's event: cost_audit.py TURNS [hook]. As there.

With `hook` a function that does nothing listens, the least that anybody would add to do something.
"""
import sys
import time

ROUNDS = 20
TURNS = int(sys.argv[1]) // ROUNDS


def empty():
    begin = time.perf_counter_ns()
    for _ in range(TURNS):
        pass
    return (time.perf_counter_ns() - begin) / TURNS


def auditing():
    audit = sys.audit
    begin = time.perf_counter_ns()
    for i in range(TURNS):
        audit("landtrace.cost", i, i)
    return (time.perf_counter_ns() - begin) / TURNS


if sys.argv[2:] == ["hook"]:
    sys.addaudithook(lambda event, args: None)
print(f"{min(empty() for _ in range(ROUNDS)):.2f} {min(auditing() for _ in range(ROUNDS)):.2f}")
