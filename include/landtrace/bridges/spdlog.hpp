// spdlog's messages as events of the name spdlog_log.
//
//     spdlog::default_logger()->sinks().push_back(std::make_shared<landtrace::bridges::SpdlogSink>());
//
// Fields: level (spdlog's, 0 trace to 5 critical), logger, message (without the pattern's time and level), file, line
// ("" and 0 where the message has none). While nobody listens, a message costs this sink a test and a branch, and
// spdlog what it does for any sink. Thread-safe without a lock. Needs C++20 and spdlog 1.x; links -llandtrace.
#pragma once

#include <landtrace/landtrace.hpp>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace landtrace::bridges {

class SpdlogSink final : public spdlog::sinks::sink {
 public:
  using Logged =
      Event<"spdlog_log", Field<"level", std::uint8_t>, Field<"logger", std::string_view>,
            Field<"message", std::string_view>, Field<"file", std::string_view>, Field<"line", std::uint32_t>>;

  void log(const spdlog::details::log_msg& message) override {
    if (!Logged::enabled()) return;
    const char* const file = message.source.filename;
    Logged::emit(static_cast<std::uint8_t>(message.level), {message.logger_name.data(), message.logger_name.size()},
                 {message.payload.data(), std::min<std::size_t>(message.payload.size(), kLongest)},
                 file == nullptr ? std::string_view() : file,
                 static_cast<std::uint32_t>(std::max(message.source.line, 0)));
  }
  void flush() override {}
  // An event has fields, and no pattern.
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  static constexpr std::size_t kLongest = 32768;  // of a message, which is cut: what an event has room for
};

}  // namespace landtrace::bridges
