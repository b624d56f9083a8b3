#!/usr/bin/env bash
# Brings what gridcl's tests need and this machine lacks: an OpenCL driver, the OpenCL loader, its link library and a C
# compiler. Says nothing and changes nothing where all of it is there, so it is safe, and cheap, to run every time.
set -eu

readonly vendors_default=/etc/OpenCL/vendors

usage() {
    cat <<'HELP'
usage: ./setup.sh [--all-drivers] [--help]

Makes this machine ready for `cargo test`. On Debian, Ubuntu and their kin it installs what is missing of

  an OpenCL driver    pocl-opencl-icd (PoCL runs kernels on the CPU), unless any driver with a device is there
  the OpenCL loader   ocl-icd-libopencl1 (libOpenCL.so.1)
  its link library    ocl-icd-opencl-dev (libOpenCL.so, for the plain OpenCL side of the benchmarks)
  a C compiler        build-essential (cc; Rust links with it, and so does PoCL)

with apt-get, through sudo where the user is not root. On other systems it says what to install, and fails only if
there is no OpenCL driver.

  --all-drivers  install too what CI tests with on Debian and Ubuntu: Mesa's rusticl, Oclgrind, and Intel's CPU runtime
                 from PyPI in a virtual environment of its own (pinned; 450 MB) under GRIDCL_DRIVERS, which is
                 ~/.local/share/gridcl/drivers unless it is set
  -h, --help     print this text

OCL_ICD_VENDORS, OPENCL_VENDOR_PATH and OCL_ICD_FILENAMES are honoured when it looks for drivers.

exit status: 0 ready, 1 something is missing still, 2 wrong usage
HELP
}

say() { printf 'setup.sh: %s\n' "$*"; }

fail() {
    printf 'setup.sh: %s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# --- What is there ---------------------------------------------------------------------------------------------------

# The folders that the dynamic linker looks into, by its own cache. ldconfig is often outside an ordinary user's PATH.
read_library_folders() {
    local machine=
    # A PC's cache lists 32-bit libraries too, and those are of no use here.
    [ "$(uname -m)" != x86_64 ] || machine=x86-64
    library_folders=$(
        PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null |
            sed -n "s|.*(.*$machine.*) => \(/.*\)/[^/]*\$|\1|p" | sort -u
    )
    library_folders="${LD_LIBRARY_PATH:-}:${library_folders//$'\n'/:}:/lib:/usr/lib:/usr/local/lib"
}

# Would the dynamic linker find the library of this name or path?
library_found() {
    local name=$1 folder folders
    case $name in
    */*)
        [ -e "$name" ]
        return
        ;;
    esac
    IFS=: read -r -a folders <<<"$library_folders"
    for folder in "${folders[@]}"; do
        [ -z "$folder" ] || [ ! -e "$folder/$name" ] || return 0
    done
    return 1
}

# Is this library a driver that offers a device here? A graphics driver needs its device node; Mesa's own two have no
# device unless one is asked for; Oclgrind's hangs on the calls of OpenCL 2 when loaded as a driver.
driver_usable() {
    local library=$1
    case ${library##*/} in
    libMesaOpenCL*) return 1 ;;
    libRusticlOpenCL*) [ -n "${RUSTICL_ENABLE:-}" ] || return 1 ;;
    liboclgrind*) return 1 ;;
    libnvidia-opencl*) [ -e /dev/nvidiactl ] || return 1 ;;
    libamdocl*) [ -e /dev/kfd ] || return 1 ;;
    libigdrcl*) [ -e /dev/dri ] || return 1 ;;
    esac
    library_found "$library"
}

