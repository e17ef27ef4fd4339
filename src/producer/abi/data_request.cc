#include "abi/data_request.hpp"

#include <algorithm>
#include <cstring>

namespace landtrace::abi {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxDeclaration = 512;

Result<std::uint32_t> read_size(const CallerMemory& memory, std::uint64_t argument) {
  std::uint32_t size = 0;
  if (!memory.read(argument, &size, sizeof size)) return fail(EFAULT, "the structure cannot be read");
  if (size > kPage) return fail(E2BIG, "the structure is larger than a page");
  return size;
}

// A structure that says its own size, which may be of a later version as long as nothing is set in what is new there.
template <typename T>
Result<T> read_structure(const CallerMemory& memory, std::uint64_t argument, std::uint32_t size) {
  if (size < sizeof(T)) return fail(EINVAL, "the structure is too small");
  unsigned char bytes[kPage];
  if (!memory.read(argument, bytes, size)) return fail(EFAULT, "the structure cannot be read");
  const bool unknown = std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; });
  if (unknown) return fail(E2BIG, "the structure has more in it than is known");
  T structure;
  std::memcpy(&structure, bytes, sizeof structure);
  return structure;
}

Result<DataRequest> read_with_text(const CallerMemory& memory, DataCommand command, std::uint64_t text) {
  DataRequest request;
  request.command = command;
  LT_TRY(request.text, read_string(memory, text, kMaxDeclaration));
  return request;
}

Result<DataRequest> read_register(const CallerMemory& memory, Version abi, std::uint64_t argument) {
  LT_TRY(const std::uint32_t size, read_size(memory, argument));
  if (abi == Version::k6_1 || size == sizeof(UserRegStatusBit)) {
    LT_TRY(const UserRegStatusBit reg, read_structure<UserRegStatusBit>(memory, argument, size));
    return read_with_text(memory, DataCommand::kRegisterStatusBit, reg.name_args);
  }
  DataRequest request;
  request.command = DataCommand::kRegisterWord;
  LT_TRY(request.reg, read_structure<UserReg>(memory, argument, size));
  if (auto text = read_string(memory, request.reg.name_args, kMaxDeclaration)) {
    request.text = *std::move(text);
  } else {
    request.text_error = text.error().code;
  }
  return request;
}

Result<DataRequest> read_unregister(const CallerMemory& memory, std::uint64_t argument) {
  DataRequest request;
  request.command = DataCommand::kUnregister;
  LT_TRY(const std::uint32_t size, read_size(memory, argument));
  LT_TRY(request.unreg, read_structure<UserUnreg>(memory, argument, size));
  if (request.unreg.reserved != 0 || request.unreg.reserved2 != 0) return fail(EINVAL, "what is reserved is not 0");
  return request;
}

}  // namespace

Result<std::string> read_string(const CallerMemory& memory, std::uint64_t from, std::size_t limit) {
  std::string text;
  while (text.size() < limit) {
    const std::uint64_t at = from + text.size();
    const std::size_t n = std::min<std::size_t>(limit - text.size(), kPage - at % kPage);
    char piece[kPage];
    if (!memory.read(at, piece, n)) return fail(EFAULT, "the string cannot be read");
    const std::size_t length = ::strnlen(piece, n);
    text.append(piece, length);
    if (length < n) return text;
  }
  return fail(EINVAL, "the string is too long");
}

bool is_data_command(Version abi, unsigned long command) {
  return command == kIoctlRegister || command == kIoctlRegisterPlain || command == kIoctlDelete ||
         (command == kIoctlUnregister && abi != Version::k6_1);
}

Result<DataRequest> read_data_request(const CallerMemory& memory, Version abi, unsigned long command,
                                      std::uint64_t argument) {
  if (!is_data_command(abi, command)) return fail(ENOTTY, "user_events_data has no such ioctl");
  switch (command) {
    case kIoctlRegister:
      return read_register(memory, abi, argument);
    case kIoctlRegisterPlain:
      return read_with_text(memory, DataCommand::kRegisterPlain, argument);
    case kIoctlDelete:
      return read_with_text(memory, DataCommand::kDelete, argument);
    default:
      return read_unregister(memory, argument);
  }
}

}  // namespace landtrace::abi
