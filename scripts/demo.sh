#!/usr/bin/env bash
# Shows what iotrace says about a run: installs what is missing, builds, traces, reports.
#
#   scripts/demo.sh              a small trainer, made for this
#   scripts/demo.sh -- CMD…      any command instead
#
# The report goes to standard error when CMD is given, so that CMD's own output stays clean, and
# the exit status is CMD's. The trace is kept; the last lines say where, and where the command is.
# IOTRACE and LIBIOTRACE name a command and a library that are built already.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$top/build

usage() {
    echo "demo.sh: unknown argument '$1'; use: scripts/demo.sh [-- CMD…]" >&2
    exit 2
}

given=false
if [ $# -gt 0 ]; then
    [ "$1" = -- ] || usage "$1"
    shift
    [ $# -gt 0 ] || {
        echo "demo.sh: no command after --; use: scripts/demo.sh [-- CMD…]" >&2
        exit 2
    }
    given=true
fi

if $given && ! type -P -- "$1" >/dev/null; then
    echo "demo.sh: $1: no such command; give a program that is in PATH, or its path" >&2
    exit 127
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
build_release() {
    [ -f "$build/build.ninja" ] ||
        meson setup "$build" "$top" --buildtype=release -Dtests=false || return
    ninja -C "$build"
}

if [ -z "${IOTRACE:-}" ] || [ -z "${LIBIOTRACE:-}" ]; then
    "$top/scripts/deps.sh" build || exit
    if ! build_release >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "demo.sh: the build in $build failed; the lines above say where" >&2
        exit 2
    fi
    IOTRACE=$build/analyzer/iotrace
    LIBIOTRACE=$build/preload/libiotrace.so
fi

mkdir -p "$build/demo"
trace=${IOTRACE_DIR:-$(mktemp -u "$build/demo/trace-XXXXXX")}
if ! $given; then
    data=$build/demo/data
    # Debian's own, not a wrapper script that may stand before it in the path.
    python=/usr/bin/python3
    [ -x "$python" ] || {
        echo "demo.sh: $python is missing; install python3, or trace a command: demo.sh -- CMD…" >&2
        exit 2
    }
    "$python" "$top/scripts/demo/make_data.py" "$data" || exit
    set -- "$python" "$top/scripts/demo/train.py" "$data"
fi

# Where no new folder came into being, CMD could not be traced (or not be started).
env IOTRACE_DIR="$trace" LD_PRELOAD="$LIBIOTRACE${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
status=$?

where() {
    printf '\ntrace: %s\niotrace is %s\n' "$trace" "$IOTRACE"
}

if [ ! -d "$trace" ]; then
    echo "demo.sh: $1 left no trace; '$IOTRACE doctor $1' says why" >&2
elif $given; then
    { echo && "$IOTRACE" report "$trace" && where; } >&2
else
    echo
    "$IOTRACE" report "$trace" || status=2
    where
fi
exit $status
