#!/usr/bin/env bash
# The packages for arm64: what is in them, and that it works when they are unpacked, under qemu-user with the libraries of arm64
# that are installed beside this machine's own.
#   arm64_test.sh FOLDER           where ./dev package arm64 has put them
# Ends with 77 where it cannot be tried: without packages, the cross compiler, libraries of arm64 or qemu-user.
set -euo pipefail

skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }
step() { echo "== $*"; }

packages=${1:?the folder of the packages}
with_qemu=$(realpath "$(dirname "$0")/../arm/with_qemu.sh")
compgen -G "$packages/landtrace_*_arm64.deb" >/dev/null || skip "there are no packages in $packages (./dev package arm64)"
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ aarch64-linux-gnu-pkg-config qemu-aarch64; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done
for package in libfmt-dev libfuse3-dev libdw-dev libzydis-dev libpython3-dev; do
  dpkg-query -W -f '${db:Status-Status}\n' "$package:arm64" 2>/dev/null | grep -qx installed || skip "there is no $package:arm64"
done

work=$(mktemp -d /tmp/landtrace-arm64.XXXXXX)
trap 'rm -rf "$work"' EXIT
root=$work/root
libraries=usr/lib/aarch64-linux-gnu
module=usr/lib/python3/dist-packages/landtrace/_landtrace.abi3.so
mkdir "$root"

step "each package is there, for arm64, with what it depends on"
for name in landtrace liblandtrace1 liblandtrace-reader1 liblandtrace-dev python3-landtrace \
    landtrace-dbgsym liblandtrace1-dbgsym liblandtrace-reader1-dbgsym python3-landtrace-dbgsym; do
  deb=$(compgen -G "$packages/${name}_*_arm64.deb") || fail "there is no $name"
  [ "$(dpkg-deb -f "$deb" Package)" = "$name" ] || fail "$deb is $(dpkg-deb -f "$deb" Package)"
  [ "$(dpkg-deb -f "$deb" Architecture)" = arm64 ] || fail "$deb is for $(dpkg-deb -f "$deb" Architecture)"
  dpkg-deb -x "$deb" "$root"
done
depends() { dpkg-deb -f "$packages/$1"_*_arm64.deb Depends; }
for word in 'landtrace libfuse3' 'liblandtrace1 libc6' 'liblandtrace-reader1 libstdc++6' 'python3-landtrace liblandtrace1'; do
  grep -q "${word#* }" <<<"$(depends "${word% *}")" || fail "${word% *} does not depend on ${word#* }"
done

step "each ELF file is for aarch64, where that architecture has its files"
find "$root" -type f -exec readelf -h {} + 2>/dev/null >"$work/headers" || true  # says so of each file that is not of ELF
others=$(awk '/^File:/ {file = $2} $1 == "Machine:" && $2 != "AArch64" {print file ": " $2}' "$work/headers")
[ -z "$others" ] || fail "this is for another machine: $others"
[ "$(grep -c 'Machine: *AArch64' "$work/headers")" -gt 10 ] || fail "there are hardly any files of ELF"
for file in liblandtrace.so.1 liblandtrace-reader.so.1 liblandtrace.so liblandtrace.a liblandtrace-reader.so landtrace \
    cmake/landtrace/landtraceConfig.cmake pkgconfig/landtrace.pc; do
  [ -e "$root/$libraries/$file" ] || fail "there is no $libraries/$file"
done
[ -e "$root/$module" ] || fail "there is no $module, but $(ls "$(dirname "$root/$module")")"
folders=$(find "$root" -path '*x86_64*')
[ -z "$folders" ] || fail "this is another machine's: $folders"
for library in liblandtrace.so.1 liblandtrace-reader.so.1; do
  grep -q "SONAME.*\[$library\]" <<<"$(readelf -d "$root/$libraries/$library")" || fail "the SONAME of $library"
done

