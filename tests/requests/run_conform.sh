#!/bin/sh
# run_conform.sh PYTHON HOST TRANSCRIPTS FILE [ABI]: the transcripts, made by a process whose memory the owner reads.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LANDTRACE_TEST_ABI=$5 "$1" "$(dirname "$0")/conform_requests.py" "$2" "$folder/domain.sock" "$3" "$4"
