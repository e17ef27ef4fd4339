#!/bin/sh
# [LANDTRACE_TEST_ABI=6.1] run_conform.sh PYTHON SHIM HOST TRANSCRIPTS FILE...: the transcripts, made by a process under the shim.
python=$1 shim=$2 host=$3 transcripts=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LANDTRACE_SOCKET=$folder/domain.sock LD_PRELOAD=$shim \
  "$python" "$(dirname "$0")/conform_shim.py" "$host" "$folder/domain.sock" "$transcripts" "$@"
