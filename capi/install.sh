#!/usr/bin/env bash
# Installs what C and C++ programs need: libgridcl.so, the headers and gridcl.pc.
set -eu

usage() {
    cat <<'HELP'
usage: capi/install.sh [--prefix DIR] [--libdir DIR] [--library FILE]

Builds libgridcl.so (cargo build --release --features capi) and installs

  DIR/lib/libgridcl.so
  DIR/lib/pkgconfig/gridcl.pc
  DIR/include/gridcl.h, musa_runtime.h, musa_runtime_api.h, tops/tops_runtime.h, tops/tops_runtime_api.h

  --prefix DIR     where to (default /usr/local); below $DESTDIR, where that is set
  --libdir DIR     where the library goes instead of DIR/lib
  --library FILE   installs a library that was built before
  -h, --help       prints this text
HELP
}

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 2
}

prefix=/usr/local libdir= library=
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --prefix | --libdir | --library)
        [ $# -gt 1 ] || fail "$1 needs a value"
        case $1 in
        --prefix) prefix=$2 ;;
        --libdir) libdir=$2 ;;
        --library) library=$2 ;;
        esac
        shift 2
        ;;
    *) fail "unknown option: $1 (--help prints the options)" ;;
    esac
done
# What programs are told has to hold wherever they are built.
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
libdir=${libdir:-$prefix/lib}
case $libdir in /*) ;; *) libdir=$PWD/$libdir ;; esac
case $library in '' | /*) ;; *) library=$PWD/$library ;; esac

cd "$(dirname "$0")/.."
if [ -z "$library" ]; then
    cargo build --release --features capi
    library=${CARGO_TARGET_DIR:-target}/release/libgridcl.so
fi
[ -f "$library" ] || fail "there is no $library"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

root=${DESTDIR:-}
mkdir -p "$root$libdir/pkgconfig" "$root$prefix/include/tops"
# A library that programs run with is replaced, not written over.
install -m 755 "$library" "$root$libdir/libgridcl.so.new"
mv -f "$root$libdir/libgridcl.so.new" "$root$libdir/libgridcl.so"
install -m 644 include/*.h "$root$prefix/include"
install -m 644 include/tops/*.h "$root$prefix/include/tops"
# What means something to sed stands for itself.
plain() { printf '%s' "$1" | sed -e 's/[&|\\]/\\&/g'; }
sed -e "s|@PREFIX@|$(plain "$prefix")|" -e "s|@LIBDIR@|$(plain "$libdir")|" -e "s|@VERSION@|$version|" capi/gridcl.pc.in \
    >"$root$libdir/pkgconfig/gridcl.pc"
chmod 644 "$root$libdir/pkgconfig/gridcl.pc"

printf 'installed in %s; where pkg-config does not look there by itself:\n  export PKG_CONFIG_PATH=%s/pkgconfig\n' \
    "$root$prefix" "$libdir"
