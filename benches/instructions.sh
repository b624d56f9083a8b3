#!/usr/bin/env bash
# How many instructions a warm launch, record and small copy take: in gridcl's own code, in the libraries beneath it, and
# beside them the same work in plain OpenCL. Needs valgrind. Counts do not depend on how busy the machine is.
#
#     benches/instructions.sh                  # all operations
#     benches/instructions.sh launch-8         # one of them
#     benches/instructions.sh launch-8 --functions   # and where gridcl's own instructions are
#
# OCL_ICD_VENDORS, GRIDCL_DEVICES and GRIDCL_MEMORY choose the device, as for the other benchmarks. BINARY names a program
# that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."

operations=(launch-1 launch-8 launch-8-changing launch-and-record copy-4-bytes)
functions=
for argument; do
    case $argument in
    --functions) functions=yes ;;
    *) operations=("$argument") ;;
    esac
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$folder/pocl}

if [ -z "${BINARY:-}" ]; then
    BINARY=$(cargo bench --no-run --bench instructions 2>&1 | tee /dev/stderr | sed -n 's/.*Executable.*(\(.*\))/\1/p')
fi

# Instructions of one operation by where they are: the program itself, the C library, and all else.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" --collect-atstart=no --toggle-collect=measured \
        "$BINARY" "$1" "$2" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    # A cost line after `calls=` is what the callee took, and counted there.
    awk -v program="$(basename "$BINARY")" -v times=64 '
        /^ob=/ {
            id = $0; sub(/^ob=/, "", id); sub(/ .*/, "", id)
            if ($0 ~ / /) { name[id] = $0; sub(/^[^ ]* /, "", name[id]) }
            at = name[id]; next
        }
        /^cob=/ { id = $0; sub(/^cob=/, "", id); sub(/ .*/, "", id)
            if ($0 ~ / /) { name[id] = $0; sub(/^[^ ]* /, "", name[id]) }
            next }
        /^calls=/ { skip = 1; next }
        /^[0-9+*-]/ {
            if (skip) { skip = 0; next }
            if (index(at, program)) own += $2
            else if (at ~ /libc\.so|libc-|ld-linux/) libc += $2
            else rest += $2
        }
        END { printf "%d %d %d\n", own / times, libc / times, rest / times }' "$folder/out"
}

printf '%-20s %8s %8s %8s   %8s %8s %8s\n' '' gridcl libc beneath plain libc beneath
for operation in "${operations[@]}"; do
    read -r own libc rest < <(count gridcl "$operation")
    [ -z "$functions" ] || cp "$folder/out" "$folder/gridcl"
    read -r own2 libc2 rest2 < <(count raw "$operation")
    printf '%-20s %8d %8d %8d   %8d %8d %8d\n' "$operation" "$own" "$libc" "$rest" "$own2" "$libc2" "$rest2"
    [ -z "$functions" ] || callgrind_annotate --threshold=99 "$folder/gridcl" | grep "$(basename "$BINARY")" | head -40
done
