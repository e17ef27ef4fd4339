#!/usr/bin/env bash
# The packages in a clean Debian 12: installed, used, upgraded while programs run, and purged.
#   package_test.sh FOLDER         where ./dev package has put them
# Ends with 77 where it cannot be tried: without packages, debootstrap, root or network.
set -euo pipefail

skip() { echo "SKIPPED: $*"; exit 77; }
packages=${1:?the folder of the packages}
compgen -G "$packages/landtrace_*.deb" >/dev/null || skip "there are no packages in $packages (./dev package)"
[ "$(id -u)" -eq 0 ] || skip "this needs root"
command -v debootstrap >/dev/null || skip "there is no debootstrap"

work=$(mktemp -d /tmp/landtrace-package.XXXXXX)
root=$work/root
daemon=
clean_up() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  for folder in proc dev/shm dev sys; do umount -l "$root/$folder" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT

step() { echo "== $*"; }
inside=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8)
in_root() { "${inside[@]}" "$@"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

step "a clean Debian 12"
# Where this system has its packages from, in either way to write that.
mirror=${DEBIAN_MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
  sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +(http[^ ]*).*/\3/p' | head -1 || true)}
debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$work/debootstrap.log" 2>&1 ||
  { tail -3 "$work/debootstrap.log"; skip "debootstrap found no Debian to install"; }
# How the archive is reached from here.
for file in $(grep -ls '^ *Acquire' /etc/apt/apt.conf /etc/apt/apt.conf.d/* || true) /etc/resolv.conf; do cp "$file" "$root$file"; done
for folder in proc sys dev dev/shm; do mount --bind "/$folder" "$root/$folder"; done
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
in_root sh -c 'apt-get update -qq && apt-get install -y -qq g++ libc6-dev pkg-config python3 bash-completion' >/dev/null 2>&1

step "installed"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
in_root sh -c 'apt-get install -y -qq --no-install-recommends /packages/landtrace_*.deb /packages/liblandtrace1_*.deb /packages/liblandtrace-reader1_*.deb \
  /packages/liblandtrace-dev_*.deb /packages/python3-landtrace_*.deb' >"$work/install.log" 2>&1 ||
  { cat "$work/install.log"; fail "they do not install"; }
in_root getent group tracing >/dev/null || fail "there is no group tracing"

step "used: a C program with -llandtrace alone, and an unmodified one"
cat >"$root/root/c.c" <<'C'
#include <landtrace/landtrace.h>
#include <unistd.h>
LANDTRACE_EVENT(req_done, LT_U32(id), LT_STR(route));
int main(int argc, char** argv) {
  (void)argv;
  for (unsigned i = 0; argc > 1 || i < 3; ++i) {
    LANDTRACE_EMIT(req_done, i, "/index");
    if (argc > 1) usleep(1000);
  }
  return 0;
}
C
in_root gcc -std=c11 -Wall -Werror -O2 -D_DEFAULT_SOURCE /root/c.c -o /root/c -llandtrace
in_root gcc -std=c11 -O2 -D_DEFAULT_SOURCE /root/c.c -o /root/c_static $(in_root pkg-config --static --libs landtrace | sed 's/-llandtrace/-l:liblandtrace.a/')
in_root gcc -O2 /usr/share/doc/landtrace/examples/abi.c -o /root/abi
for program in "/root/c" "/root/c_static" "/root/abi 3"; do
  in_root landtrace record -o /root/t.dat -- $program >/dev/null 2>"$work/err" || { cat "$work/err"; fail "$program"; }
  [ "$(in_root landtrace report --json /root/t.dat | grep -c '"event"')" -eq 3 ] || fail "$program: not 3 events"
done
in_root g++ -std=c++20 -Wall -Werror -O2 /usr/share/doc/liblandtrace-dev/examples/reader.cc -o /root/reader -llandtrace-reader
[ "$(in_root /root/reader /root/t.dat | grep -c abi_request)" -eq 3 ] || fail "the reader library"
in_root landtrace record -o /root/t.dat -- python3 -c 'import landtrace; landtrace.Event("e", n="u8").emit(7)' 2>/dev/null
in_root landtrace report /root/t.dat | grep -q 'e: n=' || fail "python3-landtrace"
in_root landtrace hist --json -p 'libc.so.6:malloc size=$arg1' --keys size.log2 -- ls / | grep -q '"hits"' || fail "probes"
in_root /usr/share/landtrace/complete re | grep -qx record || fail "completions"

step "upgraded while programs run"
"${inside[@]}" landtraced --system & daemon=$!
for _ in $(seq 100); do [ -S "$root/run/landtrace/domain.sock" ] && break; sleep 0.1; done
"${inside[@]}" /root/c on & producer=$!
deb=$(cd "$root/packages" && echo landtrace_*.deb)
mkdir "$work/next"
dpkg-deb -R "$packages/$deb" "$work/next/files"
sed -i 's/^Version: .*/&+1/' "$work/next/files/DEBIAN/control"
dpkg-deb -b "$work/next/files" "$root/packages/landtrace_next.deb" >/dev/null
library=$(cd "$root/packages" && echo liblandtrace1_*.deb)
in_root dpkg -i /packages/landtrace_next.deb "/packages/$library" >"$work/upgrade.log" 2>&1 || { cat "$work/upgrade.log"; fail "upgrade"; }
kill -0 "$producer" || fail "the program ended with the upgrade"
events() { in_root landtrace hist --json --duration 1 --keys common_pid req_done | sed -n 's/.*"hits":\([0-9]*\).*/\1/p'; }
[ "$(events)" -gt 0 ] || fail "no events from before the upgrade's owner"
kill "$daemon" && wait "$daemon" || true
"${inside[@]}" landtraced --system & daemon=$!
for _ in $(seq 100); do [ "$(events 2>/dev/null || echo 0)" -gt 0 ] && break; sleep 0.1; done
[ "$(events)" -gt 0 ] || fail "no events under the next owner"
kill "$producer" "$daemon"
wait "$producer" "$daemon" 2>/dev/null || true
daemon=

step "purged"
in_root apt-get purge -y -qq landtrace liblandtrace1 liblandtrace-reader1 liblandtrace-dev python3-landtrace >"$work/purge.log" 2>&1 || { cat "$work/purge.log"; fail "purge"; }
left=$(cd "$root" && find etc usr lib var/lib run 2>/dev/null | grep -i landtrace | grep -v '/dpkg/\|/apt/' || true)
[ -z "$left" ] || fail "this is left: $left"
echo "PASSED"
