// Landtrace, the reader API in C++: the events of a recording, or of a running domain as they happen.
//
//     landtrace::Reader reader;
//     if (reader.open("trace.dat") != 0) ...                  // or: reader.listen(), for the user's running domain
//     for (const landtrace::Record& record : reader) {
//       std::printf("%s by %s", record.name(), record.comm());
//       if (auto status = record.get<int>("status")) std::printf(": %d", *status);
//       for (const landtrace::FieldValue& field : record.fields()) ... field.name(), field.to_string()
//     }
//     if (reader.code() != 0) std::fputs(reader.failure(), stderr);
//
// Link with -llandtrace-reader (pkg-config landtrace-reader, in CMake landtrace::reader). It is <landtrace/reader.h>,
// where the meaning of each function and every errno stand: for one thread at a time, not async-signal-safe but for
// stop(), and not for children of the process. Nothing is thrown but std::bad_alloc by what returns a std::string.
// Records, and the texts in them, hold until the reader gives the next one.
#pragma once

#if __cplusplus < 202002L
#error "<landtrace/reader.hpp> needs C++20 (-std=c++20). For older standards: <landtrace/reader.h>"
#else

#include <landtrace/reader.h>

#include <cerrno>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace landtrace {

// A field of an event, and its value.
class FieldValue {
 public:
  using Kind = landtrace_value_kind;

  explicit FieldValue(const landtrace_field_value& value) : value_(value) {}

  [[nodiscard]] const char* name() const { return value_.name; }
  [[nodiscard]] const char* type() const { return value_.type; }  // as declared: "u32"
  [[nodiscard]] Kind kind() const { return value_.kind; }
  [[nodiscard]] bool is_text() const { return kind() == LANDTRACE_VALUE_TEXT; }
  // Of a text, or as JSON of arrays, structs and bytes; empty for numbers.
  [[nodiscard]] std::string_view text() const { return {value_.text, value_.text_size}; }

  // As T: a number where it is one and fits, a string_view for a text; else none.
  template <typename T>
  requires std::is_arithmetic_v<T> || std::same_as<T, std::string_view> || std::same_as<T, std::string>
  [[nodiscard]] std::optional<T> get() const {
    if constexpr (!std::is_arithmetic_v<T>) {
      return is_text() ? std::optional<T>(text()) : std::nullopt;
    } else {
      switch (kind()) {
        case LANDTRACE_VALUE_UNSIGNED:
          return number_as<T>(value_.number.as_unsigned);
        case LANDTRACE_VALUE_SIGNED:
          return number_as<T>(value_.number.as_signed);
        case LANDTRACE_VALUE_REAL:
          if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value_.number.as_real);
          return std::nullopt;
        default:
          return std::nullopt;
      }
    }
  }

  // Numbers in decimal, texts as they are, the rest as JSON; "" for a value that is not there.
  [[nodiscard]] std::string to_string() const {
    switch (kind()) {
      case LANDTRACE_VALUE_UNSIGNED:
        return std::to_string(value_.number.as_unsigned);
      case LANDTRACE_VALUE_SIGNED:
        return std::to_string(value_.number.as_signed);
      case LANDTRACE_VALUE_REAL: {
        char digits[32];
        const int length = std::snprintf(digits, sizeof digits, "%g", value_.number.as_real);
        return {digits, static_cast<std::size_t>(length)};
      }
      default:
        return std::string(text());
    }
  }

 private:
  template <typename T, typename Number>
  static std::optional<T> number_as(Number number) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(number);
    } else if constexpr (std::same_as<T, bool>) {
      return number != 0;
    } else {
      const auto converted = static_cast<T>(number);
      const bool keeps_sign = (converted < T{}) == (number < Number{});
      return keeps_sign && static_cast<Number>(converted) == number ? std::optional<T>(converted) : std::nullopt;
    }
  }

  landtrace_field_value value_;
};

// An event. It holds until its reader gives the next one.
class Record {
 public:
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] std::uint64_t time_ns() const { return record_->time_ns; }
  // Events that are missing just before it; kUnknown: some.
  [[nodiscard]] std::uint64_t lost() const { return record_->lost; }
  [[nodiscard]] const char* system() const { return record_->system; }
  [[nodiscard]] const char* name() const { return record_->name; }
  [[nodiscard]] const char* comm() const { return record_->comm; }
  [[nodiscard]] std::uint32_t tid() const { return record_->tid; }
  [[nodiscard]] std::uint32_t tgid() const { return record_->tgid; }
  [[nodiscard]] std::uint32_t cpu() const { return record_->cpu; }
  [[nodiscard]] std::uint32_t id() const { return record_->id; }
  [[nodiscard]] std::span<const std::byte> payload() const {
    return {static_cast<const std::byte*>(record_->payload), record_->payload_size};
  }

  [[nodiscard]] std::optional<FieldValue> field(const char* name) const {
    landtrace_field_value value;
    if (landtrace_reader_find(reader_, name, &value) != 0) return std::nullopt;
    return FieldValue(value);
  }
  // The value of a field, where it has one of that name whose value is such a T.
  template <typename T>
  [[nodiscard]] std::optional<T> get(const char* name) const {
    const std::optional<FieldValue> found = field(name);
    return found ? found->get<T>() : std::nullopt;
  }

  class Fields;
  [[nodiscard]] Fields fields() const;

  // As a line of `landtrace report`, or of `landtrace report --json`, without a newline.
  [[nodiscard]] const char* text() const { return landtrace_reader_text(reader_); }
  [[nodiscard]] const char* json() const { return landtrace_reader_json(reader_); }

 private:
  friend class Reader;

  landtrace_reader* reader_ = nullptr;
  const landtrace_record* record_ = nullptr;
};

