#include "tracefs/logged_errors.hpp"

#include <fmt/format.h>

#include <ctime>
#include <utility>

namespace landtrace::tracefs {
namespace {

constexpr std::size_t kMaxEntries = 8;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

void LoggedErrors::add(LoggedError error) {
  if (entries_.size() == kMaxEntries) entries_.pop_front();
  entries_.push_back({now_ns(), std::move(error)});
}

std::string LoggedErrors::text() const {
  constexpr std::string_view kCommand = "  Command: ";
  std::string text;
  for (const auto& [time_ns, error] : entries_) {
    text +=
        fmt::format("[{:5}.{:06}] {}: error: {}\n{}{}\n{:{}}^\n", time_ns / 1'000'000'000, time_ns / 1'000 % 1'000'000,
                    error.where, error.what, kCommand, error.command, "", kCommand.size() + error.position);
  }
  return text;
}

}  // namespace landtrace::tracefs
