// Mounts in the ways that mount(8) of one version or another does not: mounter WAY WHAT TARGET
// Or runs a command where seccomp has no listener to give: mounter without-seccomp CMD…, mounter with-a-listener CMD…
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kCreate = 6, kClone = 1, kFromDescriptor = 4, kOldMagic = 0xc0ed0000u };

static int attach(int tree, const char* target) {
  if (tree < 0) return -1;
  return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, target, kFromDescriptor);
}

static int by_context(const char* type, const char* target) {
  const int context = (int)syscall(SYS_fsopen, type, 1);
  if (context < 0 || syscall(SYS_fsconfig, context, kCreate, NULL, NULL, 0) != 0) return -1;
  return attach((int)syscall(SYS_fsmount, context, 1, 0), target);
}

static int by_copy(const char* source, const char* target) {
  return attach((int)syscall(SYS_open_tree, AT_FDCWD, source, kClone | O_CLOEXEC), target);
}

static int by_move(const char* source, const char* target) {
  return (int)syscall(SYS_move_mount, AT_FDCWD, source, AT_FDCWD, target, 0);
}

// As a program of 32 bits does.
static int by_32_bits(const char* type, const char* target) {
#ifdef __x86_64__
  char* const low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return -1;
  strcpy(low, type);
  strcpy(low + 4096, target);
  long result = 21;
  __asm__ volatile("int $0x80"
                   : "+a"(result)
                   : "b"((long)(intptr_t)low), "c"((long)(intptr_t)(low + 4096)), "d"((long)(intptr_t)low), "S"(0L),
                     "D"(0L)
                   : "memory", "r8", "r9", "r10", "r11");
  if ((int)result >= 0) return 0;
  errno = -(int)result;
  return -1;
#else
  return mount(type, target, type, 0, NULL);
#endif
}

// Refuses seccomp() to a command.
static void without_seccomp(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

// As in a container whose manager listens. The descriptor that seccomp() makes would be closed by exec.
static void with_a_listener(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {1, code};
  dup((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

int main(int argc, char** argv) {
  if (argc > 2 && strncmp(argv[1], "with", 4) == 0) {
    strcmp(argv[1], "without-seccomp") == 0 ? without_seccomp() : with_a_listener();
    execvp(argv[2], argv + 2);
  }
  if (argc != 4) return 2;
  const char *way = argv[1], *what = argv[2], *target = argv[3];
  int result = -1;
  if (strcmp(way, "plain") == 0) result = mount("none", target, what, 0, NULL);
  if (strcmp(way, "magic") == 0) result = mount("none", target, what, kOldMagic, NULL);
  if (strcmp(way, "bind") == 0) result = mount(what, target, NULL, MS_BIND, NULL);
  if (strcmp(way, "move") == 0) result = mount(what, target, NULL, MS_MOVE, NULL);
  if (strcmp(way, "context") == 0) result = by_context(what, target);
  if (strcmp(way, "copy") == 0) result = by_copy(what, target);
  if (strcmp(way, "new-move") == 0) result = by_move(what, target);
  if (strcmp(way, "32-bit") == 0) result = by_32_bits(what, target);
  if (result != 0) printf("%s\n", strerrorname_np(errno));
  return result == 0 ? 0 : 1;
}
