#!/usr/bin/env bash
# Installs what is missing, builds, runs the tests, and adds up their results.
#
#   scripts/test.sh [--full]     --full adds the long ones
#
# The last line is "N passed, N failed", with ", N skipped" if any were; each number counts
# single checks, not programs. Status 0 if none failed, 1 if any did, 2 if nothing could be run.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$top/build

suites=(--no-suite full)
for arg in "$@"; do
    case "$arg" in
    --full) suites=() ;;
    *)
        echo "test.sh: unknown argument '$arg'; use: scripts/test.sh [--full]" >&2
        exit 2
        ;;
    esac
done

"$top/scripts/deps.sh" test || exit
if [ ! -f "$build/build.ninja" ]; then
    meson setup "$build" "$top" || exit 2
else
    # The demo builds without tests.
    meson configure "$build" -Dtests=true || exit 2
fi
ninja -C "$build" || {
    echo "test.sh: the build in $build failed; the lines above say where" >&2
    exit 2
}

"$top/scripts/readers.sh" "$build/readers"

# A log of an earlier run must not be taken for this one's.
rm -f "$build/meson-logs/testlog.json"
meson test -C "$build" --no-rebuild "${suites[@]}"
exec python3 "$top/scripts/count_tests.py" "$build/meson-logs/testlog.json"
