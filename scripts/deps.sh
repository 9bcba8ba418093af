#!/usr/bin/env bash
# Installs the Debian packages that building, the demo or the tests need, if any is missing.
#
#   scripts/deps.sh build        what the library and the command need
#   scripts/deps.sh test         the same, and what the tests need
#
# Nothing is asked and nothing is done where all is there. Status 2, and one line on standard
# error, where something is missing and cannot be installed. IOTRACE_TEST_TORCH=0 leaves out
# PyTorch and IOTRACE_TEST_BROWSER=0 Chromium, which are large; what needs them is then skipped.
set -u

build_packages=(gcc libc6-dev meson ninja-build pkg-config libzstd-dev zlib1g-dev libxxhash-dev libjansson-dev
    libsqlite3-dev libdw-dev python3)
test_packages=(libcriterion-dev strace git)
# A test that lacks one of these says so and is skipped.
optional_packages=()

case "${1:-build}" in
build) wanted=("${build_packages[@]}") ;;
test)
    wanted=("${build_packages[@]}" "${test_packages[@]}")
    optional_packages=(sqlite3 zstd xz-utils rsync fio g++ perl python3-lmdb libaio1 liburing-dev binutils zsh python3-venv mandoc
        libopenmpi-dev openmpi-bin libmpich-dev mpich
        python3-scipy python3-prometheus-client python3-junitparser)
    [ "${IOTRACE_TEST_TORCH:-1}" = 0 ] || optional_packages+=(python3-torch)
    [ "${IOTRACE_TEST_BROWSER:-1}" = 0 ] || optional_packages+=(chromium)
    ;;
*)
    echo "deps.sh: unknown set '$1'; give build or test" >&2
    exit 2
    ;;
esac

missing_of() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            echo "$package"
    done
}

command -v dpkg-query >/dev/null || {
    echo "deps.sh: not a Debian system; install these by hand: ${wanted[*]}" >&2
    exit 2
}
mapfile -t missing < <(missing_of "${wanted[@]}")
mapfile -t optional < <(missing_of "${optional_packages[@]}")
[ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root=(sudo -n)
    elif [ ${#missing[@]} -gt 0 ]; then
        echo "deps.sh: neither root nor sudo; install first: apt-get install ${missing[*]}" >&2
        exit 2
    else
        exit 0
    fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >>"$log" 2>&1
}

# The lists of a fresh machine are empty, those of an old one out of date.
apt update
if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}" >&2
    if ! apt install --no-install-recommends "${missing[@]}"; then
        grep -E '^(E|W):' "$log" | tail -n 3 >&2
        echo "deps.sh: apt-get could not install ${missing[*]}; install them by hand" >&2
        exit 2
    fi
fi
for package in "${optional[@]}"; do
    echo "installing $package" >&2
    apt install --no-install-recommends "$package" ||
        echo "deps.sh: $package could not be installed; its tests will be skipped" >&2
done
exit 0
