// A producer of a soak that knows only the kernel's user_events: abi_producer PROGRESS SEED USER_EVENTS_DATA. Under the
// shim, or on a mount.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../user_events_abi.h"
#include "load.hpp"

namespace {

std::uint32_t enable_word;

// The open file, or -1. Where the round's owner is killed, a program that starts between two owners waits for the next
// one. An owner that is silent for longer than the shim waits is a busy one.
int register_event(const char* path, user_reg& reg, const landtrace::soak::Progress& progress) {
  for (;;) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && ::ioctl(file, DIAG_IOCSREG, &reg) == 0) return file;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (error != ETIMEDOUT && __atomic_load_n(&progress.owner_is_killed, __ATOMIC_RELAXED) == 0) {
      std::fprintf(stderr, "soak: %s: %s\n", path, std::strerror(error));
      return -1;
    }
    if (__atomic_load_n(&progress.stop, __ATOMIC_RELAXED) != 0) ::_exit(0);
    ::usleep(1000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace landtrace::soak;
  if (argc != 4) return 2;
  Progress* const progress = map_progress(argv[1], false);
  if (progress == nullptr) return 1;
  user_reg reg{.size = sizeof reg,
               .enable_bit = 0,
               .enable_size = sizeof enable_word,
               .flags = 0,
               .enable_addr = reinterpret_cast<std::uintptr_t>(&enable_word),
               .name_args = reinterpret_cast<std::uintptr_t>(kDeclaration),
               .write_index = 0};
  const int file = register_event(argv[3], reg, *progress);
  if (file < 0) return 3;
  const bool is_mount = std::string_view(argv[3]) != "/sys/kernel/tracing/user_events_data";
  const auto emit = [&](const Payload& payload) {
    if (__atomic_load_n(&enable_word, __ATOMIC_RELAXED) == 0) return -EBADF;
    Payload copy = payload;
    const iovec parts[] = {{&reg.write_index, sizeof reg.write_index}, {&copy, sizeof copy}};
    return ::writev(file, parts, 2) < 0 ? -errno : 0;
  };
  Load(*progress, is_mount ? Kind::kMount : Kind::kShim, static_cast<std::uint32_t>(std::atoi(argv[2]))).run(emit);
}
