#!/usr/bin/env bash
# Runs the first example of the README with the iotrace in PATH, and looks at what it says.
#
# What was installed is tried so: `iotrace` is the one of a package, in a folder of nobody's.
set -euo pipefail
readme=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/README.md

# The block of code behind the mark.
example=$(sed -n '/^<!-- first example -->$/,/^```$/p' "$readme" | sed '1,/^```sh$/d; /^```$/d')
[ -n "$example" ] || {
    echo "first_example.sh: no first example in $readme" >&2
    exit 2
}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
echo "$example"
bash -euo pipefail -c "$example" >said 2>errors || {
    tail -n 20 said errors >&2
    echo "first_example.sh: the example failed, with $(command -v iotrace)" >&2
    exit 1
}
[ "$(wc -l <numbers)" = 1000000 ] && grep -Eq 'output +numbers ' said && grep -Eq '^output +6.89 MB' said || {
    tail -n 40 said errors >&2
    echo "first_example.sh: the report lacks the 6.89 MB of output of the file numbers" >&2
    exit 1
}
