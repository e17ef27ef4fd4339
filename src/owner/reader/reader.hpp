// What a struct landtrace_reader is: a source, the event that it gave last, and what was made of that.
#pragma once

#include <landtrace/reader.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "output/stack/user_stack.hpp"
#include "output/text/header.hpp"
#include "reader/file_source.hpp"

namespace landtrace::reader {

class Reader {
 public:
  Result<void> add_pattern(const char* pattern);
  void set_filter(const char* expression) { expression_ = expression; }

  Result<void> open(const std::string& path) { return open_file(path, &FileSource::open); }
  Result<void> follow(const std::string& path) { return open_file(path, &FileSource::follow); }
  Result<void> listen(const char* socket, std::uint64_t ring_bytes);
  // As landtrace_reader_next(): false at the end.
  Result<bool> next(int timeout_ms, const landtrace_record*& record);
  void stop() { is_stopped_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] const Source* source() const { return source_.get(); }
  // ENOENT.
  Result<void> field(std::size_t index, landtrace_field_value& value);
  Result<void> find(std::string_view name, landtrace_field_value& value);
  const std::string& text();
  const std::string& json();

 private:
  using Open = Result<std::unique_ptr<FileSource>>(const std::string& path, Choice choice);
  Result<void> open_file(const std::string& path, Open* how);
  Result<Choice> take_choice();
  void begin(std::unique_ptr<Source> source);
  void forget_event();
  void describe();
  void know_objects();
  // Texts that a program was given stay where they are.
  const std::string& keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::vector<std::string> patterns_;
  std::string expression_;
  std::unique_ptr<Source> source_;
  std::atomic<bool> is_stopped_ = false;  // relaxed: nothing is handed over with it, so it pairs with nothing
  bool has_event_ = false;
  Event event_;
  landtrace_record record_{};
  std::deque<std::string> texts_;
  const std::string* text_ = nullptr;  // of texts_
  const std::string* json_ = nullptr;
  symbols::Symbols symbols_;
  output::StackNames names_{&symbols_};
  output::TextColumns columns_;
};

}  // namespace landtrace::reader
