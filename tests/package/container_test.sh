#!/usr/bin/env bash
# The image that ./dev container has built, as a user without privileges: no capability, no new privileges, the engine's own
# filter of system calls, nothing writable but /tmp, no network.
#   container_test.sh PROGRAM        an unmodified program of user_events: build/examples/example_abi
# Ends with 77 where no container can be run.
set -euo pipefail
skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }
program=$(realpath "${1:?an unmodified program}")
engine=${CONTAINER_ENGINE:-podman}
command -v "$engine" >/dev/null || skip "there is no $engine"
"$engine" image inspect landtrace >/dev/null 2>&1 || skip "there is no image landtrace (./dev container)"

confined=(--rm --network none --user 1000 --cap-drop all --security-opt no-new-privileges --read-only --tmpfs /tmp
  -v "$program:/program:ro")
run() { "$engine" run "${confined[@]}" "$@"; }
run --entrypoint true landtrace 2>/tmp/landtrace-container.$$ || skip "it cannot be run here: $(cat /tmp/landtrace-container.$$)"
rm -f /tmp/landtrace-container.$$
inside() { run --entrypoint sh landtrace -c "$1" 2>&1; }

echo "== an unmodified program is recorded"
out=$(inside 'landtrace record -o t.dat -- /program 3 && landtrace report t.dat') || fail "$out"
[ "$(grep -c abi_request: <<<"$out")" -eq 3 ] || fail "$out"

echo "== any function of any program"
out=$(inside 'landtrace hist --json -p "libc.so.6:malloc size=\$arg1" --keys size.log2 -- ls /') || fail "$out"
grep -q '"hits"' <<<"$out" || fail "$out"

echo "== a program that was started while the domain had probes is seen by all who come later"
out=$(inside 'landtraced & until landtrace ls events >/dev/null 2>&1; do sleep 0.05; done
  echo "p:mine/wait libc.so.6:wait4" | landtrace write dynamic_events
  landtrace run -- sh -c "touch /tmp/runs; while sleep 0.01; do :; done" & until [ -e /tmp/runs ]; do sleep 0.05; done
  for round in $(seq 60); do
    landtrace record -o t.dat --duration 1 -e mine:wait && landtrace report t.dat | grep "wait: (" && exit 0
  done; exit 1') || fail "$out"
grep -q 'sh-.* wait: (' <<<"$out" || fail "$out"

start=$(date +%s%N)
for _ in 1 2 3 4 5; do run --entrypoint true landtrace; done
between=$(date +%s%N)
for _ in 1 2 3 4 5; do run landtrace record -o t.dat -- /program 1 >/dev/null 2>&1; done
end=$(date +%s%N)
echo "a container that does nothing: $(((between - start) / 5000000)) ms; with a program that is recorded: $(((end - between) / 5000000)) ms"
echo "PASSED"
