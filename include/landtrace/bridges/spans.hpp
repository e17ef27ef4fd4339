// Spans as OpenTelemetry has them, as events: what a thread does from here to there, below what, in which trace.
//
//     landtrace::bridges::Span span("load");                        // below the thread's span, if it has one
//     span.attribute("rows", std::to_string(rows));
//     request.header("traceparent", span.context().traceparent());  // for the next process, which says
//     landtrace::bridges::Span span("serve", landtrace::bridges::SpanContext::parse(header));
//
// Events: span_begin (span, parent: 0 for a trace's first, trace_high and trace_low: the trace's 128 bits, name),
// span_end (span, status: OpenTelemetry's 0 unset, 1 ok, 2 error, message), span_attribute (span, key, value),
// span_event (span, name). As a page with bars: landtrace view --span span_begin,span_end,span
//
// A span begins when the object is made and ends with it, in the same thread; a thread's spans end in the reverse
// order. One that begins while nobody listens to span_begin emits nothing and has its parent's context: what it costs
// is a test and a branch. Texts are cut to what an event has room for: 32768 bytes, a key's to 16384. No libraries but
// liblandtrace; needs C++20.
#pragma once

#include <landtrace/landtrace.hpp>
#include <sys/random.h>
#include <time.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace landtrace::bridges {

struct SpanContext {
  std::uint64_t trace_high = 0;
  std::uint64_t trace_low = 0;
  std::uint64_t span = 0;

  [[nodiscard]] bool is_valid() const { return span != 0 && (trace_high | trace_low) != 0; }
  // The header of W3C's Trace Context, "00-TRACE-SPAN-01"; "" for an invalid one.
  [[nodiscard]] std::string traceparent() const {
    if (!is_valid()) return {};
    char text[56];
    std::snprintf(text, sizeof text, "00-%016llx%016llx-%016llx-01", static_cast<unsigned long long>(trace_high),
                  static_cast<unsigned long long>(trace_low), static_cast<unsigned long long>(span));
    return text;
  }
  // An invalid context for what is no such header.
  static SpanContext parse(std::string_view header) {
    constexpr std::size_t kLength = 55;
    SpanContext context;
    const bool is_one = header.size() >= kLength && header[2] == '-' && header[35] == '-' && header[52] == '-' &&
                        !header.starts_with("ff") && (header.size() == kLength || header[kLength] == '-');
    if (!is_one || !number(header.substr(3, 16), context.trace_high) ||
        !number(header.substr(19, 16), context.trace_low) || !number(header.substr(36, 16), context.span) ||
        !context.is_valid()) {
      return {};
    }
    return context;
  }

 private:
  static bool number(std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return error == std::errc() && end == digits.data() + digits.size();
  }
};

class Span {
 public:
  enum class Status : std::uint8_t { kUnset = 0, kOk = 1, kError = 2 };

  using Begin =
      Event<"span_begin", Field<"span", std::uint64_t>, Field<"parent", std::uint64_t>,
            Field<"trace_high", std::uint64_t>, Field<"trace_low", std::uint64_t>, Field<"name", std::string_view>>;
  using End = Event<"span_end", Field<"span", std::uint64_t>, Field<"status", std::uint8_t>,
                    Field<"message", std::string_view>>;
  using Attribute = Event<"span_attribute", Field<"span", std::uint64_t>, Field<"key", std::string_view>,
                          Field<"value", std::string_view>>;
  using Happened = Event<"span_event", Field<"span", std::uint64_t>, Field<"name", std::string_view>>;

  explicit Span(std::string_view name) : Span(name, current()) {}
  // Below a span of another thread or process; an invalid context: of a trace of its own.
  Span(std::string_view name, const SpanContext& parent) : context_(parent), outer_(current()) {
    if (Begin::enabled()) begin(name);
    current() = context_;
  }
  ~Span() {
    current() = outer_;
    if (is_recorded_) End::emit(context_.span, static_cast<std::uint8_t>(status_), message_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  [[nodiscard]] const SpanContext& context() const { return context_; }
  [[nodiscard]] bool is_recorded() const { return is_recorded_; }
  void attribute(std::string_view key, std::string_view value) {
    if (is_recorded_) Attribute::emit(context_.span, key.substr(0, kLongest / 2), value.substr(0, kLongest));
  }
  void event(std::string_view name) {
    if (is_recorded_) Happened::emit(context_.span, name.substr(0, kLongest));
  }
  void set_status(Status status, std::string_view message = {}) {
    status_ = status;
    message_ = message.substr(0, kLongest);
  }

  // The context of the thread's innermost span.
  static SpanContext& current() {
    static thread_local SpanContext context;
    return context;
  }

 private:
  static constexpr std::size_t kLongest = 32768;  // of a text

  void begin(std::string_view name) {
    const std::uint64_t parent = context_.is_valid() ? context_.span : 0;
    if (parent == 0) context_ = {some_number(), some_number(), 0};
    context_.span = some_number();
    is_recorded_ = true;
    Begin::emit(context_.span, parent, context_.trace_high, context_.trace_low, name.substr(0, kLongest));
  }
  // Never 0. From the kernel: processes that were forked must differ.
  static std::uint64_t some_number() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number || number == 0) {
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      const auto mixed = static_cast<std::uint64_t>(now.tv_nsec) * 0x9e3779b97f4a7c15;
      number = (mixed ^ static_cast<std::uint64_t>(now.tv_sec)) | 1;
    }
    return number;
  }

  SpanContext context_;
  SpanContext outer_;
  bool is_recorded_ = false;
  Status status_ = Status::kUnset;
  std::string message_;
};

}  // namespace landtrace::bridges
