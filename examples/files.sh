#!/bin/sh
# Declares an event, records it and prints what came, with nothing but files: landtrace run --tracefs -- examples/files.sh
set -e
tracefs=${1:-/sys/kernel/tracing}
event=$tracefs/events/user_events/job
fields='u32 id; char[16] name'

echo "u:job $fields" >>"$tracefs/dynamic_events"
# An event is removed with its fields, as the kernel has it.
trap 'echo 0 >"$event/enable"; echo "-:user_events/job $fields" >>"$tracefs/dynamic_events"' EXIT
echo 1 >"$event/enable"

echo 'id = 7 name = "nightly"' >"$event/inject"
echo 'half way' >"$tracefs/trace_marker"
echo 'id = 8 name = "weekly"' >"$event/inject"

grep -v '^#' "$tracefs/trace"
