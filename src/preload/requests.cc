#include "preload/requests.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "client/process.hpp"
#include "preload/claims.hpp"
#include "preload/reopen.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

using client::abi::UserReg;
using client::abi::UserUnreg;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxDeclaration = 512;

// The process, as its owner sees it (its pid namespace may be another), that this address space's enable words are
// registered for; 0: it has none.
std::uint32_t words_of = 0;

// A structure that says its own size: E2BIG over a page or where bytes that we do not know are set, EINVAL under
// what we need, EFAULT.
template <typename T>
int structure_in(T& structure, const void* argument) {
  std::uint32_t size = 0;
  if (!copy_in(&size, argument, sizeof size)) return -EFAULT;
  if (size > kPage) return -E2BIG;
  if (size < sizeof(T)) return -EINVAL;
  unsigned char bytes[kPage];
  if (!copy_in(bytes, argument, size)) return -EFAULT;
  if (std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; })) return -E2BIG;
  std::memcpy(&structure, bytes, sizeof structure);
  return 0;
}

// What the owner answered, as an errno; a dead owner is a device that went away.
int error_of(const Error& error) { return ipc::nobody_answers(error.code) ? -ENODEV : -error.code; }

int register_event(FdEntry file, void* argument) {
  UserReg reg;
  if (const int error = structure_in(reg, argument); error != 0) return error;
  const auto text = string_in(reinterpret_cast<const char*>(reg.name_args), kMaxDeclaration);
  const auto text_error = static_cast<std::uint64_t>(text ? 0 : text.error().code);
  ipc::Claim* const claim = claim_word(reg.enable_addr, reg.enable_bit);
  const auto answer = client::Process::get().ask({.operation = ipc::Operation::kRegister,
                                                  .file_slot = file.slot,
                                                  .file_generation = file.generation,
                                                  .a = reg.enable_addr,
                                                  .b = reg.enable_bit,
                                                  .c = reg.enable_size | reinterpret_cast<std::uint64_t>(claim) << 8,
                                                  .d = reg.flags | text_error << 16},
                                                 text ? std::string_view(*text) : std::string_view());
  if (!answer) {
    give_up(claim);
    return error_of(answer.error());
  }
  words_of = static_cast<std::uint32_t>(answer->reply.b);
  const auto index = static_cast<std::uint32_t>(answer->reply.a);
  // As in the kernel, a structure that cannot be written does not undo the registration.
  copy_out(static_cast<char*>(argument) + offsetof(UserReg, write_index), &index, sizeof index);
  return 0;
}

int unregister_word(void* argument) {
  UserUnreg unreg;
  if (const int error = structure_in(unreg, argument); error != 0) return error;
  if (unreg.reserved != 0 || unreg.reserved2 != 0) return -EINVAL;
  // First: should there be no owner to tell, the next one must not touch the word.
  give_up_word(unreg.disable_addr, unreg.disable_bit);
  const auto answer = client::Process::get().ask(
      {.operation = ipc::Operation::kUnregister, .a = unreg.disable_addr, .b = unreg.disable_bit});
  return answer ? 0 : error_of(answer.error());
}

int delete_event(const void* argument) {
  const auto name = string_in(static_cast<const char*>(argument), kMaxDeclaration);
  if (!name) return -name.error().code;
  const auto answer = client::Process::get().ask({.operation = ipc::Operation::kDelete}, *name);
  return answer ? 0 : error_of(answer.error());
}

}  // namespace

int data_request(FdEntry file, unsigned long request, void* argument) {
  switch (request) {
    case client::abi::kRegister:
      return register_event(file, argument);
    case client::abi::kUnregister:
      return unregister_word(argument);
    case client::abi::kDelete:
      return delete_event(argument);
    default:
      return -ENOTTY;
  }
}

void announce_fork() {
  if (words_of != 0) client::Process::get().ask_plain({.operation = ipc::Operation::kForking});
}

void announce_child() {
  FdTable::unlock_all();
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
