// The event of example_load through user_events_data, see abi.c for the interface step by step.
#pragma once

#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

namespace example {

class AbiEvent {
 public:
  AbiEvent() = default;
  AbiEvent(const AbiEvent&) = delete;
  AbiEvent& operator=(const AbiEvent&) = delete;
  ~AbiEvent() {
    if (fd_ >= 0) ::close(fd_);
  }

  // Opens the file and registers the event; says on stderr what went wrong.
  bool open(const char* declaration) {
    const char* const tracefs = std::getenv("TRACEFS");
    const std::string path = std::string(tracefs ? tracefs : "/sys/kernel/tracing") + "/user_events_data";
    fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    UserReg request{sizeof(UserReg),
                    0,
                    sizeof word_,
                    0,
                    reinterpret_cast<std::uint64_t>(&word_),
                    reinterpret_cast<std::uint64_t>(declaration),
                    0};
    if (fd_ < 0 || ::ioctl(fd_, _IOWR('*', 0, UserReg*), &request) != 0) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), std::strerror(errno));
      return false;
    }
    index_ = request.write_index;
    return true;
  }

  // 0 or a negative errno; -EBADF while nobody listens.
  int emit(std::uint32_t thread, std::uint64_t number, std::span<const std::byte> filler) const {
    if ((__atomic_load_n(&word_, __ATOMIC_RELAXED) & 1) == 0) return -EBADF;
    // The filler begins where its location ends.
    const Record record{index_, thread, number, static_cast<std::uint32_t>(filler.size()) << 16};
    const iovec vectors[] = {{const_cast<Record*>(&record), sizeof record},
                             {const_cast<std::byte*>(filler.data()), filler.size()}};
    return ::writev(fd_, vectors, 2) < 0 ? -errno : 0;
  }

 private:
  struct __attribute__((packed)) UserReg {
    std::uint32_t size;
    std::uint8_t enable_bit;
    std::uint8_t enable_size;
    std::uint16_t flags;
    std::uint64_t enable_addr;
    std::uint64_t name_args;
    std::uint32_t write_index;
  };
  struct __attribute__((packed)) Record {
    std::uint32_t index;
    std::uint32_t thread;
    std::uint64_t number;
    std::uint32_t filler;
  };

  int fd_ = -1;
  std::uint32_t word_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace example