step "symbols for debuggers are in packages of their own"
for file in "$root"/usr/bin/* "$root/$libraries"/*.so.1 "$root/$libraries"/landtrace/* "$root/$module"; do
  id=$(readelf -n "$file" | sed -n 's/^ *Build ID: *//p')
  [ -n "$id" ] || fail "$file has no build id"
  [ -e "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] || fail "there are no symbols of $file"
  ! grep -q '\.debug_info' <<<"$(readelf -SW "$file")" || fail "$file is not stripped"
done

# The kernel starts what is for aarch64 by qemu-user, if need be in a namespace.
grep -qs enabled /proc/sys/fs/binfmt_misc/qemu-aarch64 && with_qemu=env
on_arm() { (cd "$work" && "$with_qemu" env LD_LIBRARY_PATH="$root/$libraries" "$@"); }
printf 'int main(void) { return 0; }\n' | aarch64-linux-gnu-gcc -x c - -o "$work/nothing"
on_arm "$work/nothing" 2>"$work/err" || skip "programs of aarch64 cannot be run here: $(cat "$work/err")"

step "the programs start"
on_arm "$root/usr/bin/landtrace" --version 2>/dev/null | tee "$work/version"
[ -s "$work/version" ] || fail "landtrace --version"
grep -q landtraced <<<"$(on_arm "$root/usr/bin/landtraced" --help 2>/dev/null)" || fail "landtraced --help"

step "programs of the development files are recorded: C, with the shared and with the static library, C++ and Python"
cat >"$work/c.c" <<'C'
#include <landtrace/landtrace.h>
LANDTRACE_EVENT(req_done, LT_U32(id), LT_STR(route));
int main(void) {
  for (unsigned i = 0; i < 3; ++i) LANDTRACE_EMIT(req_done, i, "/index");
  return 0;
}
C
cat >"$work/python.c" <<'C'
#include <Python.h>
int main(void) {
  Py_Initialize();
  return PyRun_SimpleString("import landtrace\n"
                            "event = landtrace.Event('req_done', id='u32', route='str')\n"
                            "for i in range(3): event.emit(i, '/index')\n") == 0 ? Py_FinalizeEx() : 1;
}
C
flags() { PKG_CONFIG_LIBDIR=$root/$libraries/pkgconfig aarch64-linux-gnu-pkg-config --cflags --libs "$@"; }
examples=$root/usr/share/doc/liblandtrace-dev/examples
c=(aarch64-linux-gnu-gcc -std=c11 -Wall -Werror -O2 -D_DEFAULT_SOURCE)
"${c[@]}" "$work/c.c" -o "$work/c" $(flags landtrace)
"${c[@]}" "$work/c.c" -o "$work/c_static" $(flags --static landtrace | sed 's/-llandtrace/-l:liblandtrace.a/')
"${c[@]}" "$work/python.c" -o "$work/python" $(aarch64-linux-gnu-pkg-config --cflags --libs python3-embed)
aarch64-linux-gnu-g++ -std=c++20 -Wall -Werror -O2 "$examples/native.cc" -o "$work/native" $(flags landtrace)
for program in c c_static native python; do
  on_arm PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 \
    "$root/usr/bin/landtrace" record -o "$program.dat" -- "./$program" 3 >"$work/out" 2>&1 || { cat "$work/out"; fail "$program"; }
  on_arm "$root/usr/bin/landtrace" report "$program.dat" 2>/dev/null >"$work/report"
  for id in 0 1 2; do
    grep -q "req[a-z_]*: .*id=0x$id .*route=" "$work/report" || { cat "$work/out" "$work/report"; fail "$program: no event $id"; }
  done
  tail -1 "$work/report"
done
grep -q 'NEEDED.*\[liblandtrace.so.1\]' <<<"$(readelf -d "$work/c")" || fail "the program does not need liblandtrace.so.1"

step "the library of readers"
aarch64-linux-gnu-g++ -std=c++20 -Wall -Werror -O2 "$examples/reader.cc" -o "$work/reader" \
  $(flags landtrace-reader)
[ "$(on_arm ./reader c.dat 2>/dev/null | grep -c 'req_done id=')" -eq 3 ] || fail "the reader library"
echo "PASSED"
