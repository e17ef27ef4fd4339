#include "domain/data_call.hpp"

#include <cstddef>

#include "programs/task.hpp"

namespace landtrace::domain {

using abi::DataCommand;
using abi::UserReg;
using abi::UserRegStatusBit;

Result<void> DataCall::begin() {
  const auto access = domain_.enter();
  LT_CHECK(domain_.files().check(file_));
  abi_ = domain_.abi();
  if (!abi::is_data_command(abi_, command_)) return fail(ENOTTY, "user_events_data has no such ioctl");
  if (tid_ == 0) return fail(EPERM, "the caller is in a pid namespace that is not seen from here");
  pid_ = programs::process_of(tid_);
  LT_TRY(space_, domain_.enable_words().known_space(pid_, who_));
  return {};
}

Result<void> DataCall::read() {
  if (!space_) {
    LT_TRY(space_, programs::AddressSpace::open(pid_, who_));
  }
  LT_TRY(request_, abi::read_data_request(*space_, abi_, command_, argument_));
  touch_word();
  return {};
}

// A word whose page is there is written without waiting by whoever holds the domain.
void DataCall::touch_word() const {
  std::byte byte{};
  if (request_.command == DataCommand::kRegisterWord) {
    std::ignore = space_->read(request_.reg.enable_addr + request_.reg.enable_bit / 8, &byte, 1);
  } else if (request_.command == DataCommand::kUnregister) {
    std::ignore = space_->read(request_.unreg.disable_addr + request_.unreg.disable_bit / 8, &byte, 1);
  }
}

Result<int> DataCall::register_word() {
  const UserReg& reg = request_.reg;
  LT_CHECK(domain_.enable_words().know(space_, who_));
  LT_CHECK(domain_.enable_words().follow_forks(pid_, who_));
  LT_TRY(const std::uint32_t index,
         domain_.registrar().register_for_file(
             file_, pid_, who_,
             {request_.text, reg.flags, {reg.enable_addr, reg.enable_bit}, reg.enable_size, request_.text_error}));
  answer_at_ = argument_ + offsetof(UserReg, write_index);
  answer_ = {index};
  return 0;
}

Result<int> DataCall::register_status_bit() {
  LT_TRY(const auto made, domain_.registrar().register_status_bit(file_, request_.text, who_.uid));
  static_assert(offsetof(UserRegStatusBit, write_index) == offsetof(UserRegStatusBit, status_bit) + 4);
  answer_at_ = argument_ + offsetof(UserRegStatusBit, status_bit);
  answer_ = {made.bit, made.index};
  return 0;
}

Result<int> DataCall::carry_out() {
  const auto access = domain_.enter();
  LT_CHECK(domain_.files().check(file_));
  switch (request_.command) {
    case DataCommand::kRegisterWord:
      return register_word();
    case DataCommand::kRegisterStatusBit:
      return register_status_bit();
    case DataCommand::kRegisterPlain: {
      LT_TRY(const std::uint32_t byte, domain_.registrar().register_plain(file_, request_.text, who_.uid));
      return static_cast<int>(byte);
    }
    case DataCommand::kUnregister:
      LT_CHECK(domain_.enable_words().remove(pid_, who_, {request_.unreg.disable_addr, request_.unreg.disable_bit}));
      return 0;
    case DataCommand::kDelete:
      LT_CHECK(domain_.registrar().remove_event(request_.text, who_.uid));
      return 0;
  }
  return fail(ENOTTY);
}

void DataCall::answer() {
  if (!answer_.empty()) std::ignore = space_->write(answer_at_, std::as_bytes(std::span(answer_)));
}

Result<int> data_request(Domain& domain, FileId file, std::uint32_t tid, Identity who, unsigned command,
                         std::uint64_t argument) {
  DataCall call(domain, file, tid, who, command, argument);
  LT_CHECK(call.begin());
  LT_CHECK(call.read());
  auto result = call.carry_out();
  call.answer();
  return result;
}

}  // namespace landtrace::domain
