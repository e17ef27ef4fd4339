#include "language/probe/event_probe_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace landtrace::language {
namespace {

constexpr std::size_t kMaxArgumentName = 32;
constexpr std::size_t kMaxExpression = 63;
constexpr std::size_t kMaxOps = 15;
constexpr std::string_view kTooManyOps = "Dereference is too much nested";
constexpr std::string_view kBadVariable = "Invalid $-valiable specified";
constexpr std::string_view kBadString = "String accepts only memory argument";

constexpr std::array<std::string_view, 8> kReserved{"common_type",    "common_flags", "common_preempt_count",
                                                    "common_pid",     "common_tgid",  "__probe_ip",
                                                    "__probe_ret_ip", "__probe_func"};

int base_of(std::string_view& digits) {
  if (!digits.starts_with('0')) return 10;
  if (digits.size() > 2 && (digits[1] | 0x20) == 'x') {
    digits.remove_prefix(2);
    return 16;
  }
  return 8;
}

// As the kernel reads numbers from text: 0x…, 0… and plain ones.
tl::expected<std::uint64_t, int> parse_unsigned(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const int base = base_of(text);
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::result_out_of_range) return tl::unexpected<int>(ERANGE);
  if (error != std::errc() || rest != text.data() + text.size()) return tl::unexpected<int>(EINVAL);
  return value;
}

tl::expected<std::int64_t, int> parse_signed(std::string_view text) {
  constexpr std::uint64_t kMost = 1ull << 63;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto value = parse_unsigned(text);
  if (!value) return tl::unexpected<int>(value.error());
  if (*value > (negative ? kMost : kMost - 1)) return tl::unexpected<int>(ERANGE);
  return static_cast<std::int64_t>(negative ? ~*value + 1 : *value);
}

// Takes the digits off the front; 0 if there are none.
std::uint64_t take_number(std::string_view& text) {
  int base = 10;
  std::string_view rest = text;
  if (rest.starts_with('0')) base = base_of(rest);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error == std::errc::invalid_argument) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : ~0ull;
}

const event::FetchType* type_of_bits(std::string_view type) {
  const auto slash = type.find('/');
  if (slash == std::string_view::npos) return nullptr;
  const auto size = parse_unsigned(type.substr(slash + 1));
  if (!size || (*size != 8 && *size != 16 && *size != 32 && *size != 64)) return nullptr;
  return event::find_fetch_type(fmt::format("u{}", *size));
}

}  // namespace

tl::unexpected<int> EventProbeArgumentParser::refuse(std::string_view what, std::size_t position, int code) {
  logged_.push_back({code, what, position});
  return tl::unexpected<int>(code);
}

