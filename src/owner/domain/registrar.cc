#include "domain/registrar.hpp"

#include <fmt/format.h>

#include "event/name_flags.hpp"

namespace landtrace::domain {
namespace {

Result<void> check_flags(std::uint16_t flags) {
  if ((flags & ~(kPersist | kMultiFormat)) != 0) return fail(EINVAL, "unknown registration flags");
  return {};
}

Result<void> check_bit(const Registrar::WordRequest& request) {
  if (request.size != 4 && request.size != 8) return fail(EINVAL, "an enable word has 4 or 8 bytes");
  if (request.bit.bit >= request.size * 8) return fail(EINVAL, "the bit is not in the enable word");
  if (request.bit.address % request.size != 0) return fail(EINVAL, "the enable word is not aligned");
  constexpr std::uint64_t kKernelHalf = 1ull << 63;
  if (request.bit.address >= kKernelHalf) return fail(EFAULT, "the enable word is not in a program's memory");
  return {};
}

}  // namespace

Result<FileId> Registrar::open_file(std::uint32_t uid, std::uint32_t opener) {
  if (opener != 0) rules_->program_came(opener);
  return files_.open(uid, is_guest(uid) ? kGuestFiles : plan::kMaxFiles, opener);
}

Result<void> Registrar::check_named(FileId file, std::uint64_t key, std::uint32_t uid) const {
  LT_CHECK(files_.check(file));
  if (files_.key_of(file) == key || files_.user_of(file) == uid || !is_guest(uid)) return {};
  return fail(EBADF, "no such open file of this user");
}

// Of the file's user, who may have given the descriptor to another.
std::uint32_t Registrar::most_indices_of(FileId file) const {
  return is_guest(files_.user_of(file)) ? kGuestIndices : Files::kNoLimit;
}

Result<Event*> Registrar::find_or_register(std::string_view text, std::uint16_t flags, std::uint32_t uid,
                                           Events::Match match) {
  std::string bare;
  if (abi_ == abi::Version::k6_1) text = bare = event::without_flags(text);
  LT_CHECK(check_flags(flags));
  if ((flags & kPersist) != 0 && is_guest(uid)) return fail(EPERM, "only the domain's user may make events that stay");
  const std::uint32_t limit = is_guest(uid) ? kGuestEvents : plan::kMaxEvents;
  auto registration = events_.register_event(text, flags, uid, limit, match);
  if (!registration && registration.error().code == EADDRINUSE) {
    enable_words_.sweep();  // the one that has the name may be gone
    registration = events_.register_event(text, flags, uid, limit, match);
  }
  if (!registration) return tl::unexpected<Error>(std::move(registration).error());
  Event& event = *registration->event;
  if (!registration->made) return &event;
  LT_CHECK(rules_->select(event));
  // With that kernel every event has a bit. Beyond what the page holds an event has none, and nobody finds it by one.
  if (abi_ == abi::Version::k6_1) std::ignore = events_.give_place(event, Page::kBits);
  return &event;
}

// Of programs for a kernel where events stay until they are deleted.
Result<Event*> Registrar::find_or_register_lasting(std::string_view text, std::uint32_t uid, Events::Match match) {
  const bool may_last = !is_guest(uid);
  LT_TRY(Event* const event, find_or_register(text, may_last ? kPersist : 0, uid, match));
  if (may_last) events_.make_lasting(*event);
  return event;
}

Result<Registrar::StatusRegistration> Registrar::register_status_bit(FileId file, std::string_view text,
                                                                     std::uint32_t uid) {
  LT_CHECK(files_.check(file, Files::Form::kIndexed));
  const auto match = abi_ == abi::Version::k6_1 ? Events::Match::kByName : Events::Match::kByFields;
  LT_TRY(Event* const event, find_or_register_lasting(text, uid, match));
  // If what follows fails, a new event that nobody else keeps goes again.
  const Events::Hold hold(events_, *event);
  LT_CHECK(events_.give_place(*event, Page::kBits));
  LT_TRY(const std::uint32_t index, files_.add_event(file, *event, most_indices_of(file)));
  return StatusRegistration{index, event->status_bit};
}

Result<std::uint32_t> Registrar::register_plain(FileId file, std::string_view text, std::uint32_t uid) {
  LT_CHECK(files_.check(file, Files::Form::kPlain));
  LT_TRY(Event* const event, find_or_register_lasting(text, uid, Events::Match::kByFields));
  const Events::Hold hold(events_, *event);
  LT_CHECK(events_.give_place(*event, Page::kBytes));
  LT_CHECK(files_.set_plain_event(file, *event, most_indices_of(file)));
  return event->status_byte;
}

Result<std::uint32_t> Registrar::register_for_file(FileId file, std::uint32_t pid, Identity client,
                                                   const WordRequest& request) {
  LT_CHECK(files_.check(file, Files::Form::kIndexed));
  LT_CHECK(check_flags(request.flags));
  LT_CHECK(check_bit(request));
  LT_CHECK(enable_words_.check_unused(pid, client, request.bit, request.claim));
  if (request.text_error != 0) return fail(request.text_error, "the declaration could not be read");
  LT_TRY(Event* const event, find_or_register(request.text, request.flags, client.uid));
  const Events::Hold hold(events_, *event);
  LT_TRY(const std::uint32_t index, files_.add_event(file, *event, most_indices_of(file)));
  // The file keeps its reference also where the word turns out not to be writable, as in the kernel.
  LT_CHECK(enable_words_.add(pid, client, request.bit, *event, request.claim));
  return index;
}

Result<void> Registrar::remove_event(std::string_view name, std::uint32_t uid) {
  enable_words_.sweep();  // whoever kept it may be gone
  return events_.remove(name, uid);
}

Result<std::uint32_t> Registrar::register_native(std::string_view text, std::uint16_t flags, std::uint32_t uid) {
  LT_TRY(Event* const event, find_or_register(text, flags, uid));
  events_.add_reference(*event, uid);
  return event->slot;
}

Result<std::uint32_t> Registrar::attach_native(std::string_view system, std::string_view name, std::uint32_t uid) {
  Event* const event = events_.find(system, name);
  if (event == nullptr) return fail(ENOENT, fmt::format("there is no event {}:{}", system, name));
  events_.add_reference(*event, uid);
  return event->slot;
}

Result<Event*> Registrar::add_event(std::string system, event::Declaration declaration, std::string text,
                                    std::uint32_t uid) {
  if (is_guest(uid)) return fail(EPERM, "only the domain's user may make events that stay");
  LT_TRY(Event* const event, events_.add(std::move(system), std::move(declaration), std::move(text), uid));
  if (auto selected = rules_->select(*event); !selected) {
    std::ignore = events_.remove(*event, uid);
    return tl::unexpected<Error>(std::move(selected).error());
  }
  return event;
}

}  // namespace landtrace::domain
