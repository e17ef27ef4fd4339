#!/bin/sh
# conform.sh WAY PYTHON PROGRAMS [--abi 6.1] FILE...: transcripts on a mounted tree, in this mount namespace. PROGRAMS is where
# landtrace and landtraced are built. WAY is "mount": the files alone; or "shim": the shim on top of them.
way=$1 python=$2 programs=$3
shift 3
abi=
if [ "$1" = --abi ]; then
  abi="--abi $2"
  shift 2
fi
# Filters on CPUs were recorded by a program on CPU 0. The daemon runs on another one, if there is another.
writers= daemons=
if taskset -c 0 true 2>/dev/null; then
  writers="taskset -c 0"
  taskset -c 1 true 2>/dev/null && daemons="taskset -c 1"
fi
folder=$(mktemp -d)
XDG_RUNTIME_DIR=$folder
LANDTRACE_SOCKET=$folder/domain.sock
export XDG_RUNTIME_DIR LANDTRACE_SOCKET
mkdir "$folder/tracefs"
$daemons "$programs/landtraced" --socket "$LANDTRACE_SOCKET" $abi --mount "$folder/tracefs" &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon; rm -rf "$folder"' EXIT
tries=0
until [ -e "$folder/tracefs/README" ]; do
  tries=$((tries + 1))
  [ $tries -lt 1200 ] || { echo "the daemon did not mount"; exit 1; }
  sleep 0.05
done
check=$(dirname "$0")/../conformance/check.py
probed="$programs/landtrace run --"
if [ "$way" = shim ]; then
  $writers "$programs/landtrace" run --tracefs -- "$python" "$check" --way shim --run "$probed" --tracefs /sys/kernel/tracing "$@"
else
  $writers "$python" "$check" --way mount --run "$probed" --tracefs "$folder/tracefs" "$@"
fi
