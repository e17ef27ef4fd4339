#include "tracefs/trace/saved_tasks.hpp"

#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "buffer/saved_tasks.hpp"

namespace landtrace::tracefs {
namespace {

constexpr std::uint64_t kMostWanted = 32768;
// As Linux 6.12 counts: names of 16 bytes and a number each, after a table, in a power of two of pages.
constexpr std::uint64_t kTableBytes = 131104;
constexpr std::uint64_t kNameBytes = 20;

}  // namespace

Result<std::string> SavedCmdlines::text() {
  std::string text;
  for (const auto& [tid, task] : buffer::saved_tasks(users_)) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", tid, task.comm);
  }
  return text;
}

Result<std::string> SavedTgids::text() {
  std::string text;
  if (!top_->options()[TraceOption::kRecordTgid]) return text;
  for (const auto& [tid, task] : buffer::saved_tasks(top_->domain.users())) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", tid, task.tgid);
  }
  return text;
}

Result<std::string> SavedCmdlinesSize::text() {
  const std::uint64_t bytes = std::bit_ceil(kTableBytes + wanted_ * kNameBytes);
  return std::to_string((bytes - kTableBytes) / kNameBytes) + '\n';
}

Result<std::size_t> SavedCmdlinesSize::store(const Caller&, std::string_view bytes) {
  LT_TRY(const std::uint64_t wanted, number_in(bytes, 10));
  if (wanted == 0 || wanted > kMostWanted) return fail(EINVAL, "between 1 and 32768 names");
  wanted_ = wanted;
  return bytes.size();
}

}  // namespace landtrace::tracefs
