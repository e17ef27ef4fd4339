#include "tracefs/set_event_pid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "language/words.hpp"
#include "tracefs/context.hpp"

namespace landtrace::tracefs {
namespace {

// In the kernel ids from here on are invalid.
constexpr std::uint32_t kMaxPid = 1u << 30;

// The kernel takes the low half of the number.
Result<std::uint32_t> thread_in(std::string_view word) {
  const auto number = number_in(word);
  if (!number) return fail(EINVAL, "a thread id was expected");
  const auto id = static_cast<std::uint32_t>(*number);
  if (id >= kMaxPid) return fail(EPERM, "no thread has an id that large");
  return id;
}

}  // namespace

const domain::Threads& SetEventPid::current(const domain::Instance& instance) const {
  return list_ == List::kOnly ? instance.threads.only : instance.threads.never;
}

Result<void> SetEventPid::set(domain::Threads threads) {
  LT_TRY(domain::Instance* const instance, instance_->get());
  auto only = instance->threads.only, never = instance->threads.never;
  (list_ == List::kOnly ? only : never) = std::move(threads);
  return instance_->context.domain.thread_lists().set(*instance, std::move(only), std::move(never));
}

Result<std::string> SetEventPid::text() {
  LT_TRY(const domain::Instance* const instance, instance_->get());
  std::string text;
  if (const auto& threads = current(*instance)) {
    for (const std::uint32_t id : *threads) text += fmt::format("{}\n", id);
  }
  return text;
}

Result<std::size_t> SetEventPid::store(const Caller&, std::string_view bytes) {
  LT_TRY(const domain::Instance* const instance, instance_->get());
  auto threads = current(*instance).value_or(std::vector<std::uint32_t>{});
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    LT_TRY(const language::Word word, language::next_word(bytes.substr(taken)));
    taken += word.taken;
    if (word.text.empty()) break;
    LT_TRY(const std::uint32_t id, thread_in(word.text));
    threads.push_back(id);
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  if (!threads.empty()) LT_CHECK(set(std::move(threads)));
  return taken;
}

}  // namespace landtrace::tracefs