tl::expected<EventProbeArgument, int> EventProbeArgumentParser::parse(std::string_view word) {
  if (auto done = parse_name(word); !done) return tl::unexpected<int>(done.error());
  const std::string_view text = word.substr(offset_);
  argument_.text = text;
  if (text.size() > kMaxExpression) return refuse("Argument expression is too long", offset_, E2BIG);
  if (text.empty()) return refuse("No argument expression", offset_);
  const auto colon = text.find(':');
  const bool has_type = colon != std::string_view::npos;
  type_offset_ = has_type ? colon + 1 : 0;
  argument_.type = event::find_fetch_type("x64");
  if (has_type) {
    if (auto done = parse_type(text.substr(type_offset_)); !done) return tl::unexpected<int>(done.error());
  }
  if (auto done = parse_fetch(text.substr(0, colon)); !done) return tl::unexpected<int>(done.error());
  if (auto done = finish(has_type); !done) return tl::unexpected<int>(done.error());
  return std::move(argument_);
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_name(std::string_view word) {
  const auto equals = word.find('=');
  if (equals != std::string_view::npos) {
    if (equals > kMaxArgumentName) return refuse("Argument name is too long", 0);
    if (equals == 0) return refuse("Argument name is not specified", 0);
    argument_.name = word.substr(0, equals);
    offset_ = equals + 1;
  } else {
    const std::string_view guess = word.substr(0, word.find(':'));
    argument_.name = is_good_name(guess) ? std::string(guess) : fmt::format("arg{}", before_.size() + 1);
  }
  if (!is_good_name(argument_.name)) return refuse("Argument name must follow the same rules as C identifiers", 0);
  const bool is_reserved = std::find(kReserved.begin(), kReserved.end(), argument_.name) != kReserved.end();
  const bool is_used = std::any_of(before_.begin(), before_.end(),
                                   [&](const EventProbeArgument& other) { return other.name == argument_.name; });
  if (is_reserved || is_used) return refuse("This argument name is already used", 0);
  return {};
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_type(std::string_view type) {
  const auto bracket = type.find('[');
  type_ = type.substr(0, bracket);
  if (bracket != std::string_view::npos) {
    if (auto done = parse_array(type, bracket); !done) return done;
  }
  argument_.type = type_.starts_with('b') ? type_of_bits(type_) : event::find_fetch_type(type_);
  if (argument_.type == nullptr) return refuse("Unknown type is specified", offset_ + type_offset_);
  return {};
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_array(std::string_view type, std::size_t bracket) {
  const std::string_view rest = type.substr(bracket + 1);
  const std::size_t position = offset_ + type_offset_ + bracket + 1;
  const auto close = rest.find(']');
  if (close == std::string_view::npos) return refuse("Array is not closed", position + rest.size());
  if (close + 1 != rest.size()) return refuse("Array has wrong suffix", position + close + 1);
  const auto count = parse_unsigned(rest.substr(0, close));
  if (!count || *count == 0 || *count > 0xffffffff) return refuse("Invalid array size", position);
  if (*count > event::kMaxEventProbeArray) return refuse("Array number is too big", position);
  argument_.count = static_cast<std::uint32_t>(*count);
  return {};
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_fetch(std::string_view text) {
  Done done;
  const char first = text.empty() ? '\0' : text.front();
  if (first == '$') {
    done = parse_variable(text.substr(1));
  } else if (first == '%') {
    logged_.push_back({EINVAL, kBadVariable, offset_});
  } else if (first == '@') {
    done = parse_address(text.substr(1));
  } else if (first == '+' || first == '-') {
    done = parse_dereference(std::string(text));
  } else if (first == '\\') {
    done = parse_immediate(text.substr(1));
  } else if (is_good_name(text.substr(0, 1))) {
    return refuse("BTF is not available or not supported", offset_);
  }
  if (done && !found_) return refuse("Invalid fetch argument", offset_);
  return done;
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_variable(std::string_view name) {
  const auto field = std::find_if(base_.fields.begin(), base_.fields.end(),
                                  [&](const event::Field& each) { return each.name == name; });
  if (field != base_.fields.end()) {
    argument_.fetch.source = Fetch::Source::kField;
    argument_.fetch.field = *field;
  } else if (name == "comm" || name == "COMM") {
    argument_.fetch.source = Fetch::Source::kComm;
  } else {
    return refuse(kBadVariable, offset_);
  }
  found_ = true;
  return {};
}

EventProbeArgumentParser::Done EventProbeArgumentParser::add_step(std::int64_t offset) {
  if (++ops_ == kMaxOps) return refuse(kTooManyOps, offset_);
  argument_.fetch.steps.push_back(offset);
  return {};
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_dereference(std::string text) {
  if (text.size() > 1 && text[1] == 'u') text.erase(1, 1);  // user memory is all that there is
  if (text.front() == '+') text.erase(0, 1);
  const auto open = text.find('(');
  if (open == std::string::npos) return refuse("Dereference needs a brace", offset_);
  const auto distance = parse_signed(std::string_view(text).substr(0, open));
  if (!distance) return refuse("Invalid dereference offset", offset_, distance.error());
  offset_ += open + 1 + (text.front() != '-' ? 1 : 0);
  std::string_view inner = std::string_view(text).substr(open + 1);
  const auto close = inner.rfind(')');
  if (close == std::string_view::npos) return refuse("Dereference brace is not closed", offset_ + inner.size());
  const std::size_t offset = offset_;
  if (auto done = parse_fetch(inner.substr(0, close)); !done) return done;
  offset_ = offset;
  const bool is_own_text =
      argument_.fetch.source == Fetch::Source::kComm || argument_.fetch.source == Fetch::Source::kText;
  if (is_own_text && argument_.fetch.steps.empty()) return refuse("$comm can not be dereferenced", offset_);
  return add_step(*distance);
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_address(std::string_view text) {
  const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!is_number && text.starts_with('+')) return refuse("File offset is not available with kprobe", offset_);
  // No symbol of a kernel is known.
  if (!is_number) return tl::unexpected<int>(ENOENT);
  const auto address = parse_unsigned(text);
  if (!address) return refuse("Invalid memory address", offset_, address.error());
  argument_.fetch.number = *address;
  found_ = true;
  return add_step(0);
}

EventProbeArgumentParser::Done EventProbeArgumentParser::parse_immediate(std::string_view text) {
  if (text.starts_with('"')) {
    text.remove_prefix(1);
    if (!text.empty() && !text.ends_with('"')) {
      return refuse("String is not closed with '\"'", offset_ + 2 + text.size());
    }
    argument_.fetch.source = Fetch::Source::kText;
    argument_.fetch.text = text.substr(0, text.empty() ? 0 : text.size() - 1);
    found_ = true;
    return {};
  }
  const char first = text.empty() ? '\0' : text.front();
  int error = 0;
  if (first >= '0' && first <= '9') {
    const auto number = parse_unsigned(text);
    if (number) argument_.fetch.number = *number;
    error = number ? 0 : number.error();
  } else if (first == '-' || first == '+') {
    const auto number = parse_signed(first == '+' ? text.substr(1) : text);
    if (number) argument_.fetch.number = static_cast<std::uint64_t>(*number);
    error = number ? 0 : number.error();
  } else {
    error = EINVAL;
  }
  if (error != 0) return refuse("Invalid immediate value", offset_ + 1, error);
  found_ = true;
  return {};
}

// How the value is kept. The last step of a text or of plain memory is not a value of its own.
EventProbeArgumentParser::Done EventProbeArgumentParser::finish(bool has_type) {
  Fetch& fetch = argument_.fetch;
  const bool is_memory = !fetch.steps.empty();
  const bool is_symbol = argument_.type->name == "symstr";
  const auto take_last_step = [&] {
    fetch.store_offset = fetch.steps.back();
    fetch.steps.pop_back();
  };
  if (argument_.type->is_text) {
    if (is_symbol && !is_memory && fetch.source != Fetch::Source::kField) {
      return refuse("Symbol String doesn't accept data/userdata", offset_ + type_offset_);
    }
    if ((is_symbol || !is_memory || argument_.count != 0) && ++ops_ >= kMaxOps) return refuse(kTooManyOps, offset_);
    fetch.store = is_symbol ? Fetch::Store::kSymbolText : Fetch::Store::kText;
    if (!is_symbol && is_memory && argument_.count == 0) take_last_step();
  } else if (is_memory) {
    fetch.store = Fetch::Store::kMemory;
    take_last_step();
  } else {
    ++ops_;
  }
  if (has_type) {
    if (auto done = finish_bits(); !done) return done;
  }
  if (argument_.count == 0) return {};
  if (fetch.store == Fetch::Store::kValue || fetch.store == Fetch::Store::kSymbolText) {
    return refuse(kBadString, offset_ + type_offset_);
  }
  if (++ops_ >= kMaxOps) return refuse(kTooManyOps, offset_, E2BIG);
  return {};
}

// bWIDTH@FIRST/SIZE
EventProbeArgumentParser::Done EventProbeArgumentParser::finish_bits() {
  std::string_view text = type_;
  if (!text.starts_with('b')) return {};
  const auto bad = [&] { return refuse("Invalid bitfield", offset_ + type_offset_); };
  text.remove_prefix(1);
  const std::uint64_t width = take_number(text);
  if (width == 0 || !text.starts_with('@')) return bad();
  text.remove_prefix(1);
  const std::size_t size_before = text.size();
  const std::uint64_t first = take_number(text);
  const std::uint64_t all = 8ull * argument_.type->size;
  if (text.size() == size_before || !text.starts_with('/') || ++ops_ >= kMaxOps) return bad();
  if (width > all || first > all || width + first > all) return bad();
  argument_.fetch.bits = static_cast<std::uint8_t>(width);
  argument_.fetch.first_bit = static_cast<std::uint8_t>(first);
  return {};
}

}  // namespace landtrace::language