class Record::Fields {
 public:
  class Iterator {
   public:
    using value_type = FieldValue;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(landtrace_reader* reader, std::size_t index) : reader_(reader), index_(index) {}
    FieldValue operator*() const {
      landtrace_field_value value{"", "", LANDTRACE_VALUE_NONE, {}, "", 0};
      landtrace_reader_field(reader_, index_, &value);
      return FieldValue(value);
    }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, Iterator(reader_, index_ + 1)); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    landtrace_reader* reader_ = nullptr;
    std::size_t index_ = 0;
  };

  Fields(landtrace_reader* reader, std::size_t count) : reader_(reader), count_(count) {}
  [[nodiscard]] Iterator begin() const { return {reader_, 0}; }
  [[nodiscard]] Iterator end() const { return {reader_, count_}; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  landtrace_reader* reader_;
  std::size_t count_;
};

inline Record::Fields Record::fields() const { return {reader_, record_->fields}; }

// Functions that return an int: 0 or a negative errno.
class Reader {
 public:
  Reader() : reader_(landtrace_reader_new()) {}
  ~Reader() { landtrace_reader_free(reader_); }
  // What was moved from may be destroyed or assigned to; else it is as one that there was no memory for.
  Reader(Reader&& other) noexcept
      : reader_(std::exchange(other.reader_, nullptr)), record_(other.record_), code_(std::exchange(other.code_, 0)) {}
  Reader& operator=(Reader&& other) noexcept {
    std::swap(reader_, other.reader_);
    std::swap(record_, other.record_);
    std::swap(code_, other.code_);
    return *this;
  }

  // These two come before open(), follow() and listen(): which events the next of those gives.
  int add_pattern(const char* pattern) {
    return reader_ == nullptr ? -ENOMEM : landtrace_reader_add_pattern(reader_, pattern);
  }
  int set_filter(const char* expression) {
    return reader_ == nullptr ? -ENOMEM : landtrace_reader_set_filter(reader_, expression);
  }

  int open(const char* path) { return reader_ == nullptr ? -ENOMEM : landtrace_reader_open(reader_, path); }
  int open(const std::string& path) { return open(path.c_str()); }
  // Goes on as long as the recording is written: next() waits for more.
  int follow(const char* path) { return reader_ == nullptr ? -ENOMEM : landtrace_reader_follow(reader_, path); }
  int follow(const std::string& path) { return follow(path.c_str()); }
  // The domain at `socket`; "": that of $LANDTRACE_SOCKET, else the user's own. `ring_bytes`: for each CPU and user; 0
  // is the usual.
  int listen(const std::string& socket = {}, std::uint64_t ring_bytes = 0) {
    return reader_ == nullptr ? -ENOMEM : landtrace_reader_listen(reader_, socket.c_str(), ring_bytes);
  }

  // The next event; of a domain it waits for that. nullptr: the end, or code() is not 0.
  const Record* next() { return take(-1); }
  // nullptr with code() ETIMEDOUT: none came in that time.
  const Record* next(std::chrono::milliseconds timeout) {
    constexpr std::chrono::milliseconds::rep kMost = std::numeric_limits<int>::max();
    return take(timeout.count() < 0 ? 0 : static_cast<int>(timeout.count() > kMost ? kMost : timeout.count()));
  }
  // Makes next() return nullptr, in any thread; async-signal-safe.
  void stop() {
    if (reader_ != nullptr) landtrace_reader_stop(reader_);
  }

  // Of the last next(), a positive errno; 0: it gave an event, or has come to the end.
  [[nodiscard]] int code() const { return code_; }
  // Why the last call failed, for a person.
  [[nodiscard]] const char* failure() const {
    return reader_ == nullptr ? "out of memory" : landtrace_reader_failure(reader_);
  }
  // Events that are missing, as far as it was read; Record::kUnknown: some.
  [[nodiscard]] std::uint64_t lost() const { return reader_ == nullptr ? 0 : landtrace_reader_lost(reader_); }
  // Of the times: "mono".
  [[nodiscard]] const char* clock() const { return reader_ == nullptr ? "" : landtrace_reader_clock(reader_); }
  // What to add to times for nanoseconds since 1970; none: not known.
  [[nodiscard]] std::optional<std::int64_t> wall_offset_ns() const {
    std::int64_t offset = 0;
    const bool is_known = reader_ != nullptr && landtrace_reader_wall_offset(reader_, &offset) == 0;
    return is_known ? std::optional(offset) : std::nullopt;
  }

  // for (const Record& record : reader): what next() gives, up to the end or an error.
  class Iterator {
   public:
    using value_type = Record;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(Reader& reader) : reader_(&reader), record_(reader.next()) {}
    const Record& operator*() const { return *record_; }
    const Record* operator->() const { return record_; }
    Iterator& operator++() {
      record_ = reader_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return record_ == nullptr; }

   private:
    Reader* reader_ = nullptr;
    const Record* record_ = nullptr;
  };
  Iterator begin() { return Iterator(*this); }
  static std::default_sentinel_t end() { return {}; }

 private:
  const Record* take(int timeout_ms) {
    if (reader_ == nullptr) {
      code_ = ENOMEM;
      return nullptr;
    }
    record_.reader_ = reader_;
    const int taken = landtrace_reader_next(reader_, timeout_ms, &record_.record_);
    code_ = taken < 0 ? -taken : 0;
    return taken == 1 ? &record_ : nullptr;
  }

  landtrace_reader* reader_;
  Record record_;
  int code_ = 0;
};

}  // namespace landtrace

#endif
