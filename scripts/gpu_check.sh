#!/usr/bin/env bash
# Checks the tracer on a machine with an NVIDIA GPU: what it records of known copies, graphs and
# PyTorch training, what it says of them, and what that costs. doc/gpu.md says what is checked.
#
#   scripts/gpu_check.sh --prepare [BUILD]      builds what is needed, to be taken along
#   scripts/gpu_check.sh [BUILD] [CHECK...]     checks, in under six minutes; all, or those named
#   scripts/gpu_check.sh --standin PROGRAMS BUILD [CHECK...]
#                                               the same without a GPU, on the tests' own stand-in
#
# BUILD (build-gpu; a folder that is there, or has a slash) needs nothing of the other machine but its
# libc. Where it is missing it is built first, with meson and Debian's packages; CUDA programs are
# compiled where nvcc is, else those prepared in BUILD are taken. PYTHON names the Python that has
# PyTorch, OUT the folder for results (iotrace-gpu-check): at most eight files of 16 MiB.
#
# One line a check; the last one is "N passed, N failed". Status 0 if none failed, 1 if any did or it
# was stopped (what there is by then is left in OUT), 2 if nothing could be run, 77 if there is no GPU.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
programs=(copies path files loop fork)
seconds=345

die() {
    echo "gpu_check.sh: $1" >&2
    exit "${2:-2}"
}

has_build() {
    [ -x "$build/analyzer/iotrace" ] && [ -e "$build/preload/libiotrace.so" ] &&
        [ -e "$build/cupti/libiotrace-cupti.so" ]
}

# Libraries are linked into the command, so that it runs where they are not installed.
make_build() {
    local log=$build.log
    mkdir -p "$(dirname "$build")" 2>/dev/null && touch "$log" 2>/dev/null ||
        die "$build: cannot be made; name a folder that can be written to"
    command -v meson >/dev/null && command -v ninja >/dev/null ||
        die "$build: not there, and no meson and ninja to build it; run --prepare elsewhere and take $build along"
    { [ -f "$build/build.ninja" ] || meson setup "$build" "$top" --buildtype=release \
        -Dprefer_static=true -Dtests=false -Dmpi=none; } >"$log" 2>&1 && ninja -C "$build" >>"$log" 2>&1 || {
        tail -n 5 "$log" >&2
        die "$build: cannot be built here, $log says why; run --prepare elsewhere and take $build along"
    }
    rm -f "$log"
}

# The newest version of libc that anything in the build asks for, and libraries other than libc's.
needs() {
    local files=("$build/analyzer/iotrace" "$build/preload/libiotrace.so" "$build/cupti/libiotrace-cupti.so")
    objdump -T "${files[@]}" | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -n 1 | tr '_' ' '
    objdump -p "${files[@]}" | awk '$1 == "NEEDED" && $2 !~ /^(libc|libm|ld-linux.*)\.so/ { print "and " $2 }' | sort -u
}

find_nvcc() {
    local nvcc
    for nvcc in "${CUDA_HOME:-/nowhere}/bin/nvcc" "$(type -P nvcc)" /usr/local/cuda/bin/nvcc; do
        [ -x "$nvcc" ] && echo "$nvcc" && return
    done
    return 1
}

# No architecture is named: what nvcc then makes runs on every GPU that it knows and on later ones.
compile() {
    local nvcc=$1 to=$2 name jobs=()
    mkdir -p "$to" || return
    timeout 60 "$nvcc" -O2 -I"$top" -c "$top/tests/cuda/spin.cu" -o "$to/spin.o" || return
    for name in "${programs[@]}"; do
        timeout 60 "$nvcc" -O2 -I"$top" "$top/tests/cuda/check_$name.c" "$to/spin.o" \
            -o "$to/check_$name" &
        jobs+=($!)
    done
    for name in "${jobs[@]}"; do
        wait "$name" || return
    done
}

