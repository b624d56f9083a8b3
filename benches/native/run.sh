#!/bin/sh
# Compares gridcl with CUDA on this machine's first NVIDIA GPU: builds CUDA's side where there is a compiler, runs both
# sides in turn, checks every result and prints the ratios. Takes no Rust where the benchmark was built elsewhere.
#
#   benches/native/run.sh [--gridcl PROGRAM] [--cuda PROGRAM] [ROW...]
#
# PROGRAM of gridcl: what `cargo bench --bench native --no-run` made, else the newest in target/release/deps.
# PROGRAM of CUDA: what nvcc made of native.cu before, for machines without nvcc.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
gridcl=
cuda=
while [ $# -gt 0 ]; do
    case $1 in
    --gridcl) gridcl=$2; shift 2 ;;
    --cuda) cuda=$2; shift 2 ;;
    *) break ;;
    esac
done

if [ -z "$gridcl" ]; then
    for made in "$here"/../../target/release/deps/native-*; do
        case $made in *.d) continue ;; esac
        if [ -x "$made" ] && { [ -z "$gridcl" ] || [ "$made" -nt "$gridcl" ]; }; then gridcl=$made; fi
    done
fi
[ -x "$gridcl" ] || { echo "build it first: cargo bench --bench native --no-run" >&2; exit 2; }

if [ -z "$cuda" ]; then
    nvcc=$(command -v nvcc || true)
    if [ -z "$nvcc" ] && [ -x /usr/local/cuda/bin/nvcc ]; then nvcc=/usr/local/cuda/bin/nvcc; fi
    if [ -n "$nvcc" ]; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        cuda=$folder/native_cuda
        "$nvcc" -O3 -arch=native -o "$cuda" "$here/native.cu"
    else
        echo "there is no nvcc here, so gridcl's times stand alone; --cuda names a program built elsewhere" >&2
    fi
fi

GRIDCL_DEVICES=${GRIDCL_DEVICES:-nvidia}
export GRIDCL_DEVICES
"$gridcl" ${cuda:+--cuda "$cuda"} "$@"
