#!/bin/sh
# with_qemu.sh COMMAND...: runs it in a user namespace where the kernel starts programs of aarch64 by qemu-user.
set -eu
formats=/proc/sys/fs/binfmt_misc

if [ "${1:-}" != --inside ]; then
  [ $# -gt 0 ] || { sed -n 's/^# \(with\)/\1/p' "$0" >&2; exit 2; }
  # Root's tests have users of all numbers, who stay who they are.
  if [ "$(id -u)" -eq 0 ]; then
    unshare --user sleep 60 &
    while [ "$(readlink /proc/$!/ns/user)" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done
    for map in uid_map gid_map; do awk '{print $1, $1, $3}' /proc/self/$map >/proc/$!/$map; done
    exec nsenter --user=/proc/$!/ns/user unshare --mount "$0" --inside "$@"
  fi
  exec unshare --user --map-root-user --mount "$0" --inside "$@"
fi

shift
qemu=$(command -v qemu-aarch64) || { echo "with_qemu.sh: no qemu-aarch64: install qemu-user" >&2; exit 1; }
mount -t binfmt_misc binfmt_misc "$formats" || {
  echo "with_qemu.sh: the kernel has no table of formats in a user namespace (Linux 6.7 and later do)" >&2
  exit 1
}
# An ELF file of 64 bits, little endian, for machine 183. P: its name stays as it was called, F: the interpreter is opened
# now, wherever the program runs.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":qemu-aarch64:M::$magic:$mask:$qemu:PF" >"$formats/register"
exec "$@"
