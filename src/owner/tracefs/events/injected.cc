#include "tracefs/events/injected.hpp"

#include <algorithm>
#include <cstring>

#include "abi/entry.hpp"
#include "language/words.hpp"
#include "ring/layout.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {
namespace {

constexpr std::size_t kMaxString = 255;

using language::take_while;

bool is_dynamic(const event::Field& field) {
  using Kind = event::FieldKind;
  // Of several texts, the first.
  if (field.kind == Kind::kArray) return field.type.starts_with("__data_loc char");
  return field.kind == Kind::kDataLocString || field.kind == Kind::kRelLocString;
}
bool is_text(const event::Field& field) { return is_dynamic(field) || field.kind == event::FieldKind::kCharArray; }

// The common fields, which every event has before its own.
const std::vector<event::Field>& common_fields() {
  static const std::vector<event::Field> fields{{"unsigned short", "common_type", 0, 2, false, {}},
                                                {"unsigned char", "common_flags", 2, 1, false, {}},
                                                {"unsigned char", "common_preempt_count", 3, 1, false, {}},
                                                {"int", "common_pid", 4, 4, true, {}}};
  return fields;
}

Result<std::uint64_t> take_number(std::string_view& rest, const event::Field& field) {
  if (is_text(field)) return fail(EINVAL, "field '" + field.name + "' takes a text");
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const std::string_view digits = take_while(rest, is_alnum);
  if (!rest.empty() && !is_space(rest.front())) return fail(EINVAL, "a number ends with white space");
  if (digits.empty() || (negative && !field.is_signed)) return fail(EINVAL, "not a number of the field's type");
  LT_TRY(const std::uint64_t number, number_in(digits));
  constexpr std::uint64_t kMost = 1ull << 63;
  if (field.is_signed && number > (negative ? kMost : kMost - 1)) return fail(ERANGE, "the number is too large");
  return negative ? ~number + 1 : number;
}

// A backslash keeps a quote from ending the text, and stays in it.
Result<std::string_view> take_string(std::string_view& rest, const event::Field& field) {
  if (!is_text(field)) return fail(EINVAL, "field '" + field.name + "' takes a number");
  const char quote = rest.front();
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != quote) end += rest[end] == '\\' && end + 1 < rest.size() ? 2 : 1;
  if (end >= rest.size()) return fail(EINVAL, "a quote that is not closed");
  const std::string_view text = rest.substr(1, end - 1);
  if (text.size() > kMaxString) return fail(EINVAL, "the text is too long");
  rest.remove_prefix(end + 1);
  return text;
}

class Entry {
 public:
  explicit Entry(const event::Declaration& declaration) : declaration_(declaration) {
    std::uint32_t end = abi::kEntryHeaderSize + declaration.min_size;
    for (const event::Field& field : declaration.fields) end = std::max(end, field.offset + field.size);
    bytes_.resize(end + 1);  // a NUL behind the fields, which empty texts point at
    for (const event::Field& field : declaration.fields) {
      if (is_dynamic(field)) locate(field, end, 0);
    }
  }

  Result<const event::Field*> find(std::string_view name) const {
    for (const auto* const fields : {&declaration_.fields, &common_fields()}) {
      const auto found = std::find_if(fields->begin(), fields->end(), [&](const auto& f) { return f.name == name; });
      if (found != fields->end()) return &*found;
    }
    return fail(ENOENT, "the event has no field '" + std::string(name) + "'");
  }

  Result<void> set_number(const event::Field& field, std::uint64_t number) {
    if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8) {
      return fail(EINVAL, "field '" + field.name + "' takes no value");
    }
    if (field.name == "common_pid" && &field == &common_fields().back()) tid_ = static_cast<std::uint32_t>(number);
    std::memcpy(bytes_.data() + field.offset, &number, field.size);
    return {};
  }

  void set_text(const event::Field& field, std::string_view text) {
    if (is_dynamic(field)) {
      locate(field, bytes_.size(), text.size() + 1);
      bytes_.append(text).append(1, '\0');
      return;
    }
    const std::size_t size = std::min<std::size_t>(text.size(), field.size - 1);
    std::memset(bytes_.data() + field.offset, 0, field.size);
    std::memcpy(bytes_.data() + field.offset, text.data(), size);
  }

  Injected finished() && { return {bytes_.substr(abi::kEntryHeaderSize), tid_}; }

 private:
  void locate(const event::Field& field, std::size_t at, std::size_t size) {
    if (field.kind == event::FieldKind::kRelLocString) at -= field.offset + field.size;
    const std::uint32_t location = abi::location_word(at, size);
    std::memcpy(bytes_.data() + field.offset, &location, sizeof location);
  }

  const event::Declaration& declaration_;
  std::string bytes_;  // as the kernel lays an entry out, the common header in front
  std::optional<std::uint32_t> tid_;
};

// Takes `field = value` off the front.
Result<void> take_assignment(std::string_view& rest, Entry& entry) {
  take_while(rest, is_space);
  const std::string_view name = take_while(rest, [](char c) { return is_alnum(c) || c == '_'; });
  if (name.empty()) return fail(EINVAL, "a field's name was expected");
  LT_TRY(const event::Field* const field, entry.find(name));
  take_while(rest, is_space);
  if (!rest.starts_with('=')) return fail(EINVAL, "want FIELD = VALUE");
  rest.remove_prefix(1);
  take_while(rest, is_space);
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    LT_TRY(const std::string_view text, take_string(rest, *field));
    entry.set_text(*field, text);
    return {};
  }
  if (rest.empty() || !(rest.front() == '-' || (rest.front() >= '0' && rest.front() <= '9'))) {
    return fail(EINVAL, "a number or a quoted text was expected");
  }
  LT_TRY(const std::uint64_t number, take_number(rest, *field));
  return entry.set_number(*field, number);
}

}  // namespace

Result<Injected> parse_injected(const event::Declaration& declaration, std::string_view line) {
  if (declaration.min_size > ring::kMaxPayload) return fail(E2BIG, "no record holds the event's fields");
  Entry entry(declaration);
  while (!line.empty()) LT_CHECK(take_assignment(line, entry));
  return std::move(entry).finished();
}

}  // namespace landtrace::tracefs
