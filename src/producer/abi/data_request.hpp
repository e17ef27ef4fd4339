// An ioctl on user_events_data as it stands in its caller's memory: of which generation it is, how it is read, and what
// the kernel answers if it cannot be read. The shim reads its own process, the owner another one.
#pragma once

#include <cstddef>
#include <string>

#include "abi/user_events.hpp"
#include "base/result.hpp"

namespace landtrace::abi {

class CallerMemory {
 public:
  // False unless all of it could be read.
  [[nodiscard]] virtual bool read(std::uint64_t from, void* to, std::size_t size) const = 0;

 protected:
  CallerMemory() = default;
  ~CallerMemory() = default;
  CallerMemory(const CallerMemory&) = default;
  CallerMemory& operator=(const CallerMemory&) = default;
};

enum class DataCommand {
  kRegisterWord,       // 6.4 and later: `reg`
  kRegisterStatusBit,  // 6.0 and 6.1
  kRegisterPlain,      // 2021
  kUnregister,         // `unreg`
  kDelete,
};

struct DataRequest {
  DataCommand command{};
  UserReg reg{};
  UserUnreg unreg{};
  std::string text;  // the declaration, or the name of what is to be deleted
  // Of kRegisterWord: an errno if the declaration could not be read. The kernel looks at it last.
  int text_error = 0;
};

// Whether user_events_data has this ioctl.
bool is_data_command(Version abi, unsigned long command);

// ENOTTY for a command that user_events_data does not have. Structures: EFAULT, E2BIG above a page or if unknown bytes
// are set, EINVAL if it is too small. Strings: EFAULT, EINVAL from 512 bytes on.
//
// A structure of exactly 20 bytes is that of 6.0 and 6.1 for everybody. To a domain with those kernels' ways every
// DIAG_IOCSREG has it, and there is no DIAG_IOCSUNREG.
Result<DataRequest> read_data_request(const CallerMemory& memory, Version abi, unsigned long command,
                                      std::uint64_t argument);

// A string of at most `limit` bytes with its NUL, read up to no page beyond its own. EFAULT; EINVAL if it is longer.
Result<std::string> read_string(const CallerMemory& memory, std::uint64_t from, std::size_t limit);

}  // namespace landtrace::abi
