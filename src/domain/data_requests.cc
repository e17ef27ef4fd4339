#include "domain/data_requests.hpp"

#include <cstddef>

#include "domain/task.hpp"

namespace landtrace::domain {
namespace {

using event::DataCommand;
using event::DataRequest;
using event::abi::UserReg;
using event::abi::UserRegStatusBit;

struct Call {
  Domain& domain;
  FileId file;
  std::uint32_t pid;
  Identity who;
  std::uint64_t argument;
  std::shared_ptr<AddressSpace> space;

  // As in the kernel, a structure that cannot be written does not undo what was done.
  template <typename... Numbers>
  void answer(std::size_t offset, Numbers... numbers) const {
    const std::uint32_t words[] = {numbers...};
    const auto bytes = std::as_bytes(std::span(words));
    domain.enable_words().memory().write(space, argument + offset, {bytes.begin(), bytes.end()});
  }
};

Result<int> register_word(const Call& call, const DataRequest& request) {
  const UserReg& reg = request.reg;
  LT_TRY(const std::uint32_t index,
         call.domain.register_for_file(
             call.file, call.pid, call.who,
             {request.text, reg.flags, {reg.enable_addr, reg.enable_bit}, reg.enable_size, request.text_error}));
  call.answer(offsetof(UserReg, write_index), index);
  return 0;
}

Result<int> register_status_bit(const Call& call, const DataRequest& request) {
  LT_TRY(const auto made, call.domain.register_status_bit(call.file, request.text, call.who.uid));
  static_assert(offsetof(UserRegStatusBit, write_index) == offsetof(UserRegStatusBit, status_bit) + 4);
  call.answer(offsetof(UserRegStatusBit, status_bit), made.bit, made.index);
  return 0;
}

Result<int> carry_out(const Call& call, const DataRequest& request) {
  switch (request.command) {
    case DataCommand::kRegisterWord:
      return register_word(call, request);
    case DataCommand::kRegisterStatusBit:
      return register_status_bit(call, request);
    case DataCommand::kRegisterPlain: {
      LT_TRY(const std::uint32_t byte, call.domain.register_plain(call.file, request.text, call.who.uid));
      return static_cast<int>(byte);
    }
    case DataCommand::kUnregister:
      LT_CHECK(call.domain.unregister(call.pid, call.who, {request.unreg.disable_addr, request.unreg.disable_bit}));
      return 0;
    case DataCommand::kDelete:
      LT_CHECK(call.domain.remove_event(request.text, call.who.uid));
      return 0;
  }
  return fail(ENOTTY);
}

}  // namespace

Result<int> data_request(Domain& domain, FileId file, std::uint32_t tid, Identity who, unsigned command,
                         std::uint64_t argument) {
  const auto access = domain.enter();
  LT_CHECK(domain.files().check(file));
  if (!event::is_data_command(domain.abi(), command)) return fail(ENOTTY, "user_events_data has no such ioctl");
  if (tid == 0) return fail(EPERM, "the caller is in a pid namespace that is not seen from here");
  const std::uint32_t pid = process_of(tid);
  LT_TRY(auto space, domain.enable_words().space(pid, who));
  LT_TRY(const DataRequest request,
         domain.enable_words().memory().read_request(space, domain.abi(), command, argument));
  return carry_out({domain, file, pid, who, argument, std::move(space)}, request);
}

}  // namespace landtrace::domain
