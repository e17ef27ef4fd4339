#include "preload/requests.hpp"

#include <unistd.h>

#include <cstddef>

#include "abi/data_request.hpp"
#include "bpf_calls/descriptors.hpp"
#include "client/process.hpp"
#include "preload/claims.hpp"
#include "preload/perf_events.hpp"
#include "preload/reopen.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

using abi::UserReg;
using abi::UserRegStatusBit;

// The process, as its owner sees it (its pid namespace may be another), that this address space's enable words are
// registered for; 0: it has none.
std::uint32_t words_of = 0;

class OwnMemory final : public abi::CallerMemory {
 public:
  [[nodiscard]] bool read(std::uint64_t from, void* to, std::size_t size) const override {
    return copy_in(to, reinterpret_cast<const void*>(from), size);
  }
};

// What the owner answered, as an errno; a dead owner is a device that went away.
int error_of(const Error& error) { return ipc::nobody_answers(error.code) ? -ENODEV : -error.code; }

// A descriptor and the file that it leads to.
struct Opened {
  int fd;
  FdEntry file;
};

ipc::Request about(const Opened& opened, ipc::Operation operation, std::uint8_t low = 0) {
  const auto identity = ipc::peek_identity(opened.fd);
  return {.operation = operation,
          .file_slot = opened.file.slot,
          .file_generation = opened.file.generation,
          .b = ipc::with_key(identity ? identity->key : 0, low)};
}

// As in the kernel, a structure that cannot be written does not undo a registration.
void put(void* structure, std::size_t offset, std::uint64_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  copy_out(static_cast<char*>(structure) + offset, &number, sizeof number);
}

int register_word(const Opened& opened, const abi::DataRequest& wanted, void* argument) {
  const UserReg& reg = wanted.reg;
  ipc::Claim* const claim = claim_word(reg.enable_addr, reg.enable_bit);
  ipc::Request request = about(opened, ipc::Operation::kRegister, reg.enable_bit);
  request.a = reg.enable_addr;
  request.c = reg.enable_size | reinterpret_cast<std::uint64_t>(claim) << 8;
  request.d = reg.flags | static_cast<std::uint64_t>(wanted.text_error) << 16;
  const auto answer = client::Process::get().ask(request, wanted.text);
  if (!answer) {
    give_up(claim);
    return error_of(answer.error());
  }
  words_of = static_cast<std::uint32_t>(answer->reply.b);
  put(argument, offsetof(UserReg, write_index), answer->reply.a);
  return 0;
}

int register_status_bit(const Opened& opened, const abi::DataRequest& wanted, void* argument) {
  const auto answer = client::Process::get().ask(about(opened, ipc::Operation::kRegisterStatusBit), wanted.text);
  if (!answer) return error_of(answer.error());
  put(argument, offsetof(UserRegStatusBit, status_bit), answer->reply.b);
  put(argument, offsetof(UserRegStatusBit, write_index), answer->reply.a);
  return 0;
}

int register_plain(const Opened& opened, const abi::DataRequest& wanted) {
  const auto answer = client::Process::get().ask(about(opened, ipc::Operation::kRegisterPlain), wanted.text);
  return answer ? static_cast<int>(answer->reply.a) : error_of(answer.error());
}

int unregister_word(const abi::DataRequest& wanted) {
  const std::uint64_t address = wanted.unreg.disable_addr;
  const std::uint8_t bit = wanted.unreg.disable_bit;
  // First: should there be no owner to tell, the next one must not touch the word.
  give_up_word(address, bit);
  const auto answer = client::Process::get().ask({.operation = ipc::Operation::kUnregister, .a = address, .b = bit});
  return answer ? 0 : error_of(answer.error());
}

int delete_event(const abi::DataRequest& wanted) {
  const auto answer = client::Process::get().ask({.operation = ipc::Operation::kDelete}, wanted.text);
  return answer ? 0 : error_of(answer.error());
}

}  // namespace

int data_request(int fd, FdEntry file, unsigned long request, void* argument) {
  const abi::Version abi = client::Process::is_attached() ? client::Process::view().control->abi : abi::Version::k6_12;
  const auto wanted = abi::read_data_request(OwnMemory(), abi, request, reinterpret_cast<std::uint64_t>(argument));
  if (!wanted) return -wanted.error().code;
  switch (wanted->command) {
    case abi::DataCommand::kRegisterWord:
      return register_word({fd, file}, *wanted, argument);
    case abi::DataCommand::kRegisterStatusBit:
      return register_status_bit({fd, file}, *wanted, argument);
    case abi::DataCommand::kRegisterPlain:
      return register_plain({fd, file}, *wanted);
    case abi::DataCommand::kUnregister:
      return unregister_word(*wanted);
    case abi::DataCommand::kDelete:
      return delete_event(*wanted);
  }
  return -ENOTTY;
}

void announce_fork() {
  if (words_of != 0) client::Process::get().ask_plain({.operation = ipc::Operation::kForking});
  bpf_calls::hold_for_fork();
}

void announce_parent() { bpf_calls::let_go_in_parent(); }

void announce_child() {
  bpf_calls::be_child();
  descriptors_after_fork();
  FdTable::unlock_all();
  perf_after_fork();
  client::Process::get().after_fork();
  if (words_of == 0) return;
  const auto answer = client::Process::get().ask_plain({.operation = ipc::Operation::kForked, .a = words_of});
  if (answer.error == 0) {
    words_of = static_cast<std::uint32_t>(answer.reply.b);
  } else if (!ipc::nobody_answers(answer.error)) {
    words_of = 0;
  }  // else it has words all the same, which the next owner finds by their claims
}

void on_next_owner(std::uint32_t pid) {
  if (words_of != 0) words_of = pid;
  reopen_files();
}

}  // namespace landtrace::preload