# Does this place, as the loader's variables may name it, hold a usable driver: a folder of .icd files, one such file,
# or a driver's library itself?
place_has_driver() {
    local place=$1 file library
    if [ -d "$place" ]; then
        for file in "$place"/*.icd; do
            [ ! -f "$file" ] || ! place_has_driver "$file" || return 0
        done
        return 1
    fi
    case $place in
    *.icd)
        # A bare name is one in the usual folder.
        [ -f "$place" ] || place=$vendors_default/$place
        [ -f "$place" ] || return 1
        library=
        read -r library <"$place" || true
        ;;
    *) library=$place ;;
    esac
    [ -n "$library" ] && driver_usable "$library"
}

driver_found() {
    local place places
    [ ! -d /System/Library/Frameworks/OpenCL.framework ] || return 0
    places=${OCL_ICD_VENDORS:-${OPENCL_VENDOR_PATH:-$vendors_default}}
    IFS=: read -r -a places <<<"$places:${OCL_ICD_FILENAMES:-}"
    for place in "${places[@]}"; do
        [ -z "$place" ] || ! place_has_driver "$place" || return 0
    done
    return 1
}

# Fills `missing` with the Debian packages that would bring what is not there.
find_missing() {
    missing=()
    read_library_folders
    have cc || missing+=(build-essential)
    driver_found || missing+=(pocl-opencl-icd)
    if [ ! -d /System/Library/Frameworks/OpenCL.framework ]; then
        library_found libOpenCL.so.1 || missing+=(ocl-icd-libopencl1)
        library_found libOpenCL.so || missing+=(ocl-icd-opencl-dev)
    fi
}

# --- Bringing it -----------------------------------------------------------------------------------------------------

# Runs apt-get as root, waiting for another one to finish rather than failing at its lock.
apt() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || fail "not root and no sudo here; as root run: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@"
}

install_with_apt() {
    say "installing ${missing[*]}"
    # Out-of-date lists may still do, for instance without a network but with a package cache.
    apt update || say "apt-get update failed; trying with the lists that are here"
    apt install -y --no-install-recommends "${missing[@]}" || fail "apt-get could not install ${missing[*]}"

    find_missing
    [ ${#missing[@]} -eq 0 ] && return
    if [ -n "${OCL_ICD_VENDORS:-}${OPENCL_VENDOR_PATH:-}${OCL_ICD_FILENAMES:-}" ] && ! driver_found; then
        fail "no driver where OCL_ICD_VENDORS, OPENCL_VENDOR_PATH or OCL_ICD_FILENAMES point: unset or correct them"
    fi
    fail "still missing after the installation: ${missing[*]}"
}

# Names this system's packages for what is missing; fails only where there is no driver to run on.
advise() {
    say "this machine lacks (by Debian's names): ${missing[*]}"
    if have dnf; then
        say "install it with: sudo dnf install gcc pocl ocl-icd ocl-icd-devel"
    elif have pacman; then
        say "install it with: sudo pacman -S --needed base-devel pocl ocl-icd"
    elif have zypper; then
        say "install it with: sudo zypper install gcc pocl libOpenCL1 ocl-icd-devel"
    elif have brew; then
        say "install it with: brew install pocl ocl-icd"
    else
        say "install a C compiler, PoCL (https://portablecl.org) or another OpenCL driver, and an OpenCL loader"
    fi
    driver_found || fail "no OpenCL driver found"
}

# --- All drivers that CI tests with ------------------------------------------------------------------------------------

# Newer ones may differ in what the tests expect of them.
readonly intel_packages=(intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0)

install_more_drivers() {
    local folder=${GRIDCL_DRIVERS:-${XDG_DATA_HOME:-$HOME/.local/share}/gridcl/drivers}
    have apt-get || fail "--all-drivers knows Debian and Ubuntu only"
    missing=()
    have oclgrind || missing+=(oclgrind)
    [ -e "$vendors_default/rusticl.icd" ] || missing+=(mesa-opencl-icd)
    [ -e "$vendors_default/pocl.icd" ] || missing+=(pocl-opencl-icd)
    have python3 && python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    if [ ${#missing[@]} -gt 0 ]; then
        say "installing ${missing[*]}"
        apt update || say "apt-get update failed; trying with the lists that are here"
        apt install -y --no-install-recommends "${missing[@]}" || fail "apt-get could not install ${missing[*]}"
    fi
    if [ ! -e "$folder/intel/ready" ]; then
        say "installing ${intel_packages[*]} in $folder/intel"
        rm -rf "$folder/intel"
        mkdir -p "$folder"
        python3 -m venv "$folder/intel" || fail "no virtual environment in $folder/intel"
        "$folder/intel/bin/pip" install --quiet --disable-pip-version-check "${intel_packages[@]}" ||
            fail "pip could not install ${intel_packages[*]}"
        slim "$folder/intel/lib"
        touch "$folder/intel/ready"
    fi
    [ -e "$folder/intel/lib/libintelocl.so" ] || fail "there is no libintelocl.so in $folder/intel/lib"
}

# Takes out what no kernel needs, and the second copies that stand where links should.
slim() {
    local folder=$1 name versions
    rm -f "$folder"/icx-lto.so* "$folder"/libtcm_debug* "$folder"/libtbbbind*
    for name in libintelocl.so libcommon_clang.so; do
        versions=("$folder/$name".[0-9]*)
        [ ! -e "${versions[0]}" ] || ln -sf "${versions[0]##*/}" "$folder/$name"
    done
}

main() {
    local option all=
    for option in "$@"; do
        case $option in
        --all-drivers) all=yes ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            printf 'setup.sh: unknown option: %s\n\n' "$option" >&2
            usage >&2
            exit 2
            ;;
        esac
    done

    find_missing
    if [ ${#missing[@]} -gt 0 ]; then
        if have apt-get; then
            install_with_apt
            say "ready"
        else
            advise
        fi
    fi
    [ -z "$all" ] || install_more_drivers
}

main "$@"