# Prints the name of the GPU, or why there is none.
find_gpu() {
    timeout 30 "$python" - <<'END'
import ctypes, sys
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    sys.exit(print("no driver:", error) or 1)
count, name = ctypes.c_int(), ctypes.create_string_buffer(256)
for call in (lambda: cuda.cuInit(0), lambda: cuda.cuDeviceGetCount(ctypes.byref(count)),
             lambda: cuda.cuDeviceGetName(name, 256, 0)):
    if (error := call()):
        sys.exit(print("the driver says", error) or 1)
print(name.value.decode(), "x", count.value)
END
}

describe() {
    echo "machine: $(uname -srm), $(getconf GNU_LIBC_VERSION 2>/dev/null), $(nproc) processors"
    echo "gpu: $gpu"
    echo "build: $1"
    echo "programs: $2"
    timeout 20 nvidia-smi 2>&1 | head -n 20
    timeout 60 "$python" -c 'import sys, torch
print("python", sys.version, "torch", torch.__version__, "cuda", torch.version.cuda)' 2>&1 | tail -n 1
}

python=${PYTHON:-$(type -P python3)}
[ -n "$python" ] || die "no python3 found; PYTHON names one"
case "${1:-}" in
--prepare)
    build=${2:-$top/build-gpu}
    make_build
    if nvcc=$(find_nvcc); then
        compile "$nvcc" "$build/gpu_check" || die "the CUDA programs cannot be compiled with $nvcc"
    else
        echo "gpu_check.sh: no nvcc here: the programs are compiled where they run"
    fi
    echo "prepared: $build, which needs $(needs 2>/dev/null | tr '\n' ' ')there"
    exit
    ;;
--standin)
    [ $# -ge 3 ] || die "--standin needs the folder of the stand-in's programs, and a build"
    out=${OUT:-$PWD/iotrace-gpu-check}
    standins=$(cd "$2" 2>/dev/null && pwd) && build=$(cd "$3" 2>/dev/null && pwd) || die "--standin: the folders are not there"
    export LD_LIBRARY_PATH=$standins${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    exec "$python" "$top/tests/cuda/gpu_check.py" --build "$build" --programs "$standins" --out "$out" \
        --seconds "$seconds" --standin "${@:4}"
    ;;
-h | --help)
    sed -n '2,/^set -u/ { /^#/ s/^# \{0,1\}//p }' "$0"
    exit
    ;;
-*) die "unknown argument '$1'; use: scripts/gpu_check.sh [--prepare] [BUILD] [CHECK...]" ;;
esac

build=$top/build-gpu
if [ -d "${1:-}" ] || [[ ${1:-} == */* ]]; then
    build=$1
    shift
fi
gpu=$(find_gpu) || die "no GPU: $gpu" 77
which="$build, made beforehand"
if has_build && ! "$build/analyzer/iotrace" --version >/dev/null 2>&1; then
    which="$build-here, as $build does not run here"
    build=$build-here
fi
if ! has_build; then
    make_build
    which="$build, made here"
fi
out=${OUT:-$top/iotrace-gpu-check}
made=$(mktemp -d) || die "no temporary folder"
trap 'rm -rf "$made"' EXIT
if nvcc=$(find_nvcc) && compile "$nvcc" "$made" 2>"$made/log"; then
    from="compiled here with $nvcc"
elif [ -x "$build/gpu_check/check_copies" ]; then
    from="$build/gpu_check, made beforehand; ${nvcc:-no nvcc}: $(tail -n 1 "$made/log" 2>/dev/null)"
    cp "$build"/gpu_check/check_* "$made"
else
    die "no nvcc that works, and no programs in $build/gpu_check: ${nvcc:-none found} $(tail -n 1 "$made/log" 2>/dev/null)"
fi
mkdir -p "$out" || die "$out: cannot be made"
describe "$which" "$from" | tee "$out/environment.txt"
"$python" "$top/tests/cuda/gpu_check.py" --build "$build" --programs "$made" --out "$out" \
    --python "$python" --seconds $((seconds - SECONDS)) "$@"
