// glog's messages as events of the name glog_log, as long as the object lives.
//
//     landtrace::bridges::GlogSink events;
//     LOG(INFO) << "ready";
//
// Fields: level (glog's, 0 INFO to 3 FATAL), message, file, line. While nobody listens, a message costs this sink a
// test and a branch, and glog what it does for any sink. Thread-safe. Needs C++20 and glog 0.6; links -llandtrace.
#pragma once

#include <glog/logging.h>
#include <landtrace/landtrace.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace landtrace::bridges {

class GlogSink final : public google::LogSink {
 public:
  using Logged = Event<"glog_log", Field<"level", std::uint8_t>, Field<"message", std::string_view>,
                       Field<"file", std::string_view>, Field<"line", std::uint32_t>>;

  GlogSink() { google::AddLogSink(this); }
  ~GlogSink() override { google::RemoveLogSink(this); }
  GlogSink(const GlogSink&) = delete;
  GlogSink& operator=(const GlogSink&) = delete;

  using google::LogSink::send;
  void send(google::LogSeverity severity, const char* full_filename, const char* /*base_filename*/, int line,
            const google::LogMessageTime& /*time*/, const char* message, std::size_t length) override {
    if (!Logged::enabled()) return;
    Logged::emit(static_cast<std::uint8_t>(severity), {message, std::min<std::size_t>(length, kLongest)}, full_filename,
                 static_cast<std::uint32_t>(line));
  }

 private:
  static constexpr std::size_t kLongest = 32768;  // of a message, which is cut: what an event has room for
};

}  // namespace landtrace::bridges
