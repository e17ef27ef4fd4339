// One argument of an event probe, NAME=FETCH[:TYPE]. Internal to language.
#pragma once

#include "language/probe/event_probe_command.hpp"

namespace landtrace::language {

class EventProbeArgumentParser {
 public:
  // `before`: the arguments to the left of it.
  EventProbeArgumentParser(const event::Declaration& base, const std::vector<EventProbeArgument>& before)
      : base_(base), before_(before) {}

  // If it is refused: an errno, and in logged() what the error log gets, with positions in the word.
  tl::expected<EventProbeArgument, int> parse(std::string_view word);
  [[nodiscard]] const std::vector<CommandRefusal>& logged() const { return logged_; }

 private:
  using Done = tl::expected<void, int>;
  tl::unexpected<int> refuse(std::string_view what, std::size_t position, int code = EINVAL);
  Done parse_name(std::string_view word);
  Done parse_type(std::string_view type);
  Done parse_array(std::string_view type, std::size_t bracket);
  Done parse_fetch(std::string_view text);
  Done parse_variable(std::string_view name);
  Done parse_dereference(std::string text);
  Done parse_address(std::string_view text);
  Done parse_immediate(std::string_view text);
  Done add_step(std::int64_t offset);
  Done finish(bool has_type);
  Done finish_bits();

  const event::Declaration& base_;
  const std::vector<EventProbeArgument>& before_;
  std::vector<CommandRefusal> logged_;
  EventProbeArgument argument_;
  std::string_view type_;        // without what is in brackets
  std::size_t type_offset_ = 0;  // of it, in the argument's text
  std::size_t offset_ = 0;       // where carets stand
  std::size_t ops_ = 0;          // that the kernel would need; it has room for some
  bool found_ = false;           // a way to fetch a value
};

}  // namespace landtrace::language
