// Reads one argument of a probe, NAME=FETCH[:TYPE]. What the kinds of probes may name differs: FetchScope. Carets stand
// where the kernel has them. Internal to language.
#pragma once

#include <optional>

#include "language/probe/fetch.hpp"

namespace landtrace::language {

struct FetchScope {
  enum class Kind : std::uint8_t {
    kEvent,   // an event probe
    kUser,    // a probe of uprobe_events
    kKernel,  // of kprobe_events
  };
  Kind kind;
  bool is_return = false;
  bool has_arguments = false;                // $argN: the place is known to be a function's
  const event::Declaration* base = nullptr;  // kEvent: what it is attached to
  const std::vector<UsdtPlace>* usdt = nullptr;  // the place is these, and $argN are their arguments
};

// How many arguments $arg* stands for, from the first one on; which of them can be read everywhere.
std::vector<bool> readable_usdt_arguments(const std::vector<UsdtPlace>& places);

class ProbeArgumentParser {
 public:
  // `before`: the arguments to the left of it.
  ProbeArgumentParser(const FetchScope& scope, const std::vector<ProbeArgument>& before)
      : scope_(scope), before_(before) {}

  // If it is refused: an errno, and in logged() what the error log gets, with positions in the word.
  tl::expected<ProbeArgument, int> parse(std::string_view word);
  [[nodiscard]] const std::vector<CommandRefusal>& logged() const { return logged_; }

 private:
  using Done = tl::expected<void, int>;
  // What the value is that was found last, as far as the types go by it.
  enum class Form : std::uint8_t {
    kNone,
    kRegister,
    kStackPointer,
    kStackWord,
    kArgument,
    kEntryArgument,
    kOperand,
    kElapsed,
    kField,
    kNumber,
    kOwnText,  // $comm, and texts
    kMemory,
    kUserMemory,  // what a 'u' was written for
  };
  using Kind = FetchScope::Kind;

  tl::unexpected<int> refuse(std::string_view what, std::size_t position, int code = EINVAL);
  Done found(Form form);
  Done parse_name(std::string_view word);
  Done parse_type(std::string_view fetch, std::optional<std::string_view> type);
  Done parse_array(std::string_view type, std::size_t bracket);
  [[nodiscard]] const event::FetchType* find_type(std::string_view type) const;
  Done parse_fetch(std::string_view text);
  [[nodiscard]] const event::FetchType* usdt_argument_type() const;
  Done parse_field(std::string_view name);
  Done parse_variable(std::string_view name);
  Done parse_stack(std::string_view index);
  Done parse_function_argument(std::string_view index);
  Done parse_usdt_argument(std::string_view index);
  Done parse_dereference(std::string text);
  Done parse_address(std::string_view text);
  Done parse_symbol(std::string_view text);
  Done parse_immediate(std::string_view text);
  Done parse_immediate_text(std::string_view text);
  Done add_op();
  Done add_step(std::int64_t offset, Form form = Form::kMemory);
  Done check_size();
  Done finish(bool has_type);
  Done finish_text();
  Done finish_bits();

  const FetchScope& scope_;
  const std::vector<ProbeArgument>& before_;
  std::vector<CommandRefusal> logged_;
  ProbeArgument argument_;
  std::string_view type_;        // without what is in brackets
  std::size_t type_offset_ = 0;  // of it, in the argument's text
  std::size_t offset_ = 0;       // where carets stand
  std::size_t ops_ = 0;          // that the kernel would need; it has room for some
  Form form_ = Form::kNone;      // kNone: no way to fetch a value yet
};

}  // namespace landtrace::language
