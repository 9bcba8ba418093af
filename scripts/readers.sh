#!/usr/bin/env bash
# Gets other people's readers of what iotrace exports, their checks of its pages, and NVTX, whose ranges it records,
# from PyPI into a virtual environment:
#
#   scripts/readers.sh FOLDER
#
# Tests that need one are skipped where it is not there, so this never fails; it says why.
set -u
folder=${1:?"readers.sh: which folder?"}
packages=(axe-core-python duckdb nvtx perfetto protobuf pyarrow)

[ "$(cat "$folder/complete" 2>/dev/null)" = "${packages[*]}" ] && exit 0
log=$(mktemp) || exit 0
trap 'rm -f "$log"' EXIT
if python3 -m venv "$folder" >"$log" 2>&1 &&
    timeout 240 "$folder/bin/pip" install --disable-pip-version-check --retries 1 --timeout 15 \
        --only-binary :all: "${packages[@]}" >"$log" 2>&1; then
    echo "${packages[*]}" >"$folder/complete"
else
    echo "readers.sh: no ${packages[*]}: $(grep -v '^ *$' "$log" | tail -1)" >&2
fi
exit 0
