#!/bin/sh
# Builds what the cost benchmark needs and runs it. Options are those of scripts/bench.py; see
# doc/benchmarks.md. BUILD names another build folder.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build-bench}
for tool in meson ninja python3; do
    if ! command -v "$tool" >/dev/null; then
        echo "bench.sh: $tool: not found; install the packages meson, ninja-build and python3" >&2
        exit 2
    fi
done
[ -f "$build/build.ninja" ] || meson setup "$build" "$top" --buildtype=release >&2
ninja -C "$build" >&2
exec python3 "$top/scripts/bench.py" --build "$build" "$@"
