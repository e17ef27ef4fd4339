#include "language/probe/argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "language/probe/numbers.hpp"
#include "language/probe/registers.hpp"

namespace landtrace::language {
namespace {

constexpr std::size_t kMaxArgumentName = 32;
constexpr std::size_t kMaxExpression = 63;
constexpr std::size_t kMaxOps = 15;
constexpr std::uint64_t kMaxStackWord = 2048;
constexpr std::string_view kTooManyOps = "Dereference is too much nested";
constexpr std::string_view kBadVariable = "Invalid $-valiable specified";
constexpr std::string_view kBadString = "String accepts only memory argument";
constexpr std::string_view kNoTypes = "BTF is not available or not supported";

constexpr std::array<std::string_view, 8> kReserved{"common_type",    "common_flags", "common_preempt_count",
                                                    "common_pid",     "common_tgid",  "__probe_ip",
                                                    "__probe_ret_ip", "__probe_func"};

const event::FetchType* type_of_bits(std::string_view type) {
  const auto slash = type.find('/');
  if (slash == std::string_view::npos) return nullptr;
  const auto size = read_unsigned(type.substr(slash + 1));
  if (!size || (*size != 8 && *size != 16 && *size != 32 && *size != 64)) return nullptr;
  return event::find_fetch_type(fmt::format("u{}", *size));
}

bool is_comm(std::string_view name) { return name == "comm" || name == "COMM"; }

// What can be nothing but a text: "$comm", "\"TEXT"".
bool is_text_alone(std::string_view fetch) {
  return (fetch.starts_with('$') && is_comm(fetch.substr(1))) || fetch.starts_with("\\\"");
}

std::uint32_t size_of(const ProbeArgument& argument) { return argument.type->size * std::max(argument.count, 1u); }

}  // namespace

std::vector<ProbeArgument> arguments_at(const UsdtPlace& place, std::vector<ProbeArgument> arguments) {
  for (ProbeArgument& argument : arguments) {
    Fetch& fetch = argument.fetch;
    if (fetch.source != Fetch::Source::kOperand) continue;
    fetch.operand = {.kind = UsdtOperand::Kind::kNumber};
    if (fetch.number < place.arguments.size()) fetch.operand = place.arguments[fetch.number];
  }
  return arguments;
}

std::vector<bool> readable_usdt_arguments(const std::vector<UsdtPlace>& places) {
  std::vector<bool> readable;
  for (const UsdtPlace& place : places) {
    readable.resize(std::max(readable.size(), place.arguments.size()), true);
    for (std::size_t i = 0; i < place.arguments.size(); ++i) {
      if (!place.arguments[i].can_be_read()) readable[i] = false;
    }
  }
  return readable;
}

std::vector<event::Field> fields_of(const std::vector<ProbeArgument>& arguments) {
  std::vector<event::Field> fields;
  for (const ProbeArgument& argument : arguments) {
    fields.push_back(event::probe_field(*argument.type, argument.count, argument.name));
  }
  return fields;
}

std::string arguments_text(const std::vector<ProbeArgument>& arguments) {
  std::string text;
  for (const ProbeArgument& argument : arguments) text += fmt::format(" {}={}", argument.name, argument.text);
  return text;
}

tl::unexpected<int> ProbeArgumentParser::refuse(std::string_view what, std::size_t position, int code) {
  logged_.push_back({code, what, position});
  return tl::unexpected<int>(code);
}

ProbeArgumentParser::Done ProbeArgumentParser::found(Form form) {
  form_ = form;
  return {};
}

tl::expected<ProbeArgument, int> ProbeArgumentParser::parse(std::string_view word) {
  if (auto done = parse_name(word); !done) return tl::unexpected<int>(done.error());
  const std::string_view text = word.substr(offset_);
  argument_.text = text;
  if (text.size() > kMaxExpression) return refuse("Argument expression is too long", offset_, E2BIG);
  if (text.empty()) return refuse("No argument expression", offset_);
  const auto colon = text.find(':');
  const bool has_type = colon != std::string_view::npos;
  type_offset_ = has_type ? colon + 1 : 0;
  const std::string_view fetch = text.substr(0, colon);
  const auto type = has_type ? std::optional(text.substr(type_offset_)) : std::nullopt;
  if (auto done = parse_type(fetch, type); !done) return tl::unexpected<int>(done.error());
  if (auto done = parse_fetch(fetch); !done) return tl::unexpected<int>(done.error());
  if (form_ == Form::kOperand && !has_type) argument_.type = usdt_argument_type();
  if (auto done = check_size(); !done) return tl::unexpected<int>(done.error());
  if (auto done = finish(has_type); !done) return tl::unexpected<int>(done.error());
  return std::move(argument_);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_name(std::string_view word) {
  const auto equals = word.find('=');
  if (equals != std::string_view::npos) {
    if (equals > kMaxArgumentName) return refuse("Argument name is too long", 0);
    if (equals == 0) return refuse("Argument name is not specified", 0);
    argument_.name = word.substr(0, equals);
    offset_ = equals + 1;
  } else {
    const std::string_view guess = word.substr(0, word.find(':'));
    const bool is_numbered = scope_.usdt != nullptr && guess.starts_with('$') && is_good_name(guess.substr(1));
    argument_.name = is_good_name(guess) ? std::string(guess)
                     : is_numbered       ? std::string(guess.substr(1))
                                         : fmt::format("arg{}", before_.size() + 1);
  }
  if (!is_good_name(argument_.name)) return refuse("Argument name must follow the same rules as C identifiers", 0);
  const bool is_reserved = std::find(kReserved.begin(), kReserved.end(), argument_.name) != kReserved.end();
  const bool is_used = std::any_of(before_.begin(), before_.end(),
                                   [&](const ProbeArgument& other) { return other.name == argument_.name; });
  if (is_reserved || is_used) return refuse("This argument name is already used", 0);
  return {};
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_type(std::string_view fetch,
                                                          std::optional<std::string_view> type) {
  argument_.type = event::find_fetch_type("x64");
  if (type) {
    const auto bracket = type->find('[');
    type_ = type->substr(0, bracket);
    if (bracket != std::string_view::npos) {
      if (auto done = parse_array(*type, bracket); !done) return done;
    }
  }
  if (scope_.kind != Kind::kEvent && is_text_alone(fetch)) {
    if (argument_.count != 0 || (type && type_ != "string")) {
      return refuse("$comm and immediate-string only accepts string type", offset_ + type_offset_);
    }
    argument_.type = event::find_fetch_type("string");
  } else if (type) {
    argument_.type = find_type(type_);
  }
  if (argument_.type == nullptr) return refuse("Unknown type is specified", offset_ + type_offset_);
  return {};
}

const event::FetchType* ProbeArgumentParser::find_type(std::string_view type) const {
  if (scope_.kind == Kind::kUser && (type == "symbol" || type == "symstr")) return nullptr;
  return type.starts_with('b') ? type_of_bits(type) : event::find_fetch_type(type);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_array(std::string_view type, std::size_t bracket) {
  const std::string_view rest = type.substr(bracket + 1);
  const std::size_t position = offset_ + type_offset_ + bracket + 1;
  const auto close = rest.find(']');
  if (close == std::string_view::npos) return refuse("Array is not closed", position + rest.size());
  if (close + 1 != rest.size()) return refuse("Array has wrong suffix", position + close + 1);
  const auto count = read_unsigned(rest.substr(0, close));
  if (!count || *count == 0 || *count > 0xffffffff) return refuse("Invalid array size", position);
  if (*count > event::kMaxProbeArray) return refuse("Array number is too big", position);
  argument_.count = static_cast<std::uint32_t>(*count);
  return {};
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_fetch(std::string_view text) {
  Done done;
  form_ = Form::kNone;
  const char first = text.empty() ? '\0' : text.front();
  if (first == '$') {
    done = scope_.kind == Kind::kEvent ? parse_field(text.substr(1)) : parse_variable(text.substr(1));
  } else if (first == '%' && scope_.kind == Kind::kEvent) {
    logged_.push_back({EINVAL, kBadVariable, offset_});
  } else if (first == '%') {
    if (!set_register(argument_.fetch, text.substr(1))) return refuse("Invalid register name", offset_);
    done = found(Form::kRegister);
  } else if (first == '@') {
    done = parse_address(text.substr(1));
  } else if (first == '+' || first == '-') {
    done = parse_dereference(std::string(text));
  } else if (first == '\\') {
    done = parse_immediate(text.substr(1));
  } else if (is_good_name(text.substr(0, 1))) {
    const bool is_looked_for = scope_.kind == Kind::kKernel && (scope_.is_return || scope_.has_arguments);
    return refuse(kNoTypes, offset_, is_looked_for ? EOPNOTSUPP : EINVAL);
  }
  if (done && form_ == Form::kNone) return refuse("Invalid fetch argument", offset_);
  return done;
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_field(std::string_view name) {
  const auto& fields = scope_.base->fields;
  const auto field =
      std::find_if(fields.begin(), fields.end(), [&](const event::Field& each) { return each.name == name; });
  if (field != fields.end()) {
    argument_.fetch.source = Fetch::Source::kField;
    argument_.fetch.field = *field;
    return found(Form::kField);
  }
  if (!is_comm(name)) return refuse(kBadVariable, offset_);
  argument_.fetch.source = Fetch::Source::kComm;
  return found(Form::kOwnText);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_variable(std::string_view name) {
  constexpr std::string_view kStack = "stack", kArgument = "arg";
  if (name.starts_with("retval")) {
    if (!scope_.is_return) return refuse("$retval is not available on probe", offset_);
    argument_.fetch.source = Fetch::Source::kRegister;
    argument_.fetch.reg = agent::kRax;
    return found(Form::kRegister);
  }
  if (name == "elapsed" && scope_.is_return) {  // of ours
    argument_.fetch.source = Fetch::Source::kElapsed;
    return found(Form::kElapsed);
  }
  if (name.starts_with(kStack)) return parse_stack(name.substr(kStack.size()));
  if (is_comm(name)) {
    argument_.fetch.source = Fetch::Source::kComm;
    return found(Form::kOwnText);
  }
  if (name.starts_with(kArgument)) return parse_function_argument(name.substr(kArgument.size()));
  return refuse(kBadVariable, offset_);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_stack(std::string_view index) {
  if (index.empty()) {
    argument_.fetch.source = Fetch::Source::kRegister;
    argument_.fetch.reg = agent::kRsp;
    return found(Form::kStackPointer);
  }
  const auto number = read_unsigned(index, 10);
  if (!is_digit(index.front()) || !number) return refuse(kBadVariable, offset_);
  if (scope_.kind == Kind::kKernel && *number > kMaxStackWord) return refuse("Invalid stack number", offset_);
  argument_.fetch.source = Fetch::Source::kStackWord;
  argument_.fetch.number = static_cast<std::uint32_t>(*number);
  return found(Form::kStackWord);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_function_argument(std::string_view index) {
  if (scope_.usdt != nullptr) return parse_usdt_argument(index);
  const auto number = read_unsigned(index, 10);
  if (!number) return refuse(kBadVariable, offset_);
  if (*number == 0 || *number > kMaxStackWord) return refuse("Invalid argument number", offset_);
  const bool is_of_entry = scope_.kind == Kind::kKernel && scope_.is_return;
  if (!scope_.has_arguments && !is_of_entry) {
    return refuse("$arg* can be used only on function entry or exit", offset_);
  }
  argument_.fetch.source = Fetch::Source::kArgument;
  argument_.fetch.number = *number - 1;
  return found(scope_.is_return ? Form::kEntryArgument : Form::kArgument);
}

// Places of one name may have different arguments; what is wider has room for all.
ProbeArgumentParser::Done ProbeArgumentParser::parse_usdt_argument(std::string_view index) {
  const auto number = read_unsigned(index, 10);
  if (!number) return refuse(kBadVariable, offset_);
  bool is_there = false;
  for (const UsdtPlace& place : *scope_.usdt) {
    if (*number == 0 || *number > place.arguments.size()) continue;
    is_there = true;
    const UsdtOperand& operand = place.arguments[*number - 1];
    if (!operand.can_be_read()) return refuse(usdt_refusal(operand.kind), offset_);
  }
  if (!is_there) return refuse("Invalid argument number", offset_);
  argument_.fetch.source = Fetch::Source::kOperand;
  argument_.fetch.number = *number - 1;
  return found(Form::kOperand);
}

const event::FetchType* ProbeArgumentParser::usdt_argument_type() const {
  const UsdtOperand* widest = nullptr;
  for (const UsdtPlace& place : *scope_.usdt) {
    if (argument_.fetch.number >= place.arguments.size()) continue;
    const UsdtOperand& operand = place.arguments[argument_.fetch.number];
    if (widest == nullptr || operand.size > widest->size) widest = &operand;
  }
  return event::find_fetch_type(usdt_type(*widest));
}

ProbeArgumentParser::Done ProbeArgumentParser::add_op() {
  if (++ops_ == kMaxOps) return refuse(kTooManyOps, offset_);
  return {};
}

ProbeArgumentParser::Done ProbeArgumentParser::add_step(std::int64_t offset, Form form) {
  if (auto done = add_op(); !done) return done;
  argument_.fetch.steps.push_back(offset);
  return found(form);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_dereference(std::string text) {
  const bool is_user = text.size() > 1 && text[1] == 'u';
  if (is_user) text.erase(1, 1);
  if (text.front() == '+') text.erase(0, 1);
  const auto open = text.find('(');
  if (open == std::string::npos) return refuse("Dereference needs a brace", offset_);
  const auto distance = read_signed(std::string_view(text).substr(0, open));
  if (!distance) return refuse("Invalid dereference offset", offset_, distance.error());
  offset_ += open + 1 + (text.front() != '-' ? 1 : 0);
  std::string_view inner = std::string_view(text).substr(open + 1);
  const auto close = inner.rfind(')');
  if (close == std::string_view::npos) return refuse("Dereference brace is not closed", offset_ + inner.size());
  const std::size_t offset = offset_;
  if (auto done = parse_fetch(inner.substr(0, close)); !done) return done;
  offset_ = offset;
  if (form_ == Form::kOwnText) return refuse("$comm can not be dereferenced", offset_);
  return add_step(*distance, is_user ? Form::kUserMemory : Form::kMemory);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_address(std::string_view text) {
  if (!text.empty() && is_digit(text.front())) {
    const auto address = read_unsigned(text);
    if (!address) return refuse("Invalid memory address", offset_, address.error());
    argument_.fetch.number = *address;
    return add_step(0);
  }
  if (!text.starts_with('+')) return parse_symbol(text);
  if (scope_.kind != Kind::kUser) return refuse("File offset is not available with kprobe", offset_);
  const auto offset = read_signed(text.substr(1));
  if (!offset) return refuse("Invalid file offset value", offset_, offset.error());
  argument_.fetch.source = Fetch::Source::kFileOffset;
  argument_.fetch.number = static_cast<std::uint64_t>(*offset);
  return add_step(0);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_symbol(std::string_view text) {
  if (scope_.kind == Kind::kUser) return refuse("Symbol is not available with uprobe", offset_);
  // No symbol of a kernel is known.
  if (scope_.kind == Kind::kEvent) return tl::unexpected<int>(ENOENT);
  argument_.fetch.source = Fetch::Source::kSymbol;
  argument_.fetch.text = text;
  if (auto done = add_op(); !done) return done;
  return add_step(0);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_immediate_text(std::string_view text) {
  if (!text.empty() && !text.ends_with('"')) {
    return refuse("String is not closed with '\"'", offset_ + 2 + text.size());
  }
  // In a program's memory, where uprobes look for it, the kernel's text is not: it shows as a fault.
  argument_.fetch.source = scope_.kind == Kind::kUser ? Fetch::Source::kNumber : Fetch::Source::kText;
  argument_.fetch.text = text.substr(0, text.empty() ? 0 : text.size() - 1);
  return found(Form::kOwnText);
}

ProbeArgumentParser::Done ProbeArgumentParser::parse_immediate(std::string_view text) {
  if (text.starts_with('"')) return parse_immediate_text(text.substr(1));
  const char first = text.empty() ? '\0' : text.front();
  int error = 0;
  if (is_digit(first)) {
    const auto number = read_unsigned(text);
    if (number) argument_.fetch.number = *number;
    error = number ? 0 : number.error();
  } else if (first == '-' || first == '+') {
    const auto number = read_signed(first == '+' ? text.substr(1) : text);
    if (number) argument_.fetch.number = static_cast<std::uint64_t>(*number);
    error = number ? 0 : number.error();
  } else {
    error = EINVAL;
  }
  if (error != 0) return refuse("Invalid immediate value", offset_ + 1, error);
  return found(Form::kNumber);
}

ProbeArgumentParser::Done ProbeArgumentParser::check_size() {
  std::uint32_t size = size_of(argument_);
  for (const ProbeArgument& each : before_) size += size_of(each);
  if (size > kMaxProbeValues) return refuse("Event too big (too many fields?)", offset_, E2BIG);
  return {};
}

ProbeArgumentParser::Done ProbeArgumentParser::finish_text() {
  Fetch& fetch = argument_.fetch;
  const bool is_symbol = argument_.type->name == "symstr";
  const bool is_memory = form_ == Form::kMemory || form_ == Form::kUserMemory;
  if (is_symbol) {
    constexpr std::array kCanBeNamed{Form::kRegister, Form::kStackWord, Form::kArgument, Form::kField, Form::kMemory};
    if (std::find(kCanBeNamed.begin(), kCanBeNamed.end(), form_) == kCanBeNamed.end()) {
      return refuse("Symbol String doesn't accept data/userdata", offset_ + type_offset_);
    }
  } else if (!is_memory && form_ != Form::kNumber && form_ != Form::kOwnText && form_ != Form::kField &&
             (form_ != Form::kOperand || argument_.count != 0)) {
    return refuse(kBadString, offset_ + type_offset_);
  }
  if ((is_symbol || !is_memory || argument_.count != 0) && ++ops_ >= kMaxOps) return refuse(kTooManyOps, offset_);
  fetch.store = is_symbol ? Fetch::Store::kSymbolText : Fetch::Store::kText;
  if (!is_symbol && is_memory && argument_.count == 0) {
    fetch.store_offset = fetch.steps.back();
    fetch.steps.pop_back();
  }
  return {};
}

// How the value is kept. The last step of a text or of plain memory is not a value of its own.
ProbeArgumentParser::Done ProbeArgumentParser::finish(bool has_type) {
  Fetch& fetch = argument_.fetch;
  if (argument_.type->is_text) {
    if (auto done = finish_text(); !done) return done;
  } else if (form_ == Form::kMemory || form_ == Form::kUserMemory) {
    fetch.store = Fetch::Store::kMemory;
    fetch.store_offset = fetch.steps.back();
    fetch.steps.pop_back();
  } else if (++ops_ >= kMaxOps) {
    return refuse(kTooManyOps, offset_, E2BIG);
  }
  if (has_type) {
    if (auto done = finish_bits(); !done) return done;
  }
  if (argument_.count == 0) return {};
  const bool is_of_memory =
      fetch.store == Fetch::Store::kText || (fetch.store == Fetch::Store::kMemory && form_ != Form::kUserMemory);
  if (!is_of_memory) return refuse(kBadString, offset_ + type_offset_);
  if (++ops_ >= kMaxOps) return refuse(kTooManyOps, offset_, E2BIG);
  return {};
}

// bWIDTH@FIRST/SIZE
ProbeArgumentParser::Done ProbeArgumentParser::finish_bits() {
  std::string_view text = type_;
  if (!text.starts_with('b')) return {};
  const auto bad = [&] { return refuse("Invalid bitfield", offset_ + type_offset_); };
  text.remove_prefix(1);
  const std::uint64_t width = take_digits(text);
  if (width == 0 || !text.starts_with('@')) return bad();
  text.remove_prefix(1);
  const std::size_t size_before = text.size();
  const std::uint64_t first = take_digits(text);
  const std::uint64_t all = 8ull * argument_.type->size;
  if (text.size() == size_before || !text.starts_with('/') || ++ops_ >= kMaxOps) return bad();
  if (width > all || first > all || width + first > all) return bad();
  argument_.fetch.bits = static_cast<std::uint8_t>(width);
  argument_.fetch.first_bit = static_cast<std::uint8_t>(first);
  return {};
}

}  // namespace landtrace::language
